"""Judge which other forms of an agreeing word make a minimal pair.

Source: MultiBLiMP 1.0, section 4.3; the checks and their order follow the authors' code.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Literal

from blimpworks.papers.multiblimp.items.features import COLUMNS_OF, UNDEFINED
from blimpworks.papers.multiblimp.items.inflection import (
    AGREEING,
    NOMINATIVE,
    Lexicon,
    LexiconRow,
    Query,
    contrasting,
    matching,
    query_of,
    values_of,
)

Slot = tuple[str | None, str | None]
"""Mood and tense."""
Cell = tuple[tuple[str, frozenset[str]], ...]
"""Values that fit, for each agreement feature."""
Verdict = Literal["right", "undecided", "wrong"]
RULE, EXCEPTION = 0.5, 0.1
"""Shares of verbs with one form for two cells: a rule from RULE on, chance below EXCEPTION."""
ENDINGS = (3, 2, 0)
"""Numbers of last letters that verbs share which inflect alike."""
ENOUGH = 5
"""Least number of verbs with both cells from which others are inferred."""


def slot_of(row: LexiconRow) -> Slot:
    """Return mood and tense of a reading."""
    return row.features.get("Mood"), row.features.get("Tense")


def cell_of(features: Query) -> Cell:
    """Return the agreement features of a query, or of a reading written as one."""
    return tuple((name, features[name]) for name in AGREEING if name in features)


def _is_finite(row: LexiconRow) -> bool:
    """Tell whether a reading can have a subject of any person; an imperative cannot."""
    features = row.features
    form = features.get("VerbForm", "FIN")
    return form == "FIN" and "Finiteness" not in features and features.get("Mood") != "IMP"


def _suits(row: LexiconRow, cell: Cell) -> bool:
    return all(row.features.get(name, UNDEFINED) in {*values, UNDEFINED} for name, values in cell)


@dataclass(slots=True)
class Paradigms:
    """Finite readings of verbs for a ``feature``; ``bound`` moods make no form right."""

    feature: str
    lexicons: Sequence[Lexicon]
    bound: Collection[str] = ()
    _slots: dict[Slot, dict[str, list[LexiconRow]]] = field(default_factory=dict)
    _shown: set[Slot] = field(default_factory=set)
    """Slots where some verb shows the feature."""
    _vague: set[Slot] = field(default_factory=set)
    """Slots without a tense, of moods that have one elsewhere: these verbs are hardly annotated."""
    _shares: dict[tuple[Any, ...], float | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        slots: dict[Slot, dict[str, list[LexiconRow]]] = defaultdict(lambda: defaultdict(list))
        for lexicon in self.lexicons:
            column = lexicon.columns[self.feature]
            for lemma, rows in lexicon.by_lemma.items():
                for row in rows:
                    free = row.features.get("Mood") not in self.bound and not row.rare
                    if free and column in row.features and _is_finite(row):
                        slots[slot_of(row)][lemma].append(row)
                        if self._states(row):
                            self._shown.add(slot_of(row))
        self._slots = {slot: dict(lemmas) for slot, lemmas in slots.items()}
        tensed = {mood for mood, tense in slots if tense is not None}
        self._vague = {(mood, tense) for mood, tense in slots if tense is None and mood in tensed}

    def _states(self, row: LexiconRow) -> bool:
        values = (row.features.get(name, UNDEFINED) for name in COLUMNS_OF[self.feature])
        return any(value != UNDEFINED for value in values)

    def verdict(self, lemma: str, wrong: Iterable[LexiconRow], subject: Cell) -> Verdict:
        """Judge whether a form with readings ``wrong`` is right for the subject, or undecided."""
        readings = [row for row in wrong if _is_finite(row)]
        forms = {row.form for row in readings}
        lacking: list[Slot] = []
        for slot, lemmas in self._slots.items():
            fitting = self._fitting(lemmas.get(lemma, ()), subject)
            if any(row.form in forms for row in fitting):
                return "right"
            if not fitting and slot not in self._vague:
                lacking.append(slot)
        shares = {
            (slot, row.bundle): share
            for row in readings
            for slot in lacking
            if (share := self._share(lemma, slot, subject, row)) is not None
        }
        if any(share >= RULE for share in shares.values()):
            return "right"
        moods = {row.features.get("Mood") for row in readings}
        foreign = {slot for slot in self._shown - self._vague if slot[0] not in moods}
        told = foreign - {*lacking} or foreign & {slot for slot, _ in shares}
        some = any(share >= EXCEPTION for share in shares.values())
        return "undecided" if some or (foreign and not told) else "wrong"

    def _fitting(self, rows: Iterable[LexiconRow], cell: Cell) -> list[LexiconRow]:
        """Return the readings of a verb's slot that agree with a subject."""
        suiting = [row for row in rows if _suits(row, cell)]
        stating = [row for row in suiting if self._states(row)]
        return stating or suiting

    def _share(self, lemma: str, slot: Slot, subject: Cell, row: LexiconRow) -> float | None:
        """Return the share of verbs with one form for a subject in a slot and for a reading."""
        values = {n: frozenset({v}) for n, v in row.features.items() if v != UNDEFINED}
        for length in ENDINGS:
            key = (lemma[len(lemma) - length :], slot, subject, slot_of(row), cell_of(values))
            if key not in self._shares:
                same = [*self._compared(*key)]
                self._shares[key] = sum(same) / len(same) if len(same) >= ENOUGH else None
            if self._shares[key] is not None:
                return self._shares[key]
        return None

    def _compared(
        self, ending: str, slot: Slot, subject: Cell, other: Slot, cell: Cell
    ) -> Iterator[bool]:
        """Yield for each verb of an ending with both forms whether they are one."""
        if slot == other:
            return
        elsewhere = self._slots.get(other, {})
        for lemma, rows in self._slots[slot].items():
            if not lemma.endswith(ending) or lemma not in elsewhere:
                continue
            ours = {row.form for row in self._fitting(rows, subject)}
            suiting = (row for row in elsewhere[lemma] if _suits(row, cell))
            theirs = {row.form for row in suiting if self._states(row)}
            if ours and theirs:
                yield not ours.isdisjoint(theirs)


