"""Record missing checksums in catalogues, and copy pinned files of an archive into a mirror.

``pin_row`` writes the SHA-256 of a file into its row of a catalogue table. ``fetch_archive`` fills
a mirror, which is a directory with copies of pinned files.
"""

import csv
import io
import re
import shutil
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

from blimpworks.campaign.addresses import check_listed, shown
from blimpworks.campaign.catalogue import SourceRow, TreebankRow
from blimpworks.campaign.table_files import dialect, headings, named_row, read_rows
from blimpworks.errors import BROKEN, UserError, reading
from blimpworks.files import atomic, below, scratch, sha256_of, write_text
from blimpworks.retrieval import sources
from blimpworks.retrieval.download import Transfer
from blimpworks.strict import PathComponent, Strict, Within

_COMMIT = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_VERSION = re.compile(r"(?<![0-9A-Za-z.])[vr]?\d+(\.\d+)+")
"""Version in an address, such as "r2.15" in ".../UD_German/r2.15/de.conllu"."""
_ARCHIVES = ("https://zenodo.org/record/", "https://dl.fbaipublicfiles.com/colorless-green-rnns/")
"""Addresses of archives in which a file never changes, although they name no version."""
_MOVING = {"HEAD", "main", "master", "latest", "develop", "trunk"}
"""Directories of an address whose files change, although another directory may name a version."""


def is_fixed(url: str) -> bool:
    """Tell whether the file at an address never changes: by a commit, a version or an archive."""
    if url.startswith(_ARCHIVES):
        return True
    path = urlsplit(url).path
    if _COMMIT.search(path):
        return True
    return bool(_VERSION.search(path)) and _MOVING.isdisjoint(path.split("/"))


def unpinned_names(catalogue: Path, mirror: Path | None = None) -> dict[str, bool]:
    """Return {unpinned row: whether it can be pinned, from ``mirror`` or by a fixed address}."""
    pins = (pin for pin in _pins(catalogue) if not pin.is_pinned)
    return {pin.name: bool(sources.in_mirror(pin, mirror)) or is_fixed(pin.url) for pin in pins}


def pin_row(catalogue: Path, name: str, *, mirror: Path | None = None) -> sources.Pin:
    """Write the sha256 and bytes of row ``name`` into ``catalogue``, and return the filled pin.

    The file is read from ``mirror``, or else downloaded. ``name``: path of the retrieved file,
    relative to the directory of sources. All other bytes of the catalogue stay, except quotes in
    this row of a .csv.

    Raises UserError for an unknown or pinned row, an address without commit or version, and a
    failed download.
    """
    pin = named_row({pin.name: pin for pin in _pins(catalogue)}, name, catalogue)
    if pin.sha256:
        raise UserError(
            f"{pin.where} already has SHA-256 {pin.sha256}; to pin it again, empty its sha256 "
            "and bytes first."
        )
    mirrored = sources.in_mirror(pin, mirror)
    with scratch("blimpworks-pin") as directory:
        file = directory / "file"
        if mirrored:
            with (
                reading(mirrored, "a file of the mirror, perhaps as .xz", "Replace it."),
                sources.open_mirrored(pin, mirrored) as source,
                file.open("wb") as target,
            ):
                shutil.copyfileobj(source, target)
        elif not is_fixed(pin.url):
            raise UserError(
                f"{pin.where}: url is {shown(pin.url)!r}, expected one with a 40-digit commit or "
                "a version, because a moving file has no lasting checksum; put the commit into "
                "the url. For a file of your own, name its directory with --mirror."
            )
        else:
            instead = "pin it on another machine"
            Transfer(pin.url, file, pin.bytes, pin.where, instead).run()
        for checksum in pin.checksums:
            if problem := checksum.problem(file):
                origin = mirrored or shown(pin.url)
                raise UserError(
                    f"{pin.where}: {origin} {problem}; correct the row, or replace the file."
                )
        filled = replace(pin, sha256=sha256_of(file), bytes=file.stat().st_size)
    # Read the table again: a user may have edited it during the download.
    _write_checksum(catalogue, [pin.name for pin in _pins(catalogue)].index(name), filled)
    return filled


def _pins(catalogue: Path) -> list[sources.Pin]:
    columns = headings(catalogue)
    row_class: type[TreebankRow | SourceRow] = TreebankRow if "treebank" in columns else SourceRow
    return [sources.Pin.of(row, catalogue) for row in read_rows(row_class, catalogue)]


