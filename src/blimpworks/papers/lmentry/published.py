"""Read the accuracies that Multi-LMentry prints in Tables 34 to 51, for each model and task."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from blimpworks.campaign.reference import PublishedRow
from blimpworks.papers.lmentry.tasks import TASK_TABLES
from blimpworks.reproduction.printed import PrintedAccuracy, printed_accuracy

PROMPT_TABLE = "table54"  # numbers of prompts of each task and language
HALF_UNIT = 0.005
"""Rounding of accuracies in percent: two decimals, though a last zero is not printed."""


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Yield each model's accuracy on each task, errata corrected, from all printed numbers.

    Raises UserError for a number that is no percentage, or without a printed number of prompts.
    """
    counts = (row for row in printed if row.exhibit == PROMPT_TABLE)
    prompts = {(row.row, row.column): row.value for row in counts}  # by task and language
    for row in printed:
        if row.exhibit not in TASK_TABLES or row.value is None:
            continue
        lang = TASK_TABLES[row.exhibit]
        n = int(prompts.get((row.column, lang)) or 0)  # 0, if not printed, is not ``valid``
        accuracy = printed_accuracy(
            row.model_copy(update={"value": row.sound, "text": f"{row.sound:g}"}),
            f"percent, and the number of prompts in {PROMPT_TABLE}, column {lang!r}",
            valid=n > 0,
            model=row.row,
            lang=lang,
            n=n,
            phenomenon=row.column,
        )
        yield replace(accuracy, rounding=HALF_UNIT / 100)
