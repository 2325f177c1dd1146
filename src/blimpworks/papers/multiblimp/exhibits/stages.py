"""Follow one minimal pair of MultiBLiMP through the tables of all stages that made it.

``follow_pair`` reads the tables of one language, and returns the pair's rows for Figure 2
(``Stages``). ``stage_cells`` makes the figure's cells from these rows. A cell is a number or text
with its table and filter, such as "Distance: 1" from ``candidates``. Source: section 4, Figure 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import COUNT, of_row
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.multiblimp.exhibits.measures import CERTAIN
from blimpworks.papers.multiblimp.items.inflection import Inflector, Trace
from blimpworks.papers.multiblimp.items.lookup import SOURCES, LexiconRow
from blimpworks.papers.multiblimp.items.pairs import load_resources
from blimpworks.papers.multiblimp.items.sampling import Condition, select_pairs
from blimpworks.papers.multiblimp.items.words import PHENOMENA, parse_feats
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected
from blimpworks.papers.multiblimp.tables import AGREEMENT, AGREEMENT_COUNTS, BOTH_TYPES, CANDIDATES
from blimpworks.tables import ITEMS, LEXICON, SENTENCES, TOKENS, TableSchema, read_table

SHORTEST, LONGEST = 4, 10
"""Fewest and most words of the preferred sentences, with punctuation."""
VERBS = "V"
"""Part of speech of the entries for verbs and participles."""
Row = dict[str, Any]
"""A row of a table, keyed by column."""


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry of the lexicon that was looked up for the agreeing word."""

    row: LexiconRow
    source: str
    matches: bool
    """Whether the entry has the agreeing word's form; otherwise it has another form."""
    chosen: bool = False
    """Whether the ungrammatical sentence has the entry's form."""
    objection: str | None = None
    """Reason why the entry's form makes no pair, if there is one."""

    @property
    def verdict(self) -> str:
        """Result of the lookup for the entry, as the figure prints it."""
        if self.matches:
            return "in the sentence"
        if self.chosen:
            return "takes its place"
        return f"no pair: {self.objection}" if self.objection else "makes another pair"


@dataclass(frozen=True, slots=True)
class Stages:
    """A pair (``item``), and its rows in the tables of the stages."""

    item: Row
    feature: str
    sentence: Row
    word_at: dict[int, Row]
    """The sentence's words, keyed by CoNLL-U id."""
    candidate: Row
    test: Row | None
    """Agreement test of the pair's condition; None without evidence."""
    counts: list[Row]
    """Counts that were tested: numbers of verbs, in a row for each value."""
    lemma: str
    entries: list[ShownEntry]
    sizes: Mapping[str, int]
    """Number of the lexicon's entries of the lemma, keyed by source."""
    consulted: list[str]
    """Sources of the lexicon in which the agreeing word was looked up."""
    condition_filter: Mapping[str, Any]
    """Filter that selects the condition's pairs before the draw."""
    available: int
    """Number of the condition's pairs before the draw."""
    kept: int
    """Number of the condition's pairs that were drawn."""


def choose_pair(
    items: Sequence[Row], sentences: Mapping[tuple[str, str, str], Row], item_id: str | None = None
) -> Row | None:
    """Choose the pair ``item_id``; without an id, a short pair whose agreement is certain.

    ``sentences`` are keyed by treebank, file and sent_id. Raises UserError for an unknown id.
    """

    def rank(item: Row) -> tuple[object, ...]:
        word_count = sentences[item["treebank"], item["file"], item["sent_id"]]["words"]
        excess = max(SHORTEST - word_count, word_count - LONGEST, 0)
        certain = item["label"] in CERTAIN
        return not certain, item["attractors"] > 0, excess, item["item_id"], item["paradigm"]

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
    schema: TableSchema, tables: Tables, name: str, columns: Sequence[str] | None = None, **key: Any
) -> list[Row]:
    """Read the rows of a table that have the values ``key`` in the columns of these names."""
    table = read_table(schema, tables[name][0], columns)
    for column, value in key.items():
        table = table.filter(pc.field(column) == value)
    rows: list[Row] = table.to_pylist()
    return rows


