"""Looking words up in a lexicon and finding their forms with another value of a feature.

Source: MultiBLiMP 1.0, section 4.3; the matching rules follow the authors' code.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.multiblimp.features import UNDEFINED, alternatives, parse_bundle

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

    def add(self, row: LexiconRow) -> None:
        """Index one row."""
        self.by_lemma[row.lemma].append(row)
        self.by_form[row.form].append(row)


def _readings(features: str) -> Iterable[dict[str, str]]:
    """Feature mappings of a rendered bundle; alternatives ("FEM+MASC") are spelt out."""
    names, values = zip(*parse_bundle(features), strict=True)
    for chosen in product(*(value.split("+") for value in values)):
        yield dict(zip(names, chosen, strict=True))


def load_lexicon(
    table: pa.Table, source: str, parts: Sequence[str], lemmas: Collection[str] | None
) -> Lexicon:
    """Rows of ``source`` with one of the parts of speech ``parts``.

    ``lemmas`` restricts what is kept in memory to what a caller will ask for.
    """
    keep = pc.and_(
        pc.equal(table["source"].cast(pa.string()), source),
        pc.is_in(table["pos"].cast(pa.string()), pa.array([*parts])),
    )
    if lemmas is not None:
        keep = pc.and_(keep, pc.is_in(table["lemma"], pa.array([*lemmas], pa.string())))
    rows = table.filter(keep)
    lexicon = Lexicon()
    columns = (rows[name].to_pylist() for name in ("lemma", "form", "features"))
    for lemma, form, features in zip(*columns, strict=True):
        for reading in _readings(features):
            lexicon.add(LexiconRow(lemma, form, reading))
    return lexicon


def inflecting_column(table: pa.Table, source: str, candidates: Sequence[str]) -> str | None:
    """The candidate whose rarest defined value has most verb rows, or None.

    A column needs two defined values to inflect. ``candidates`` are UD names such as
    ``("Number[subj]", "Number")``.
    """
    verbs = table.filter(
        pc.and_(
            pc.equal(table["source"].cast(pa.string()), source),
            pc.equal(table["pos"].cast(pa.string()), "V"),
        )
    )
    bundles = Counter(verbs["features"].cast(pa.string()).to_pylist())
    best: tuple[int, str] | None = None
    for name in candidates:
        values: Counter[str] = Counter()
        for bundle, count in bundles.items():
            for reading in _readings(bundle):
                if reading.get(name, UNDEFINED) != UNDEFINED:
                    values[reading[name]] += count
        if len(values) >= 2 and (best is None or min(values.values()) > best[0]):
            best = (min(values.values()), name)
    return best[1] if best else None


def query_of(features: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """A query from UD features; indicative and active are meant where nothing is said."""
    query = {name: alternatives(value) for name, value in features.items()}
    query.setdefault("Mood", frozenset({"IND"}))
    query.setdefault("Voice", frozenset({"ACT"}))
    return query


def _fits(row: LexiconRow, query: Query, column: str | None) -> bool:
    """Whether a row answers a query: open and missing values do, except in ``column``."""
    for name, wanted in query.items():
        found = row.features.get(name)
        if found in wanted:
            continue
        if name == column or (found is not None and found != UNDEFINED):
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
    rows = [
        row
        for row in lexicon.by_lemma.get(lemma, ())
        if row.form == form and _fits(row, query, column)
    ]
    return _tightest(rows, query)


def contrasting(lexicon: Lexicon, row: LexiconRow, query: Query, column: str) -> set[str]:
    """Stage 2: forms of the row's lemma with any other value in ``column``.

    Everything else that the row defines must stay as it is. A row that leaves the column
    open has no contrast.
    """
    value = row.features.get(column, UNDEFINED)
    if value == UNDEFINED:
        return set()
    defined = {n: frozenset({v}) for n, v in row.features.items() if v != UNDEFINED}
    wanted = {**query, **defined}
    del wanted[column]
    rows = [
        other
        for other in lexicon.by_lemma.get(row.lemma, ())
        if other.features.get(column, UNDEFINED) not in (UNDEFINED, value)
        and _fits(other, wanted, None)
    ]
    return {other.form for other in _tightest(rows, {**wanted, column: frozenset()})}


def values_of(
    rows: Iterable[LexiconRow], query: Query, column: str | None, feature: str
) -> set[str]:
    """All values of a feature over the rows that answer a query (no tight match)."""
    return {
        row.features.get(column or feature, UNDEFINED) for row in rows if _fits(row, query, None)
    }
