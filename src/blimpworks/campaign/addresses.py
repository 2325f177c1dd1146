"""Addresses of files: which are allowed, what of them may be shown, who states their checksums."""

import ipaddress
import os
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

HARMLESS = 4
"""Most characters that the value of a query may have to be shown: too few for a secret."""
LONGEST = 120
"""Characters of an address that are shown."""
LONGEST_HOST = 253
OFFLINE_VARIABLES = ("BLIMPWORKS_OFFLINE", "HF_HUB_OFFLINE")
SECRETS = re.compile(r"token|secret|signature|password|credential|api.?key|^(key|sig|auth)$", re.I)
"""Names of queries that hold what gives access."""
_HOST = re.compile(r"[^:@\s]*(:\d*)?|\[[^\]\s]*\](:\d*)?")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"()<>]+", re.I)
_PATH = re.compile(r"(?<=/)[^\s'\"()<>]*\?[^\s'\"()<>]+")


def offline_variable() -> str | None:
    """Name of the environment variable that forbids the network, if one is set to true."""
    true = {"1", "ON", "YES", "TRUE"}
    return next((v for v in OFFLINE_VARIABLES if os.environ.get(v, "").upper() in true), None)


def _query(text: str) -> str:
    """A query with ``…`` for each value that could be a secret."""
    parts = []
    for each in text.split("&"):
        name, equals, value = each.rpartition("=")
        harmless = len(value) <= HARMLESS and not SECRETS.search(name)
        parts.append(each if harmless else f"{name}{equals}…")
    return "&".join(parts)


def without_secrets(url: str) -> str:
    """An address without what could give access: no user and password, no values of a query.

    Works on any text, also on what is no address.
    """
    address, question, query = url.partition("#")[0].partition("?")
    scheme, slashes, rest = address.rpartition("://") if "://" in address else ("", "", address)
    authority, slash, path = rest.partition("/")
    authority = authority.rpartition("@")[2]
    if not _HOST.fullmatch(authority):  # a password that holds a slash, or no port
        authority, slash, path = "…", "", ""
    text = f"{scheme.rpartition('@')[2]}{slashes}{authority}{slash}{path}"
    return text + (f"{question}{_query(query)}" if question else "")


def shown(url: str) -> str:
    """An address as messages show it: ``without_secrets``, and cut where it is very long."""
    text = without_secrets(url)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def scrubbed(text: str) -> str:
    """A library's message with each address in it as ``shown``."""
    without = _ADDRESS.sub(lambda match: shown(match[0]), text)
    return _PATH.sub(lambda match: shown(match[0]), without)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_host(host: str) -> None:
    """Raises ValueError for what names no host."""
    if not host or re.search(r"[\s\\<>\"{}|^`]", host):
        raise ValueError("it names no host")
    try:
        length = len(host.encode("idna"))
    except UnicodeError:
        length = LONGEST_HOST + 1
    if length > LONGEST_HOST:
        raise ValueError("its host is too long, or none that a name can be of")


def check_address(url: str) -> None:
    """Check that a file may be downloaded from an address: https, or http on this machine.

    Raises ValueError with what is wrong, which shows nothing secret of it.
    """
    if re.search(r"[\x00-\x20\x7f]", url):
        raise ValueError("it holds a space or control character")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ValueError("it cannot be read as an address") from error
    if parts.scheme not in ("https", "http"):
        raise ValueError("it does not begin with https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("it holds a user or password, which belong into ~/.netrc")
    _check_host(parts.hostname or "")
    try:
        usable = parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("its port is no number from 1 to 65535")
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise ValueError("it begins with http://, which anybody on the way can change")


def check_redirect(before: str, url: str) -> None:
    """Check that a server at ``before`` may send on to ``url``; otherwise as ``check_address``."""
    check_address(url)
    if urlsplit(url).scheme == "http" and urlsplit(before).scheme == "https":
        raise ValueError("it leaves https")


def check_listed(url: str) -> str:
    """An address that stands in a table, which everybody can read; may be empty.

    Raises ValueError as ``check_address``, and for one that holds what gives access.
    """
    if url:
        check_address(url)
        names = (each.partition("=")[0] for each in urlsplit(url).query.split("&"))
        if any(map(SECRETS.search, names)):
            raise ValueError("it holds a token or signature, which a table must not")
    return url


_ZENODO = re.compile(r"/records?/(\d+)/files/([^/]+)")
_HUB = re.compile(r"/datasets/([\w.-]+/[\w.-]+)/resolve/([0-9a-f]{40})/(.+)")


@dataclass(frozen=True, slots=True)
class Statement:
    """Where an archive states the checksum of a file."""

    archive: Literal["zenodo", "hub"]
    url: str
    """Address of its API that answers with JSON."""
    file: str
    """What the archive calls the file there."""


def statement_of(url: str) -> Statement | None:
    """Where the checksum of the file at an address is stated; None where nobody states one.

    Zenodo states MD5s of a record's files (developers.zenodo.org), the Hugging Face hub the SHA-256
    or git blob ids of a data set's files at a commit (huggingface.co/docs/hub/api).
    """
    parts = urlsplit(url)
    base, path = f"{parts.scheme}://{parts.netloc}", unquote(parts.path)
    if (match := _ZENODO.fullmatch(path)) and _is(parts.hostname, "zenodo.org"):
        return Statement("zenodo", f"{base}/api/records/{match[1]}", match[2])
    if (match := _HUB.fullmatch(path)) and _is(parts.hostname, "huggingface.co"):
        folder = match[3].rpartition("/")[0]
        address = f"{base}/api/datasets/{match[1]}/tree/{match[2]}"
        return Statement("hub", f"{address}/{folder}" if folder else address, match[3])
    return None


def _is(host: str | None, archive: str) -> bool:
    return host == archive or is_loopback(host or "")
