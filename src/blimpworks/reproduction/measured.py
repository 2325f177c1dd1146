"""The campaign's own numbers beside those that the papers print."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.campaign.reference import PublishedRow
from blimpworks.files import write_text
from blimpworks.reproduction.agreement import TOLERANCE, agreement, same_wording
from blimpworks.reproduction.printed import PLACE, place_of, read_printed_numbers
from blimpworks.tables import CELLS, read_table

AGREES, DEVIATES, NOT_RUN = "agrees", "deviates", "not run"
COLUMNS = (*PLACE, "measured", "low", "high", "n", "reading", "verdict")
"""Columns of the comparison. ``reading``: the campaign's text in the place of a printed text."""


def verdict_of(row: PublishedRow, cell: Mapping[str, Any] | None) -> str:
    """Whether a measured cell agrees with what is printed.

    It does when the printed number, or what was rounded to it, lies in the cell's 95 %
    interval; a cell without one has to round to it. A printed bound has to hold somewhere in it.
    A printed text agrees with the same wording.
    """
    if cell is None:
        return NOT_RUN
    if row.textual:
        return AGREES if same_wording(row.text, cell["text"]) else DEVIATES
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
    cells_by_place: dict[tuple[str, str, str], dict[str, Any]] = {}
    for exhibit, path in cells.items():
        for cell in read_table(CELLS, path).to_pylist():
            cells_by_place.setdefault((exhibit, cell["printed_row"], cell["printed_column"]), cell)
    return cells_by_place


def compare(paper: str, printed: Sequence[Path], cells: Mapping[str, Path]) -> Iterator[Any]:
    """A row of ``COLUMNS`` for each number or text that a paper prints, in its files' order."""
    measured = _measured(cells)
    for row in read_printed_numbers(printed):
        if row.value is None and not row.textual:
            continue
        cell = measured.get((row.exhibit, row.row, row.column))
        number = None if row.textual else cell
        yield {
            **place_of(paper, row),
            "measured": number and float(f"{number['value']:.6g}"),
            "low": number and number["low"],
            "high": number and number["high"],
            "n": number and number["n"],
            "reading": cell["text"] if cell and row.textual else "",
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
