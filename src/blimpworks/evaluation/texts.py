"""What an item says: its sentences, or the prompt and the answers to it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.audit.evidence import read_arrow
from blimpworks.judging.sample import CONDITIONS

GOOD, BAD = "✓", "✗"
"""What stands before the sentences of a pair."""


def rows_of(item: str, table: pa.Table) -> list[dict[str, Any]]:
    """Rows of an item: by its own key where items have several conditions, else by the row's id."""
    key = "item" if {*table.column_names} >= CONDITIONS else "item_id"
    rows: list[dict[str, Any]] = table.filter(pc.equal(table[key], item)).to_pylist()
    return rows


def _sentences(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What the rows of an item say, a line each."""
    first = rows[0]
    if "prompt" in first:
        return [first["prompt"]]
    if "condition" in first:
        return [f"{row['condition']}: {row['good']}" for row in rows]
    if first["good"] == first["bad"]:
        return [first["good"]]
    return [f"{GOOD} {first['good']}", f"{BAD} {first['bad']}"]


def texts_of(item: str, items: Sequence[Path], answers: Sequence[Path]) -> list[str]:
    """Lines about an item, from the first of some items tables that has it.

    Behind those of a prompt stand the answers to it, of each of the ``answers`` tables that exist.
    Raises UserError where an items table is missing or broken.
    """
    tables = (rows_of(item, read_arrow(path)) for path in items)
    rows = next((rows for rows in tables if rows), [])
    lines = _sentences(rows) if rows else []
    if not rows or "prompt" not in rows[0]:
        return lines
    for side, path in zip("AB", answers, strict=True):
        given = rows_of(item, read_arrow(path)) if path.exists() else []
        lines += [f"{side}: {row['text'] or '(no answer)'}" for row in given]
    return lines
