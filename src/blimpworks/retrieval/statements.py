"""Ask archives for the checksums of their files."""

import re

import requests
from urllib3.exceptions import HTTPError

from blimpworks.campaign.addresses import Statement, check_address, offline_variable, shown
from blimpworks.errors import UserError
from blimpworks.json_files import load_json
from blimpworks.retrieval.download import (
    Patience,
    cause_of,
    host_of,
    open_session,
    refusal_of,
    slot,
)
from blimpworks.retrieval.sources import GIT_BLOB, MD5, SHA256, Checksum

LARGEST = 16 << 20
"""Most bytes of an answer."""
_DIGITS = {MD5: 32, GIT_BLOB: 40, SHA256: 64}


def stated_checksum(statement: Statement, where: str, patience: Patience) -> Checksum:
    """Return the checksum that an archive states of a file.

    ``where``: catalogue and row, for messages. Raises UserError offline, for an unreachable
    archive, and for an answer without checksum.
    """
    try:
        answer = load_json(_request(statement, where, patience))
        origin = f"{host_of(statement.url)} states"
        if statement.archive == "zenodo":
            [file] = [file for file in answer["files"] if file["key"] == statement.file]
            method, _, digest = file["checksum"].rpartition(":")
            if method not in ("", "md5"):
                raise ValueError(f"unknown method {method!r}")
            checksum = Checksum(MD5, digest.lower(), int(file["size"]), origin)
        else:  # the hub lists a folder at a commit
            [file] = [file for file in answer if file["path"] == statement.file]
            if large := file.get("lfs"):
                checksum = Checksum(SHA256, large["oid"], int(large["size"]), origin)
            else:
                checksum = Checksum(GIT_BLOB, file["oid"], int(file["size"]), origin)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(
            f"{where}: {shown(statement.url)} states no checksum of {statement.file!r}, expected "
            "one for each of its files; correct the row's url, or pin the file "
            "(`blimpworks pin`)."
        ) from error
    digits = _DIGITS[checksum.kind]
    if not re.fullmatch(rf"[0-9a-f]{{{digits}}}", checksum.digest):
        raise UserError(
            f"{where}: {shown(statement.url)} states {checksum.digest!r:.80} as the "
            f"{checksum.kind} of {statement.file!r}, expected {digits} hexadecimal "
            "digits; pin the file (`blimpworks pin`)."
        )
    return checksum


def _request(statement: Statement, where: str, patience: Patience) -> bytes:
    check_address(statement.url)
    cause, body = "", b""
    if variable := offline_variable():
        cause = f"{variable} forbids the network; unset {variable}"
    else:
        limits = (patience.connect, patience.read)
        try:
            with slot(host_of(statement.url)), open_session(patience) as session:
                response = session.get(statement.url, timeout=limits, stream=True)
                body = response.raw.read(LARGEST, decode_content=True)
            if response.status_code != requests.codes.ok:
                cause = "; ".join(refusal_of(response))
        except (requests.RequestException, HTTPError) as error:
            cause = f"{cause_of(error, statement.url)}; check the network and proxy"
    if cause:
        raise UserError(
            f"{where}: the checksum that {shown(statement.url)} states was not received: {cause}, "
            "or pin the file (`blimpworks pin`)."
        )
    return bytes(body)