NO_ENTRY, NO_FORM = "no lexicon entry", "no other form"
SAME_FORM, SAME_VALUE = "same form", "same value"
UNDEFINED_VALUE, AMBIGUOUS = "undefined value", "ambiguous subject"
RIGHT = "right in another mood or tense"
REASONS = (NO_ENTRY, NO_FORM, SAME_FORM, SAME_VALUE, UNDEFINED_VALUE, AMBIGUOUS)
"""Why a word has no swap, or a swap is no minimal pair, in the order of the checks."""


@dataclass(frozen=True, slots=True)
class Ways:
    """The decisions about swaps that are corrected, and moods bound to certain verbs."""

    letter_case: bool = False
    other_features: bool = False
    right_forms: bool = False
    bound_moods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Swap:
    """Another form of a word, its values before and after, and whether it may be right."""

    form: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    undecided: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """One source of the lexicon: its inflected words by lemma, its possible subjects by form."""

    verbs: Lexicon
    subjects: Lexicon


@dataclass(frozen=True, slots=True)
class Lookup:
    """Readings of a form in one source, and rows with another value of ``column``."""

    column: str
    own: list[LexiconRow]
    others: list[LexiconRow]


@dataclass(frozen=True, slots=True)
class Trace:
    """Record of how the other forms of a word were looked up.

    ``lookups``: one for each source, None where none was made. ``before``: the values of the word's
    own form, None where no source knows it. ``after``: the values of each other form.
    ``objections``: why a form makes no minimal pair, or None. ``undecided``: forms that another
    mood might make right.
    """

    lookups: Sequence[Lookup | None]
    before: frozenset[str] | None
    after: Mapping[str, frozenset[str]]
    objections: Mapping[str, str | None]
    undecided: Set[str] = frozenset()

    def swaps(self) -> tuple[list[Swap], Counter[str]]:
        """Return the forms that make a minimal pair, and counts of the others by reason."""
        if self.before is None:
            return [], Counter({NO_ENTRY: 1})
        if not self.objections:
            return [], Counter({NO_FORM: 1})
        before = tuple(sorted(self.before))
        swaps = [
            Swap(form, before, tuple(sorted(self.after[form])), form in self.undecided)
            for form, objection in self.objections.items()
            if objection is None
        ]
        return swaps, Counter(reason for reason in self.objections.values() if reason)


