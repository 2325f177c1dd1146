"""Accuracies that MultiBLiMP prints: Table 5, by language and model."""

from collections.abc import Iterator, Sequence

from blimpworks.campaign.reference import PublishedRow
from blimpworks.errors import UserError
from blimpworks.reproduction.printed import PrintedAccuracy

PAIRS = "n"
"""Column of the printed number of pairs."""


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Accuracies of all pairs of a language. Raises UserError where their number is missing."""
    table = [row for row in printed if row.exhibit == "table5"]
    sizes = {row.row: row.value for row in table if row.column == PAIRS}
    for row in table:
        if row.column == PAIRS or row.value is None:
            continue
        n = sizes.get(row.row)
        if not n or not 0 <= row.value <= 100:
            raise UserError(
                f"table5: row {row.row!r}, column {row.column!r} is {row.text!r}; expected "
                f"percent, and the number of pairs in column {PAIRS!r}."
            )
        yield PrintedAccuracy(
            model=row.column,
            lang=row.row,
            accuracy=row.value / 100,
            rounding=row.half_unit / 100,
            origin=row.place,
            n=int(n),
        )
