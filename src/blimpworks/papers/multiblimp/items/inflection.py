"""Look words up in a lexicon, and judge which of their other forms make a minimal pair.

``Inflector`` takes the lexicons of verbs and of subjects, and a word with its features. It returns
the word's forms with another value of the agreement feature, each with the reason against it.

Source: MultiBLiMP 1.0, section 4.3. The rules of matching, the checks and their order follow the
authors' code.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.files import read_cells
from blimpworks.papers.multiblimp.items import words
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected

SOURCES = ("unimorph", "ud")
SUBJECT_PARTS = ("N", "PRO", "PRON")
"""Parts of speech of possible subjects."""
RARE = 10
"""A reading is rare if another one of its form is more than this many times as frequent.

It is also rare if the same reading is more frequent with another lemma.
"""
AGREEING = (
    *("Number", "Number[subj]", "Person", "Person[subj]", "Gender", "Gender[subj]"),
    *("Animacy", "SubGender"),
)
"""Features that verbs may share with their subjects."""
BESIDE_AGREEMENT = frozenset((*AGREEING, "Agglutination", "ExtPos"))
"""Features of agreement, those that change with them (Polish *mógł-*) or don't concern the form."""
Query = Mapping[str, frozenset[str]]
"""Accepted values of each feature."""


