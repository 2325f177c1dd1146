"""Look words up in a lexicon and find their forms with another value of a feature.

Source: MultiBLiMP 1.0, section 4.3; the matching rules follow the authors' code.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.papers.multiblimp.items.features import (
    ASSUMED,
    COLUMNS_OF,
    UNDEFINED,
    alternatives,
    parse_feats,
)

SOURCES = ("unimorph", "ud")
CONTEXT_PARTS = ("N", "PRO", "PRON")
"""Parts of speech of possible subjects."""
RARE = 10
"""A reading is rare when another of its form is more than this many times as frequent.

Or the same reading is more frequent with another lemma.
"""
AGREEING = (
    *("Number", "Number[subj]", "Person", "Person[subj]", "Gender", "Gender[subj]"),
    *("Animacy", "SubGender"),
)
"""Features that verbs may share with their subjects."""
BESIDE_AGREEMENT = frozenset((*AGREEING, "Agglutination", "ExtPos"))
"""These, what changes with them (Polish *mógł-*), and what says nothing of a form."""
Query = Mapping[str, frozenset[str]]
"""Accepted values of each feature."""


@dataclass(frozen=True, slots=True)
class LexiconRow:
    """One reading of a form with assumed values, which its ``bundle`` in the table lacks."""

    lemma: str
    form: str
    features: Mapping[str, str]
    bundle: str = ""
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Rows of one source and one class of words, by lemma or by form."""

    columns: Mapping[str, str | None]
    """Column that inflects here, by agreement feature; None if none does."""
    stated: frozenset[str]
    """Features that some row states."""
    rows: Mapping[str, list[LexiconRow]]

    def relevant(self, query: Query) -> dict[str, frozenset[str]]:
        """Return the part of a query about stated features."""
        return {name: values for name, values in query.items() if name in self.stated}


def spellings(words: Iterable[Any], any_case: bool) -> frozenset[str]:
    """Return words to look up, with ``any_case`` in lower case too; Arrow or Python strings."""
    written = {str(word) for word in words}
    return frozenset(written | {word.lower() for word in written} if any_case else written)


Readings = dict[str, list[dict[str, str]]]


def _stated(readings: Readings) -> frozenset[str]:
    return frozenset(n for of_bundle in readings.values() for reading in of_bundle for n in reading)


def load_lexicon(
    table: pa.Table,
    source: str,
    parts: Sequence[str],
    by: Literal["lemma", "form"],
    words: Collection[str],
    participles: bool = False,
) -> Lexicon:
    """Load rows of one ``source`` of a ``lexicon`` table: parts of speech, words by lemma or form.

    With ``participles`` other verb forms are left out. Features that some row states have their
    assumed values in the others. A reading is rare by its frequencies, which UniMorph lacks.
    """
    keep = pc.and_(
        pc.equal(table["source"].cast(pa.string()), source),
        pc.is_in(table["pos"].cast(pa.string()), pa.array([*parts])),
    )
    rows = table.filter(keep)
    counts = Counter(rows["features"].cast(pa.string()).to_pylist())
    # One reading for each alternative of a bundle ("FEM+MASC").
    readings: Readings = {}
    for bundle in counts:
        feats = parse_feats(bundle)
        values = (value.split("+") for value in feats.values())
        readings[bundle] = [dict(zip(feats, chosen, strict=True)) for chosen in product(*values)]
    if participles and "VerbForm" in _stated(readings):
        readings = {
            bundle: [reading for reading in of_bundle if reading.get("VerbForm") == "V.PTCP"]
            for bundle, of_bundle in readings.items()
        }
    stated = _stated(readings)
    columns = {
        feature: _inflecting_column(counts, readings, names)
        for feature, names in COLUMNS_OF.items()
    }
    defaults = {name: value for name, value in ASSUMED.items() if name in stated}
    filled = {b: [{**defaults, **r} for r in of_bundle] for b, of_bundle in readings.items()}
    frequency, forms = rows["frequency"], rows["form"]
    rarity = pa.array([False] * len(rows))
    if frequency.null_count < len(rows):
        of_form = _highest(forms, frequency)
        reading = pc.binary_join_element_wise(forms, rows["features"].cast(pa.string()), "\t")
        rarer = pc.greater(of_form, pc.multiply(frequency, RARE))
        rarity = pc.or_(rarer, pc.greater(_highest(reading, frequency), frequency))
    rows = rows.append_column("rare", rarity)
    selected = rows.filter(pc.is_in(rows[by], pa.array([*words], pa.string())))
    by_word: dict[str, list[LexiconRow]] = defaultdict(list)
    cells = (selected[name].to_pylist() for name in ("lemma", "form", "features", "rare"))
    for lemma, form, bundle, rare in zip(*cells, strict=True):
        of_bundle = [LexiconRow(lemma, form, reading, bundle, rare) for reading in filled[bundle]]
        by_word[lemma if by == "lemma" else form] += of_bundle
    return Lexicon(columns, stated, by_word)


