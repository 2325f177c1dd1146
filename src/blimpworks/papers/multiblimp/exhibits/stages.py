"""Follow one minimal pair of MultiBLiMP through the tables of all stages that made it.

``follow_pair`` reads the tables of one language, and returns the pair's rows for Figure 2
(``Stages``). ``stage_cells`` makes the figure's cells from these rows. A cell is a number or text
with its table and filter, such as "Distance: 1" from ``candidates``. Source: section 4, Figure 2.

A candidate is a subject and the word of its sentence that agrees with it. The agreement test tells
whether such words agree in the language. Another form of the word, from the lexicon, makes the
ungrammatical sentence. At last, pairs of each condition ("PL>SG/SV/verb") are drawn by weight.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import COUNT, of_row
from blimpworks.exhibits.shared import Tables
from blimpworks.files import read_cells
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
"""A row of a table: {column: value}."""


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry of the lexicon that was looked up for the agreeing word."""

    row: LexiconRow
    source: str
    """unimorph, or ud (the treebanks)."""
    matches: bool
    """Whether the entry has the agreeing word's form; otherwise it has another form."""
    chosen: bool = False
    """Whether the ungrammatical sentence has the entry's form."""
    objection: str | None = None
    """Reason why the entry's form makes no pair; None if it makes one."""

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
    """Agreement test of the pair's condition; None if no such verb was counted."""
    counts: list[Row]
    """Counts that were tested: numbers of verbs, in a row for each value."""
    lemma: str
    """Lemma of the agreeing word, as it was looked up."""
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

    ``sentences`` are keyed by treebank, file and sent_id. Returns None if there are no items.
    Raises UserError for an unknown id.
    """

    def rank(item: Row) -> tuple[object, ...]:
        """Return a rank that is lowest for certain agreement, no attractors, and 4 to 10 words."""
        word_count = sentences[item["treebank"], item["file"], item["sent_id"]]["words"]
        excess = max(SHORTEST - word_count, word_count - LONGEST, 0)
        certain = item["label"] in CERTAIN
        return not certain, item["attractors"] > 0, excess, item["item_id"], item["paradigm"]

    if item_id is None:
        return min(items, key=rank, default=None)
    # A pair that was drawn in two conditions has two rows.
    rows_of_pair = [item for item in items if item["item_id"] == item_id]
    if not rows_of_pair:
        raise UserError(
            f"multiblimp.exhibits.figure2_pair is {item_id!r}, which is not among the "
            f"{len(items)} items of the figure's language; expected an item_id of them."
        )
    return min(rows_of_pair, key=rank)


def _rows(
    schema: TableSchema, tables: Tables, name: str, columns: Sequence[str] | None = None, **key: Any
) -> list[Row]:
    """Read the rows of the table ``name`` that have these values: ``sentence=12``."""
    table = read_table(schema, tables[name][0], columns)
    for column, value in key.items():
        table = table.filter(pc.field(column) == value)
    rows: list[Row] = table.to_pylist()
    return rows


def _shown_entries(trace: Trace, bad_form: str) -> list[ShownEntry]:
    """List the entries that were looked up: the word's form first, the chosen form second."""
    entries: list[ShownEntry] = []
    for source, lookup in trace.lookups.items():
        entries += [ShownEntry(row, source, matches=True) for row in lookup.matches]
        for row in lookup.contrasts:
            objection = trace.forms[row.form].objection
            chosen = objection is None and row.form.casefold() == bad_form.casefold()
            entries.append(ShownEntry(row, source, False, chosen, objection))
    # Readings that differ only in assumed features are one entry of the table.
    distinct: dict[tuple[str, str, str, bool], ShownEntry] = {}
    for entry in entries:
        distinct.setdefault((entry.source, entry.row.form, entry.row.bundle, entry.matches), entry)

    def rank(entry: ShownEntry) -> tuple[bool, ...]:
        return not entry.matches, not entry.chosen, bool(entry.objection)

    return sorted(distinct.values(), key=rank)


