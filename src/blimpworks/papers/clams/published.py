"""Read the accuracies that CLAMS prints in Tables 1 to 3, and with capitals in Table 4."""

from collections.abc import Iterator, Sequence
from functools import partial

from blimpworks.campaign.reference import PublishedRow
from blimpworks.papers.clams.items import sets as clams
from blimpworks.reproduction.printed import PrintedAccuracy, printed_accuracy

ENGLISH, MULTILINGUAL = "eng", "bert-base-multilingual-cased"
ALTERED = {"perplexity", "average", "agreement average", "reflexives average"}
"""Rows that are no accuracies, or means of accuracies."""
_accuracy = partial(
    printed_accuracy, expected="an accuracy from 0 to 1", most=1, phenomenon=clams.AGREEMENT
)


def _numbers_of(printed: Sequence[PublishedRow], exhibit: str) -> Iterator[PublishedRow]:
    for row in printed:
        if row.exhibit == exhibit and row.value is not None and row.row not in ALTERED:
            yield row


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Yield each printed accuracy once; those with capitals are sums of Tables 1 and 4."""
    # Number of minimal sets that masked models were scored on.
    sizes = {
        (row.row, row.column): int(row.value)
        for row in _numbers_of(printed, "table7")
        if row.value is not None
    }
    for row in _numbers_of(printed, "table1"):
        lang, _, model = row.column.partition(" ")
        yield _accuracy(row, model=model, lang=lang, n=None, paradigm=row.row)
    for row in _numbers_of(printed, "table2"):
        n = sizes.get((row.row, f"{row.column} {MULTILINGUAL}"))
        model = MULTILINGUAL
        yield _accuracy(row, model=model, lang=row.column, n=n, paradigm=row.row)
    for row in _numbers_of(printed, "table3"):
        if row.column == MULTILINGUAL and row.row in clams.CONSTRUCTIONS:
            continue
        n = sizes.get((row.row, f"{ENGLISH} {row.column}"))
        phenomenon = clams.REFLEXIVES if row.row in clams.ENGLISH_REFLEXIVES else clams.AGREEMENT
        model, lang = row.column, ENGLISH
        yield _accuracy(row, model=model, lang=lang, n=n, phenomenon=phenomenon, paradigm=row.row)
    numbers = {(row.row, row.column): row for row in _numbers_of(printed, "table1")}
    for gain in _numbers_of(printed, "table4"):
        before = numbers.get((gain.row, gain.column))
        if before is None or before.value is None or gain.value is None:
            continue
        gain_lang, _space, gain_model = gain.column.partition(" ")
        yield PrintedAccuracy(
            model=gain_model,
            lang=gain_lang,
            accuracy=before.value + gain.value,
            rounding=before.half_unit + gain.half_unit,
            origin=gain.place,
            n=None,
            phenomenon=clams.CAPITALS,
            paradigm=gain.row,
        )
