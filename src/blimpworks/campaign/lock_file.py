"""Lock files: versions that a table of the catalogue left open, recorded when first retrieved.

A lock file is beside its table (``models.lock.tsv`` beside ``models.tsv``) and is committed with
it. Many jobs may write it at a time. No rule has it as a parameter, so that writing it makes
nothing stale.
"""

import csv
import fcntl
import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar, Self, TypeVar

from pydantic import Field, model_validator

from blimpworks.errors import UserError, reading
from blimpworks.files import table_rows, text_of, write_text
from blimpworks.records.job import REPOSITORY
from blimpworks.strict import Strict


class LockedRow(Strict):
    """A row of a lock file, without control characters."""

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


Row = TypeVar("Row", bound=LockedRow)


def _beside(table: Path) -> Path:
    return table.with_name(f"{table.stem}.lock.tsv")


def lock_path(table: Path) -> Path:
    """Return the lock file to write for a table: beside it, or in ``config/`` for one elsewhere."""
    inside = table.resolve().is_relative_to(Path.cwd().resolve())
    return _beside(table if inside else Path("config", table.name))


def lock_files(table: Path) -> list[Path]:
    """Return the lock files to read for a table; rows of the first take precedence."""
    return [*dict.fromkeys((lock_path(table), _beside(table)))]


def read_file(kind: type[Row], path: Path) -> dict[tuple[str, ...], Row]:
    """Return the rows of one lock file, none where it is missing or has only headings.

    Raises UserError, with file and line, for a malformed one.
    """
    rows: dict[tuple[str, ...], Row] = {}
    remedy = "Correct the line or delete it: it is made again when its row is next retrieved."
    if not path.exists():
        return rows
    with reading(path, f"a lock file of {kind.__name__}", remedy):
        columns = [*kind.model_fields]
        if text_of(path).strip() in ("", "\t".join(columns)):
            return rows
        for line, cells in table_rows(path, columns, delimiter="\t", quoting=csv.QUOTE_NONE):
            with reading(Path(f"{path}:{line}"), f"a row of {kind.__name__}", remedy):
                row = kind.model_validate(cells)
            if row.identity() in rows:
                raise UserError(f"{path}:{line}: {row.identity()} stands there twice; keep one.")
            rows[row.identity()] = row
    return rows


def read_lock(kind: type[Row], table: Path) -> dict[tuple[str, ...], Row]:
    """Return the locked rows of a table, by ``identity``. Raises as ``read_file``."""
    rows: dict[tuple[str, ...], Row] = {}
    for path in reversed(lock_files(table)):
        rows |= read_file(kind, path)
    return rows


def record(row: Row, table: Path, *, replace: bool = False) -> Row:
    """Put a row into the lock file of a table, atomically.

    Returns the row that is there afterwards: that of the first job to record it, unless
    ``replace``. Raises UserError for a malformed lock file, OSError where none can be written.
    """
    path, row_class = lock_path(table), type(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.guard").open("w", encoding="utf-8") as guard:
        # Some disks of networks lock nothing: then a row may be lost, and is recorded again.
        with suppress(OSError):
            fcntl.flock(guard, fcntl.LOCK_EX)
        standing = read_lock(row_class, table).get(row.identity())
        if standing is not None and not replace:
            return standing
        lines = [[*row_class.model_fields]]
        # By their keys, so that their order is always the same.
        for _, locked in sorted((read_file(row_class, path) | {row.identity(): row}).items()):
            lines.append([str(getattr(locked, name)) for name in row_class.model_fields])
        write_text(path, "".join("\t".join(line) + "\n" for line in lines))
    return row


Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class LockedModel(LockedRow):
    """The commit of a model's branch, tag or pull request when first retrieved."""

    key: ClassVar = ("hf_id", "revision")
    hf_id: str
    """Owner and name on the hub, of one language where each has a repository."""
    revision: str
    """Branch, tag or reference, as in the table of models."""
    commit: Commit
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")] = Field(
        default_factory=lambda: datetime.now(UTC).date().isoformat()
    )
    """Day of its resolution (UTC)."""
    replaces: Commit | Annotated[str, Field(pattern=r"^$")] = ""
    """Commit locked before, if a user accepted another: only then its products are remade."""


def is_commit(revision: str) -> bool:
    """Return whether a revision is a commit, or a file's SHA-256, and so cannot move."""
    return re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", revision) is not None


@dataclass(frozen=True, slots=True)
class Locked:
    """A locked revision and its tables."""

    row: LockedModel
    file: Path
    table: Path
    """Table of models of its users, which may have another lock file."""

    def moved(self, commit: str, name: str) -> str:
        """Return advice for a revision that is another ``commit`` now, without the full stop."""
        row, table = self.row, self.table
        return (
            f"{row.hf_id}: {row.revision!r} has moved on the hub, from commit {row.commit}, locked "
            f"on {row.date} in {self.file}, to {commit}; to stay with the first, make it the "
            f"revision in {table}, and to take the second, run `blimpworks pin {table} {name}`"
        )


def model_tables(table: Path) -> list[Path]:
    """Return tables whose lock files hold for the models of ``table``: itself, the repository's."""
    return [*dict.fromkeys((table.absolute(), REPOSITORY / "config/models.tsv"))]


LockedModels = Mapping[tuple[str, ...], Locked]
"""Locked revisions by hub id and revision."""


def locked_models(tables: Sequence[Path]) -> LockedModels:
    """Return locked revisions for the models of the first of ``tables``.

    Earlier tables take precedence. Raises UserError for a malformed lock file.
    """
    locked: dict[tuple[str, ...], Locked] = {}
    for file in (file for table in reversed(tables) for file in reversed(lock_files(table))):
        rows = read_file(LockedModel, file)
        locked |= {key: Locked(row, file, tables[0]) for key, row in rows.items()}
    return locked