@dataclass(frozen=True, slots=True)
class LexiconRow:
    """One reading of a form. Its ``features`` have the assumed values that its ``bundle`` lacks."""

    lemma: str
    form: str
    features: Mapping[str, str]
    bundle: str = ""
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Rows of one source and one class of words, by lemma or by form."""

    columns: Mapping[str, str | None]
    """Feature of the rows that inflects, by agreement feature; None if none does."""
    stated: frozenset[str]
    """Features that at least one row states."""
    rows: Mapping[str, list[LexiconRow]]

    def relevant(self, query: Query) -> dict[str, frozenset[str]]:
        """Restrict a query to stated features."""
        return {name: values for name, values in query.items() if name in self.stated}


def spellings(forms: Iterable[Any], any_case: bool) -> frozenset[str]:
    """Return words (Arrow or Python strings) to look up; with ``any_case`` in lower case too."""
    written = {str(form) for form in forms}
    return frozenset(written | {word.lower() for word in written} if any_case else written)


Readings = dict[str, list[dict[str, str]]]
"""Alternative features of each bundle."""


def _stated(readings: Readings) -> frozenset[str]:
    return frozenset(n for of_bundle in readings.values() for reading in of_bundle for n in reading)


def load_lexicon(
    table: pa.Table,
    source: str,
    parts_of_speech: Sequence[str],
    by: Literal["lemma", "form"],
    needed: Collection[str],
    participles: bool = False,
) -> Lexicon:
    """Load the ``needed`` lemmas or forms of one ``source`` of a ``lexicon`` table.

    With ``participles`` other verb forms are left out. A feature that one row states has its
    assumed value in the others. UniMorph has no frequencies, so none of its readings is rare.
    """
    rows = table.filter((pc.field("source") == source) & pc.field("pos").isin([*parts_of_speech]))
    counts = Counter(rows["features"].cast(pa.string()).to_pylist())
    # A bundle such as "Gender=FEM+MASC" has one reading for each alternative.
    readings: Readings = {}
    for bundle in counts:
        feats = words.parse_feats(bundle)
        values = (value.split("+") for value in feats.values())
        readings[bundle] = [dict(zip(feats, chosen, strict=True)) for chosen in product(*values)]
    if participles and "VerbForm" in _stated(readings):
        readings = {
            bundle: [reading for reading in of_bundle if reading.get("VerbForm") == "V.PTCP"]
            for bundle, of_bundle in readings.items()
        }
    stated = _stated(readings)
    columns = {n: _inflecting_column(counts, readings, of) for n, of in words.COLUMNS_OF.items()}
    for reading in (reading for of_bundle in readings.values() for reading in of_bundle):
        for name in [name for name in words.ASSUMED if name in stated]:
            reading.setdefault(name, words.ASSUMED[name])
    frequency, forms = rows["frequency"], rows["form"]
    rarity = pa.array([False] * len(rows))
    if frequency.null_count < len(rows):
        of_form = _highest(forms, frequency)
        reading_keys = pc.binary_join_element_wise(forms, rows["features"].cast(pa.string()), "\t")
        rarer = pc.greater(of_form, pc.multiply(frequency, RARE))
        rarity = pc.or_(rarer, pc.greater(_highest(reading_keys, frequency), frequency))
    rows = rows.append_column("rare", rarity)
    selected = rows.filter(pc.is_in(rows[by], pa.array([*needed], pa.string())))
    by_word: dict[str, list[LexiconRow]] = defaultdict(list)
    cells = (selected[name].to_pylist() for name in ("lemma", "form", "features", "rare"))
    for lemma, form, bundle, rare in zip(*cells, strict=True):
        for reading in readings[bundle]:
            row = LexiconRow(lemma, form, reading, bundle, rare)
            by_word[getattr(row, by)].append(row)
    return Lexicon(columns, stated, by_word)


def _highest(keys: pa.ChunkedArray, frequency: pa.ChunkedArray) -> pa.ChunkedArray:
    groups = pa.table({"key": keys, "n": frequency}).group_by("key").aggregate([("n", "max")])
    return groups["n_max"].take(pc.index_in(keys, groups["key"]))


def _inflecting_column(
    counts: Mapping[str, int], readings: Readings, names: Sequence[str]
) -> str | None:
    """Choose the feature that inflects: the one with most rows of its rarest value.

    It must have two values or more, unless it is the only one among ``names``.
    """
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
    """Make a query of UD features; without a mood or voice it asks for indicative and active."""
    query = {name: words.alternatives(value) for name, value in features.items()}
    query.setdefault("Mood", frozenset({"IND"}))
    query.setdefault("Voice", frozenset({"ACT"}))
    return query


NOMINATIVE = query_of({"Case": "Nom"})
INDICATIVE = query_of({"Mood": "Ind"})


def _fits(row: LexiconRow, query: Query, column: str | None) -> bool:
    """Tell whether a row has the queried values, or leaves them open except in ``column``."""
    for name, accepted in query.items():
        value = row.features.get(name)
        if value in accepted:
            continue
        if name == column or len(accepted) > 1 or value not in (None, words.UNDEFINED):
            return False
    return True


def _tightest(rows: list[LexiconRow], query: Query) -> list[LexiconRow]:
    """Select the rows with the fewest features beyond those of the query."""
    extra = [len(row.features.keys() - query.keys()) for row in rows]
    return [row for row, count in zip(rows, extra, strict=True) if count == min(extra)]


def matching(
    lexicon: Lexicon, lemma: str, form: str, query: Query, column: str, usual: bool = False
) -> list[LexiconRow]:
    """Find the tightest rows of a lemma and form for a query; ``usual``: without rare ones."""
    query = lexicon.relevant(query)
    rows = [row for row in lexicon.rows.get(lemma, ()) if row.form == form]
    rows = [row for row in rows if _fits(row, query, column) and not (usual and row.rare)]
    return _tightest(rows, query)


def contrasting(
    lexicon: Lexicon, row: LexiconRow, query: Query, column: str, alone: bool = False
) -> list[LexiconRow]:
    """Find the tightest rows of the row's lemma with another value in ``column``.

    All other features that the row defines must be the same. A row that leaves the column open has
    no contrast. One that lacks the column (Number[subj] is not assumed) has another value, as in
    the authors' code, where it can be the tightest match. With ``alone``, rare readings are left
    out, and rows that state more or fewer features beside agreement than the row.
    """
    value = row.features.get(column, words.UNDEFINED)
    if value == words.UNDEFINED:
        return []
    defined = {n: frozenset({v}) for n, v in row.features.items() if v != words.UNDEFINED}
    required = {**lexicon.relevant(query), **defined}
    del required[column]
    no_contrast = (words.UNDEFINED, value)
    rows = [r for r in lexicon.rows.get(row.lemma, ()) if r.features.get(column) not in no_contrast]
    rows = [r for r in rows if _fits(r, required, None)]
    if alone:
        besides = _beside_agreement(row)
        rows = [r for r in rows if not r.rare and _beside_agreement(r) == besides]
    return _tightest(rows, {**required, column: frozenset()})


def _beside_agreement(row: LexiconRow) -> dict[str, str]:
    return {name: value for name, value in row.features.items() if name not in BESIDE_AGREEMENT}


def values_of(
    lexicon: Lexicon, rows: Iterable[LexiconRow], query: Query, column: str, inflecting: str | None
) -> set[str]:
    """Collect values of ``column`` in rows that fit a query; none may leave ``inflecting`` open."""
    query = lexicon.relevant(query)
    fitting = (row for row in rows if _fits(row, query, inflecting))
    return {row.features[column] for row in fitting if column in row.features}


class Slot(NamedTuple):
    """A mood and tense, in which a verb has a form for each person and number."""

    mood: str | None
    tense: str | None


Cell = tuple[tuple[str, frozenset[str]], ...]
"""Names of agreement features, each with the values that fit."""
Verdict = Literal["right", "undecided", "wrong"]
RULE, EXCEPTION = 0.5, 0.1
"""Shares of verbs that have one form in two cells: a rule from RULE on, chance below EXCEPTION."""
ENDINGS = (3, 2, 0)
"""Numbers of last letters by which verbs that inflect alike are found."""
ENOUGH = 5
"""Fewest verbs with forms in both cells from which other verbs' forms are inferred."""


