"""Looking words up in a lexicon and finding their forms with another value of a feature.

Source: MultiBLiMP 1.0, section 4.3; the matching rules follow the authors' code.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.multiblimp.features import UNDEFINED, alternatives, assumed, parse_feats

Query = Mapping[str, frozenset[str]]
"""For each feature the values that will do."""


@dataclass(frozen=True, slots=True)
class LexiconRow:
    """One reading of a form; ``features`` has the assumed values filled in."""

    lemma: str
    form: str
    features: Mapping[str, str]


@dataclass(slots=True)
class Lexicon:
    """Rows of one source and one class of words, by lemma and by form."""

    by_lemma: dict[str, list[LexiconRow]] = field(default_factory=lambda: defaultdict(list))
    by_form: dict[str, list[LexiconRow]] = field(default_factory=lambda: defaultdict(list))
    column: str | None = None
    """The feature that inflects here, such as Number or Number[subj]; None if none does."""
    stated: frozenset[str] = frozenset()
    """Features that some row states."""

    def add(self, row: LexiconRow) -> None:
        """Index one row."""
        self.by_lemma[row.lemma].append(row)
        self.by_form[row.form].append(row)

    def relevant(self, query: Query) -> dict[str, frozenset[str]]:
        """The part of a query that rows of this lexicon can answer."""
        return {name: wanted for name, wanted in query.items() if name in self.stated}


def _readings(features: str) -> list[dict[str, str]]:
    """Feature mappings of a rendered bundle; alternatives ("FEM+MASC") are spelt out."""
    own = parse_feats(features)
    values = (value.split("+") for value in own.values())
    return [dict(zip(own, chosen, strict=True)) for chosen in product(*values)]


def load_lexicon(
    table: pa.Table,
    source: str,
    parts: Sequence[str],
    columns: Sequence[str],
    lemmas: Collection[str] | None,
) -> Lexicon:
    """Rows of ``source`` with one of the parts of speech ``parts``.

    ``columns`` are the features that may inflect, as UD names such as
    ``("Number[subj]", "Number")``; ``lemmas`` restricts what is kept in memory to what a
    caller will ask for.
    """
    keep = pc.and_(
        pc.equal(table["source"].cast(pa.string()), source),
        pc.is_in(table["pos"].cast(pa.string()), pa.array([*parts])),
    )
    rows = table.filter(keep)
    bundles = Counter(rows["features"].cast(pa.string()).to_pylist())
    readings = {bundle: _readings(bundle) for bundle in bundles}
    stated = frozenset(name for found in readings.values() for each in found for name in each)
    defaults = assumed(stated)
    lexicon = Lexicon(column=_inflecting_column(bundles, readings, columns), stated=stated)
    filled = {b: [{**defaults, **each} for each in found] for b, found in readings.items()}
    if lemmas is not None:
        rows = rows.filter(pc.is_in(rows["lemma"], pa.array([*lemmas], pa.string())))
    values = (rows[name].to_pylist() for name in ("lemma", "form", "features"))
    for lemma, form, bundle in zip(*values, strict=True):
        for reading in filled[bundle]:
            lexicon.add(LexiconRow(lemma, form, reading))
    return lexicon


def _inflecting_column(
    bundles: Mapping[str, int], readings: Mapping[str, list[dict[str, str]]], columns: Sequence[str]
) -> str | None:
    """The column whose rarest value has most rows; one needs two values to inflect."""
    best, chosen = 0, None
    for name in columns:
        values: Counter[str] = Counter()
        for bundle, found in readings.items():
            for value in (reading[name] for reading in found if name in reading):
                values[value] += bundles[bundle]
        if len(values) >= 2 and min(values.values()) > best:
            best, chosen = min(values.values()), name
    return chosen


def query_of(features: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """A query from UD features; indicative and active are meant where nothing is said."""
    query = {name: alternatives(value) for name, value in features.items()}
    query.setdefault("Mood", frozenset({"IND"}))
    query.setdefault("Voice", frozenset({"ACT"}))
    return query


def _fits(row: LexiconRow, query: Query, column: str | None) -> bool:
    """Whether a row answers a query.

    Open and missing values do too, except in ``column`` and where the query names several
    values: those must be met.
    """
    for name, wanted in query.items():
        found = row.features.get(name)
        if found in wanted:
            continue
        if name == column or len(wanted) > 1 or found not in (None, UNDEFINED):
            return False
    return True


def _tightest(rows: list[LexiconRow], query: Query) -> list[LexiconRow]:
    """Rows with the fewest features the query doesn't speak of."""
    extra = [len(row.features.keys() - query.keys()) for row in rows]
    return [row for row, count in zip(rows, extra, strict=True) if count == min(extra)]


def matching(
    lexicon: Lexicon, lemma: str, form: str, query: Query, column: str
) -> list[LexiconRow]:
    """Stage 1: the tightest rows of the lemma and form that answer the query."""
    query = lexicon.relevant(query)
    rows = [
        row
        for row in lexicon.by_lemma.get(lemma, ())
        if row.form == form and _fits(row, query, column)
    ]
    return _tightest(rows, query)


def contrasting(lexicon: Lexicon, row: LexiconRow, query: Query, column: str) -> set[str]:
    """Stage 2: forms of the row's lemma with any other value in ``column``.

    Everything else that the row defines must stay as it is. A row that leaves the column
    open has no contrast; one that lacks it (Number[subj] is not assumed) counts as another
    value, as in the authors' code, where it can be the tightest match.
    """
    value = row.features.get(column, UNDEFINED)
    if value == UNDEFINED:
        return set()
    defined = {n: frozenset({v}) for n, v in row.features.items() if v != UNDEFINED}
    wanted = {**lexicon.relevant(query), **defined}
    del wanted[column]
    rows = [
        other
        for other in lexicon.by_lemma.get(row.lemma, ())
        if other.features.get(column) not in (UNDEFINED, value) and _fits(other, wanted, None)
    ]
    return {other.form for other in _tightest(rows, {**wanted, column: frozenset()})}


def values_of(lexicon: Lexicon, rows: Iterable[LexiconRow], query: Query, feature: str) -> set[str]:
    """All values of a feature over the rows that answer a query (no tight match)."""
    query = lexicon.relevant(query)
    fitting = (row for row in rows if _fits(row, query, lexicon.column))
    return {row.features[feature] for row in fitting if feature in row.features}
