"""Fill a mirror directory with many pinned files of one archive."""

import shutil
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated

from pydantic import AfterValidator

from blimpworks.campaign.addresses import check_listed
from blimpworks.campaign.catalogue import SourceRow, TreebankRow
from blimpworks.errors import BROKEN, UserError
from blimpworks.files import atomic, below
from blimpworks.retrieval.download import Transfer
from blimpworks.retrieval.sources import PIECE, Pin, Proof, disk_errors, in_mirror, part_path
from blimpworks.strict import Part, Strict, Within

LARGEST = 4_000_000_000
"""Most bytes of a member without a size in the catalogue."""
MOST = 60_000_000_000
"""Most bytes of all members up to the last needed one: an archive may unpack without end."""


class ArchiveRow(Strict):
    """An archive that holds files of a catalogue."""

    name: Part
    url: Annotated[str, AfterValidator(check_listed)]
    members: Within
    """Directory in the archive under which files have the same paths as in a mirror."""
    mirror: Within
    """Directory of a mirror that corresponds to ``members``."""
    note: str


@dataclass(slots=True)
class Taken:
    """Names of the expected files, by outcome."""

    present: list[str] = field(default_factory=list)
    """Files that the mirror had."""
    taken: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    """Files of the archive with other content than pinned, each with the difference."""
    absent: list[str] = field(default_factory=list)


class _Differs(Exception):
    """A member is not the pinned file; the message tells the difference."""


def pins_of(rows: Iterable[SourceRow | TreebankRow], catalogue: Path) -> list[Pin]:
    """Return the rows of a catalogue that have a checksum, as pins."""
    return [Pin.of(row, catalogue) for row in rows if row.sha256 or row.git_blob]


def fetch_archive(
    row: ArchiveRow, pins: Iterable[Pin], mirror: Path, archive: Path | None = None
) -> Taken:
    """Download an archive and copy from it the pinned files that a mirror lacks.

    No name in the archive is trusted. A member is taken if the catalogue expects it, goes to the
    path that the catalogue states, and must have the pinned size and checksum. So the archive
    itself needs no checksum. ``archive``: a local copy. A broken download is continued, and removed
    at the end.

    Raises UserError for a failed download, a file that is no whole tar archive, an archive that
    unpacks without end, and a full disk.
    """
    outcome, expected = Taken(), dict[str, Pin]()
    try:
        with disk_errors(mirror):
            mirror.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UserError(
            f"{mirror} is no directory, expected one for the mirror's files; name another."
        ) from error
    for pin in pins:
        if pin.mirror.startswith(f"{row.mirror}/"):
            if in_mirror(pin, mirror):
                outcome.present.append(pin.name)
            else:
                expected[f"{row.members}{pin.mirror.removeprefix(row.mirror)}"] = pin
    if expected:
        partial = part_path(mirror / row.name, row.url)
        if archive is None:
            instead = "name a copy of the archive with --file"
            Transfer(row.url, partial, None, row.name, instead).run()
        _unpack(archive or partial, expected, mirror, outcome)
        partial.unlink(missing_ok=True)
    return outcome


def _unpack(archive: Path, expected: Mapping[str, Pin], mirror: Path, outcome: Taken) -> None:
    missing, unpacked = dict(expected), 0
    if not archive.is_file():
        raise UserError(
            f"{archive} is no file, expected a tar archive; correct --file, or leave it out."
        )
    try:
        with tarfile.open(archive, "r|*") as members:
            for member in members:
                unpacked += member.size
                if unpacked > MOST:
                    raise UserError(f"{archive} unpacks to more than {MOST:,} bytes; replace it.")
                if pin := missing.pop(member.name, None):
                    content = members.extractfile(member) if member.isreg() else None
                    try:
                        _take(content, member.size, pin, mirror)
                        outcome.taken.append(pin.name)
                    except _Differs as error:
                        outcome.differing.append(f"{pin.name} {error}")
                if not missing:
                    break
    except (tarfile.TarError, *BROKEN) as error:
        raise UserError(
            f"{archive} is no whole tar archive ({error}); remove it and fetch it again."
        ) from error
    outcome.absent += [pin.name for pin in missing.values()]


def _take(content: IO[bytes] | None, size: int, pin: Pin, mirror: Path) -> None:
    """Copy one member into the mirror. Raises _Differs for another file than pinned."""
    if content is None:
        raise _Differs("is no file there")
    if size > (LARGEST if pin.bytes is None else pin.bytes):
        raise _Differs(f"has {size:,} bytes there")
    target = below(mirror, pin.mirror_path, f"{pin.where}: mirror")
    with disk_errors(target), atomic(target) as temporary:
        with temporary.open("wb") as handle:
            shutil.copyfileobj(content, handle, PIECE)
        proof = Proof.of(pin)
        if problem := proof.problem(temporary):
            raise _Differs(problem)
        proof.record(temporary)
