"""Accuracies that a paper prints, as a table like the campaign's own."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from blimpworks.analysis.accuracy import wilson
from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.registry import find_paper, load
from blimpworks.errors import UserError
from blimpworks.reproduction.printed import PrintedAccuracy, read_printed_numbers
from blimpworks.tables import ACCURACIES, write_rows

PRINTED = "printed"
"""What stands for the method."""
Reader = Callable[[Sequence[PublishedRow]], Iterator[PrintedAccuracy]]
# A millisecond each, and thousands of accuracies are over the same number of prompts.
_interval = cache(wilson)


def _row(benchmark: str, printed: PrintedAccuracy) -> dict[str, object]:
    """One row of the table; the number of correct answers, once rounded away, is rounded."""
    row: dict[str, object] = dict.fromkeys(ACCURACIES.names)
    row |= {name: getattr(printed, name) for name in PrintedAccuracy.__slots__}
    row |= {"benchmark": benchmark, "method": PRINTED, "skipped": 0, "ties": 0, "near_ties": 0}
    if printed.n:
        correct = round(printed.accuracy * printed.n)
        low, high = _interval(correct, printed.n)
        row |= {"correct": correct, "low": low, "high": high}
    return row


def _check_single(accuracies: Sequence[PrintedAccuracy]) -> None:
    """Raises UserError when two printed numbers are the same accuracy."""
    places: dict[tuple[str, ...], str] = {}
    for accuracy in accuracies:
        key = (accuracy.model, accuracy.lang, accuracy.phenomenon, accuracy.paradigm)
        other = places.setdefault(key, accuracy.origin)
        if other != accuracy.origin:
            raise UserError(
                f"{other} and {accuracy.origin} are both the accuracy of {' '.join(key)}; "
                "take one of them."
            )


def read_published(printed: Sequence[Path], benchmark: str, output: Path) -> int:
    """Write the accuracies that a benchmark's paper prints; how many there are.

    Cells without a number (none printed, or illegible) are passed over.

    Raises UserError for a malformed table, an accuracy that is printed twice (it would count
    twice in means), or a benchmark whose print is not known.
    """
    address = find_paper(benchmark).printed_accuracies
    if not address:
        raise UserError(f"no printed accuracies of {benchmark!r} are known; its paper prints none.")
    numbers = read_printed_numbers(printed)
    accuracies = list(cast(Reader, load(address))(numbers))
    _check_single(accuracies)
    rows = [_row(benchmark, accuracy) for accuracy in accuracies]
    write_rows(rows, ACCURACIES, output)
    return len(rows)
