"""Read a paper's printed numbers, and decide whether a computed value agrees with one.

``read_printed_numbers`` reads CSV files with a ``PublishedRow`` for each number: exhibit, row,
column, and the text as printed ("71.3", "less than 2"). ``agreement`` compares a computed value
with such a row by the rule of docs/published.md. ``read_published`` writes the accuracies that a
paper prints as a table with the columns of measured accuracies.
"""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal, cast

import numpy as np
import pandas as pd

from blimpworks.analysis.accuracy import wilson
from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.registry import find_paper, printed_folder, printed_tables
from blimpworks.campaign.table_files import keyed, read_rows
from blimpworks.errors import UserError
from blimpworks.items import ALL
from blimpworks.tables import ACCURACIES, write_rows

TOLERANCE = 1e-9
"""Largest difference between two floating-point numbers that count as equal."""
ROUNDING_ERROR_COLUMN = {"accuracy": "rounding", "value": "half_unit"}
"""{column of numbers: column with the rounding errors of these numbers, at most}."""
BOUNDS: Mapping[str, Callable[[float, float], bool]] = {
    "at least": operator.ge,
    "at most": operator.le,
    "above": operator.gt,
    "below": operator.lt,
}
"""{words of a printed bound: whether a value (first argument) is within the bound (second)}."""
Agreement = Literal["exact", "rounding", ""]


def rounded(value: float, decimals: int) -> float:
    """Round to some decimals, halves (up to floating-point errors) away from zero."""
    unit = 10.0**decimals
    return math.copysign(math.floor(abs(value) * unit + 0.5 + TOLERANCE) / unit, value)


def agreement(value: float, row: PublishedRow, input_error: float = 0.0) -> Agreement:
    """Return whether a computed value agrees with a printed number or bound.

    ``input_error``: largest change of the value by rounding of the numbers behind it. Return

    - "exact" if the value rounds to the number, halves away from zero (a count must be equal), or
      is within the bound;
    - "rounding" if they differ by at most ``input_error`` plus half a unit of the last printed
      digit; or if the value is within the bound after rounding, or a change by ``input_error``;
    - "" if they do not agree.
    """
    assert row.value is not None
    if not math.isfinite(value):
        return ""
    difference = abs(value - row.value)
    if row.bound:
        is_within = BOUNDS[row.bound]
        # "above 5" excludes 5, also when floating point makes it 5.0000000001.
        if is_within(row.value if difference <= TOLERANCE else value, row.value):
            return "exact"
        near_values = (rounded(value, row.decimals), value - input_error, value + input_error)
        return "rounding" if any(is_within(near, row.value) for near in near_values) else ""
    if difference <= TOLERANCE:
        return "exact"
    if row.half_unit and abs(rounded(value, row.decimals) - row.value) <= TOLERANCE:
        return "exact"
    return "rounding" if difference <= row.half_unit + input_error + TOLERANCE else ""


def input_error_of(formula: Callable[[pd.DataFrame], float], rows: pd.DataFrame) -> float:
    """Return the largest change of the formula's value by rounding of the numbers in ``rows``.

    Each number in turn is changed by its rounding error, and the changes of the value are added.
    This is exact for sums, means and differences, and an approximation for other formulas.
    """
    total_change, unchanged = 0.0, formula(rows)
    for column, error_column in ROUNDING_ERROR_COLUMN.items():
        if column in rows and error_column in rows:
            errors = rows[error_column].fillna(0).to_numpy(float)
            for index in np.flatnonzero(errors > 0):
                changes = []
                for error in (errors[index], -errors[index]):
                    values = rows[column].to_numpy(float, copy=True)
                    values[index] += error
                    changes.append(abs(formula(rows.assign(**{column: values})) - unchanged))
                total_change += max(changes)
    return total_change


TYPESET = str.maketrans("“”„«»‘’‚", '"""""\'\'\'')
"""Quotation marks and apostrophes of printed texts, with straight ones in their place."""


def as_typed(text: str) -> str:
    """Replace curly quotation marks and apostrophes by straight ones, as in files of prompts."""
    return text.translate(TYPESET)


def same_wording(first: str, second: str) -> bool:
    """Return whether two texts are equal apart from the form of quotation marks."""
    return as_typed(first) == as_typed(second)


NumberKey = tuple[str, str, str]
"""Exhibit, row and column of a printed number, which identify it in a paper."""
KEY_COLUMNS = ("paper", "exhibit", "row", "column", "printed", "unit")
"""First columns of the tables of comparisons, which describe the printed number."""


