"""Read the accuracies that Multi-LMentry prints in Tables 34 to 51, for each model and task."""

from collections.abc import Iterator, Sequence

from blimpworks.campaign.reference import PublishedRow
from blimpworks.errors import UserError
from blimpworks.papers.lmentry.tasks import TASK_TABLES
from blimpworks.reproduction.printed import PrintedAccuracy

SAMPLES = "table54"
HALF_UNIT = 0.005
"""Rounding of accuracies in percent: two decimals, though a last zero is not printed."""


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Yield each model's accuracy on each task, errata corrected, from all printed numbers.

    Raises UserError for a number that is no percentage, or without a printed number of prompts.
    """
    sizes = {(row.row, row.column): row.value for row in printed if row.exhibit == SAMPLES}
    for row in printed:
        percent = row.sound
        if row.exhibit not in TASK_TABLES or row.value is None or percent is None:
            continue
        lang = TASK_TABLES[row.exhibit]
        n = sizes.get((row.column, lang))
        if not n or not 0 <= percent <= 100:
            raise UserError(
                f"{row.exhibit}: row {row.row!r}, column {row.column!r} is {percent:g}; expected "
                f"percent, and the number of prompts in {SAMPLES}, column {lang!r}."
            )
        yield PrintedAccuracy(
            model=row.row,
            lang=lang,
            accuracy=percent / 100,
            rounding=HALF_UNIT / 100,
            origin=row.place,
            n=int(n),
            phenomenon=row.column,
        )
