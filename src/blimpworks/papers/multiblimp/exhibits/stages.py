"""One minimal pair at every stage of its making, from the tables of the stages.

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025), section 4 and Figure 2.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import COUNT, of_row
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.multiblimp.exhibits.accuracies import CERTAIN
from blimpworks.papers.multiblimp.items.features import PHENOMENA, parse_feats
from blimpworks.papers.multiblimp.items.inflection import SOURCES, LexiconRow
from blimpworks.papers.multiblimp.items.pairs import load_resources, ways_of
from blimpworks.papers.multiblimp.items.sampling import members
from blimpworks.papers.multiblimp.items.swaps import Inflector, Trace
from blimpworks.papers.multiblimp.settings import MultiblimpOptions
from blimpworks.papers.multiblimp.tables import AGREEMENT, AGREEMENT_COUNTS, BOTH_TYPES, CANDIDATES
from blimpworks.tables import ITEMS, LEXICON, SENTENCES, TOKENS, TableSchema, read_table

SHORTEST, LONGEST = 4, 10
"""Words of the sentences that are preferred, punctuation included."""
VERBS = "V"
"""Part of speech of the entries that verbs and participles are looked up among."""
CONDITION = ("phenomenon", "grammatical", "ungrammatical", "order", "inflected")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """A looked-up entry: the word's ``own``, the ``chosen`` one, or with an ``objection``."""

    row: LexiconRow
    source: str
    own: bool
    chosen: bool = False
    objection: str | None = None


@dataclass(frozen=True, slots=True)
class Stages:
    """A pair and what each stage knew of it; rows are as their tables have them.

    ``words`` are the sentence's syntactic words in order, ``word_at`` them by CoNLL-U id.
    ``test`` is the test of the language's agreement, None where the condition has no evidence,
    and ``counts`` the combinations of values behind it. ``sizes`` has the number of entries of
    the word's lemma in each source, ``consulted`` whether the source was looked at.
    ``fitting`` selects the ``available`` pairs of the condition, of which ``kept`` were drawn.
    """

    item: Row
    sentence: Row
    words: list[Row]
    candidate: Row
    test: Row | None
    counts: list[Row]
    lemma: str
    entries: list[Entry]
    sizes: Mapping[str, int]
    consulted: Mapping[str, bool]
    fitting: Mapping[str, Any]
    available: int
    kept: int

    @property
    def word_at(self) -> dict[int, Row]:
        """The sentence's words by their ids."""
        return {word["word"]: word for word in self.words}

    @property
    def feature(self) -> str:
        """The feature that agrees: Number, Person or Gender."""
        return PHENOMENA[self.item["phenomenon"]].feature


def sentence_key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Treebank, file and id of a sentence, as items name it, from its row of the table."""
    return row["treebank"], row["file"], row["sent_id"] or f"line {row['line']}"


def choose_pair(
    items: Sequence[Row], lengths: Mapping[tuple[str, str, str], int], item_id: str | None = None
) -> Row | None:
    """Choose the pair called ``item_id``, or a certain, short one; UserError for an unknown one."""

    def rank(item: Row) -> tuple[object, ...]:
        """Sort key of a pair: the lowest is shown."""
        words = lengths[item["treebank"], item["file"], item["sent_id"]]
        far = max(SHORTEST - words, words - LONGEST, 0)
        certain = item["label"] in CERTAIN
        return not certain, item["attractors"] > 0, far, item["item_id"], item["paradigm"]

    if item_id is None:
        return min(items, key=rank, default=None)
    same = [item for item in items if item["item_id"] == item_id]
    if not same:
        raise UserError(
            f"multiblimp.exhibits.figure2_pair is {item_id!r}, which is not among the "
            f"{len(items)} items of the figure's language; expected an item_id of them."
        )
    return min(same, key=rank)


def _rows(
    schema: TableSchema,
    tables: Tables,
    kind: str,
    columns: Sequence[str] | None = None,
    **keys: Any,
) -> list[Row]:
    """Rows of the language's table of a ``kind`` whose columns have the values of ``keys``."""
    table = read_table(schema, tables[kind][0], columns)
    for name, value in keys.items():
        column = table[name]
        plain = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        table = table.filter(pc.equal(plain, value))
    rows: list[Row] = table.to_pylist()
    return rows


def _evidence(tables: Tables, item: Row) -> tuple[Row | None, list[Row]]:
    """The test of a pair's condition, and the counts of verbs' values behind it."""
    value = item["grammatical"]
    keys = {"phenomenon": item["phenomenon"], "order": item["order"]}
    tests = _rows(AGREEMENT, tables, "agreement", **keys, value=value)
    counts = _rows(AGREEMENT_COUNTS, tables, "agreement_counts", **keys, subject_value=value)
    types = (item["inflected"], BOTH_TYPES)
    test = next((row for kind in types for row in tests if row["verb_type"] == kind), None)
    counts = [row for row in counts if test and row["verb_type"] == test["verb_type"]]
    counts.sort(key=lambda row: (row["verb_value"] != value, -row["count"], row["verb_value"]))
    return test, counts


