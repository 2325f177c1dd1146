"""Checksums that archives state of their files, for files whose catalogue has none."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import requests
from urllib3.exceptions import HTTPError

from blimpworks.campaign.addresses import check_address, offline_variable, shown
from blimpworks.campaign.statements import Statement
from blimpworks.errors import UserError
from blimpworks.json_files import load_json
from blimpworks.retrieval.checksums import GIT_BLOB, MD5, SHA256, Checksum
from blimpworks.retrieval.download import (
    Patience,
    cause_of,
    host_of,
    open_session,
    refusal_of,
)
from blimpworks.retrieval.slots import slot

LARGEST = 16 << 20
"""Most bytes of an answer."""
_DIGITS = {MD5: 32, GIT_BLOB: 40, SHA256: 64}


def stated_checksum(statement: Statement, where: str, patience: Patience) -> Checksum:
    """The checksum that an archive states of a file.

    ``where`` is the catalogue and its row, for messages. Raises UserError offline, for an archive
    that cannot be reached, and for an answer that does not say.
    """
    try:
        answer = load_json(_answer(statement, where, patience))
        checksum = _READERS[statement.archive](answer, statement)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(
            f"{where}: {shown(statement.url)} states no checksum of {statement.file!r}, expected "
            "one for each of its files; correct the row's url, or pin the file "
            "(`blimpworks pin`)."
        ) from error
    if len(checksum.digest) != _DIGITS[checksum.kind] or not _is_hexadecimal(checksum.digest):
        raise UserError(
            f"{where}: {shown(statement.url)} states {checksum.digest!r:.80} as the "
            f"{checksum.kind} of {statement.file!r}, expected {_DIGITS[checksum.kind]} hexadecimal "
            "digits; pin the file (`blimpworks pin`)."
        )
    return checksum


def _is_hexadecimal(digest: str) -> bool:
    return not {*digest} - {*"0123456789abcdef"}


def _answer(statement: Statement, where: str, patience: Patience) -> bytes:
    check_address(statement.url)
    if variable := offline_variable():
        raise _unanswered(statement, where, f"{variable} forbids the network; unset {variable}")
    limits = (patience.connect, patience.read)
    try:
        with slot(host_of(statement.url)), open_session(patience) as session:
            response = session.get(statement.url, timeout=limits, stream=True)
            body = response.raw.read(LARGEST, decode_content=True)
    except (requests.RequestException, HTTPError) as error:
        cause = f"{cause_of(error, statement.url)}; check the network and proxy"
        raise _unanswered(statement, where, cause) from error
    if response.status_code != requests.codes.ok:
        cause = "; ".join(refusal_of(response))
        raise _unanswered(statement, where, cause)
    return bytes(body)


def _unanswered(statement: Statement, where: str, cause: str) -> UserError:
    return UserError(
        f"{where}: the checksum that {shown(statement.url)} states was not received: {cause}, or "
        "pin the file (`blimpworks pin`)."
    )


def _of_zenodo(answer: Any, statement: Statement) -> Checksum:
    """MD5 of a file, from a record of Zenodo."""
    [file] = _named(answer["files"], "key", statement.file)
    kind, _, digest = file["checksum"].rpartition(":")
    if kind not in ("", "md5"):
        raise ValueError(f"unknown kind of checksum {kind!r}")
    return Checksum(MD5, digest.lower(), int(file["size"]), _origin(statement))


def _of_hub(answer: Any, statement: Statement) -> Checksum:
    """SHA-256 or git blob id of a file, from the hub's list of a folder at a commit."""
    [file] = _named(answer, "path", statement.file)
    if large := file.get("lfs"):
        return Checksum(SHA256, large["oid"], int(large["size"]), _origin(statement))
    return Checksum(GIT_BLOB, file["oid"], int(file["size"]), _origin(statement))


def _named(files: Iterable[Mapping[str, Any]], key: str, name: str) -> list[Mapping[str, Any]]:
    return [file for file in files if file[key] == name]


def _origin(statement: Statement) -> str:
    return f"{host_of(statement.url)} states"


_READERS: dict[str, Callable[[Any, Statement], Checksum]] = {"zenodo": _of_zenodo, "hub": _of_hub}
