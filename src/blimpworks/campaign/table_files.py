"""Read the catalogue's tables (``read_rows``), and read and write their lock files.

``read_rows(ModelRow, path)`` reads a table such as ``config/models.tsv``, which is tab-separated,
or comma-separated if it is a .csv file. Its lock file, ``config/models.lock.tsv``, has versions
that the table leaves open, such as a branch's commit when retrieved (``read_lock``, ``record``):

    hf_id        revision   commit           date         replaces
    gpt2         main       607a30d783df…    2026-05-01

Users commit the lock file with the table. Several jobs may write it at the same time. It is no
input or parameter of the workflow's rules, so no product becomes out of date when it is written.
"""

import csv
import difflib
import fcntl
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from blimpworks.campaign.addresses import shown
from blimpworks.errors import UserError, reading
from blimpworks.files import BadLine, table_rows, text_of, write_text
from blimpworks.records.job import REPOSITORY
from blimpworks.strict import Strict

AnyRow = TypeVar("AnyRow")
Row = TypeVar("Row", bound=BaseModel)


def dialect(table: Path) -> dict[str, Any]:
    """Return options of the csv module for a table: in other files than .csv, " is no quote."""
    if table.suffix == ".csv":
        return {}
    return {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}


def headings(table: Path) -> list[str]:
    """Return the headings of a table; an empty list if the file is missing or empty."""
    text = table.read_text(encoding="utf-8-sig", errors="replace") if table.is_file() else ""
    return next(csv.reader(text.splitlines()[:1], **dialect(table)), [])


def named_row(rows: Mapping[str, AnyRow], name: str, table: Path) -> AnyRow:
    """Return the row ``name`` of a table. Raises UserError if there is none."""
    if name not in rows:
        closest = difflib.get_close_matches(name, rows, n=1, cutoff=0.0)  # any row, if there is one
        hint = f"did you mean {closest[0]}?" if closest else "the table is empty."
        raise UserError(f"{table} has no row {name!r}; {hint}")
    return rows[name]


def keyed(rows: Sequence[AnyRow], key: str, path: Path) -> dict[str, AnyRow]:
    """Return {value of the field ``key``: row}. Raises UserError for a value in several rows."""
    for value, count in Counter(getattr(row, key) for row in rows).items():
        if count > 1:
            raise UserError(f"{path}: {key} {value!r} is in {count} rows; keep one.")
    return {getattr(row, key): row for row in rows}


def read_rows(row_type: type[Row], path: Path) -> list[Row]:
    """Read a table with headings as objects of the pydantic model ``row_type``.

    Columns of fields with a default may be absent. Raises UserError with file, line and column of
    the first wrong cell, and for a repeated row.
    """
    remedy = "Write it so, in UTF-8, and close each quote."
    with_message = reading(path, f"a table of {row_type.__name__}", remedy)
    with with_message, io.StringIO(text_of(path, "utf-8-sig"), newline="") as handle:
        # Without ``strict``, a quote that is never closed would take all further rows into a cell.
        reader = csv.DictReader(handle, strict=True, **dialect(path))
        header, fields = reader.fieldnames or [], row_type.model_fields
        required = {name for name, field in fields.items() if field.is_required()}
        if len(header) > len({*header}) or not required <= {*header} <= {*fields}:
            unknown = ", ".join(sorted({*header} - {*fields})) or "none"
            missing = ", ".join(sorted(required - {*header})) or "none"
            raise UserError(
                f"{path}:1: unknown columns: {unknown:.100}; missing columns: {missing}. "
                f"Expected: {', '.join(fields)}."
            )
        first_lines: dict[str, int] = {}
        rows = []
        for cells in reader:
            line = reader.line_num
            first_line = first_lines.setdefault(repr(cells), line)
            if first_line != line:
                raise BadLine(line, f"the row is also in line {first_line}")
            rows.append(_validate_row(row_type, cells, path, line))
        return rows


def _validate_row(row_type: type[Row], row: dict[str, str], path: Path, line: int) -> Row:
    # DictReader puts cells beyond the last heading under the key None, and None for absent cells.
    if None in row or None in row.values():
        more_or_fewer = "more" if None in row else "fewer"
        raise UserError(
            f"{path}:{line}: {more_or_fewer} cells than headings ({len(row.keys() - {None})}); add "
            "or remove separators, and in a .csv put quotes around a cell that holds commas."
        )
    try:
        return row_type.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        column = ".".join(str(location) for location in first["loc"])
        cell = shown(row[column]) if column == "url" else first["input"]
        where = f"column {column!r} is {cell!r}: " if column else ""
        raise UserError(f"{path}:{line}: {where}{first['msg'].lower()}.") from error


class LockedRow(Strict):
    """Base class of rows of lock files; no cell may contain a control character."""

    key: ClassVar[tuple[str, ...]]
    """Names of the fields that identify a row."""

    @model_validator(mode="after")
    def _check_characters(self) -> Self:
        cells = [str(value) for value in self.model_dump().values()]
        if any(unicodedata.category(sign) == "Cc" for cell in cells for sign in cell):
            raise ValueError("a cell has a tab, a line break or another control character")
        return self

    def identity(self) -> tuple[str, ...]:
        """Return the values of the fields in ``key``."""
        return tuple(str(getattr(self, name)) for name in self.key)


