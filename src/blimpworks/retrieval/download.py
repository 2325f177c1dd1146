"""Download a file over HTTP (``Transfer``), or ask its archive for a checksum.

A transfer retries, and continues a partial file of an earlier download. ``stated_checksum`` asks
archives (Zenodo, the Hugging Face hub), which state checksums of files at a separate address.
"""

import fcntl
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.exceptions import RequestException, TooManyRedirects
from tqdm import tqdm
from urllib3 import exceptions
from urllib3.util import Retry

from blimpworks.campaign import addresses
from blimpworks.errors import UserError
from blimpworks.files import load_json
from blimpworks.retrieval import sources

SLOTS = 4
"""Largest number of parallel downloads from a host by this user."""
PAUSE = 0.2
"""Seconds to wait when all slots of a host are taken."""


@contextmanager
def slot(host: str) -> Iterator[None]:
    """Hold one of the ``SLOTS`` slots of a host; first wait until one is free."""
    folder = Path(tempfile.gettempdir(), f"blimpworks-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise UserError(f"{folder} is another user's; remove it, or set TMPDIR to a directory.")
    # Each slot is a file; a process that holds the slot has locked it.
    key = hashlib.sha256(host.encode()).hexdigest()[:16]
    while True:
        for number in range(SLOTS):
            with (folder / f"{key}.{number}").open("w", encoding="utf-8") as handle:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:  # another job has this slot: try the next one
                    continue
                yield
                return
        time.sleep(PAUSE)


LARGEST = 20_000_000_000
"""Largest size of a file without a size in the catalogue [bytes]."""
_RETRIED_STATUSES = (429, 500, 502, 503, 504)
_LONGEST_PAUSE = 120  # between two attempts [s]
# Clauses by class of urllib3's error; the first class that fits counts, so subclasses come first.
_CAUSES: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.NameResolutionError, "the host {host} cannot be found"),
    (exceptions.NewConnectionError, "no connection to {host} ({detail})"),
    (exceptions.TimeoutError, "{host} did not answer in time"),
    (exceptions.ProxyError, "the proxy for {host} failed ({detail})"),
    (exceptions.SSLError, "the certificate or encryption of {host} failed ({detail})"),
    (exceptions.ProtocolError, "{host} closed the connection without an answer"),
)
# A clause on the host, and the remedy, by HTTP status.
_STATUSES = {
    401: ("wants a login", "correct the row's url"),
    403: ("forbids it", "correct the row's url"),
    404: ("has no such file", "correct the row's url"),
    410: ("has removed the file", "correct the row's url"),
    429: ("has had too many requests from here", "try again later"),
}


RETRIES = 5
"""Retries after a refused connection, a time-out, or HTTP status 429 or 5xx."""
STALLS = 4
"""Successive broken transfers without new bytes after which a download fails."""
BACKOFF = 1.0
"""First pause between retries in seconds; each further pause is twice as long."""
LIMITS = (20.0, 60.0)
"""Longest time in seconds to connect to a host, and between two bytes of an answer."""


class _Refused(RequestException):
    """A forbidden redirect; the message has the reason."""


class _Session(requests.Session):
    """A session that follows only redirects to allowed addresses."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Return the target of a redirect, if any. Raises _Refused for a forbidden one."""
        target = super().get_redirect_target(resp)
        if target is not None:
            try:
                following = urljoin(resp.url, target)
                addresses.check_redirect(resp.url, following)
            except ValueError as error:
                raise _Refused(
                    f"{host_of(resp.url)} sends on to {addresses.shown(target)}, and {error}"
                ) from error
        return target


def host_of(url: str) -> str:
    """Return host and port of an address, without user and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def open_session(retries: int | None = None) -> requests.Session:
    """Open a session with retries (default: ``RETRIES``) that follows only allowed redirects."""
    retry = Retry(
        total=RETRIES if retries is None else retries,
        backoff_factor=BACKOFF,
        backoff_max=_LONGEST_PAUSE,
        retry_after_max=_LONGEST_PAUSE,
        status_forcelist=_RETRIED_STATUSES,
        allowed_methods=["GET"],
        raise_on_status=False,
    )
    session = _Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def cause_of(error: RequestException | exceptions.HTTPError, url: str) -> str:
    """Describe why a host gave no answer, as a clause such as "a.org did not answer in time"."""
    if isinstance(error, TooManyRedirects):
        return f"{host_of(url)} sends on again and again, in a circle or too often"
    reason: object = error
    if not isinstance(error, exceptions.HTTPError):
        # An error of requests contains an error of urllib3, such as MaxRetryError, whose reason is
        # another one, such as NameResolutionError.
        inner = error.args[0] if error.args else error
        reason = getattr(inner, "reason", None) or inner
    # The system's message, such as "Connection refused", is shorter than urllib3's.
    system_error = getattr(reason, "__cause__", None)
    detail = addresses.scrubbed(getattr(system_error, "strerror", None) or str(reason))
    for error_class, text in _CAUSES:
        if isinstance(reason, error_class):
            return text.format(host=host_of(url), detail=detail.lower())
    return addresses.scrubbed(" ".join(str(error).split())) or type(error).__name__


def refusal_of(response: requests.Response) -> tuple[str, str]:
    """Return a description of a host's refusal, and a remedy."""
    text, remedy = _STATUSES.get(response.status_code, ("failed", "try again later"))
    return f"{host_of(response.url)} {text} (HTTP {response.status_code})", remedy


