"""What files were that the catalogue knows by a weaker checksum than SHA-256.

The first retrieval of such a file records its SHA-256 in the lock file of its table
(``treebanks.lock.tsv`` beside ``treebanks.tsv``), and each later one must give the same.
"""

import logging
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from blimpworks.campaign.lock_file import LockedRow, lock_path, read_lock, record
from blimpworks.errors import UserError
from blimpworks.retrieval.checksums import SHA256, Checksum

log = logging.getLogger(__name__)


class LockedFile(LockedRow):
    """A version of a file that was retrieved once."""

    key: ClassVar = ("name", "verified", "url")
    name: str
    """Path of the retrieved file below the directory of sources."""
    verified: str
    """The checksum that it was verified by, as ``git blob id 7bf2969f…``."""
    url: str
    """Its address in the catalogue."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(ge=0)]


def locked_file(table: Path, name: str, url: str, verified: str = "") -> LockedFile | None:
    """What is recorded of a file of a table of the catalogue; None where nothing is.

    A version is known by the checksum in the catalogue, ``verified``, or else by its address.
    Raises UserError for a malformed lock file.
    """
    rows = (row for row in read_lock(LockedFile, table).values() if row.name == name)
    return next((r for r in rows if (r.verified == verified if verified else r.url == url)), None)


def record_file(row: LockedFile, table: Path) -> None:
    """Record what a file is; where that cannot be written, the log says so.

    Raises UserError for a malformed lock file, and for another SHA-256 of the same version.
    """
    try:
        standing = record(row, table)
    except OSError as error:
        log.warning(
            "%s: not recorded that %s has SHA-256 %s (%s)",
            *(lock_path(table), row.name, row.sha256, error.strerror),
        )
        return
    if standing.sha256 != row.sha256:
        raise UserError(
            f"{lock_path(table)}: {row.name} has SHA-256 {standing.sha256} there, and was now "
            f"received with {row.sha256}, both with {row.verified}; one of them is not the file. "
            "Find out which before you remove the row."
        )


def checksum_of(row: LockedFile, table: Path) -> Checksum:
    """What a file must give that was retrieved before."""
    origin = f"{lock_path(table).name} recorded when it was first retrieved"
    return Checksum(SHA256, row.sha256, row.bytes, origin)
