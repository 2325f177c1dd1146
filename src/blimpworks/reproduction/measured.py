"""The campaign's own numbers beside those that the papers print."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from blimpworks.files import write_text
from blimpworks.reference import PublishedRow
from blimpworks.reproduction.printed import read_printed_numbers
from blimpworks.reproduction.rounding import TOLERANCE, agreement
from blimpworks.tables import CELLS

AGREES, DEVIATES, NOT_RUN = "agrees", "deviates", "not run"
COLUMNS = (
    "paper",
    "exhibit",
    "row",
    "column",
    "printed",
    "unit",
    "measured",
    "low",
    "high",
    "n",
    "verdict",
)


def verdict_of(row: PublishedRow, cell: Mapping[str, Any] | None) -> str:
    """Whether a measured cell agrees with what is printed.

    It does when the printed number, or what was rounded to it, lies in the cell's 95 %
    interval; a cell without one has to round to it. A printed bound has to hold somewhere in it.
    """
    if cell is None:
        return NOT_RUN
    assert row.value is not None
    low, high = cell["low"], cell["high"]
    if low is None or high is None or math.isnan(low + high):
        low = high = cell["value"]
    if row.bound:
        return AGREES if any(agreement(end, row) for end in (low, high)) else DEVIATES
    reach = row.half_unit + TOLERANCE
    return AGREES if low - reach <= row.value <= high + reach else DEVIATES


def _measured(cells: Mapping[str, Path]) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The campaign's cells by the printed numbers they stand for; the first of several."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for exhibit, path in cells.items():
        for cell in pq.read_table(path, schema=CELLS.arrow()).to_pylist():
            found.setdefault((exhibit, cell["printed_row"], cell["printed_column"]), cell)
    return found


def compare(paper: str, printed: Sequence[Path], cells: Mapping[str, Path]) -> Iterator[Any]:
    """A row of ``COLUMNS`` for each number that a paper prints, in the order of its files."""
    measured = _measured(cells)
    for row in read_printed_numbers(printed):
        if row.value is None:
            continue
        cell = measured.get((row.exhibit, row.row, row.column))
        yield {
            "paper": paper,
            "exhibit": row.exhibit,
            "row": row.row,
            "column": row.column,
            "printed": row.text,
            "unit": row.unit,
            "measured": cell and float(f"{cell['value']:.6g}"),
            "low": cell and cell["low"],
            "high": cell and cell["high"],
            "n": cell and cell["n"],
            "verdict": verdict_of(row, cell),
        }


def compare_measured(
    papers: Mapping[str, tuple[Sequence[Path], Mapping[str, Path]]], output: Path
) -> Counter[str]:
    """Write the comparison as CSV; how many printed numbers have each verdict.

    ``papers``: each one's files of printed numbers, and its measured cells by exhibit.
    """
    rows = [
        row for paper, (printed, cells) in papers.items() for row in compare(paper, printed, cells)
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["n"] = frame["n"].astype("Int64")
    write_text(output, frame.to_csv(index=False, lineterminator="\n"))
    return Counter(frame["verdict"])
