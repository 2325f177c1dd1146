"""Commits of models of the hub, as locked when they were first retrieved."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from blimpworks.campaign.lock_file import LockedRow, lock_files, read_file
from blimpworks.records.job import REPOSITORY

Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class LockedModel(LockedRow):
    """What a branch, tag or pull request of a model was when it was first retrieved."""

    key: ClassVar = ("hf_id", "revision")
    hf_id: str
    """Owner and name on the hub, for one language where there is a repository for each."""
    revision: str
    """Branch, tag or reference, as the table of models has it."""
    commit: Commit
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    """Day on which it was resolved (UTC)."""
    replaces: Commit | Annotated[str, Field(pattern=r"^$")] = ""
    """Commit that was locked before, where somebody has accepted another: then, and only then,
    what was made of that one is made anew."""


def is_commit(revision: str) -> bool:
    """Whether a revision is a commit, which cannot move."""
    return re.fullmatch(r"[0-9a-f]{40}", revision) is not None


@dataclass(frozen=True, slots=True)
class Locked:
    """A locked revision, and the tables that it concerns."""

    row: LockedModel
    file: Path
    """Lock file that has it."""
    table: Path
    """Table of models of those who use it: its own, or one that goes by another's lock file."""

    def moved(self, commit: str, name: str) -> str:
        """What to do where the revision is another ``commit`` now, of the model called ``name``.

        Without the full stop, as of what may stand in a list.
        """
        row, table = self.row, self.table
        return (
            f"{row.hf_id}: {row.revision!r} has moved on the hub, from commit {row.commit}, locked "
            f"on {row.date} in {self.file}, to {commit}; to stay with the first, make it the "
            f"revision in {table}, and to take the second, run `blimpworks pin {table} {name}`"
        )


def model_tables(table: Path) -> list[Path]:
    """Tables of models by whose lock files the models of ``table`` go: its own, the repository's.

    By whole paths; the same table stands there once.
    """
    return [*dict.fromkeys((table.absolute(), REPOSITORY / "config/models.tsv"))]


LockedModels = Mapping[tuple[str, ...], Locked]
"""What is locked, by id on the hub and revision."""


def locked_models(tables: Sequence[Path]) -> LockedModels:
    """What is locked, by id on the hub and revision; the first of ``tables`` that has it counts.

    The models are those of the first of ``tables``. Raises UserError for a malformed lock file.
    """
    locked: dict[tuple[str, ...], Locked] = {}
    for file in (file for table in reversed(tables) for file in reversed(lock_files(table))):
        rows = read_file(LockedModel, file)
        locked |= {key: Locked(row, file, tables[0]) for key, row in rows.items()}
    return locked