def _slot(row: LexiconRow) -> Slot:
    return Slot(row.features.get("Mood"), row.features.get("Tense"))


def cell_of(features: Query) -> Cell:
    """Return the agreement features of a query."""
    return tuple((name, features[name]) for name in AGREEING if name in features)


def _is_finite(row: LexiconRow) -> bool:
    """Tell whether a reading is finite and no imperative, so that it has a subject."""
    features = row.features
    form = features.get("VerbForm", "FIN")
    return form == "FIN" and "Finiteness" not in features and features.get("Mood") != "IMP"


def _suits(row: LexiconRow, cell: Cell) -> bool:
    return all(
        row.features.get(name, words.UNDEFINED) in {*values, words.UNDEFINED}
        for name, values in cell
    )


class Paradigms:
    """Finite readings of verbs by mood and tense: a form may be right in another of these.

    ``feature`` is the agreement feature. A form in a ``bound`` mood is right nowhere.
    """

    def __init__(self, feature: str, lexicons: Sequence[Lexicon], bound: Collection[str]) -> None:
        self.feature = feature
        self._slots: dict[Slot, dict[str, list[LexiconRow]]] = {}
        # Slots where at least one verb shows the feature.
        self._shown: set[Slot] = set()
        for lexicon in lexicons:
            column = lexicon.columns[feature]
            for lemma, rows in lexicon.rows.items():
                for row in rows:
                    free = row.features.get("Mood") not in bound and not row.rare
                    if free and column in row.features and _is_finite(row):
                        slot = _slot(row)
                        self._slots.setdefault(slot, {}).setdefault(lemma, []).append(row)
                        if self._states(row):
                            self._shown.add(slot)
        # Slots without a tense, of moods that have one elsewhere: verbs without annotation.
        tensed = {slot.mood for slot in self._slots if slot.tense is not None}
        self._vague = {slot for slot in self._slots if slot.tense is None and slot.mood in tensed}
        self._shares: dict[tuple[Any, ...], float | None] = {}

    def _states(self, row: LexiconRow) -> bool:
        return any(_defined([row], name) for name in words.COLUMNS_OF[self.feature])

    def verdict(self, lemma: str, disagreeing: Iterable[LexiconRow], subject: Cell) -> Verdict:
        """Judge whether a form is right for the subject, beside its disagreeing readings.

        It is right by a reading in some mood and tense, or by a rule among similar verbs. It is
        undecided by exceptions among them, or without evidence from any other mood.
        """
        readings = [row for row in disagreeing if _is_finite(row)]
        forms = {row.form for row in readings}
        lacking: list[Slot] = []
        for slot, lemmas in self._slots.items():
            fitting = self._fitting(lemmas.get(lemma, ()), subject)
            if any(row.form in forms for row in fitting):
                return "right"
            if not fitting and slot not in self._vague:
                lacking.append(slot)
        shares: dict[tuple[Slot, str], float] = {}
        for row, slot in product(readings, lacking):
            share = self._share(lemma, slot, subject, row)
            if share is not None:
                shares[slot, row.bundle] = share
        if any(share >= RULE for share in shares.values()):
            return "right"
        if any(share >= EXCEPTION for share in shares.values()):
            return "undecided"
        moods = {row.features.get("Mood") for row in readings}
        foreign = {slot for slot in self._shown - self._vague if slot.mood not in moods}
        evidence = foreign - {*lacking} or foreign & {slot for slot, _ in shares}
        return "undecided" if foreign and not evidence else "wrong"

    def _fitting(self, rows: Iterable[LexiconRow], cell: Cell) -> list[LexiconRow]:
        """Return the readings that agree with a subject: those that state a value, or else all."""
        suiting = [row for row in rows if _suits(row, cell)]
        stating = [row for row in suiting if self._states(row)]
        return stating or suiting

    def _share(self, lemma: str, slot: Slot, subject: Cell, row: LexiconRow) -> float | None:
        """Return the share of verbs of an ending that have one form in both cells; None if few."""
        values = {n: frozenset({v}) for n, v in row.features.items() if v != words.UNDEFINED}
        for length in ENDINGS:
            key = (lemma[len(lemma) - length :], slot, subject, _slot(row), cell_of(values))
            if key not in self._shares:
                same = [*self._compared(*key)]
                self._shares[key] = sum(same) / len(same) if len(same) >= ENOUGH else None
            if self._shares[key] is not None:
                return self._shares[key]
        return None

    def _compared(
        self, ending: str, slot: Slot, subject: Cell, second_slot: Slot, cell: Cell
    ) -> Iterator[bool]:
        """Yield for each verb of an ending with forms in both slots whether it has one form."""
        if slot == second_slot:
            return
        elsewhere = self._slots.get(second_slot, {})
        for lemma, rows in self._slots[slot].items():
            if not lemma.endswith(ending) or lemma not in elsewhere:
                continue
            forms = {row.form for row in self._fitting(rows, subject)}
            suiting = (row for row in elsewhere[lemma] if _suits(row, cell))
            second_forms = {row.form for row in suiting if self._states(row)}
            if forms and second_forms:
                yield not forms.isdisjoint(second_forms)


