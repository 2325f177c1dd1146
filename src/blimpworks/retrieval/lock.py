"""What files were that the catalogue knows by a weaker checksum than SHA-256.

The first retrieval of such a file records its SHA-256 in a table beside the catalogue
(``treebanks.lock.tsv`` for ``treebanks.tsv``), and each later one must give the same. The table is
meant to be kept with the catalogue. No job has it as an input, so that recording makes no product
stale.
"""

import csv
import sys
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from blimpworks.errors import UserError, reading
from blimpworks.files import table_rows, write_text
from blimpworks.retrieval.checksums import SHA256, Checksum
from blimpworks.retrieval.slots import exclusive


@dataclass(frozen=True, slots=True, order=True)
class Locked:
    """A file that was retrieved once: a row of the table."""

    name: str
    """Path of the retrieved file below the directory of sources."""
    verified: str
    """The checksum that it was verified by, as ``git blob id 7bf2969f…``."""
    url: str
    """Its address in the catalogue."""
    sha256: str
    bytes: int


_COLUMNS = tuple(field.name for field in fields(Locked))
_DIALECT = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}


@dataclass(frozen=True, slots=True)
class Lock:
    """The table that belongs to a catalogue's."""

    beside: Path
    """Where it lies beside the catalogue."""
    own: Path
    """Where it is written: there, or for a catalogue that is not below the current directory,
    where one of the current directory would have it."""

    @classmethod
    def of(cls, catalogue: Path) -> "Lock":
        """The table of a catalogue's."""
        beside = catalogue.with_name(f"{catalogue.stem}.lock.tsv")
        inside = beside.resolve().is_relative_to(Path.cwd().resolve())
        return cls(beside, beside if inside else Path("config", beside.name))

    def row(self, name: str, url: str, verified: str = "") -> Locked | None:
        """What is recorded of a file; None where nothing is, or of another version alone.

        A version is known by the checksum in the catalogue, ``verified``, or else by its address.

        Raises UserError for a table that cannot be read.
        """
        for path in dict.fromkeys((self.beside, self.own)):
            row = _read(path).get(name)
            if row and (row.verified == verified if verified else row.url == url):
                return row
        return None

    def record(self, new: Locked) -> None:
        """Add a row, or replace that of another version of the file.

        Jobs of this machine that record at once wait for each other. Where the table cannot be
        written, a line on standard error says so.

        Raises UserError for a table that cannot be read, and where another job has recorded
        another SHA-256 of the same version.
        """
        with exclusive(str(self.own.absolute())):
            rows = _read(self.own)
            before = rows.get(new.name)
            if before == new:
                return
            if before and (before.verified, before.url) == (new.verified, new.url):
                raise UserError(
                    f"{self.own}: {new.name} has SHA-256 {before.sha256} there, and was now "
                    f"received with {new.sha256}, both with {new.verified}; one of them is not "
                    "the file. Find out which before you remove the row."
                )
            rows[new.name] = new
            try:
                _write(self.own, rows)
            except OSError as error:
                note = f"{self.own}: not recorded that {new.name} has SHA-256 {new.sha256}"
                print(f"{note} ({error.strerror})", file=sys.stderr)

    def checksum(self, row: Locked) -> Checksum:
        """What a file must give that was retrieved before."""
        origin = f"{self.own.name} recorded when it was first retrieved"
        return Checksum(SHA256, row.sha256, row.bytes, origin)


def _read(path: Path) -> dict[str, Locked]:
    """Rows of a table by their names; none where there is no table."""
    if not path.is_file():
        return {}
    with reading(path, "a table of retrieved files", "Restore it, or remove it to begin anew."):
        cells = [row for _, row in table_rows(path, _COLUMNS, **_DIALECT)]
        rows = [
            Locked(r["name"], r["verified"], r["url"], r["sha256"], int(r["bytes"])) for r in cells
        ]
    return {row.name: row for row in rows}


def _write(path: Path, rows: dict[str, Locked]) -> None:
    lines = [_COLUMNS, *(map(str, astuple(row)) for row in sorted(rows.values()))]
    write_text(path, "".join("\t".join(cells) + "\n" for cells in lines))