def number_columns(paper: str, row: PublishedRow) -> dict[str, str]:
    """Return {column: text} of a printed number, for ``KEY_COLUMNS``."""
    values = (paper, row.exhibit, row.row, row.column, row.text, row.unit)
    return dict(zip(KEY_COLUMNS, values, strict=True))


@dataclass(frozen=True, slots=True)
class PrintedAccuracy:
    """A printed accuracy, as a share of 1."""

    model: str
    lang: str
    accuracy: float
    rounding: float
    """Half a unit of the last printed digit, as a share of 1."""
    origin: str
    """The printed number, as EXHIBIT/ROW/COLUMN."""
    n: int | None
    """Number of pairs or prompts; None if the paper prints none."""
    phenomenon: str = ALL
    paradigm: str = ALL


def printed_accuracy(
    row: PublishedRow, expected: str, *, valid: bool = True, most: int = 100, **names: Any
) -> PrintedAccuracy:
    """Return the accuracy in a ``row`` that prints it as a number from 0 to ``most``.

    ``names``: further fields of ``PrintedAccuracy``. Raises UserError if the number is outside of
    this range, or if the caller found its row or column wrong (``valid`` is False). ``expected`` is
    a phrase for the message: "a share of a phenomenon".
    """
    if not valid or row.value is None or not 0 <= row.value <= most:
        raise UserError(
            f"{row.exhibit}: row {row.row!r}, column {row.column!r} is {row.text!r}; expected "
            f"{expected}."
        )
    rounding = row.half_unit / most
    return PrintedAccuracy(accuracy=row.value / most, rounding=rounding, origin=row.place, **names)


def printed_files(folder: Path, paper: str) -> list[Path]:
    """Return the CSV files of a paper's printed numbers. Raises UserError if there are none."""
    paths = printed_tables(folder, paper)
    if not paths:
        raise UserError(
            f"{printed_folder(folder, paper)} has no tables (*.csv); expected the printed numbers "
            f"of {paper!r}. Give the directory with a subdirectory for each paper, such as "
            "config/published."
        )
    return paths


def read_printed_numbers(paths: Sequence[Path]) -> list[PublishedRow]:
    """Read a paper's printed numbers. Raises UserError if two have the same key (``place``)."""
    rows = [row for path in sorted(paths) for row in read_rows(PublishedRow, path)]
    return [*keyed(rows, "place", Path(*paths[:1]).parent).values()]


IN_PRINT = "printed"
"""Value of the column ``method`` in tables of printed accuracies."""
Reader = Callable[[Sequence[PublishedRow]], Iterator[PrintedAccuracy]]
"""Function of a paper that finds the accuracies among its printed numbers."""
# Cached, since thousands of accuracies have the same number of prompts.
_interval = cache(wilson)


def read_published(printed: Sequence[Path], benchmark: str, output: Path) -> int:
    """Write the table of accuracies that a benchmark's paper prints, and return their number.

    Raises UserError if the paper prints no accuracies, or prints one of them twice.
    """
    reader = find_paper(benchmark).printed_accuracies
    if not reader:
        raise UserError(f"no printed accuracies of {benchmark!r} are known; its paper prints none.")
    numbers = read_printed_numbers(printed)
    # A paper may name its function as "module:name".
    read = cast(Reader, resolve_name(reader)) if isinstance(reader, str) else reader
    rows = []
    origins: dict[tuple[str, ...], str] = {}  # by accuracy
    for accuracy in read(numbers):
        key = (accuracy.model, accuracy.lang, accuracy.phenomenon, accuracy.paradigm)
        origin = origins.setdefault(key, accuracy.origin)
        if origin != accuracy.origin:
            name, both = " ".join(key), f"{origin} and {accuracy.origin}"
            raise UserError(f"{both} are both the accuracy of {name}; take one of them.")
        row: dict[str, object] = dict.fromkeys(ACCURACIES.names)
        row |= {name: getattr(accuracy, name) for name in PrintedAccuracy.__slots__}
        row |= {"benchmark": benchmark, "method": IN_PRINT, "skipped": 0, "ties": 0, "near_ties": 0}
        if accuracy.n:
            # The printed accuracy is rounded, so the number of correct answers is approximate.
            correct = round(accuracy.accuracy * accuracy.n)
            low, high = _interval(correct, accuracy.n)
            row |= {"correct": correct, "low": low, "high": high}
        rows.append(row)
    write_rows(rows, ACCURACIES, output)
    return len(rows)
