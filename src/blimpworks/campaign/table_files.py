"""Read tables of the catalogue, and read and write their lock files.

Tables are tab-separated, or comma-separated in .csv files. The lock file of a table
(``models.lock.tsv`` beside ``models.tsv``) records versions that the table leaves open, such as the
commit of a branch when it was first retrieved. The file is committed with the table, and many jobs
may write it at a time. No rule has it as a parameter, so that writing it makes no product stale.
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

Named = TypeVar("Named")
Row = TypeVar("Row", bound=BaseModel)


def dialect(table: Path) -> dict[str, Any]:
    """Return a table's format for the csv module: quotes only in .csv files."""
    if table.suffix == ".csv":
        return {}
    return {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}


def headings(table: Path) -> list[str]:
    """Return the headings of a table; an empty list where the file is missing or empty."""
    text = table.read_text(encoding="utf-8", errors="replace") if table.is_file() else ""
    return next(csv.reader(text.splitlines()[:1], **dialect(table)), [])


def named_row(rows: Mapping[str, Named], name: str, table: Path) -> Named:
    """Return the row ``name`` of a table. Raises UserError where there is none."""
    if name not in rows:
        close = difflib.get_close_matches(name, rows, n=1, cutoff=0.0)
        hint = f"did you mean {close[0]}?" if close else "the table is empty."
        raise UserError(f"{table} has no row {name!r}; {hint}")
    return rows[name]


def keyed(rows: Sequence[Named], key: str, path: Path) -> dict[str, Named]:
    """Return rows by one of their fields. Raises UserError for a repeated value."""
    names = Counter(getattr(row, key) for row in rows)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise UserError(f"{path}: {key} {twice[0]!r} stands in {names[twice[0]]} rows; keep one.")
    return {getattr(row, key): row for row in rows}


def read_rows(row_type: type[Row], path: Path) -> list[Row]:
    """Read a table with headings, and validate each row by a pydantic model.

    Columns of fields with a default may be absent. Raises UserError with file, line and column of
    the first wrong cell.
    """
    expected = reading(path, f"a table of {row_type.__name__}", "Write it so, in UTF-8.")
    with expected, io.StringIO(text_of(path), newline="") as handle:
        reader = csv.DictReader(handle, **dialect(path))
        _check_header(reader.fieldnames or [], row_type, path)
        lines: dict[str, int] = {}
        rows = []
        for row in reader:
            line = reader.line_num
            if (first := lines.setdefault(repr(row), line)) != line:
                raise BadLine(line, f"the row stands in line {first} too")
            rows.append(_row(row_type, row, path, line))
        return rows


def _check_header(header: Sequence[str], row_type: type[BaseModel], path: Path) -> None:
    expected = list(row_type.model_fields)
    required = [name for name in expected if row_type.model_fields[name].is_required()]
    if len(header) > len({*header}) or not {*required} <= {*header} <= {*expected}:
        unknown = ", ".join(sorted(set(header) - set(expected))) or "none"
        missing = ", ".join(sorted(set(required) - set(header))) or "none"
        raise UserError(
            f"{path}:1: unknown columns: {unknown:.100}; missing columns: {missing}. "
            f"Expected: {', '.join(expected)}."
        )