def _write_checksum(catalogue: Path, index: int, pin: sources.Pin) -> None:
    """Write checksum and size into row ``index`` of a table, and leave its other lines unchanged.

    Raises UserError for a table with line breaks in cells.
    """
    with catalogue.open(encoding="utf-8", newline="") as handle:
        text = handle.read()
    lines = text.split("\n")
    # Numbers of the lines that are not empty: the headings, then the rows.
    row_lines = [number for number, line in enumerate(lines) if line.rstrip("\r")]
    records = csv.reader(io.StringIO(text, newline=""), **dialect(catalogue))
    if sum(map(bool, records)) != len(row_lines):
        raise UserError(
            f"{catalogue} has line breaks in cells, expected a line for each row; remove them, or "
            f"write SHA-256 {pin.sha256} and {pin.bytes} bytes into the row of {pin.name}."
        )
    line_number = row_lines[index + 1]  # after the headings
    line = lines[line_number].rstrip("\r")
    columns = headings(catalogue)
    [cells] = csv.reader([line], **dialect(catalogue))
    cells[columns.index("sha256")] = pin.sha256
    cells[columns.index("bytes")] = str(pin.bytes)
    row = io.StringIO()
    csv.writer(row, lineterminator="", **dialect(catalogue)).writerow(cells)
    line_end = lines[line_number][len(line) :]  # "\r" or nothing
    lines[line_number] = row.getvalue() + line_end
    write_text(catalogue, "\n".join(lines))


LARGEST = 4_000_000_000
"""Largest size of a file in an archive, if the catalogue has no size [bytes]."""
UNPACKED_LIMIT = 60_000_000_000
"""Largest size of all files up to the last needed one [bytes]; some archives unpack without end."""


class ArchiveRow(Strict):
    """Row of the table of archives: an archive with files of a catalogue."""

    name: PathComponent
    url: Annotated[str, AfterValidator(check_listed)]
    members: Within
    """Directory in the archive; below it, files have the same paths as in a mirror."""
    mirror: Within
    """Directory of a mirror that corresponds to ``members``."""
    note: str


@dataclass(slots=True)
class ArchiveOutcome:
    """Names of the pinned files that a mirror should have, by outcome."""

    present: list[str] = field(default_factory=list)
    """Files that the mirror already had."""
    taken: list[str] = field(default_factory=list)
    """Files that were copied from the archive."""
    differing: list[str] = field(default_factory=list)
    """Files of the archive with other content than pinned, each with the difference."""
    absent: list[str] = field(default_factory=list)
    """Files that neither the mirror nor the archive has."""


class _Differs(Exception):
    """A file of the archive is not the pinned one; the message has the difference."""


def pins_of(rows: Iterable[SourceRow | TreebankRow], catalogue: Path) -> list[sources.Pin]:
    """Return the rows of a catalogue that have a checksum, as pins."""
    return [sources.Pin.of(row, catalogue) for row in rows if row.sha256 or row.git_blob]


def fetch_archive(
    row: ArchiveRow, pins: Iterable[sources.Pin], mirror: Path, archive: Path | None = None
) -> ArchiveOutcome:
    """Download an archive and copy from it the pinned files that a mirror lacks.

    The archive needs no checksum: only files with the size and checksum of the catalogue are taken,
    to the path that the catalogue states. ``archive``: a local copy. A broken download is
    continued; the downloaded archive is deleted at the end.

    Raises UserError for a failed download, a file that is no whole tar archive, an archive that
    unpacks without end, and a full disk.
    """
    outcome, expected = ArchiveOutcome(), dict[str, sources.Pin]()
    try:
        with sources.disk_errors(mirror):
            mirror.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UserError(
            f"{mirror} is no directory, expected one for the mirror's files; name another."
        ) from error
    for pin in pins:
        if pin.mirror.startswith(f"{row.mirror}/"):
            if sources.in_mirror(pin, mirror):
                outcome.present.append(pin.name)
            else:
                path_in_archive = row.members + pin.mirror.removeprefix(row.mirror)
                expected[path_in_archive] = pin
    if expected:
        partial = sources.part_path(mirror / row.name, row.url)
        if archive is None:
            instead = "name a copy of the archive with --file"
            Transfer(row.url, partial, None, row.name, instead).run()
        _unpack(archive or partial, expected, mirror, outcome)
        partial.unlink(missing_ok=True)
    return outcome


def _unpack(
    archive: Path, expected: Mapping[str, sources.Pin], mirror: Path, outcome: ArchiveOutcome
) -> None:
    """Copy ``expected`` files, by path in the archive, to the mirror; add them to ``outcome``."""
    missing, unpacked = dict(expected), 0
    if not archive.is_file():
        raise UserError(
            f"{archive} is no file, expected a tar archive; correct --file, or leave it out."
        )
    try:
        with tarfile.open(archive, "r|*") as members:
            for member in members:
                unpacked += member.size
                if unpacked > UNPACKED_LIMIT:
                    raise UserError(
                        f"{archive} unpacks to more than {UNPACKED_LIMIT:,} bytes; replace it."
                    )
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


def _take(content: IO[bytes] | None, size: int, pin: sources.Pin, mirror: Path) -> None:
    """Copy one file into the mirror. Raises _Differs for another file than pinned."""
    if content is None:
        raise _Differs("is no file there")
    if size > (LARGEST if pin.bytes is None else pin.bytes):
        raise _Differs(f"has {size:,} bytes there")
    target = below(mirror, pin.mirror_path, f"{pin.where}: mirror")
    with sources.disk_errors(target), atomic(target) as temporary:
        with temporary.open("wb") as handle:
            shutil.copyfileobj(content, handle, sources.PIECE)
        proof = sources.Proof.of(pin)
        if problem := proof.problem(temporary):
            raise _Differs(problem)
        proof.record(temporary)