@dataclass(frozen=True, slots=True)
class Transfer:
    """Download of ``url`` into the file ``partial``, which may already have the first bytes."""

    url: str
    partial: Path
    size: int | None
    """Expected bytes, if known."""
    where: str
    """Catalogue and row, for messages."""
    instead: str
    """Alternative for a user without a network, for messages."""

    def received(self) -> int:
        return self.partial.stat().st_size if self.partial.exists() else 0

    def run(self) -> None:
        """Fetch the missing bytes of the partial file; the caller verifies its content.

        Raises UserError offline, for a forbidden address and a full disk. Raises NotReceived for a
        forbidden redirect, an unreachable host, an HTTP error, or a connection that keeps breaking;
        the partial file remains for the next attempt. A file of unknown size and more than
        ``LARGEST`` bytes is deleted.
        """
        try:
            addresses.check_address(self.url)
        except ValueError as error:
            raise UserError(
                f"{self.where}: url is {addresses.shown(self.url)!r}, expected an https address, "
                f"but {error}; correct it, or {self.instead}."
            ) from error
        if variable := addresses.offline_variable():
            offline = self._failure(f"{variable} forbids the network", f"unset {variable}")
            raise UserError(str(offline))
        self.partial.parent.mkdir(parents=True, exist_ok=True)
        # Largest size of the file so far, and number of requests since then that added nothing.
        best, stalls = -1, 0
        with sources.disk_errors(self.partial), slot(host_of(self.url)), open_session() as session:
            while not self._request_rest(session):
                reached = self.received()
                stalls = 0 if reached > best else stalls + 1
                best = max(best, reached)
                if stalls >= STALLS:
                    total = "" if self.size is None else f" of {self.size:,}"
                    raise self._failure(
                        f"the connection keeps breaking off, last after {best:,}{total} bytes",
                        "run again to go on from there",
                    )
                time.sleep(BACKOFF * 2**stalls)

    def _failure(self, cause: str, remedy: str) -> sources.NotReceived:
        return sources.NotReceived(
            f"{self.where}: {addresses.shown(self.url)} was not downloaded: {cause}; {remedy}, or "
            f"{self.instead}.",
            f"{addresses.shown(self.url)}: {cause}",
        )

    def _request_rest(self, session: requests.Session) -> bool:
        """Make one request; return whether the file is complete."""
        start = self.received()
        if self.size is not None and start > self.size:  # another file
            self.partial.unlink()
            start = 0
        if start and start == self.size:
            return True
        headers = {"Accept-Encoding": "identity"}  # a compressed body could not be resumed
        if start:
            headers["Range"] = f"bytes={start}-"
        try:
            response = session.get(self.url, headers=headers, stream=True, timeout=LIMITS)
        except RequestException as error:
            redirected = isinstance(error, _Refused | TooManyRedirects)
            remedy = "correct the row's url" if redirected else "check the network and proxy"
            raise self._failure(cause_of(error, self.url), remedy) from error
        with response:
            codes, status = requests.codes, response.status_code
            # The range of the answer's bytes: "bytes 100-199/200" after "Range: bytes=100-", or
            # "bytes */200" if no bytes follow the first 200.
            span = response.headers.get("Content-Range", "")
            if status == codes.ok:  # the whole file
                return self._save(response, 0)
            if start and status == codes.partial:
                return self._save(response, start if span.startswith(f"bytes {start}-") else 0)
            if start and status == codes.requested_range_not_satisfiable:
                # No bytes follow: the partial file is complete, or has bytes of another file.
                if span == f"bytes */{start}" and self.size is None:
                    return True
                self.partial.unlink()
                return False
            raise self._failure(*refusal_of(response))

    def _save(self, response: requests.Response, start: int) -> bool:
        """Write a response after the first ``start`` bytes; return whether the file is complete."""
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else self.size
        self._check_size(total or 0)
        bar = tqdm(
            total=total, initial=start, desc=self.where, unit="B", unit_scale=True, disable=None
        )
        with bar, self.partial.open("ab" if start else "wb") as handle:
            try:
                for piece in response.iter_content(sources.PIECE):
                    handle.write(piece)
                    handle.flush()  # so that the next process resumes here if this one is killed
                    bar.update(len(piece))
                    self._check_size(handle.tell())
                    if self.size is not None and handle.tell() > self.size:
                        return True  # too long: the caller will find that it is another file
            except RequestException:
                return False
        # After an early end, requests raises an error only if the answer states its length, or has
        # chunks (of which the last is empty).
        shows_its_end = length is not None or "Transfer-Encoding" in response.headers
        return shows_its_end or self.received() == self.size

    def _check_size(self, reached: int) -> None:
        if self.size is None and reached > LARGEST:
            self.partial.unlink(missing_ok=True)
            raise self._failure(
                f"it is larger than {LARGEST:,} bytes, the most for a file of unstated size",
                "write its size into the row's bytes",
            )


