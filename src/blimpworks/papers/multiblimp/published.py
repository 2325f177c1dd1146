"""Select the accuracies that MultiBLiMP prints in Table 5, one for each language and model."""

from collections.abc import Iterator, Sequence

from blimpworks.campaign.reference import PublishedRow
from blimpworks.reproduction.printed import PrintedAccuracy, printed_accuracy

PAIRS_COLUMN = "n"
"""Column of Table 5 with a language's number of pairs; all others are models."""


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Yield accuracies over all pairs of a language, from the paper's ``printed`` numbers.

    Raises UserError for an accuracy of a language without the number of its pairs.
    """
    table = [row for row in printed if row.exhibit == "table5"]
    sizes = {row.row: row.value for row in table if row.column == PAIRS_COLUMN}  # by language
    for row in table:
        if row.column == PAIRS_COLUMN or row.value is None:
            continue
        n = sizes.get(row.row)
        expected = f"percent, and the number of pairs in column {PAIRS_COLUMN!r}"
        yield printed_accuracy(
            row, expected, valid=bool(n), model=row.column, lang=row.row, n=int(n or 0)
        )
