"""Which other forms of an agreeing word make a minimal pair.

Source: MultiBLiMP 1.0, section 4.3; the checks and their order follow the authors' code.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from blimpworks.multiblimp.features import UNDEFINED
from blimpworks.multiblimp.inflection import (
    NOMINATIVE,
    Lexicon,
    LexiconRow,
    Query,
    contrasting,
    matching,
    query_of,
    values_of,
)

NO_ENTRY, NO_FORM = "no lexicon entry", "no other form"
SAME_FORM, SAME_VALUE = "same form", "same value"
UNDEFINED_VALUE, AMBIGUOUS = "undefined value", "ambiguous subject"
REASONS = (NO_ENTRY, NO_FORM, SAME_FORM, SAME_VALUE, UNDEFINED_VALUE, AMBIGUOUS)
"""Why a word has no swap, or a swap is no minimal pair, in the order of the checks."""


@dataclass(frozen=True, slots=True)
class Swap:
    """Another form of a word, and the feature values before and after."""

    form: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resource:
    """One source of the lexicon: its inflected words by lemma, its possible subjects by form."""

    verbs: Lexicon
    subjects: Lexicon


@dataclass(slots=True)
class Inflector:
    """Finds swaps for one phenomenon of one language; remembers what it has answered.

    ``resources`` are UniMorph and the treebank lexicon, in this order. With ``any_case`` a
    word without an entry is sought in lower case, and a subject in both.
    """

    feature: str
    resources: Sequence[Resource]
    any_case: bool = False
    _answers: dict[tuple[Any, ...], tuple[list[Swap], Counter[str]]] = field(default_factory=dict)

    def swaps(
        self, form: str, lemma: str, features: tuple[tuple[str, str], ...], subject: str
    ) -> tuple[list[Swap], Counter[str]]:
        """Surviving swaps of a word in its context, and how many fell to each check."""
        key = (form, lemma, features, subject)
        if key not in self._answers:
            query = query_of(dict(features))
            found = self._find(form, lemma, query, subject)
            if self.any_case and found[1][NO_ENTRY]:
                found = self._find(form.lower(), lemma.lower(), query, subject)
            self._answers[key] = found
        return self._answers[key]

    def _find(
        self, form: str, lemma: str, query: Query, subject: str
    ) -> tuple[list[Swap], Counter[str]]:
        forms, before = self._inflect(form, lemma, query)
        if before is None:
            return [], Counter({NO_ENTRY: 1})
        if not forms:
            return [], Counter({NO_FORM: 1})
        rejected: Counter[str] = Counter()
        found: list[Swap] = []
        for other in sorted(forms):
            after = self._values(other, lemma, query)
            reason = self._objection(form, other, before, after, subject)
            if reason:
                rejected[reason] += 1
            else:
                found.append(Swap(other, tuple(sorted(before)), tuple(sorted(after))))
        return found, rejected

    def _inflect(self, form: str, lemma: str, query: Query) -> tuple[set[str], set[str] | None]:
        """Other forms from both sources, and the values of the original (None: unknown).

        The treebank lexicon is asked unless UniMorph gave exactly one form; results unite.
        """
        forms: set[str] = set()
        before: set[str] | None = None
        for resource in self.resources:
            column = resource.verbs.columns[self.feature]
            if column is None or len(forms) == 1:
                continue
            rows = matching(resource.verbs, lemma, form, query, column)
            for row in rows:
                forms |= contrasting(resource.verbs, row, query, column)
            if rows:
                before = (before or set()) | _defined(rows, column)
        return forms, before

    @property
    def _reported(self) -> str:
        """The column that values are read from: the treebank lexicon's choice goes first."""
        columns = (r.verbs.columns[self.feature] for r in reversed(self.resources))
        return next(filter(None, columns), self.feature)

    def _values(self, form: str, lemma: str, query: Query) -> set[str]:
        """All values a form of the lemma can have here, in either source."""
        reported = self._reported
        others = {name: values for name, values in query.items() if name != reported}
        found: set[str] = set()
        for resource in self.resources:
            rows = [r for r in resource.verbs.by_lemma.get(lemma, ()) if r.form == form]
            strict = resource.verbs.columns[self.feature]
            found |= values_of(resource.verbs, rows, others, reported, strict)
        return found

    def _subject_values(self, subject: str) -> set[str]:
        """Values of the subject's form as a nominative; UniMorph's unless it has none."""
        forms = {subject, subject.lower()} if self.any_case else {subject}
        for resource in self.resources:
            rows = [row for form in forms for row in resource.subjects.by_form.get(form, ())]
            strict = resource.subjects.columns[self.feature]
            found = values_of(resource.subjects, rows, NOMINATIVE, self._reported, strict)
            if found:
                return found
        return set()

    def _objection(
        self, form: str, other: str, before: set[str], after: set[str], subject: str
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
