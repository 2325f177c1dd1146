"""Accuracies that a paper prints, as a table like the campaign's own."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.catalogue import read_rows
from blimpworks.errors import UserError
from blimpworks.reference import PublishedRow
from blimpworks.tables import ACCURACIES, write_table

PRINTED = "printed"
"""What stands for the method."""
PAIRS = "n"
"""Column of the printed number of pairs."""


def _rows(found: list[PublishedRow], benchmark: str, path: Path) -> Iterator[dict[str, object]]:
    sizes = {row.row: row.value for row in found if row.column == PAIRS}
    for row in found:
        if row.column == PAIRS or row.value is None:
            continue
        n = sizes.get(row.row)
        if not n or not 0 <= row.value <= 100:
            raise UserError(
                f"{path}: row {row.row!r}, column {row.column!r} is {row.text!r}; expected "
                f"percent, and the number of pairs in column {PAIRS!r}."
            )
        correct = round(row.value / 100 * n)
        low, high = wilson(correct, int(n))
        yield {
            "benchmark": benchmark,
            "model": row.column,
            "lang": row.row,
            "phenomenon": ALL,
            "paradigm": ALL,
            "method": PRINTED,
            "correct": correct,
            "n": int(n),
            "skipped": 0,
            "ties": 0,
            "near_ties": 0,
            "accuracy": row.value / 100,
            "low": low,
            "high": high,
        }


def read_published(printed: Path, benchmark: str, output: Path) -> int:
    """Write the accuracies that a table of languages by models prints; how many there are.

    Rows without a number (none printed, or illegible) are passed over. The accuracy is the
    printed one; the number of correct pairs, which it comes from, is rounded.

    Raises UserError for a malformed table, or a row without its number of pairs.
    """
    rows = list(_rows(read_rows(PublishedRow, printed), benchmark, printed))
    write_table(pa.Table.from_pylist(rows, schema=ACCURACIES.arrow()), ACCURACIES, output)
    return len(rows)
