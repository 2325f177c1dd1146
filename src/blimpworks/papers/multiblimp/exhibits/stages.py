"""One minimal pair at every stage of its making, from the tables of the stages.

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025), section 4 and Figure 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.errors import UserError
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.multiblimp.exhibits.common import CERTAIN
from blimpworks.papers.multiblimp.items.features import PHENOMENA, parse_feats
from blimpworks.papers.multiblimp.items.inflection import SOURCES, LexiconRow
from blimpworks.papers.multiblimp.items.pairs import load_resources, ways_of
from blimpworks.papers.multiblimp.items.sampling import members
from blimpworks.papers.multiblimp.items.swaps import Inflector, Trace, Ways
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
    """An entry of the lexicon that was looked up: the word's own form, or another one.

    ``objection`` says why another form makes no minimal pair; None where it makes one.
    ``chosen`` marks the form in the ungrammatical sentence.
    """

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
    """The pair called ``item_id``, or one that shows the stages well; None where there are none.

    That is one of certain agreement, without attractors, in a short sentence, as far as there
    is one; of these that with the smallest ``item_id``. ``lengths`` has the words of sentences.
    Raises UserError when that pair is not among the items.
    """

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


def _candidate(edges: Sequence[Row], sentence: int, item: Row) -> Row:
    """The row of candidates that a pair was made from."""
    keys = {"subject": "subject_id", "verb": "verb_id", "inflected": "inflected_id"}
    words = {"sentence": sentence} | {name: item[column] for name, column in keys.items()}
    return next(row for row in edges if words.items() <= row.items())


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


def _trace(lexicon: pa.Table, edges: list[Row], item: Row, ways: Ways) -> Trace:
    """What pair generation got from the lexicon for the pair's agreeing word.

    ``edges`` are all candidates of its construction: of their verbs some tell of others.
    """
    phenomenon = PHENOMENA[item["phenomenon"]]
    resources = load_resources(edges, lexicon, phenomenon.construction, ways.letter_case)
    features = tuple(sorted(parse_feats(item["inflected_feats"]).items()))
    words = (item["inflected_form"], item["inflected_lemma"], features, item["subject"])
    return Inflector(phenomenon.feature, resources, ways).trace(*words)


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
        """Lower stands first; what is alike stays in the lexicon's order."""
        return not entry.own, not entry.chosen, entry.objection is not None

    return sorted(entries.values(), key=rank)


def _sizes(lexicon: pa.Table, lemma: str) -> dict[str, int]:
    """How many entries of verbs each source has of a lemma."""
    of_lemma = pc.and_(
        pc.equal(lexicon["lemma"], lemma), pc.equal(lexicon["pos"].cast(pa.string()), VERBS)
    )
    sources = lexicon.filter(of_lemma)["source"].cast(pa.string()).to_pylist()
    return {source: sources.count(source) for source in SOURCES}


def _fitting(tables: Tables, item: Row, exact: bool) -> tuple[dict[str, Any], int]:
    """What selects the pairs of an item's condition before sampling, and how many there are."""
    pairs = _rows(ITEMS, tables, "all_items", CONDITION)
    condition = tuple(item[name] for name in CONDITION)
    inside = members(pairs, condition, exact)
    where = {name: item[name] for name in ("lang", "phenomenon", "order", "inflected")}
    for name in ("grammatical", "ungrammatical"):
        where[name] = sorted({pair[name] for pair in inside})
    return where, len(inside)


def follow_pair(tables: Tables, choice: Mapping[str, Any]) -> Stages | None:
    """The pair that Figure 2 shows, with its rows of every stage; None where there is no pair.

    ``tables`` are those of one language, ``choice`` is the fact ``figure2`` of the campaign.
    Raises UserError when a table is missing or broken, or the pair is not in the language.
    """
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
    candidate = _candidate(edges, number, item)
    lexicon = read_table(LEXICON, tables["lexicon"][0])
    options = MultiblimpOptions(decisions=choice["decisions"])
    ways = ways_of(options, item["lang"])
    trace = _trace(lexicon, edges, item, ways)
    entries = _entries(trace, item)
    lemma = entries[0].row.lemma
    test, counts = _evidence(tables, item)
    fitting, available = _fitting(tables, item, choice["exact"])
    words = [w for w in _rows(TOKENS, tables, "tokens", sentence=number) if w["word"] is not None]
    return Stages(
        item,
        sentence,
        words,
        candidate,
        test,
        counts,
        lemma,
        entries,
        _sizes(lexicon, lemma),
        {source: bool(look) for source, look in zip(SOURCES, trace.lookups, strict=True)},
        fitting,
        available,
        sum(other["paradigm"] == item["paradigm"] for other in items),
    )
