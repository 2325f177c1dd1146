"""Accuracies that BLiMP prints: Table 4, by paradigm and model; those of humans among them."""

from collections.abc import Iterator, Sequence

from blimpworks.errors import UserError
from blimpworks.exhibits.blimp.paradigms import HUMAN, LANG, PHENOMENON_OF
from blimpworks.reference import PublishedRow
from blimpworks.reproduction.printed import PrintedAccuracy

PAIRS = 1000
"""Pairs of a paradigm (abstract)."""


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Accuracies of paradigms, with those that stand in a wrong row put into theirs.

    How many ratings a human accuracy is of is not printed. Raises UserError for a row that is
    no paradigm, or a number that is no percentage.
    """
    for row in printed:
        if row.exhibit != "table4":
            continue
        percent = row.value if row.corrected is None else row.corrected
        if row.row not in PHENOMENON_OF or percent is None or not 0 <= percent <= 100:
            raise UserError(
                f"table4: row {row.row!r}, column {row.column!r} is {row.text!r}; expected a "
                "paradigm's name and percent."
            )
        yield PrintedAccuracy(
            model=row.column,
            lang=LANG,
            accuracy=percent / 100,
            rounding=row.half_unit / 100,
            n=None if row.column == HUMAN else PAIRS,
            phenomenon=PHENOMENON_OF[row.row],
            paradigm=row.row,
        )
