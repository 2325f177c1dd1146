"""Fill in missing checksums of catalogue rows."""

import csv
import io
import lzma
import re
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from blimpworks.campaign.addresses import shown
from blimpworks.campaign.catalogue import SourceRow, TreebankRow
from blimpworks.campaign.table_files import dialect, headings, named_row, read_rows
from blimpworks.errors import UserError, reading
from blimpworks.files import scratch, sha256_of, write_text
from blimpworks.retrieval.download import Transfer
from blimpworks.retrieval.sources import Pin, checksum_of, in_mirror

_COMMIT = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_VERSION = re.compile(r"(?<![0-9A-Za-z.])[vr]?\d+(\.\d+)+")
_ARCHIVES = ("https://zenodo.org/record/", "https://dl.fbaipublicfiles.com/colorless-green-rnns/")
"""Addresses of deposits that never change, though they name no version."""
_MOVING = {"HEAD", "main", "master", "latest", "develop", "trunk"}


def is_fixed(url: str) -> bool:
    """Tell whether an address names one state: a commit, version, or deposit in an archive."""
    if url.startswith(_ARCHIVES):
        return True
    path = urlsplit(url).path
    moving = not _MOVING.isdisjoint(path.split("/"))
    return bool(_COMMIT.search(path)) or (bool(_VERSION.search(path)) and not moving)


def pinnable_names(catalogue: Path, mirror: Path | None = None) -> list[str]:
    """List unpinned rows whose file a ``mirror`` has, or whose address names one state of it."""
    pins = [pin for pin in _pins(catalogue) if not pin.is_pinned]
    return [pin.name for pin in pins if in_mirror(pin, mirror) or is_fixed(pin.url)]


def unpinnable_names(catalogue: Path) -> list[str]:
    """List unpinned rows whose address names no single state of a file, mirrored or not."""
    return [pin.name for pin in _pins(catalogue) if not pin.is_pinned and not is_fixed(pin.url)]


def pin_row(catalogue: Path, name: str, *, mirror: Path | None = None) -> Pin:
    """Record the sha256 and bytes of row ``name`` in ``catalogue``, and return the filled pin.

    Reads the file in ``mirror``, or else downloads it. ``name``: path of the retrieved file
    relative to the directory of sources. All other cells, the order of rows and line ends stay,
    except for quotes in a .csv.

    Raises UserError for an unknown or pinned row, an address without commit or version, and a
    failed download.
    """
    pin = named_row({pin.name: pin for pin in _pins(catalogue)}, name, catalogue)
    if pin.sha256:
        raise UserError(
            f"{pin.where} already has SHA-256 {pin.sha256}; to pin it anew, empty its sha256 "
            "and bytes first."
        )
    mirrored = in_mirror(pin, mirror)
    with scratch("blimpworks-pin") as directory:
        file = directory / "file"
        if mirrored:
            packed = mirrored.suffix == ".xz" and not pin.mirror.endswith(".xz")
            explained = reading(mirrored, "a file of the mirror, perhaps as .xz", "Replace it.")
            opened = lzma.open if packed else open
            with explained, opened(mirrored, "rb") as source, file.open("wb") as target:
                shutil.copyfileobj(source, target)
        elif not is_fixed(pin.url):
            raise UserError(
                f"{pin.where}: url is {shown(pin.url)!r}, expected one with a 40-digit commit or "
                "a version, because a moving file has no lasting checksum; put the commit into "
                "the url. Of a file of your own, name the directory that it lies in with --mirror."
            )
        else:
            instead = "pin it on another machine"
            Transfer(pin.url, file, pin.bytes, pin.where, instead).run()
        recorded = checksum_of(pin.locked, catalogue) if pin.locked else None
        for checksum in filter(None, (pin.blob, recorded)):
            if problem := checksum.problem(file):
                origin = mirrored or shown(pin.url)
                raise UserError(
                    f"{pin.where}: {origin} {problem}; correct the row, or replace the file."
                )
        filled = replace(pin, sha256=sha256_of(file), bytes=file.stat().st_size)
    # Read again: somebody may have edited the table while the file came in.
    _record(catalogue, [pin.name for pin in _pins(catalogue)].index(name), filled)
    return filled


def _pins(catalogue: Path) -> list[Pin]:
    columns = headings(catalogue)
    row_class: type[TreebankRow | SourceRow] = TreebankRow if "treebank" in columns else SourceRow
    return [Pin.of(row, catalogue) for row in read_rows(row_class, catalogue)]


def _record(catalogue: Path, index: int, pin: Pin) -> None:
    """Write checksum and size into a row. Raises UserError for a table with breaks in cells."""
    with catalogue.open(encoding="utf-8", newline="") as handle:
        text = handle.read()
    lines = text.split("\n")
    nonempty = [i for i, line in enumerate(lines) if line.rstrip("\r")]
    records = [*csv.reader(io.StringIO(text, newline=""), **dialect(catalogue))]
    if len([*filter(None, records)]) != len(nonempty):
        raise UserError(
            f"{catalogue} has line breaks in cells, expected a line for each row; remove them, or "
            f"write SHA-256 {pin.sha256} and {pin.bytes} bytes into the row of {pin.name}."
        )
    line_number = nonempty[index + 1]
    line = lines[line_number].rstrip("\r")
    columns = headings(catalogue)
    [cells] = csv.reader([line], **dialect(catalogue))
    cells[columns.index("sha256")] = pin.sha256
    cells[columns.index("bytes")] = str(pin.bytes)
    row = io.StringIO()
    csv.writer(row, lineterminator="", **dialect(catalogue)).writerow(cells)
    lines[line_number] = row.getvalue() + lines[line_number][len(line) :]
    write_text(catalogue, "\n".join(lines))