@dataclass(slots=True)
class Inflector:
    """Finder of swaps for one phenomenon of one language."""

    feature: str
    resources: Sequence[Resource]
    ways: Ways = Ways()
    _cache: dict[tuple[Any, ...], tuple[list[Swap], Counter[str]]] = field(default_factory=dict)
    _paradigms: Paradigms = field(init=False)

    def __post_init__(self) -> None:
        lexicons = [r.verbs for r in self.resources] if self.ways.right_forms else []
        self._paradigms = Paradigms(self.feature, lexicons, self.ways.bound_moods)

    def swaps(
        self, form: str, lemma: str, features: tuple[tuple[str, str], ...], subject: str
    ) -> tuple[list[Swap], Counter[str]]:
        """Return surviving swaps of a word in its context, and counts of the others by reason."""
        key = (form, lemma, features, subject)
        if key not in self._cache:
            self._cache[key] = self.trace(*key).swaps()
        return self._cache[key]

    def trace(
        self, form: str, lemma: str, features: tuple[tuple[str, str], ...], subject: str
    ) -> Trace:
        """Look a word up in its context, and judge each other form."""
        query = query_of(dict(features))
        trace = self._traced(form, lemma, query, subject)
        if self.ways.letter_case and trace.before is None:
            trace = self._traced(form.lower(), lemma.lower(), query, subject)
        return trace

    def _traced(self, form: str, lemma: str, query: Query, subject: str) -> Trace:
        # The word's rows and those of its other forms, in each source.
        lookups: list[Lookup | None] = []
        found_forms: set[str] = set()
        alone = self.ways.other_features
        for resource in self.resources:
            column = resource.verbs.columns[self.feature]
            if column is None or len(found_forms) == 1:
                lookups.append(None)
                continue
            rows = matching(resource.verbs, lemma, form, query, column, alone)
            others = [
                other
                for row in rows
                for other in contrasting(resource.verbs, row, query, column, alone)
            ]
            found_forms.update(other.form for other in others)
            lookups.append(Lookup(column, rows, others))
        telling = [lookup for lookup in lookups if lookup and lookup.own]
        if not telling:
            return Trace(lookups, None, {}, {})
        before = frozenset[str]().union(*(_defined(each.own, each.column) for each in telling))
        forms = sorted({row.form for lookup in telling for row in lookup.others})
        after = {other: frozenset(self._values(other, lemma, query)) for other in forms}
        objections: dict[str, str | None] = {}
        undecided: set[str] = set()
        for other, values in after.items():
            objections[other] = self._objection(form, other, before, values, subject)
            if objections[other] is None:
                verdict = self._verdict(other, lemma, query, telling)
                objections[other] = RIGHT if verdict == "right" else None
                undecided |= {other} if verdict == "undecided" else set()
        return Trace(lookups, before, after, objections, undecided)

    def _verdict(self, form: str, lemma: str, query: Query, telling: Sequence[Lookup]) -> Verdict:
        """Judge whether a form is right for the subject in another mood or tense."""
        readings = [row for lookup in telling for row in lookup.others if row.form == form]
        rows = [row for lookup in telling for row in lookup.own]
        columns = {lookup.column for lookup in telling}
        asked = [name for name in AGREEING if name not in query or name in columns]
        stated = {name: frozenset(_defined(rows, name)) for name in asked}
        subject = {**query, **{name: values for name, values in stated.items() if values}}
        return self._paradigms.verdict(lemma, readings, cell_of(subject))

    @property
    def _reported(self) -> str:
        """The column that values are read from: the treebank lexicon's choice goes first."""
        columns = (r.verbs.columns[self.feature] for r in reversed(self.resources))
        return next(filter(None, columns), self.feature)

    def _values(self, form: str, lemma: str, query: Query) -> set[str]:
        """Return all values that a form of the lemma can have, in either source."""
        reported = self._reported
        others = {name: values for name, values in query.items() if name != reported}
        of_form: set[str] = set()
        for resource in self.resources:
            rows = [r for r in resource.verbs.by_lemma.get(lemma, ()) if r.form == form]
            strict = resource.verbs.columns[self.feature]
            of_form |= values_of(resource.verbs, rows, others, reported, strict)
        return of_form

    def _subject_values(self, subject: str) -> set[str]:
        """Return values of the subject's form as a nominative; UniMorph's unless it has none."""
        forms = {subject, subject.lower()} if self.ways.letter_case else {subject}
        for resource in self.resources:
            rows = [row for form in forms for row in resource.subjects.by_form.get(form, ())]
            strict = resource.subjects.columns[self.feature]
            values = values_of(resource.subjects, rows, NOMINATIVE, self._reported, strict)
            if values:
                return values
        return set()

    def _objection(
        self, form: str, other: str, before: Set[str], after: Set[str], subject: str
    ) -> str | None:
        if other == form:
            return SAME_FORM
        if after & before:
            return SAME_VALUE
        if not after or UNDEFINED in after:
            return UNDEFINED_VALUE
        if self._subject_values(subject) & after:
            return AMBIGUOUS
        return None


def _defined(rows: list[LexiconRow], column: str) -> set[str]:
    return {
        row.features[column] for row in rows if row.features.get(column, UNDEFINED) != UNDEFINED
    }
