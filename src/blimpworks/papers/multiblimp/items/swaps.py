"""Which other forms of an agreeing word make a minimal pair.

Source: MultiBLiMP 1.0, section 4.3; the checks and their order follow the authors' code.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from blimpworks.papers.multiblimp.items.features import UNDEFINED
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
from blimpworks.papers.multiblimp.items.paradigms import Paradigms, Verdict, cell_of

NO_ENTRY, NO_FORM = "no lexicon entry", "no other form"
SAME_FORM, SAME_VALUE = "same form", "same value"
UNDEFINED_VALUE, AMBIGUOUS = "undefined value", "ambiguous subject"
RIGHT = "right in another mood or tense"
REASONS = (NO_ENTRY, NO_FORM, SAME_FORM, SAME_VALUE, UNDEFINED_VALUE, AMBIGUOUS)
"""Why a word has no swap, or a swap is no minimal pair, in the order of the checks."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Which of the decisions about swaps are taken the corrected way.

    ``bound_moods`` are moods that the language has after certain verbs alone.
    """

    letter_case: bool = False
    other_features: bool = False
    right_forms: bool = False
    bound_moods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Swap:
    """Another form of a word, and the feature values before and after.

    ``undecided`` marks a form of which the lexicons don't tell whether another mood makes it
    right.
    """

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
    """What one source has of a word: readings of its form, and rows with another value.

    ``column`` is the feature that tells the values apart.
    """

    column: str
    own: list[LexiconRow]
    others: list[LexiconRow]


@dataclass(frozen=True, slots=True)
class Trace:
    """How the other forms of a word were looked up.

    ``lookups`` has one entry for each source, None where it was not consulted. ``before`` are
    the values of the word's own form, None where no source knows it. ``after`` has the values
    of each other form, ``objections`` why it makes no minimal pair, None where it makes one,
    ``undecided`` the forms that another mood might make right.
    """

    lookups: Sequence[Lookup | None]
    before: frozenset[str] | None
    after: Mapping[str, frozenset[str]]
    objections: Mapping[str, str | None]
    undecided: Set[str] = frozenset()

    def swaps(self) -> tuple[list[Swap], Counter[str]]:
        """The forms that make a minimal pair, and how many fell to each check."""
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
    """Finds swaps for one phenomenon of one language, each word in its context only once.

    ``resources`` are UniMorph and the treebank lexicon, in this order. With the ``letter_case``
    corrected a word without an entry is looked up in lower case, and a subject in both.
    """

    feature: str
    resources: Sequence[Resource]
    ways: Ways = Ways()
    _cache: dict[tuple[Any, ...], tuple[list[Swap], Counter[str]]] = field(default_factory=dict)
    _paradigms: Paradigms = field(init=False)

    def __post_init__(self) -> None:
        """Sort the verbs' forms where these decide."""
        lexicons = [r.verbs for r in self.resources] if self.ways.right_forms else []
        self._paradigms = Paradigms(self.feature, lexicons, self.ways.bound_moods)

    def swaps(
        self, form: str, lemma: str, features: tuple[tuple[str, str], ...], subject: str
    ) -> tuple[list[Swap], Counter[str]]:
        """Surviving swaps of a word in its context, and how many fell to each check."""
        key = (form, lemma, features, subject)
        if key not in self._cache:
            self._cache[key] = self.trace(*key).swaps()
        return self._cache[key]

    def trace(
        self, form: str, lemma: str, features: tuple[tuple[str, str], ...], subject: str
    ) -> Trace:
        """What the sources have of a word in its context, and what becomes of each form."""
        query = query_of(dict(features))
        trace = self._traced(form, lemma, query, subject)
        if self.ways.letter_case and trace.before is None:
            trace = self._traced(form.lower(), lemma.lower(), query, subject)
        return trace

    def _traced(self, form: str, lemma: str, query: Query, subject: str) -> Trace:
        lookups = self._look_up(form, lemma, query)
        known = [lookup for lookup in lookups if lookup and lookup.own]
        if not known:
            return Trace(lookups, None, {}, {})
        before = frozenset[str]().union(*(_defined(each.own, each.column) for each in known))
        forms = sorted({row.form for lookup in known for row in lookup.others})
        after = {other: frozenset(self._values(other, lemma, query)) for other in forms}
        objections = {
            other: self._objection(form, other, before, values, subject)
            for other, values in after.items()
        }
        verdicts = {
            other: self._verdict(other, lemma, query, known)
            for other, objection in objections.items()
            if objection is None
        }
        objections |= {other: RIGHT for other, verdict in verdicts.items() if verdict == "right"}
        undecided = {other for other, verdict in verdicts.items() if verdict == "undecided"}
        return Trace(lookups, before, after, objections, undecided)

    def _verdict(self, form: str, lemma: str, query: Query, known: Sequence[Lookup]) -> Verdict:
        """Whether a form is right for the subject in another mood or tense.

        What the treebank doesn't say of the subject, the word's own readings do.
        """
        readings = [row for lookup in known for row in lookup.others if row.form == form]
        rows = [row for lookup in known for row in lookup.own]
        columns = {lookup.column for lookup in known}
        asked = [name for name in AGREEING if name not in query or name in columns]
        stated = {name: frozenset(_defined(rows, name)) for name in asked}
        subject = {**query, **{name: values for name, values in stated.items() if values}}
        return self._paradigms.verdict(lemma, readings, cell_of(subject))

    def _look_up(self, form: str, lemma: str, query: Query) -> list[Lookup | None]:
        """The word's rows and those of its other forms, in each source.

        The treebank lexicon is consulted unless UniMorph gave exactly one form.
        """
        lookups: list[Lookup | None] = []
        forms: set[str] = set()
        for resource in self.resources:
            column = resource.verbs.columns[self.feature]
            if column is None or len(forms) == 1:
                lookups.append(None)
                continue
            alone = self.ways.other_features
            own = matching(resource.verbs, lemma, form, query, column, alone)
            others = [
                other
                for row in own
                for other in contrasting(resource.verbs, row, query, column, alone)
            ]
            forms.update(other.form for other in others)
            lookups.append(Lookup(column, own, others))
        return lookups

    @property
    def _reported(self) -> str:
        """The column that values are read from: the treebank lexicon's choice goes first."""
        columns = (r.verbs.columns[self.feature] for r in reversed(self.resources))
        return next(filter(None, columns), self.feature)

    def _values(self, form: str, lemma: str, query: Query) -> set[str]:
        """All values a form of the lemma can have here, in either source."""
        reported = self._reported
        others = {name: values for name, values in query.items() if name != reported}
        of_form: set[str] = set()
        for resource in self.resources:
            rows = [r for r in resource.verbs.by_lemma.get(lemma, ()) if r.form == form]
            strict = resource.verbs.columns[self.feature]
            of_form |= values_of(resource.verbs, rows, others, reported, strict)
        return of_form

    def _subject_values(self, subject: str) -> set[str]:
        """Values of the subject's form as a nominative; UniMorph's unless it has none."""
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
        """Why a swap is no minimal pair, or None."""
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
