"""The campaign's own numbers beside those that the papers print."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.comparability import SAME, Basis
from blimpworks.campaign.reference import PublishedRow
from blimpworks.files import write_text
from blimpworks.reproduction.agreement import TOLERANCE, agreement, same_wording
from blimpworks.reproduction.comparable import differences
from blimpworks.reproduction.printed import PLACE, place_of, read_printed_numbers
from blimpworks.reproduction.published import GARBLED
from blimpworks.tables import ACCURACIES, CELLS, read_table

AGREES, DEVIATES, NOT_RUN = "agrees", "deviates", "not run"
NOT_COMPARABLE = "not comparable"
COLUMNS = (*PLACE, "measured", "low", "high", "n", "reading", "verdict", "differs")
"""Columns of the comparison. ``reading``: the campaign's text in the place of a printed text;
``differs``: of what is not comparable, what it is about that the printed number is not."""
ILLEGIBLE = "our copy of the paper cannot be read there"
Place = tuple[str, str, str]
"""Exhibit, row and column of a printed number."""


@dataclass(frozen=True)
class Measured:
    """Files of one paper: printed numbers, and cells of its exhibits by exhibit.

    ``published`` are those of the published forms; ``accuracies`` the table of the accuracies that
    the paper prints, ``basis`` what the campaign's numbers are about.
    """

    printed: Sequence[Path]
    cells: Mapping[str, Path]
    published: Mapping[str, Path] = field(default_factory=dict)
    accuracies: Path | None = None
    basis: Basis = field(default_factory=lambda: SAME)

    @cached_property
    def languages(self) -> set[str]:
        """Languages that our copy of the paper has accuracies of."""
        if self.accuracies is None or not self.accuracies.exists():
            return set()
        return {*read_table(ACCURACIES, self.accuracies, ["lang"])["lang"].to_pylist()} - {ALL}


def verdict_of(row: PublishedRow, cell: Mapping[str, Any] | None) -> str:
    """Whether a measured cell agrees with what is printed.

    It does when the printed number, or what was rounded to it, lies in the cell's 95 %
    interval; a cell without one has to round to it. A printed bound has to hold somewhere in it.
    A printed text agrees with the same wording. Whether both are about the same says
    ``comparable.differences``.
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


def _by_place(cells: Mapping[str, Path]) -> dict[Place, dict[str, Any]]:
    """Cells by the printed numbers they stand for; the first of several."""
    cells_by_place: dict[Place, dict[str, Any]] = {}
    for exhibit, path in cells.items():
        for cell in read_table(CELLS, path).to_pylist():
            cells_by_place.setdefault((exhibit, cell["printed_row"], cell["printed_column"]), cell)
    return cells_by_place


def _judged(row: PublishedRow, cell: Mapping[str, Any] | None, differs: str) -> tuple[str, str]:
    """The verdict on a printed number, and of one that is not comparable the reason."""
    if cell is None:
        return NOT_RUN, ""
    if differs or (row.value is None and not row.textual):
        return NOT_COMPARABLE, differs or ILLEGIBLE
    return verdict_of(row, cell), ""


def compare(paper: str, files: Measured) -> Iterator[Any]:
    """A row of ``COLUMNS`` for each number or text that a paper prints, in its files' order."""
    measured, published = _by_place(files.cells), _by_place(files.published)
    for row in read_printed_numbers(files.printed):
        if row.value is None and not row.textual and row.fault != GARBLED:
            continue
        place = (row.exhibit, row.row, row.column)
        cell = measured.get(place)
        differs = (
            differences(cell, published.get(place), files.basis, files.languages) if cell else ""
        )
        verdict, reason = _judged(row, cell, differs)
        number = None if row.textual else cell
        yield {
            **place_of(paper, row),
            "measured": number and float(f"{number['value']:.6g}"),
            "low": number and number["low"],
            "high": number and number["high"],
            "n": number and number["n"],
            "reading": cell["text"] if cell and row.textual else "",
            "verdict": verdict,
            "differs": reason,
        }


def compare_measured(papers: Mapping[str, Measured], output: Path) -> Counter[str]:
    """Write the comparison as CSV; how many printed numbers have each verdict."""
    rows = [row for paper, files in papers.items() for row in compare(paper, files)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["n"] = frame["n"].astype("Int64")
    write_text(output, frame.to_csv(index=False, lineterminator="\n"))
    return Counter(frame["verdict"])