def _shown_entries(trace: Trace, bad_form: str) -> list[ShownEntry]:
    """List the entries that were looked up: the word's form first, the chosen form second."""
    entries: dict[tuple[str, str, str, bool], ShownEntry] = {}
    for source, lookup in trace.lookups.items():
        entries_of_source = [ShownEntry(row, source, matches=True) for row in lookup.matches]
        for row in lookup.contrasts:
            objection = trace.forms[row.form].objection
            chosen = objection is None and row.form.casefold() == bad_form.casefold()
            entries_of_source.append(ShownEntry(row, source, False, chosen, objection))
        # Readings that differ only in assumed features are one entry of the table.
        for entry in entries_of_source:
            entries.setdefault((source, entry.row.form, entry.row.bundle, entry.matches), entry)
    return sorted(
        entries.values(),
        key=lambda entry: (not entry.matches, not entry.chosen, bool(entry.objection)),
    )


def follow_pair(tables: Tables, choice: Mapping[str, Any]) -> Stages | None:
    """Return the rows of Figure 2's pair, or None without items. UserError for an unknown pair."""
    # The pair and its sentence; items name a sentence by treebank, file and id.
    sentences = {
        (row["treebank"], row["file"], row["sent_id"]): row
        for row in _rows(SENTENCES, tables, "sentences")
    }
    items = _rows(ITEMS, tables, "items")
    item = choose_pair(items, sentences, choice["pair"])
    if item is None:
        return None
    sentence = sentences[item["treebank"], item["file"], item["sent_id"]]
    number, phenomenon = sentence["sentence"], PHENOMENA[item["phenomenon"]]

    # The sentence's words, and the candidate that the pair was made from.
    tokens = _rows(TOKENS, tables, "tokens", sentence=number)
    candidates = _rows(CANDIDATES, tables, "candidates", construction=phenomenon.construction)
    ids = {name: item[f"{name}_id"] for name in ("subject", "verb", "inflected")}
    ids["sentence"] = number
    candidate = next(row for row in candidates if ids.items() <= row.items())

    # The test of the pair's condition, and the counts that were tested.
    value = item["grammatical"]
    keys = {"phenomenon": item["phenomenon"], "order": item["order"]}
    tests = _rows(AGREEMENT, tables, "agreement", **keys, value=value)
    counts = _rows(AGREEMENT_COUNTS, tables, "agreement_counts", **keys, subject_value=value)
    verb_types = (item["inflected"], BOTH_TYPES)
    test = next((row for name in verb_types for row in tests if row["verb_type"] == name), None)
    counts = [row for row in counts if test and row["verb_type"] == test["verb_type"]]
    counts.sort(key=lambda row: (row["verb_value"] != value, -row["count"], row["verb_value"]))

    # Look up the agreeing word again, by the settings with which the pair was made.
    lexicon = read_table(LEXICON, tables["lexicon"][0])
    options = MultiblimpOptions(decisions=choice["decisions"])
    any_case = corrected(options, "letter_case")
    resources = load_resources(candidates, lexicon, phenomenon.construction, item["lang"], any_case)
    features = tuple(sorted(parse_feats(item["inflected_feats"]).items()))
    query = (item["inflected_form"], item["inflected_lemma"], features, item["subject"])
    trace = Inflector(phenomenon.feature, *resources, options, item["lang"]).trace(*query)
    entries = _shown_entries(trace, item["bad_form"])
    lemma = entries[0].row.lemma
    of_lemma = lexicon.filter((pc.field("lemma") == lemma) & (pc.field("pos") == VERBS))
    sources = of_lemma["source"].to_pylist()

    # The pairs of the item's condition before sampling.
    condition = Condition(**{name: item[name] for name in Condition._fields})
    all_pairs = _rows(ITEMS, tables, "all_items", Condition._fields)
    of_condition = select_pairs(all_pairs, condition, choice["exact"])
    condition_filter = {name: item[name] for name in ("lang", "phenomenon", "order", "inflected")}
    for name in ("grammatical", "ungrammatical"):
        condition_filter[name] = sorted({pair[name] for pair in of_condition})
    return Stages(
        item=item,
        feature=phenomenon.feature,
        sentence=sentence,
        word_at={word["word"]: word for word in tokens if word["word"] is not None},
        candidate=candidate,
        test=test,
        counts=counts,
        lemma=lemma,
        entries=entries,
        sizes={source: sources.count(source) for source in SOURCES},
        consulted=[*trace.lookups],
        condition_filter=condition_filter,
        available=len(of_condition),
        kept=sum(pair["paradigm"] == item["paradigm"] for pair in items),
    )


