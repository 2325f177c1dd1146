"""Retry the hub's errors where that can help; explain others in one sentence."""

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

from huggingface_hub import constants, get_token
from huggingface_hub.errors import (
    DisabledRepoError,
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from blimpworks.campaign.addresses import offline_variable, scrubbed, shown
from blimpworks.errors import UserError
from blimpworks.retrieval.download import limit_waits
from blimpworks.retrieval.sources import disk_errors

log = logging.getLogger(__name__)
Answer = TypeVar("Answer")

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each retry, where the hub does not state them."""
LONGEST_PAUSE = 300.0
"""Longest wait that the hub may request [s], the length of its rate windows."""
# HfHubHTTPError is derived from the network error of the library's HTTP client: requests or httpx.
_ERRORS = cast(tuple[type[Exception], ...], (HFValidationError, OSError, *HfHubHTTPError.__bases__))
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_BROKEN = {"ReadError", "ReadTimeout", "RemoteProtocolError", "WriteError", "ConnectTimeout"}


def _without_signatures(record: logging.LogRecord) -> bool:
    """Remove signatures from addresses in the library's messages, as a filter of its log."""
    record.msg, record.args = scrubbed(record.getMessage()), ()
    return True


for module in ("file_download", "utils._http"):
    logging.getLogger(f"huggingface_hub.{module}").addFilter(_without_signatures)


def _behind(error: BaseException) -> BaseException:
    """Return the error that the library reports as "not in the cache", else the error itself."""
    cause = error.__cause__ if isinstance(error, LocalEntryNotFoundError) else None
    return cause or error


def _requested_pause(error: BaseException) -> float | None:
    """Return the wait that the hub requests in either of two headers [s]."""
    headers = error.response.headers if isinstance(error, HfHubHTTPError) else {}
    text = headers.get("Retry-After", "").strip()
    rate = re.search(r"\br=0\b.*\bt=(\d+)", headers.get("RateLimit", ""))
    seconds = text if text.isdigit() else rate[1] if rate else None
    return None if seconds is None else min(float(seconds), LONGEST_PAUSE)


def patiently(ask: Callable[[], Answer]) -> Answer:
    """Call ``ask``, and again while the hub's error may pass. Raises its other errors at once."""
    for pause in PAUSES:
        limit_waits()
        try:
            return ask()
        except _ERRORS as error:
            reason = _behind(error)
            if isinstance(reason, HfHubHTTPError):
                may_pass = reason.response.status_code in _PASSING
            else:
                # A size that is not the announced one: the library reports a broken transfer so.
                may_pass = "Consistency check failed" in str(reason)
                may_pass = may_pass or type(reason).__name__ in _BROKEN
            if not may_pass:
                raise
            requested = _requested_pause(reason)
            seconds = pause if requested is None else requested
            log.warning("%s; again in %g seconds", _reason(reason), seconds)
            time.sleep(seconds)
    return ask()


@contextmanager
def explained_errors(hf_id: str, revision: str, name: str = "") -> Iterator[None]:
    """Turn the hub library's errors into one sentence each, about a model called ``name``."""
    try:
        with disk_errors(Path(constants.HF_HUB_CACHE)):
            yield
    except _ERRORS as error:
        subject = f"model {name!r}: {hf_id!r}" if name else f"model {hf_id!r}"
        raise UserError(f"{subject} {_fault(_behind(error), hf_id, revision)}") from error


def _fault(error: BaseException, hf_id: str, revision: str) -> str:
    """Say what the hub or its library answered about a model, and the remedy."""
    hub, variable = shown(constants.ENDPOINT), offline_variable()
    if variable or isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled):
        return (
            f"at revision {revision!r} is not complete in the cache {constants.HF_HUB_CACHE} and "
            f"{variable or 'HF_HUB_OFFLINE'} forbids the network; retrieve it once with network, "
            "or copy a cache that has it and set HF_HUB_CACHE."
        )
    if isinstance(error, HFValidationError):
        return "is no name of the hub, expected 'owner/name'; correct it."
    if not isinstance(error, HfHubHTTPError):
        return (
            f"cannot be had: the hub {hub} cannot be reached ({_reason(error)}); check the "
            "network, HF_ENDPOINT and HTTPS_PROXY, or set HF_HUB_OFFLINE=1 to use the cache alone."
        )
    code = error.response.status_code
    message = scrubbed(error.response.headers.get("X-Error-Message", "").rstrip("."))[:200]
    answer = f"HTTP {code}: {message}" if message else f"HTTP {code}"
    if isinstance(error, GatedRepoError) and get_token() is None:
        return (
            f"is gated (HTTP {code}): its licence must be accepted first; do so at {hub}/{hf_id} "
            "and set HF_TOKEN to a token of that account."
        )
    if isinstance(error, GatedRepoError):
        return (
            f"is gated (HTTP {code}), and the account of your token has not accepted its licence; "
            f"do so at {hub}/{hf_id}, or set HF_TOKEN to a token of an account that has."
        )
    if isinstance(error, RevisionNotFoundError):
        return (
            f"has no revision {revision!r} on {hub} (HTTP {code}); name an existing branch, tag "
            "or commit."
        )
    if isinstance(error, EntryNotFoundError):
        return f"lacks a file on {hub} that it lists (HTTP {code}); try again later."
    if isinstance(error, DisabledRepoError):
        return f"is disabled on {hub} (HTTP {code}), so nobody can have it; name another model."
    if (code == 401 or isinstance(error, RepositoryNotFoundError)) and "credentials" in message:
        return (
            f"is not given by {hub} (HTTP {code}), which does not know your token; set HF_TOKEN to "
            "a valid one, or run `hf auth login`."
        )
    if code == 401 or isinstance(error, RepositoryNotFoundError):
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
