"""Read the accuracies that CLAMS prints in Tables 1 to 3, and with capitals in Table 4.

Shared code calls ``accuracies`` with the rows of ``config/published/clams``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from blimpworks.campaign.reference import PublishedRow
from blimpworks.papers.clams.items import sets as clams
from blimpworks.reproduction.printed import PrintedAccuracy, printed_accuracy

ENGLISH, MULTILINGUAL = "eng", "bert-base-multilingual-cased"
NO_ACCURACIES = {"perplexity", "average", "agreement average", "reflexives average"}
"""Rows that are not accuracies of a construction."""
_accuracy = partial(
    printed_accuracy, expected="an accuracy from 0 to 1", most=1, phenomenon=clams.AGREEMENT
)


def _numbers_of(printed: Sequence[PublishedRow], exhibit: str) -> Iterator[PublishedRow]:
    for row in printed:
        if row.exhibit == exhibit and row.value is not None and row.row not in NO_ACCURACIES:
            yield row


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Yield each printed accuracy once; those with capitals are sums of Tables 1 and 4."""
    # Number of minimal sets that masked models were scored on.
    sizes = {(row.row, row.column): int(row.value or 0) for row in _numbers_of(printed, "table7")}
    of_table1: dict[tuple[str, str], PrintedAccuracy] = {}
    for row in _numbers_of(printed, "table1"):
        lang, _, model = row.column.partition(" ")
        accuracy = _accuracy(row, model=model, lang=lang, n=None, paradigm=row.row)
        of_table1[row.row, row.column] = accuracy
    yield from of_table1.values()
    for row in _numbers_of(printed, "table2"):
        n = sizes.get((row.row, f"{row.column} {MULTILINGUAL}"))
        yield _accuracy(row, model=MULTILINGUAL, lang=row.column, n=n, paradigm=row.row)
    for row in _numbers_of(printed, "table3"):
        if row.column == MULTILINGUAL and row.row in clams.CONSTRUCTIONS:
            continue
        n = sizes.get((row.row, f"{ENGLISH} {row.column}"))
        phenomenon = clams.REFLEXIVES if row.row in clams.ENGLISH_REFLEXIVES else clams.AGREEMENT
        of_model = _accuracy(row, model=row.column, lang=ENGLISH, n=n, paradigm=row.row)
        yield replace(of_model, phenomenon=phenomenon)
    for gain in _numbers_of(printed, "table4"):
        before = of_table1.get((gain.row, gain.column))
        if before is not None and gain.value is not None:
            yield replace(
                before,
                accuracy=before.accuracy + gain.value,
                rounding=before.rounding + gain.half_unit,
                origin=gain.place,
                phenomenon=clams.CAPITALS,
            )