NO_ENTRY, NO_FORM = "no lexicon entry", "no other form"
SAME_FORM, SAME_VALUE = "same form", "same value"
UNDEFINED_VALUE, AMBIGUOUS = "undefined value", "ambiguous subject"
RIGHT = "right in another mood or tense"
REJECTION_REASONS = (NO_ENTRY, NO_FORM, SAME_FORM, SAME_VALUE, UNDEFINED_VALUE, AMBIGUOUS)
"""Reasons against a pair, in the order of the checks."""


class Lookup(NamedTuple):
    """Rows of a form in one source, and contrasting ones with another value of ``column``."""

    column: str
    matches: list[LexiconRow]
    contrasts: list[LexiconRow]


class OtherForm(NamedTuple):
    """Values of another form of a word, and why it makes no minimal pair."""

    values: list[str]
    objection: str | None
    undecided: bool
    """Whether the form may be right in another mood."""


class Trace(NamedTuple):
    """Lookups of a word in the lexicons, and the judgement of each other form."""

    lookups: Sequence[Lookup | None]
    """One for each source; None for a source that was not consulted."""
    before: list[str] | None
    """Values of the word itself; None if no source has it."""
    forms: Mapping[str, OtherForm]
    rejected: Mapping[str, int]
    """Number of forms that make no pair by reason; of a word without other forms, 1."""


