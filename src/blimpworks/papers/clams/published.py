"""Read the accuracies that CLAMS prints in Tables 1 to 3, and with capitals in Table 4.

Shared code calls ``accuracies`` with the rows of ``config/published/clams``.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from blimpworks.campaign.reference import PublishedRow
from blimpworks.papers.clams.items import sets as clams
from blimpworks.reproduction.printed import PrintedAccuracy, printed_accuracy

ENGLISH, MULTILINGUAL = "eng", "bert-base-multilingual-cased"
NO_ACCURACIES = {"perplexity", "average", "agreement average", "reflexives average"}
"""Rows that are not accuracies of a construction."""


def accuracies(printed: Sequence[PublishedRow]) -> Iterator[PrintedAccuracy]:
    """Yield each printed accuracy once; with capitals, Table 1's plus the gain of Table 4."""
    numbers: dict[str, list[PublishedRow]] = defaultdict(list)  # by exhibit
    for row in printed:
        if row.value is not None and row.row not in NO_ACCURACIES:
            numbers[row.exhibit].append(row)
    # Number of minimal sets that masked models were scored on.
    sizes = {(row.row, row.column): int(row.value or 0) for row in numbers["table7"]}
    accuracies_of_table1: dict[tuple[str, str], PrintedAccuracy] = {}  # by (row, column)
    for row in (*numbers["table1"], *numbers["table2"], *numbers["table3"]):
        # Columns are "fra clams-lstm-mono" in Table 1, languages in Table 2, and models in Table 3.
        if row.exhibit == "table1":
            lang, model = row.column.split(" ")
        else:
            in_table2 = row.exhibit == "table2"
            lang, model = (row.column, MULTILINGUAL) if in_table2 else (ENGLISH, row.column)
            # Table 2 has these accuracies of multilingual BERT already.
            if not in_table2 and model == MULTILINGUAL and row.row in clams.CONSTRUCTIONS:
                continue
        reflexive = row.row in clams.ENGLISH_REFLEXIVES
        fields: dict[str, Any] = {"model": model, "lang": lang, "paradigm": row.row}
        fields["phenomenon"] = clams.REFLEXIVES if reflexive else clams.AGREEMENT
        n = sizes.get((row.row, f"{lang} {model}"))
        accuracy = printed_accuracy(row, "an accuracy from 0 to 1", most=1, n=n, **fields)
        if row.exhibit == "table1":
            accuracies_of_table1[row.row, row.column] = accuracy
        yield accuracy
    for gain in numbers["table4"]:
        without_capitals = accuracies_of_table1.get((gain.row, gain.column))
        if without_capitals is not None and gain.value is not None:
            yield replace(
                without_capitals,
                accuracy=without_capitals.accuracy + gain.value,
                rounding=without_capitals.rounding + gain.half_unit,
                origin=gain.place,
                phenomenon=clams.CAPITALS,
            )