LockRow = TypeVar("LockRow", bound=LockedRow)


def _beside(table: Path) -> Path:
    return table.with_name(f"{table.stem}.lock.tsv")


def lock_path(table: Path) -> Path:
    """Return the lock file to write: beside the table, or in ``config/`` for a table elsewhere."""
    inside = table.resolve().is_relative_to(Path.cwd().resolve())
    return _beside(table if inside else Path("config", table.name))


def lock_files(table: Path) -> list[Path]:
    """Return the lock files to read for a table; rows in the first take precedence."""
    return [*dict.fromkeys((lock_path(table), _beside(table)))]


def _read_lock_file(row_type: type[LockRow], path: Path) -> dict[tuple[str, ...], LockRow]:
    """Return {identity: row} of a lock file. Raises UserError, with the line, for a wrong row."""
    rows: dict[tuple[str, ...], LockRow] = {}
    remedy = "Correct the line or delete it: it is made again when its row is next retrieved."
    if not path.exists():
        return rows
    with reading(path, f"a lock file of {row_type.__name__}", remedy):
        columns = [*row_type.model_fields]
        if text_of(path).strip() in ("", "\t".join(columns)):
            return rows
        for line, cells in table_rows(path, columns, delimiter="\t", quoting=csv.QUOTE_NONE):
            with reading(Path(f"{path}:{line}"), f"a row of {row_type.__name__}", remedy):
                row = row_type.model_validate(cells)
            if row.identity() in rows:
                raise UserError(f"{path}:{line}: a second row of {row.identity()}; keep one.")
            rows[row.identity()] = row
    return rows


def read_lock(row_type: type[LockRow], table: Path) -> dict[tuple[str, ...], LockRow]:
    """Return {identity: row} of a table's lock files. Raises UserError for a malformed file."""
    rows: dict[tuple[str, ...], LockRow] = {}
    for path in reversed(lock_files(table)):  # so that rows of the first file take precedence
        rows |= _read_lock_file(row_type, path)
    return rows


def record(row: LockRow, table: Path, *, replace: bool = False) -> LockRow:
    """Add a row to the lock file of a table, and return the row that the file then contains.

    If another job has written a row with the same ``identity``, that row stays, unless ``replace``.
    Raises UserError for a malformed lock file, and OSError if it cannot be written.
    """
    path, row_class = lock_path(table), type(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.guard").open("w", encoding="utf-8") as guard:
        # Some network disks cannot lock files. A lost row is recorded again by a later job.
        with suppress(OSError):
            fcntl.flock(guard, fcntl.LOCK_EX)
        existing = read_lock(row_class, table).get(row.identity())
        if existing is not None and not replace:
            return existing
        # Sort the rows, so that their order does not depend on which job is first.
        rows = _read_lock_file(row_class, path)
        rows[row.identity()] = row
        lines = [[*row_class.model_fields]]
        for _, locked in sorted(rows.items()):
            lines.append([str(getattr(locked, name)) for name in row_class.model_fields])
        write_text(path, "".join("\t".join(line) + "\n" for line in lines))
    return row


Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class LockedModel(LockedRow):
    """The commit of a model's branch, tag or pull request when first retrieved."""

    key: ClassVar = ("hf_id", "revision")
    hf_id: str
    """Owner and name on the hub, with the language filled in."""
    revision: str
    """Branch, tag or reference, as in the table of models."""
    commit: Commit
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")] = Field(
        default_factory=lambda: datetime.now(UTC).date().isoformat()
    )
    """Day of its resolution (UTC)."""
    replaces: Commit | Annotated[str, Field(pattern=r"^$")] = ""
    """Commit that was locked until a user accepted ``commit``; products are then made again."""


def is_commit(revision: str) -> bool:
    """Return whether a revision is fixed: a commit (40 digits), or a file's SHA-256 (64 digits)."""
    return re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", revision) is not None


@dataclass(frozen=True, slots=True)
class Locked:
    """A row of a lock file of models, and the files that have it."""

    row: LockedModel
    file: Path
    """The lock file."""
    table: Path
    """Table of models with the revision; the lock file may be beside another table."""

    def moved(self, commit: str, name: str) -> str:
        """Return a message, without a full stop, if the revision of ``name`` is now ``commit``."""
        row, table = self.row, self.table
        return (
            f"{row.hf_id}: {row.revision!r} has moved on the hub, from commit {row.commit}, locked "
            f"on {row.date} in {self.file}, to {commit}; to stay with the first, make it the "
            f"revision in {table}, and to take the second, run `blimpworks pin {table} {name}`"
        )


def model_tables(table: Path) -> list[Path]:
    """Return the tables whose lock files apply to ``table``: itself and the repository's."""
    return [*dict.fromkeys((table.absolute(), REPOSITORY / "config/models.tsv"))]


def locked_models(tables: Sequence[Path]) -> Mapping[tuple[str, ...], Locked]:
    """Return the locked models in the lock files of ``tables``, keyed by (hub id, revision).

    ``tables``: from ``model_tables``; lock files of earlier tables take precedence. Raises
    UserError for a malformed lock file.
    """
    locked: dict[tuple[str, ...], Locked] = {}
    for table in reversed(tables):
        for file in reversed(lock_files(table)):
            for key, row in _read_lock_file(LockedModel, file).items():
                locked[key] = Locked(row, file, tables[0])
    return locked