def _entries(trace: Trace, item: Row) -> list[Entry]:
    """The entries behind a pair: those of its own form, then others, the chosen form's first."""
    new = item["bad_form"].casefold()
    entries: dict[tuple[str, str, str, bool], Entry] = {}
    for source, lookup in zip(SOURCES, trace.lookups, strict=True):
        for row in lookup.own if lookup else ():
            entries.setdefault((source, row.form, row.bundle, True), Entry(row, source, own=True))
        for row in lookup.others if lookup else ():
            objection = trace.objections[row.form]
            chosen = objection is None and row.form.casefold() == new
            entry = Entry(row, source, own=False, chosen=chosen, objection=objection)
            entries.setdefault((source, row.form, row.bundle, False), entry)

    def rank(entry: Entry) -> tuple[object, ...]:
        return not entry.own, not entry.chosen, entry.objection is not None

    return sorted(entries.values(), key=rank)


def follow_pair(tables: Tables, choice: Mapping[str, Any]) -> Stages | None:
    """Follow the pair that Figure 2 shows. Raises UserError for a broken table or unknown pair."""
    sentences = _rows(SENTENCES, tables, "sentences")
    by_key = {sentence_key(row): row for row in sentences}
    items = _rows(ITEMS, tables, "items")
    lengths = {key: row["words"] for key, row in by_key.items()}
    item = choose_pair(items, lengths, choice["pair"])
    if item is None:
        return None
    sentence = by_key[item["treebank"], item["file"], item["sent_id"]]
    number = sentence["sentence"]
    construction = PHENOMENA[item["phenomenon"]].construction
    edges = _rows(CANDIDATES, tables, "candidates", construction=construction)
    keys = {"subject": "subject_id", "verb": "verb_id", "inflected": "inflected_id"}
    ids = {"sentence": number} | {name: item[column] for name, column in keys.items()}
    candidate = next(row for row in edges if ids.items() <= row.items())
    lexicon = read_table(LEXICON, tables["lexicon"][0])
    options = MultiblimpOptions(decisions=choice["decisions"])
    ways = ways_of(options, item["lang"])
    phenomenon = PHENOMENA[item["phenomenon"]]
    resources = load_resources(edges, lexicon, phenomenon.construction, ways.letter_case)
    features = tuple(sorted(parse_feats(item["inflected_feats"]).items()))
    asked = (item["inflected_form"], item["inflected_lemma"], features, item["subject"])
    trace = Inflector(phenomenon.feature, resources, ways).trace(*asked)
    entries = _entries(trace, item)
    lemma = entries[0].row.lemma
    test, counts = _evidence(tables, item)
    # What selects the pairs of an item's condition before sampling, and how many there are.
    pairs = _rows(ITEMS, tables, "all_items", CONDITION)
    condition = tuple(item[name] for name in CONDITION)
    inside = members(pairs, condition, choice["exact"])
    where = {name: item[name] for name in ("lang", "phenomenon", "order", "inflected")}
    for name in ("grammatical", "ungrammatical"):
        where[name] = sorted({pair[name] for pair in inside})
    fitting, available = (where, len(inside))
    words = [w for w in _rows(TOKENS, tables, "tokens", sentence=number) if w["word"] is not None]
    of_lemma = pc.and_(
        pc.equal(lexicon["lemma"], lemma), pc.equal(lexicon["pos"].cast(pa.string()), VERBS)
    )
    sources = lexicon.filter(of_lemma)["source"].cast(pa.string()).to_pylist()
    return Stages(
        item,
        sentence,
        words,
        candidate,
        test,
        counts,
        lemma,
        entries,
        {source: sources.count(source) for source in SOURCES},
        {source: bool(look) for source, look in zip(SOURCES, trace.lookups, strict=True)},
        fitting,
        available,
        sum(other["paradigm"] == item["paradigm"] for other in items),
    )


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
PAIR_TEXTS = {"Swapped form": "bad_form", "Grammatical": "good", "Ungrammatical": "bad"}
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
    return StageCell(stage, Cell(row, COLUMN, n, str(n), COUNT, source, where, n=n))


def _number(
    stage: str, row: str, record: Mapping[str, Any], column: str, source: str, where: Where
) -> StageCell:
    """A cell that shows a number of one row."""
    value = record[column]
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return StageCell(stage, Cell(row, COLUMN, float(value), text, of_row(column), source, where))


def _columns(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _item_of(stages: Stages) -> dict[str, Any]:
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
    for row, column in PAIR_TEXTS.items():
        yield _text(PAIR, row, stages.item[column], "items", _item_of(stages))


def _balance(stages: Stages, lang: Where) -> Iterator[StageCell]:
    yield _count(BALANCE, "Pairs", stages.available, ALL_ITEMS, stages.fitting)
    where = {**lang, "paradigm": stages.item["paradigm"]}
    yield _count(BALANCE, "Kept", stages.kept, "items", where)
    weight = ("Weight in the draw", stages.item, "weight")
    yield _number(BALANCE, *weight, "items", _item_of(stages))


def stage_cells(stages: Stages) -> list[StageCell]:
    """List everything that the figure shows of a pair, in the order of the stages."""
    lang = {"lang": stages.item["lang"]}
    parts = (_sentence, _extract, _validate, _inflect, _pair, _balance)
    return [cell for part in parts for cell in part(stages, lang)]