def _row(row_type: type[Row], row: dict[str, str], path: Path, line: int) -> Row:
    # DictReader puts cells beyond the last heading under the key None, and None for absent cells.
    if None in row or None in row.values():
        more_or_fewer, headings = "more" if None in row else "fewer", row.keys() - {None}
        raise UserError(
            f"{path}:{line}: {more_or_fewer} cells than headings ({len(headings)}); add or remove "
            "separators, and in a .csv put quotes around a cell that holds commas."
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
    """Base of the rows of lock files; no cell may contain a control character."""

    key: ClassVar[tuple[str, ...]]
    """Fields that identify a row."""

    @model_validator(mode="after")
    def _one_line(self) -> Self:
        cells = [str(value) for value in self.model_dump().values()]
        if any(unicodedata.category(sign) == "Cc" for cell in cells for sign in cell):
            raise ValueError("a cell has a tab, a line break or another control character")
        return self

    def identity(self) -> tuple[str, ...]:
        """Return the values of ``key``."""
        return tuple(str(getattr(self, name)) for name in self.key)


Locking = TypeVar("Locking", bound=LockedRow)


def _beside(table: Path) -> Path:
    return table.with_name(f"{table.stem}.lock.tsv")


def lock_path(table: Path) -> Path:
    """Return the lock file to write: beside the table, or in ``config/`` for a table elsewhere."""
    inside = table.resolve().is_relative_to(Path.cwd().resolve())
    return _beside(table if inside else Path("config", table.name))


def lock_files(table: Path) -> list[Path]:
    """Return the lock files to read for a table; rows in the first take precedence."""
    return [*dict.fromkeys((lock_path(table), _beside(table)))]


def read_file(row_type: type[Locking], path: Path) -> dict[tuple[str, ...], Locking]:
    """Return the rows of a lock file; none where it is missing or has only headings.

    Raises UserError, with file and line, for a malformed one.
    """
    rows: dict[tuple[str, ...], Locking] = {}
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
                raise UserError(f"{path}:{line}: {row.identity()} stands there twice; keep one.")
            rows[row.identity()] = row
    return rows


def read_lock(row_type: type[Locking], table: Path) -> dict[tuple[str, ...], Locking]:
    """Return the locked rows of a table, by ``identity``. Raises as ``read_file``."""
    rows: dict[tuple[str, ...], Locking] = {}
    for path in reversed(lock_files(table)):
        rows |= read_file(row_type, path)
    return rows


def record(row: Locking, table: Path, *, replace: bool = False) -> Locking:
    """Add a row to the lock file of a table atomically, and return the row that is in it then.

    The row of the first job that records it stays, unless ``replace``. Raises UserError for a
    malformed lock file, OSError where it cannot be written.
    """
    path, row_class = lock_path(table), type(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.guard").open("w", encoding="utf-8") as guard:
        # Some network disks cannot lock files. A row may then be lost, and is recorded again.
        with suppress(OSError):
            fcntl.flock(guard, fcntl.LOCK_EX)
        standing = read_lock(row_class, table).get(row.identity())
        if standing is not None and not replace:
            return standing
        lines = [[*row_class.model_fields]]
        # Rows are sorted by key, so that their order does not depend on the jobs'.
        for _, locked in sorted((read_file(row_class, path) | {row.identity(): row}).items()):
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
    """Commit that was locked before a user accepted another, for which products are made again."""


def is_commit(revision: str) -> bool:
    """Return whether a revision is fixed: a commit, or the SHA-256 of a file."""
    return re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", revision) is not None


@dataclass(frozen=True, slots=True)
class Locked:
    """A locked revision, with its lock file and the table of models."""

    row: LockedModel
    file: Path
    table: Path
    """Table of models that names the revision; its lock file may be another."""

    def moved(self, commit: str, name: str) -> str:
        """Return advice, without a full stop, for a revision that is another commit now."""
        row, table = self.row, self.table
        return (
            f"{row.hf_id}: {row.revision!r} has moved on the hub, from commit {row.commit}, locked "
            f"on {row.date} in {self.file}, to {commit}; to stay with the first, make it the "
            f"revision in {table}, and to take the second, run `blimpworks pin {table} {name}`"
        )


def model_tables(table: Path) -> list[Path]:
    """Return the tables with lock files for the models of ``table``: this and the repository's."""
    return [*dict.fromkeys((table.absolute(), REPOSITORY / "config/models.tsv"))]


LockedModels = Mapping[tuple[str, ...], Locked]
"""Locked revisions by hub id and revision."""


def locked_models(tables: Sequence[Path]) -> LockedModels:
    """Return the locked revisions for the models of the first of ``tables``.

    Lock files of earlier tables take precedence. Raises UserError for a malformed one.
    """
    locked: dict[tuple[str, ...], Locked] = {}
    for file in (file for table in reversed(tables) for file in reversed(lock_files(table))):
        rows = read_file(LockedModel, file)
        locked |= {key: Locked(row, file, tables[0]) for key, row in rows.items()}
    return locked
