"""Read a paper's printed numbers, and its accuracies as a table like the campaign's own."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.registry import find_paper, load, printed_folder
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.tables import ACCURACIES, write_rows

Place = tuple[str, str, str]
"""Exhibit, row and column of a printed number."""
PLACE = ("paper", "exhibit", "row", "column", "printed", "unit")
"""First columns of the comparisons, which identify a printed number."""


def place_of(paper: str, row: PublishedRow) -> dict[str, str]:
    """Return the columns ``PLACE`` of a printed number."""
    values = (paper, row.exhibit, row.row, row.column, row.text, row.unit)
    return dict(zip(PLACE, values, strict=True))


@dataclass(frozen=True, slots=True)
class PrintedAccuracy:
    """A printed accuracy as a share of 1, over ``n`` pairs or prompts; None where not printed."""

    model: str
    lang: str
    accuracy: float
    rounding: float
    origin: str
    """The printed number's ``place``."""
    n: int | None
    phenomenon: str = ALL
    paradigm: str = ALL


def printed_accuracy(
    row: PublishedRow, expected: str, *, valid: bool = True, most: int = 100, **names: Any
) -> PrintedAccuracy:
    """Return an accuracy printed as a number up to ``most``; raise UserError for other texts."""
    if not valid or row.value is None or not 0 <= row.value <= most:
        raise UserError(
            f"{row.exhibit}: row {row.row!r}, column {row.column!r} is {row.text!r}; expected "
            f"{expected}."
        )
    rounding = row.half_unit / most
    return PrintedAccuracy(accuracy=row.value / most, rounding=rounding, origin=row.place, **names)


def printed_tables(folder: Path, paper: str) -> list[Path]:
    """Return the tables of a paper's printed numbers below ``folder``; maybe none."""
    return sorted(printed_folder(folder, paper).glob("*.csv"))


def printed_files(folder: Path, paper: str) -> list[Path]:
    """Return a paper's tables of printed numbers. Raises UserError when there is none."""
    paths = printed_tables(folder, paper)
    if not paths:
        raise UserError(
            f"{printed_folder(folder, paper)} has no tables (*.csv); expected the printed numbers "
            f"of {paper!r}. Give the directory that has one below for each paper, such as "
            "config/published."
        )
    return paths


def read_printed_numbers(paths: Sequence[Path]) -> list[PublishedRow]:
    """Read a paper's printed numbers. Raises UserError when two rows have the same place."""
    rows = [row for path in sorted(paths) for row in read_rows(PublishedRow, path)]
    counts = Counter((row.exhibit, row.row, row.column) for row in rows)
    for (exhibit, row, column), n in counts.items():
        if n > 1:
            raise UserError(
                f"{paths[0].parent}: {exhibit}, row {row!r}, column {column!r} stands in {n} "
                "rows; keep one."
            )
    return rows


# Accuracies


PRINTED = "printed"
"""Name in place of a method."""
Reader = Callable[[Sequence[PublishedRow]], Iterator[PrintedAccuracy]]
# A millisecond each, and thousands of accuracies are over the same number of prompts.
_interval = cache(wilson)


def read_published(printed: Sequence[Path], benchmark: str, output: Path) -> int:
    """Write the accuracies that a benchmark's paper prints; return their number.

    Raises UserError when an accuracy is printed twice (it would count twice in means), or none is.
    """
    reader = find_paper(benchmark).printed_accuracies
    if not reader:
        raise UserError(f"no printed accuracies of {benchmark!r} are known; its paper prints none.")
    numbers = read_printed_numbers(printed)
    read = cast(Reader, load(reader)) if isinstance(reader, str) else reader
    rows = []
    origins: dict[tuple[str, ...], str] = {}
    for accuracy in read(numbers):
        key = (accuracy.model, accuracy.lang, accuracy.phenomenon, accuracy.paradigm)
        origin = origins.setdefault(key, accuracy.origin)
        if origin != accuracy.origin:
            raise UserError(
                f"{origin} and {accuracy.origin} are both the accuracy of {' '.join(key)}; "
                "take one of them."
            )
        row: dict[str, object] = dict.fromkeys(ACCURACIES.names)
        row |= {name: getattr(accuracy, name) for name in PrintedAccuracy.__slots__}
        row |= {"benchmark": benchmark, "method": PRINTED, "skipped": 0, "ties": 0, "near_ties": 0}
        if accuracy.n:
            # The number of correct answers, once rounded away, is rounded.
            correct = round(accuracy.accuracy * accuracy.n)
            low, high = _interval(correct, accuracy.n)
            row |= {"correct": correct, "low": low, "high": high}
        rows.append(row)
    write_rows(rows, ACCURACIES, output)
    return len(rows)
