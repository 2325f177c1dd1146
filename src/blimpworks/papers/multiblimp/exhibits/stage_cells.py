"""What Figure 2 shows of a pair at each stage, as cells that lead to the rows they come from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import COUNT, of_row
from blimpworks.papers.multiblimp.exhibits.stages import VERBS, Entry, Stages

SHOWN = "Shown"
"""The column of all cells."""
SENTENCE, EXTRACT, VALIDATE = "Sentence", "Extract", "Validate"
INFLECT, PAIR, BALANCE = "Inflect", "Minimal pair", "Balance"
STAGES = (SENTENCE, EXTRACT, VALIDATE, INFLECT, PAIR, BALANCE)
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


@dataclass(frozen=True, slots=True)
class Shown:
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


def _text(row: str, text: str, source: str, where: Mapping[str, Any]) -> Cell:
    """A cell that shows a text of one row."""
    return Cell(row, SHOWN, 1, text, COUNT, source, where, n=1)


def _number(
    row: str, record: Mapping[str, Any], column: str, source: str, where: Mapping[str, Any]
) -> Cell:
    """A cell that shows a number of one row."""
    value = record[column]
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return Cell(row, SHOWN, float(value), text, of_row(column), source, where)


def _sentence(stages: Stages, lang: Mapping[str, Any]) -> Iterator[Shown]:
    where = {**lang, "sentence": stages.sentence["sentence"]}
    text = stages.sentence["text"] or stages.item["good"]
    yield Shown(SENTENCE, _text("Text", text, "sentences", where), foreign=True)
    for word in stages.words:
        place = {**where, "word": word["word"]}
        row = f"Word {word['word']}"
        yield Shown(SENTENCE, _text(row, word_text(word), "tokens", place), foreign=True)


def _extract(stages: Stages, lang: Mapping[str, Any]) -> Iterator[Shown]:
    candidate, item = stages.candidate, stages.item
    keys = ("construction", "sentence", "subject", "verb", "inflected")
    where = {**lang, **_picked(candidate, *keys)}
    named = {"Subject": "subject_form", "Verb": "verb_form", "Agreeing word": "form"}
    for row, column in named.items():
        cell = _text(row, candidate[column], "candidates", where)
        yield Shown(EXTRACT, cell, foreign=True)
    for row, column in {"Word order": "order", "Agreeing word is a": "kind"}.items():
        yield Shown(EXTRACT, _text(row, candidate[column], "candidates", where))
    yield Shown(EXTRACT, _number("Distance", candidate, "distance", "candidates", where))
    yield Shown(EXTRACT, _number("Attractors", item, "attractors", "items", _item_of(stages)))


def _item_of(stages: Stages) -> dict[str, Any]:
    """What selects the pair among the items."""
    return _picked(stages.item, "lang", "item_id", "paradigm")


def _picked(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Some columns of a row."""
    return {name: row[name] for name in names}


def _validate(stages: Stages, lang: Mapping[str, Any]) -> Iterator[Shown]:
    condition = ("phenomenon", "verb_type", "order")
    for count in stages.counts:
        where = {**lang, **_picked(count, *condition, "subject_value", "verb_value")}
        name = f"Subject {count['subject_value']}, verb {count['verb_value']}"
        yield Shown(VALIDATE, _number(name, count, "count", "agreement_counts", where))
    if stages.test:
        where = {**lang, **_picked(stages.test, *condition, "value")}
        for name, column in TESTED.items():
            yield Shown(VALIDATE, _number(name, stages.test, column, "agreement", where))
    label = _text("Label", stages.item["label"], "items", _item_of(stages))
    yield Shown(VALIDATE, label)


def _inflect(stages: Stages, lang: Mapping[str, Any]) -> Iterator[Shown]:
    for source, size in stages.sizes.items():
        where = {**lang, "lemma": stages.lemma, "pos": VERBS, "source": source}
        row = f"Entries of the lemma, {RESOURCES[source]}"
        yield Shown(INFLECT, Cell(row, SHOWN, size, str(size), COUNT, "lexicon", where, n=size))
    for number, entry in enumerate(stages.entries, start=1):
        where = {**lang, "lemma": entry.row.lemma, "form": entry.row.form, "pos": VERBS}
        where |= {"features": entry.row.bundle, "source": entry.source}
        text = f"{entry.row.form} ({entry.row.bundle}): {verdict_of(entry)}"
        cell = _text(f"Entry {number}, {RESOURCES[entry.source]}", text, "lexicon", where)
        yield Shown(INFLECT, cell, foreign=True)


def _pair(stages: Stages) -> Iterator[Shown]:
    where = _item_of(stages)
    named = {"Swapped form": "bad_form", "Grammatical": "good", "Ungrammatical": "bad"}
    for row, column in named.items():
        yield Shown(PAIR, _text(row, stages.item[column], "items", where), foreign=True)


def _balance(stages: Stages, lang: Mapping[str, Any]) -> Iterator[Shown]:
    n, where = stages.available, stages.fitting
    yield Shown(BALANCE, Cell("Pairs", SHOWN, n, str(n), COUNT, ALL_ITEMS, where, n=n))
    n, where = stages.kept, {**lang, "paradigm": stages.item["paradigm"]}
    yield Shown(BALANCE, Cell("Kept", SHOWN, n, str(n), COUNT, "items", where, n=n))
    weight = _number("Weight in the draw", stages.item, "weight", "items", _item_of(stages))
    yield Shown(BALANCE, weight)


def shown_cells(stages: Stages) -> list[Shown]:
    """Everything that the figure shows of a pair, in the order of the stages.

    Numbers are what their row has in a column; a text counts the one row that it comes from.
    """
    lang = {"lang": stages.item["lang"]}
    return [
        *_sentence(stages, lang),
        *_extract(stages, lang),
        *_validate(stages, lang),
        *_inflect(stages, lang),
        *_pair(stages),
        *_balance(stages, lang),
    ]