def follow_pair(tables: Tables, choice: Mapping[str, Any]) -> Stages | None:
    """Return the rows of the pair that the fact ``figure2`` chooses, if any, or raise UserError."""
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
    candidate_key = {name: item[f"{name}_id"] for name in ("subject", "verb", "inflected")}
    candidate_key["sentence"] = number
    candidate = next(row for row in candidates if candidate_key.items() <= row.items())

    # The test of the pair's condition, and the counts that were tested.
    value = item["grammatical"]
    keys = {"phenomenon": item["phenomenon"], "order": item["order"]}
    tests = _rows(AGREEMENT, tables, "agreement", **keys, value=value)
    counts = _rows(AGREEMENT_COUNTS, tables, "agreement_counts", **keys, subject_value=value)
    # A test is of this type of verb, or of verbs and auxiliaries together.
    test_by_type = {row["verb_type"]: row for row in tests}
    test = test_by_type.get(item["inflected"]) or test_by_type.get(BOTH_TYPES)
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
"""Printed names of the lexicon's sources."""
_COLUMNS = read_cells(Path(__file__).with_name("stage_columns.tsv"))
EXTRACTED, TESTED, PAIR_TEXTS = (
    {row["cell"]: row["column"] for row in _COLUMNS if row["table"] == table}
    for table in ("candidates", "agreement", "items")
)
"""Columns of ``candidates``, ``agreement`` and ``items`` that become cells, by the cell's row."""
IN_ENGLISH = {"Word order", "Agreeing word is a", "Label"}
"""Rows with English texts; texts of all other rows are in the pair's language."""


# A cell of the number of rows that ``where`` selects. For a single row, ``text`` can be its text.
def _counting_cell(name: str, source: str, where: Row, n: int, text: str = "") -> Cell:
    return Cell(name, COLUMN, n, text or str(n), COUNT, source, where, n=n)


def _cells(source: str, where: Row, values: Row, columns: Mapping[str, str]) -> list[Cell]:
    """Make a cell for each of ``columns``, {row of the cell: column}, from one row of a table.

    ``values`` is this row, and ``where`` the filter that selects it in the table ``source``.
    """
    cells = []
    for name, column in columns.items():
        value = values[column]
        if isinstance(value, str):
            cells.append(_counting_cell(name, source, where, 1, value))
        else:
            text = f"{value:.4g}" if isinstance(value, float) else str(value)
            cells.append(Cell(name, COLUMN, float(value), text, of_row(column), source, where))
    return cells


def stage_cells(stages: Stages) -> dict[str, list[Cell]]:
    """Return the cells of a pair keyed by stage, in the stages' order."""
    item, candidate, test = stages.item, stages.candidate, stages.test
    lang = {"lang": item["lang"]}

    def filter_of(row: Row, *columns: str) -> Row:
        return lang | {column: row[column] for column in columns}

    item_filter = filter_of(item, "item_id", "paradigm")
    sentence_filter = filter_of(stages.sentence, "sentence")
    text = stages.sentence["text"] or item["good"]
    sentence = [_counting_cell("Text", "sentences", sentence_filter, 1, text)]
    for word in stages.word_at.values():
        where = sentence_filter | {"word": word["word"]}
        relation = f"{word['deprel'] or '_'} of {word['head']}" if word["head"] else "root"
        annotation = (word["lemma"], word["upos"], word["feats"], relation)
        text = f"{word['form']} ({', '.join(filter(None, annotation))})"
        sentence.append(_counting_cell(f"Word {word['word']}", "tokens", where, 1, text))

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
        inflect.append(_counting_cell(name, "lexicon", where, n))
    for number, entry in enumerate(stages.entries, start=1):
        row, name = entry.row, f"Entry {number}, {RESOURCES[entry.source]}"
        where = lang | {"lemma": row.lemma, "form": row.form, "pos": VERBS}
        where |= {"features": row.bundle, "source": entry.source}
        text = f"{row.form} ({row.bundle}): {entry.verdict}"
        inflect.append(_counting_cell(name, "lexicon", where, 1, text))

    kept_filter = filter_of(item, "paradigm")
    balance = [
        _counting_cell("Pairs", ALL_ITEMS, {**stages.condition_filter}, stages.available),
        _counting_cell("Kept", "items", kept_filter, stages.kept),
        *_cells("items", item_filter, item, {"Weight in the draw": "weight"}),
    ]
    return {
        "Sentence": sentence,
        "Extract": extract,
        "Validate": validate,
        "Inflect": inflect,
        "Minimal pair": _cells("items", item_filter, item, PAIR_TEXTS),
        "Balance": balance,
    }