def _highest(keys: pa.ChunkedArray, frequency: pa.ChunkedArray) -> pa.ChunkedArray:
    groups = pa.table({"key": keys, "n": frequency}).group_by("key").aggregate([("n", "max")])
    return groups["n_max"].take(pc.index_in(keys, groups["key"]))


def _inflecting_column(
    counts: Mapping[str, int], readings: Readings, names: Sequence[str]
) -> str | None:
    """Return the only column, or of several the one whose rarest value has most rows."""
    if len(names) == 1:
        return names[0] if names[0] in _stated(readings) else None
    best, chosen = 0, None
    for name in names:
        values: Counter[str] = Counter()
        for bundle, of_bundle in readings.items():
            for value in (reading[name] for reading in of_bundle if name in reading):
                values[value] += counts[bundle]
        if len(values) >= 2 and min(values.values()) > best:
            best, chosen = min(values.values()), name
    return chosen


def query_of(features: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Make a query of UD features; indicative and active are meant where nothing is said."""
    query = {name: alternatives(value) for name, value in features.items()}
    query.setdefault("Mood", frozenset({"IND"}))
    query.setdefault("Voice", frozenset({"ACT"}))
    return query


NOMINATIVE = query_of({"Case": "Nom"})
INDICATIVE = query_of({"Mood": "Ind"})


def _fits(row: LexiconRow, query: Query, column: str | None) -> bool:
    for name, accepted in query.items():
        value = row.features.get(name)
        if value in accepted:
            continue
        if name == column or len(accepted) > 1 or value not in (None, UNDEFINED):
            return False
    return True


def _tightest(rows: list[LexiconRow], query: Query) -> list[LexiconRow]:
    """Select rows with the fewest features that the query lacks."""
    extra = [len(row.features.keys() - query.keys()) for row in rows]
    return [row for row, count in zip(rows, extra, strict=True) if count == min(extra)]


def matching(
    lexicon: Lexicon, lemma: str, form: str, query: Query, column: str, usual: bool = False
) -> list[LexiconRow]:
    """Stage 1: find the tightest rows of lemma and form for a query; ``usual``: no rare ones."""
    query = lexicon.relevant(query)
    rows = [
        row
        for row in lexicon.rows.get(lemma, ())
        if row.form == form and _fits(row, query, column) and not (usual and row.rare)
    ]
    return _tightest(rows, query)


def contrasting(
    lexicon: Lexicon, row: LexiconRow, query: Query, column: str, alone: bool = False
) -> list[LexiconRow]:
    """Stage 2: find rows of the row's lemma with any other value in ``column``.

    All other features that the row defines must be the same. A row that leaves the column open has
    no contrast; one that lacks it (Number[subj] is not assumed) counts as another value, as in the
    authors' code, where it can be the tightest match. With ``alone`` neither rare readings count,
    nor rows that state more or less than the row, agreement aside.
    """
    value = row.features.get(column, UNDEFINED)
    if value == UNDEFINED:
        return []
    defined = {n: frozenset({v}) for n, v in row.features.items() if v != UNDEFINED}
    required = {**lexicon.relevant(query), **defined}
    del required[column]
    rows = [
        lemma_row
        for lemma_row in lexicon.rows.get(row.lemma, ())
        if lemma_row.features.get(column) not in (UNDEFINED, value)
        and _fits(lemma_row, required, None)
        and not (alone and (lemma_row.rare or _apart(lemma_row) != _apart(row)))
    ]
    return _tightest(rows, {**required, column: frozenset()})


def _apart(row: LexiconRow) -> dict[str, str]:
    return {name: value for name, value in row.features.items() if name not in BESIDE_AGREEMENT}


def values_of(
    lexicon: Lexicon, rows: Iterable[LexiconRow], query: Query, column: str, inflecting: str | None
) -> set[str]:
    """Collect values of ``column`` over rows that fit; they state ``inflecting`` if asked for."""
    query = lexicon.relevant(query)
    fitting = (row for row in rows if _fits(row, query, inflecting))
    return {row.features[column] for row in fitting if column in row.features}