LARGEST_ANSWER = 16 << 20
"""Bytes of an archive's answer that are read."""
_HEXADECIMAL_DIGITS = {sources.MD5: 32, sources.GIT_BLOB: 40, sources.SHA256: 64}


def stated_checksum(statement: addresses.ChecksumSource, where: str) -> sources.Checksum:
    """Ask an archive for the checksum that it states for a file.

    ``where``: catalogue and row, for messages. Raises UserError offline, for an unreachable
    archive, and for an answer without checksum.
    """
    try:
        answer = load_json(_request(statement, where))
        origin = f"{host_of(statement.url)} states"
        if statement.archive == "zenodo":
            [file] = [file for file in answer["files"] if file["key"] == statement.file]
            method, _, digest = file["checksum"].rpartition(":")
            if method not in ("", "md5"):
                raise ValueError(f"unknown method {method!r}")
            checksum = sources.Checksum(sources.MD5, digest.lower(), int(file["size"]), origin)
        else:  # the hub lists a folder at a commit; large files are in Git LFS
            [file] = [file for file in answer if file["path"] == statement.file]
            lfs = file.get("lfs")
            algorithm, facts = (sources.SHA256, lfs) if lfs else (sources.GIT_BLOB, file)
            checksum = sources.Checksum(algorithm, facts["oid"], int(facts["size"]), origin)
        digits = _HEXADECIMAL_DIGITS[checksum.algorithm]
        if not re.fullmatch(rf"[0-9a-f]{{{digits}}}", checksum.digest):
            raise ValueError(f"{checksum.digest!r} is no checksum")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(
            f"{where}: {addresses.shown(statement.url)} states no checksum of {statement.file!r}, "
            "expected one for each of its files; correct the row's url, or pin the file "
            "(`blimpworks pin`)."
        ) from error
    return checksum


def _request(statement: addresses.ChecksumSource, where: str) -> bytes:
    addresses.check_address(statement.url)
    cause, body = "", b""
    if variable := addresses.offline_variable():
        cause = f"{variable} forbids the network; unset {variable}"
    else:
        try:
            with slot(host_of(statement.url)), open_session() as session:
                response = session.get(statement.url, timeout=LIMITS, stream=True)
                body = response.raw.read(LARGEST_ANSWER, decode_content=True)
            if response.status_code != requests.codes.ok:
                cause = "; ".join(refusal_of(response))
        except (requests.RequestException, exceptions.HTTPError) as error:
            cause = f"{cause_of(error, statement.url)}; check the network and proxy"
    if cause:
        raise UserError(
            f"{where}: the checksum that {addresses.shown(statement.url)} states was not received: "
            f"{cause}, or pin the file (`blimpworks pin`)."
        )
    return bytes(body)


MAX_SILENCE = 30.0
"""Seconds that the hub's client waits for a connection, or for the next byte of an answer."""


def _limit_wait(request: Any) -> None:
    timeouts = request.extensions.get("timeout", {})
    phases = ("connect", "read", "write", "pool")
    request.extensions["timeout"] = {phase: timeouts.get(phase) or MAX_SILENCE for phase in phases}


def limit_waits() -> None:
    """Let requests of the hub's client in this process fail after ``MAX_SILENCE`` seconds.

    Some requests have no limit otherwise. Call this function before each attempt: after an error,
    the client opens a new session, without this limit.
    """
    from huggingface_hub import get_session

    session = get_session()
    hooks = session.event_hooks
    if _limit_wait not in hooks["request"]:
        session.event_hooks = {**hooks, "request": [*hooks["request"], _limit_wait]}
