"""What Figure 2 shows of a pair at each stage, as cells that lead to the rows they come from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import COUNT, of_row
from blimpworks.papers.multiblimp.exhibits.stages import VERBS, Entry, Stages

COLUMN = "Shown"
"""The column that all cells of Figure 2 stand in."""
SENTENCE, EXTRACT, VALIDATE = "Sentence", "Extract", "Validate"
INFLECT, PAIR, BALANCE = "Inflect", "Minimal pair", "Balance"
ALL_ITEMS = "items/multiblimp/all"
"""Where the pairs lie that items are drawn from."""
RESOURCES = {"unimorph": "UniMorph", "ud": "treebanks"}
"""Sources of the lexicon as the figure has them."""


TESTED = {
    "Agreeing": "agreeing",
    "Cases": "n",
    "Probability": "probability",
    "p, more agreement": "p_greater",
    "p, less agreement": "p_less",
}
"""What is shown of a test, and the column it stands in."""
EXTRACTED = {"Subject": "subject_form", "Verb": "verb_form", "Agreeing word": "form"} | {
    "Word order": "order",
    "Agreeing word is a": "kind",
}
"""What is shown of a candidate as text, and the column it stands in."""
SENTENCES = {"Swapped form": "bad_form", "Grammatical": "good", "Ungrammatical": "bad"}
"""What is shown of the pair, and the column of items it stands in."""
IN_ENGLISH = {"Word order", "Agreeing word is a", "Label"}
"""Texts that are not in the pair's language."""
Where = Mapping[str, Any]
"""What selects rows of a table: columns and their values."""


@dataclass(frozen=True, slots=True)
class StageCell:
    """A cell, the stage it stands in, and whether its text is in the pair's language."""

    stage: str
    cell: Cell
    foreign: bool = False


def verdict_of(entry: Entry) -> str:
    """What becomes of an entry, in words."""
    if entry.own:
        return "in the sentence"
    if entry.chosen:
        return "takes its place"
    return f"no pair: {entry.objection}" if entry.objection else "makes another pair"


def word_text(word: Mapping[str, Any]) -> str:
    """A treebank's word with its annotation."""
    relation = f"{word['deprel'] or '_'} of {word['head']}" if word["head"] else "root"
    parts = (word["lemma"], word["upos"], word["feats"], relation)
    return f"{word['form']} ({', '.join(text for text in parts if text)})"


def _text(stage: str, row: str, text: str, source: str, where: Where) -> StageCell:
    """A cell that shows a text of one row, in the pair's language."""
    cell = Cell(row, COLUMN, 1, text, COUNT, source, where, n=1)
    return StageCell(stage, cell, foreign=row not in IN_ENGLISH)


def _count(stage: str, row: str, n: int, source: str, where: Where) -> StageCell:
    """A cell that shows how many rows there are."""
    return StageCell(stage, Cell(row, COLUMN, n, str(n), COUNT, source, where, n=n))


def _number(
    stage: str, row: str, record: Mapping[str, Any], column: str, source: str, where: Where
) -> StageCell:
    """A cell that shows a number of one row."""
    value = record[column]
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return StageCell(stage, Cell(row, COLUMN, float(value), text, of_row(column), source, where))


def _columns(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The named columns of a row."""
    return {name: row[name] for name in names}


def _item_of(stages: Stages) -> dict[str, Any]:
    """What selects the pair among the items."""
    return _columns(stages.item, "lang", "item_id", "paradigm")


def _sentence(stages: Stages, lang: Where) -> Iterator[StageCell]:
    where = {**lang, "sentence": stages.sentence["sentence"]}
    text = stages.sentence["text"] or stages.item["good"]
    yield _text(SENTENCE, "Text", text, "sentences", where)
    for word in stages.words:
        number = word["word"]
        place = {**where, "word": number}
        yield _text(SENTENCE, f"Word {number}", word_text(word), "tokens", place)


def _extract(stages: Stages, lang: Where) -> Iterator[StageCell]:
    candidate, item = stages.candidate, stages.item
    keys = ("construction", "sentence", "subject", "verb", "inflected")
    where = {**lang, **_columns(candidate, *keys)}
    for row, column in EXTRACTED.items():
        yield _text(EXTRACT, row, candidate[column], "candidates", where)
    yield _number(EXTRACT, "Distance", candidate, "distance", "candidates", where)
    yield _number(EXTRACT, "Attractors", item, "attractors", "items", _item_of(stages))


def _validate(stages: Stages, lang: Where) -> Iterator[StageCell]:
    condition = ("phenomenon", "verb_type", "order")
    for count in stages.counts:
        where = {**lang, **_columns(count, *condition, "subject_value", "verb_value")}
        name = f"Subject {count['subject_value']}, verb {count['verb_value']}"
        yield _number(VALIDATE, name, count, "count", "agreement_counts", where)
    if stages.test:
        where = {**lang, **_columns(stages.test, *condition, "value")}
        for name, column in TESTED.items():
            yield _number(VALIDATE, name, stages.test, column, "agreement", where)
    yield _text(VALIDATE, "Label", stages.item["label"], "items", _item_of(stages))


def _inflect(stages: Stages, lang: Where) -> Iterator[StageCell]:
    for source, size in stages.sizes.items():
        where = {**lang, "lemma": stages.lemma, "pos": VERBS, "source": source}
        yield _count(INFLECT, f"Entries of the lemma, {RESOURCES[source]}", size, "lexicon", where)
    for number, entry in enumerate(stages.entries, start=1):
        where = {**lang, "lemma": entry.row.lemma, "form": entry.row.form, "pos": VERBS}
        where |= {"features": entry.row.bundle, "source": entry.source}
        text = f"{entry.row.form} ({entry.row.bundle}): {verdict_of(entry)}"
        yield _text(INFLECT, f"Entry {number}, {RESOURCES[entry.source]}", text, "lexicon", where)


def _pair(stages: Stages, lang: Where) -> Iterator[StageCell]:
    for row, column in SENTENCES.items():
        yield _text(PAIR, row, stages.item[column], "items", _item_of(stages))


def _balance(stages: Stages, lang: Where) -> Iterator[StageCell]:
    yield _count(BALANCE, "Pairs", stages.available, ALL_ITEMS, stages.fitting)
    where = {**lang, "paradigm": stages.item["paradigm"]}
    yield _count(BALANCE, "Kept", stages.kept, "items", where)
    weight = ("Weight in the draw", stages.item, "weight")
    yield _number(BALANCE, *weight, "items", _item_of(stages))


def stage_cells(stages: Stages) -> list[StageCell]:
    """Everything that the figure shows of a pair, in the order of the stages.

    Numbers are what their row has in a column; a text counts the one row that it comes from.
    """
    lang = {"lang": stages.item["lang"]}
    parts = (_sentence, _extract, _validate, _inflect, _pair, _balance)
    return [cell for part in parts for cell in part(stages, lang)]