COLUMN = "Shown"
"""Only column of the cells; their rows are names such as "Subject"."""
ALL_ITEMS = "items/multiblimp/all"
"""Folder of the pairs that items are drawn from."""
RESOURCES = {"unimorph": "UniMorph", "ud": "treebanks"}
# Columns of ``candidates``, ``agreement`` and ``items`` that become cells, keyed by the cell's row.
EXTRACTED = {
    "Subject": "subject_form",
    "Verb": "verb_form",
    "Agreeing word": "form",
    "Word order": "order",
    "Agreeing word is a": "kind",
    "Distance": "distance",
}
TESTED = {
    "Agreeing": "agreeing",
    "Cases": "n",
    "Probability": "probability",
    "p, more agreement": "p_greater",
    "p, less agreement": "p_less",
}
PAIR_TEXTS = {"Swapped form": "bad_form", "Grammatical": "good", "Ungrammatical": "bad"}
IN_ENGLISH = {"Word order", "Agreeing word is a", "Label"}
"""Rows with English texts; texts of all other rows are in the pair's language."""


def _cells(source: str, where: Row, values: Row, columns: Mapping[str, str]) -> list[Cell]:
    """Make a cell for each of ``columns``, with its value in a table's row ``values``."""
    cells = []
    for row, column in columns.items():
        value = values[column]
        if isinstance(value, str):
            cells.append(Cell(row, COLUMN, 1, value, COUNT, source, where, n=1))
        else:
            text = f"{value:.4g}" if isinstance(value, float) else str(value)
            cells.append(Cell(row, COLUMN, float(value), text, of_row(column), source, where))
    return cells


def stage_cells(stages: Stages) -> dict[str, list[Cell]]:
    """Return the cells of a pair keyed by stage, in the stages' order."""
    item, candidate, test = stages.item, stages.candidate, stages.test
    lang = {"lang": item["lang"]}

    def filter_of(row: Row, *columns: str) -> Row:
        return lang | {column: row[column] for column in columns}

    item_filter = filter_of(item, "item_id", "paradigm")
    text = {"text": stages.sentence["text"] or item["good"]}
    sentence_filter = filter_of(stages.sentence, "sentence")
    sentence = _cells("sentences", sentence_filter, text, {"Text": "text"})
    for word in stages.word_at.values():
        where = sentence_filter | {"word": word["word"]}
        relation = f"{word['deprel'] or '_'} of {word['head']}" if word["head"] else "root"
        annotation = (word["lemma"], word["upos"], word["feats"], relation)
        word_text = {"text": f"{word['form']} ({', '.join(filter(None, annotation))})"}
        sentence += _cells("tokens", where, word_text, {f"Word {word['word']}": "text"})
    where = filter_of(candidate, "construction", "sentence", "subject", "verb", "inflected")
    extract = _cells("candidates", where, candidate, EXTRACTED)
    extract += _cells("items", item_filter, item, {"Attractors": "attractors"})
    validate = []
    condition = ("phenomenon", "verb_type", "order")
    for count in stages.counts:
        where = filter_of(count, *condition, "subject_value", "verb_value")
        name = f"Subject {count['subject_value']}, verb {count['verb_value']}"
        validate += _cells("agreement_counts", where, count, {name: "count"})
    if test:
        validate += _cells("agreement", filter_of(test, *condition, "value"), test, TESTED)
    validate += _cells("items", item_filter, item, {"Label": "label"})
    inflect = []
    for source, n in stages.sizes.items():
        where = lang | {"lemma": stages.lemma, "pos": VERBS, "source": source}
        name = f"Entries of the lemma, {RESOURCES[source]}"
        inflect.append(Cell(name, COLUMN, n, str(n), COUNT, "lexicon", where, n=n))
    for number, entry in enumerate(stages.entries, start=1):
        where = lang | {"lemma": entry.row.lemma, "form": entry.row.form, "pos": VERBS}
        where |= {"features": entry.row.bundle, "source": entry.source}
        word_text = {"text": f"{entry.row.form} ({entry.row.bundle}): {entry.verdict}"}
        name = f"Entry {number}, {RESOURCES[entry.source]}"
        inflect += _cells("lexicon", where, word_text, {name: "text"})
    n, all_pairs = stages.available, stages.condition_filter
    balance = [Cell("Pairs", COLUMN, n, str(n), COUNT, ALL_ITEMS, all_pairs, n=n)]
    n, kept_pairs = stages.kept, filter_of(item, "paradigm")
    balance.append(Cell("Kept", COLUMN, n, str(n), COUNT, "items", kept_pairs, n=n))
    balance += _cells("items", item_filter, item, {"Weight in the draw": "weight"})
    return {
        "Sentence": sentence,
        "Extract": extract,
        "Validate": validate,
        "Inflect": inflect,
        "Minimal pair": _cells("items", item_filter, item, PAIR_TEXTS),
        "Balance": balance,
    }