class Inflector:
    """Finder of a verb's other forms by an agreement ``feature``; lexicons are those by source."""

    def __init__(
        self,
        feature: str,
        verbs: Sequence[Lexicon],
        subjects: Sequence[Lexicon],
        options: MultiblimpOptions,
        lang: str,
    ) -> None:
        self.feature, self.verbs, self.subjects = feature, verbs, subjects
        self.any_case = corrected(options, "letter_case")
        self.alone = corrected(options, "other_features")
        # The feature whose values are reported: that of the treebank lexicon, if it has one.
        columns = (lexicon.columns[feature] for lexicon in reversed(verbs))
        self._reported = next(filter(None, columns), feature)
        moods = read_cells(Path(__file__).with_name("bound_moods.tsv"))
        bound = [row["mood"] for row in moods if row["lang"] == lang]
        judging = verbs if corrected(options, "right_forms") else []
        self._paradigms = Paradigms(feature, judging, bound)
        self.trace = cache(self._trace)

    def _trace(self, form: str, lemma: str, features: words.Bundle, subject: str) -> Trace:
        """Look a word up, with its features and its subject, and judge each other form."""
        query = query_of(dict(features))
        lookups: list[Lookup | None] = []
        contrast_forms: set[str] = set()
        for verbs in self.verbs:
            column = verbs.columns[self.feature]
            # The treebanks' lexicon is consulted only if UniMorph has no single other form.
            if column is None or len(contrast_forms) == 1:
                lookups.append(None)
                continue
            rows = matching(verbs, lemma, form, query, column, self.alone)
            contrasts: list[LexiconRow] = []
            for row in rows:
                contrasts += contrasting(verbs, row, query, column, self.alone)
            contrast_forms.update(row.form for row in contrasts)
            lookups.append(Lookup(column, rows, contrasts))
        successful = [lookup for lookup in lookups if lookup and lookup.matches]
        if not successful:
            lower = (form.lower(), lemma.lower())
            if self.any_case and lower != (form, lemma):
                return self._trace(*lower, features, subject)
            return Trace(lookups, None, {}, {NO_ENTRY: 1})
        before = {v for lookup in successful for v in _defined(lookup.matches, lookup.column)}
        # Agreement features of the subject, by the treebank and by the word's rows.
        rows = [row for lookup in successful for row in lookup.matches]
        contrasting_rows = [row for lookup in successful for row in lookup.contrasts]
        columns = {lookup.column for lookup in successful}
        agreeing_values = dict(query)
        for name in AGREEING:
            stated = _defined(rows, name) if name not in query or name in columns else set()
            if stated:
                agreeing_values[name] = frozenset(stated)
        agreeing = cell_of(agreeing_values)
        besides = {name: values for name, values in query.items() if name != self._reported}
        forms: dict[str, OtherForm] = {}
        for contrast in sorted({row.form for row in contrasting_rows}):
            # All values that the form can have in either source.
            values: set[str] = set()
            for verbs in self.verbs:
                entries = [row for row in verbs.rows.get(lemma, ()) if row.form == contrast]
                inflecting = verbs.columns[self.feature]
                values |= values_of(verbs, entries, besides, self._reported, inflecting)
            objection = self._objection(form, contrast, before, values, subject)
            verdict: Verdict = "wrong"
            if objection is None:
                readings = [row for row in contrasting_rows if row.form == contrast]
                verdict = self._paradigms.verdict(lemma, readings, agreeing)
                objection = RIGHT if verdict == "right" else None
            forms[contrast] = OtherForm(sorted(values), objection, verdict == "undecided")
        rejected = Counter(judged.objection for judged in forms.values() if judged.objection)
        return Trace(lookups, sorted(before), forms, rejected if forms else {NO_FORM: 1})

    def _objection(
        self, form: str, contrast: str, before: Set[str], after: Set[str], subject: str
    ) -> str | None:
        """Return the reason against a pair of two forms, given their values; None without any."""
        if contrast == form:
            return SAME_FORM
        if after & before:
            return SAME_VALUE
        if not after or words.UNDEFINED in after:
            return UNDEFINED_VALUE
        # Values of the subject as a nominative: UniMorph's, or else the treebank's.
        for subjects in self.subjects:
            spelt = spellings([subject], self.any_case)
            rows = [row for spelling in spelt for row in subjects.rows.get(spelling, ())]
            inflecting = subjects.columns[self.feature]
            values = values_of(subjects, rows, NOMINATIVE, self._reported, inflecting)
            if values:
                return AMBIGUOUS if values & after else None
        return None


def _defined(rows: list[LexiconRow], column: str) -> set[str]:
    return {row.features.get(column, words.UNDEFINED) for row in rows} - {words.UNDEFINED}
