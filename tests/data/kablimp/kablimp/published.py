"""Accuracies that KabLiMP prints: Table 1, by paradigm and model."""

from collections.abc import Iterator, Sequence

from blimpworks.campaign.reference import PublishedRow
from blimpworks.reproduction.printed import PrintedAccuracy


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Accuracies of paradigms; the rows called ``mean`` are computed from them."""
    for row in printed:
        if row.exhibit == "table1" and row.row != "mean" and row.value is not None:
            yield PrintedAccuracy(
                model=row.column,
                lang="eng",
                accuracy=row.value / 100,
                rounding=row.half_unit / 100,
                origin=row.place,
                n=1000,
                phenomenon="agreement",
                paradigm=row.row,
            )
