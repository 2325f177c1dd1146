"""Commits of models of the hub, as locked when they were first retrieved."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from blimpworks.campaign.lock_file import LockedRow, lock_path, read_lock

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


def is_table_of_models(table: Path) -> bool:
    """Whether a table of the catalogue is one of models, by its headings."""
    text = table.read_text(encoding="utf-8", errors="replace") if table.is_file() else ""
    return "hf_id" in text.partition("\n")[0].split("\t")


Locked = tuple[LockedModel, Path]
"""A row of a lock file, and the table of models that the file belongs to."""


def locked_models(tables: Sequence[Path]) -> dict[tuple[str, ...], Locked]:
    """What is locked, by id on the hub and revision; the first of ``tables`` that has it counts.

    Raises UserError for a malformed lock file.
    """
    rows: dict[tuple[str, ...], Locked] = {}
    for table in reversed(tables):
        rows |= {key: (row, table) for key, row in read_lock(LockedModel, table).items()}
    return rows


def moved_sentence(row: LockedModel, table: Path, commit: str, name: str) -> str:
    """What to do where a locked revision is another ``commit`` now, of the model called ``name``.

    Without the full stop, as of what may stand in a list.
    """
    return (
        f"{row.hf_id}: {row.revision!r} has moved on the hub, from commit {row.commit}, locked on "
        f"{row.date} in {lock_path(table)}, to {commit}; to stay with the first, make it the "
        f"revision in {table}, and to take the second, run `blimpworks pin {table} {name}`"
    )
