"""Load the lexicon of a language, and find a word's readings, and readings that contrast with it.

``load_lexicon`` loads, ``find_matches`` and ``find_contrasts`` look up. A lexicon is a table of
readings of word forms, from UniMorph and from treebanks (ud); ``features`` is called a bundle:

    lemma  form   pos  features                           source    frequency
    sing   sings  V    Mood=IND|Number=SG|Person=3        unimorph
    sing   sing   V    Mood=IND|Number=PL                 ud        12

A query has the accepted values of features: ``{"Number": {"SG"}, "Mood": {"IND"}}``. The tightest
rows that fit a query have the fewest further features.
Source: MultiBLiMP 1.0, section 4.3; the rules of matching follow the authors' code.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.papers.multiblimp.items import words

SOURCES = ("unimorph", "ud")
SUBJECT_PARTS = ("N", "PRO", "PRON")
"""Parts of speech of possible subjects."""
RARE = 10
"""A reading is rare if another reading of its form is more than this many times as frequent. A
reading is also rare if another lemma has the same form and features more often."""
AGREEING = (
    *("Number", "Number[subj]", "Person", "Person[subj]", "Gender", "Gender[subj]"),
    *("Animacy", "SubGender"),
)
"""Features that verbs may share with their subjects."""
MAY_DIFFER = frozenset((*AGREEING, "Agglutination", "ExtPos"))
"""Features that may differ within a pair: those of agreement, those that change with them (Polish
*mógł-*), and those that don't concern the form."""
Query = Mapping[str, frozenset[str]]
"""Accepted values: ``{feature: values}``."""


@dataclass(frozen=True, slots=True)
class LexiconRow:
    """One reading of a form."""

    lemma: str
    form: str
    features: Mapping[str, str]
    """Features with their values; ``words.ASSUMED`` gives those that the bundle lacks."""
    bundle: str = ""
    """Features as the lexicon table has them: "Mood=IND|Number=SG"."""
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Rows of one source (UniMorph or treebanks) and one class of words."""

    columns: Mapping[str, str | None]
    """Feature by which the rows inflect, such as "Number[subj]", keyed by agreement feature. None:
    the rows do not inflect for the agreement feature."""
    stated: frozenset[str]
    """Features that at least one row states."""
    rows: Mapping[str, list[LexiconRow]]
    """Rows keyed by lemma or by form."""

    def relevant(self, query: Query) -> dict[str, frozenset[str]]:
        """Restrict a query to features that the lexicon states."""
        return {name: values for name, values in query.items() if name in self.stated}


def spellings(forms: Iterable[Any], any_case: bool, lang: str) -> frozenset[str]:
    """Return words (Arrow or Python strings) to look up; with ``any_case`` in lower case too."""
    as_written = {str(form) for form in forms}
    in_lower_case = {words.lower_case(word, lang) for word in as_written if any_case}
    return frozenset(as_written | in_lower_case)


Readings = dict[str, list[dict[str, str]]]
"""Features of each bundle: {"Number=SG": [{"Number": "SG"}]}; "Gender=FEM+MASC" has two."""


def _stated_features(readings: Readings) -> frozenset[str]:
    return frozenset(name for features in chain(*readings.values()) for name in features)


def load_lexicon(
    table: pa.Table,
    source: str,
    parts_of_speech: Sequence[str],
    key: Literal["lemma", "form"],
    needed: Collection[str],
    participles: bool = False,
) -> Lexicon:
    """Load the ``needed`` lemmas or forms (``key``) of one ``source`` of a ``lexicon`` table.

    With ``participles`` other verb forms are left out. If any row states a feature, all rows that
    leave it open get its assumed value (``words.ASSUMED``): *sang* becomes indicative, of undefined
    number. UniMorph has no frequencies, so none of its readings is rare.
    """
    rows = table.filter((pc.field("source") == source) & pc.field("pos").isin([*parts_of_speech]))
    bundle_counts = Counter(rows["features"].cast(pa.string()).to_pylist())
    # A bundle with several values of a feature ("Gender=FEM+MASC") has a reading for each.
    readings: Readings = {}
    for bundle in bundle_counts:
        feats = words.parse_feats(bundle)
        values = (value.split("+") for value in feats.values())
        readings[bundle] = [dict(zip(feats, chosen, strict=True)) for chosen in product(*values)]
    if participles and "VerbForm" in _stated_features(readings):
        for bundle, alternatives in readings.items():
            readings[bundle] = [r for r in alternatives if r.get("VerbForm") == "V.PTCP"]

    # The column that inflects is chosen by stated values, before assumed ones are added.
    stated = _stated_features(readings)
    columns = {
        feature: _inflecting_column(bundle_counts, readings, names)
        for feature, names in words.STATED_AS.items()
    }
    for features in chain(*readings.values()):
        for name, value in words.ASSUMED.items():
            if name in stated:
                features.setdefault(name, value)

    # Rare readings are found among all rows, also those that are not needed.
    rows = rows.append_column("rare", _find_rare(rows))
    selected = rows.filter(pc.is_in(rows[key], pa.array([*needed], pa.string())))
    rows_by_word: dict[str, list[LexiconRow]] = defaultdict(list)
    cells = (selected[name].to_pylist() for name in ("lemma", "form", "features", "rare"))
    for lemma, form, bundle, rare in zip(*cells, strict=True):
        for features in readings[bundle]:
            word = lemma if key == "lemma" else form
            rows_by_word[word].append(LexiconRow(lemma, form, features, bundle, rare))
    return Lexicon(columns, stated, rows_by_word)


def _find_rare(rows: pa.Table) -> pa.Array | pa.ChunkedArray:
    """Return a mask of the rare readings (``RARE``); rows without frequencies have none."""
    frequency, forms = rows["frequency"], rows["form"]
    if frequency.null_count == len(rows):
        return pa.array([False] * len(rows))
    readings = pc.binary_join_element_wise(forms, rows["features"].cast(pa.string()), "\t")
    rarer = pc.greater(_highest(forms, frequency), pc.multiply(frequency, RARE))
    return pc.or_(rarer, pc.greater(_highest(readings, frequency), frequency))


def _highest(keys: pa.ChunkedArray, frequency: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return for each row the highest frequency among the rows with the same key."""
    groups = pa.table({"key": keys, "n": frequency}).group_by("key").aggregate([("n", "max")])
    return groups["n_max"].take(pc.index_in(keys, groups["key"]))


