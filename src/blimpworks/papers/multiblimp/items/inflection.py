"""Look words up in a lexicon and find their forms with another value of a feature.

Source: MultiBLiMP 1.0, section 4.3; the matching rules follow the authors' code.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.papers.multiblimp.items.features import (
    COLUMNS_OF,
    UNDEFINED,
    alternatives,
    assumed,
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


@dataclass(slots=True)
class Lexicon:
    """Rows of one source and one class of words, by lemma and by form."""

    columns: Mapping[str, str | None]
    """For each agreement feature the column that inflects here; None if none does."""
    stated: frozenset[str] = frozenset()
    """Features that some row states."""
    by_lemma: dict[str, list[LexiconRow]] = field(default_factory=lambda: defaultdict(list))
    by_form: dict[str, list[LexiconRow]] = field(default_factory=lambda: defaultdict(list))

    def relevant(self, query: Query) -> dict[str, frozenset[str]]:
        """Return the part of a query about stated features."""
        return {name: values for name, values in query.items() if name in self.stated}


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows to load: parts of speech, ``words`` ``by`` lemma or form, ``participles`` alone."""

    parts: tuple[str, ...]
    words: Collection[str]
    by: Literal["lemma", "form"]
    participles: bool = False


def spellings(words: Iterable[Any], any_case: bool) -> frozenset[str]:
    """Return words to look up, with ``any_case`` in lower case too; Arrow or Python strings."""
    written = {str(word) for word in words}
    return frozenset(written | {word.lower() for word in written} if any_case else written)


def _readings(features: str) -> list[dict[str, str]]:
    """Parse a rendered bundle into feature mappings, one per alternative ("FEM+MASC")."""
    own = parse_feats(features)
    values = (value.split("+") for value in own.values())
    return [dict(zip(own, chosen, strict=True)) for chosen in product(*values)]


def _stated(readings: Iterable[list[dict[str, str]]]) -> frozenset[str]:
    return frozenset(name for of_bundle in readings for reading in of_bundle for name in reading)


Readings = dict[str, list[dict[str, str]]]


def load_lexicon(table: pa.Table, source: str, selection: Selection) -> Lexicon:
    """Load one ``source`` of a ``lexicon`` table, with defaults of features that it states."""
    keep = pc.and_(
        pc.equal(table["source"].cast(pa.string()), source),
        pc.is_in(table["pos"].cast(pa.string()), pa.array([*selection.parts])),
    )
    rows = table.filter(keep)
    counts = Counter(rows["features"].cast(pa.string()).to_pylist())
    readings = {bundle: _readings(bundle) for bundle in counts}
    if selection.participles and "VerbForm" in _stated(readings.values()):
        readings = {
            bundle: [reading for reading in of_bundle if reading.get("VerbForm") == "V.PTCP"]
            for bundle, of_bundle in readings.items()
        }
    stated = _stated(readings.values())
    columns = {
        feature: _inflecting_column(counts, readings, names)
        for feature, names in COLUMNS_OF.items()
    }
    lexicon, defaults = Lexicon(columns, stated), assumed(stated)
    filled = {b: [{**defaults, **r} for r in of_bundle] for b, of_bundle in readings.items()}
    rows = _with_rarity(rows)
    selected = pc.is_in(rows[selection.by], pa.array([*selection.words], pa.string()))
    cells = (rows.filter(selected)[n].to_pylist() for n in ("lemma", "form", "features", "rare"))
    for lemma, form, bundle, rare in zip(*cells, strict=True):
        of_bundle = [LexiconRow(lemma, form, reading, bundle, rare) for reading in filled[bundle]]
        if selection.by == "lemma":
            lexicon.by_lemma[lemma] += of_bundle
        else:
            lexicon.by_form[form] += of_bundle
    return lexicon


def _highest(keys: pa.ChunkedArray, frequency: pa.ChunkedArray) -> pa.ChunkedArray:
    groups = pa.table({"key": keys, "n": frequency}).group_by("key").aggregate([("n", "max")])
    return groups["n_max"].take(pc.index_in(keys, groups["key"]))


def _with_rarity(rows: pa.Table) -> pa.Table:
    """Mark rare readings; UniMorph's, without frequencies, never are."""
    frequency = rows["frequency"]
    if frequency.null_count == len(rows):
        return rows.append_column("rare", pa.array([False] * len(rows)))
    form, features = rows["form"], rows["features"].cast(pa.string())
    of_form = _highest(form, frequency)
    of_reading = _highest(pc.binary_join_element_wise(form, features, "\t"), frequency)
    rarer = pc.greater(of_form, pc.multiply(frequency, RARE))
    return rows.append_column("rare", pc.or_(rarer, pc.greater(of_reading, frequency)))


def _inflecting_column(
    counts: Mapping[str, int], readings: Readings, names: Sequence[str]
) -> str | None:
    """Return the only column, or of several the one whose rarest value has most rows."""
    if len(names) == 1:
        return names[0] if names[0] in _stated(readings.values()) else None
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
        for row in lexicon.by_lemma.get(lemma, ())
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
        other
        for other in lexicon.by_lemma.get(row.lemma, ())
        if other.features.get(column) not in (UNDEFINED, value)
        and _fits(other, required, None)
        and not (alone and (other.rare or _apart(other) != _apart(row)))
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