def _inflecting_column(
    bundle_counts: Mapping[str, int], readings: Readings, names: Sequence[str]
) -> str | None:
    """Choose, among ``names`` ("Number[subj]", "Number"), the feature by which rows inflect.

    A single name is chosen if any row states it. Of several names, only those with two values or
    more count, and the name whose rarest value has most rows is chosen. None if no name counts.
    """
    if len(names) == 1:
        return names[0] if names[0] in _stated_features(readings) else None
    most_rows, chosen = 0, None
    for name in names:
        rows_by_value: Counter[str] = Counter()
        for bundle, alternatives in readings.items():
            for features in alternatives:
                if name in features:
                    rows_by_value[features[name]] += bundle_counts[bundle]
        if len(rows_by_value) >= 2 and min(rows_by_value.values()) > most_rows:
            most_rows, chosen = min(rows_by_value.values()), name
    return chosen


def query_of(features: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Make a query of UD features; without a mood or voice it asks for indicative and active."""
    query = {name: words.alternatives(value) for name, value in features.items()}
    query.setdefault("Mood", frozenset({"IND"}))
    query.setdefault("Voice", frozenset({"ACT"}))
    return query


NOMINATIVE = query_of({"Case": "Nom"})
INDICATIVE = query_of({"Mood": "Ind"})


def _fits(row: LexiconRow, query: Query, column: str | None) -> bool:
    """Tell whether a row has the queried values.

    It may leave a feature open, except ``column``, and features with several accepted values.
    """
    for name, accepted in query.items():
        value = row.features.get(name)
        may_be_open = name != column and len(accepted) == 1
        is_open = value in (None, words.UNDEFINED)
        if value not in accepted and not (is_open and may_be_open):
            return False
    return True


def _tightest(rows: list[LexiconRow], query: Query) -> list[LexiconRow]:
    """Select the rows that fit most tightly: with the fewest features beyond the query's."""
    surplus = [len(row.features.keys() - query.keys()) for row in rows]
    return [row for row, count in zip(rows, surplus, strict=True) if count == min(surplus)]


def find_matches(
    lexicon: Lexicon, lemma: str, form: str, query: Query, column: str, skip_rare: bool = False
) -> list[LexiconRow]:
    """Find the tightest rows of a lemma and form that fit a query."""
    query = lexicon.relevant(query)
    rows = [row for row in lexicon.rows.get(lemma, ()) if row.form == form]
    rows = [row for row in rows if _fits(row, query, column) and not (skip_rare and row.rare)]
    return _tightest(rows, query)


def find_contrasts(
    lexicon: Lexicon, row: LexiconRow, query: Query, column: str, strict: bool = False
) -> list[LexiconRow]:
    """Find the tightest rows of the row's lemma with another value in ``column``.

    For *sings* (SG) it finds *sing* (PL). These rows must fit all other features that ``row``
    defines. If ``row`` leaves the column open, there is no contrast. As in the authors' code, a row
    without the column counts as one with another value (Number[subj] has no assumed value). With
    ``strict``, rare readings are left out, and rows that differ in features beside agreement.
    """
    value = row.features.get(column, words.UNDEFINED)
    if value == words.UNDEFINED:
        return []
    required = {**lexicon.relevant(query), **defined_query(row)}
    del required[column]
    rows = []
    for entry in lexicon.rows.get(row.lemma, ()):
        has_contrast = entry.features.get(column) not in (words.UNDEFINED, value)
        if has_contrast and _fits(entry, required, None):
            rows.append(entry)
    if strict:
        fixed = _fixed_features(row)
        rows = [entry for entry in rows if not entry.rare and _fixed_features(entry) == fixed]
    # The column is no surplus feature either; its values do not matter here.
    return _tightest(rows, {**required, column: frozenset()})


def defined_query(row: LexiconRow) -> Query:
    """Make a query of the features that a row does not leave open."""
    return {n: frozenset({v}) for n, v in row.features.items() if v != words.UNDEFINED}


def _fixed_features(row: LexiconRow) -> dict[str, str]:
    return {name: value for name, value in row.features.items() if name not in MAY_DIFFER}


def collect_values(
    lexicon: Lexicon, rows: Iterable[LexiconRow], query: Query, column: str, inflecting: str | None
) -> set[str]:
    """Collect the values of the feature ``column`` in rows that fit a query.

    Rows may leave features of the query open, except the feature ``inflecting``.
    """
    query = lexicon.relevant(query)
    fitting = (row for row in rows if _fits(row, query, inflecting))
    return {row.features[column] for row in fitting if column in row.features}
