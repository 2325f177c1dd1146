"""Find the other forms of a verb, and judge which of them make a minimal pair with it.

``Inflector.trace`` takes a verb's form in a sentence, its lemma, its features and its subject. It
returns each form with another value of the agreement feature, and the reason against it if any:

    sings (Number=SG), subject "she"  ->  sing (PL): makes a pair
    fell (Number=SG), subject "she"   ->  fell (PL): "same form"

A row of the lexicon is one reading of a form, such as *sing*: plural of the present indicative.
Source: MultiBLiMP 1.0, section 4.3. The checks and their order follow the authors' code.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import cache
from itertools import product
from pathlib import Path
from typing import Literal, NamedTuple

from blimpworks.files import read_cells
from blimpworks.papers.multiblimp.items import lookup, words
from blimpworks.papers.multiblimp.items.lookup import Lexicon, LexiconRow, Query
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected


class Slot(NamedTuple):
    """A mood and tense, in which a verb has a form for each person and number."""

    mood: str | None
    tense: str | None


Agreement = tuple[tuple[str, frozenset[str]], ...]
"""Accepted values of agreement features, such as ``(("Person", {"3"}), ("Number", {"SG"}))``."""
Verdict = Literal["right", "undecided", "wrong"]
RULE, EXCEPTION = 0.5, 0.1
"""Shares of verbs with one form for two cells of the paradigm, such as *ich gehe*, *er gehe*. RULE
or more is a rule, below EXCEPTION is chance."""
ENDINGS = (3, 2, 0)
"""Numbers of last letters that similar verbs share, tried in this order."""
ENOUGH = 5
"""Smallest number of similar verbs with forms in both cells from which a form is inferred."""


def _slot(row: LexiconRow) -> Slot:
    return Slot(row.features.get("Mood"), row.features.get("Tense"))


def agreement_of(query: Query) -> Agreement:
    """Return the agreement features of a query."""
    return tuple((name, query[name]) for name in lookup.AGREEING if name in query)


def _is_finite(row: LexiconRow) -> bool:
    """Tell whether a reading is finite and not imperative, so that it has a subject."""
    features = row.features
    form = features.get("VerbForm", "FIN")
    return form == "FIN" and "Finiteness" not in features and features.get("Mood") != "IMP"


# A row suits a subject if it has, or leaves open, each of the subject's values.
def _suits(row: LexiconRow, agreement: Agreement) -> bool:
    return all(
        row.features.get(name, words.UNDEFINED) in {*values, words.UNDEFINED}
        for name, values in agreement
    )


class Paradigms:
    """Finite readings of verbs by mood and tense, to find forms that are right in another mood.

    German *er gehe* is no error: *gehe* is of the first person as an indicative, but of the third
    as a subjunctive. ``feature`` is the agreement feature. ``bound`` moods occur in subordinate
    clauses only; a reading in one never makes a form right. A slot is a mood and tense.
    """

    def __init__(self, feature: str, lexicons: Sequence[Lexicon], bound: Collection[str]) -> None:
        self.feature = feature
        # {slot: {lemma: readings}}
        self._verbs_by_slot: dict[Slot, dict[str, list[LexiconRow]]] = {}
        # Slots in which at least one verb states the feature.
        self._stating: set[Slot] = set()
        for lexicon in lexicons:
            column = lexicon.columns[feature]
            for lemma, rows in lexicon.rows.items():
                for row in rows:
                    is_free = row.features.get("Mood") not in bound and not row.rare
                    if is_free and column in row.features and _is_finite(row):
                        verbs = self._verbs_by_slot.setdefault(_slot(row), {})
                        verbs.setdefault(lemma, []).append(row)
                        if self._states_feature(row):
                            self._stating.add(_slot(row))
        # If a mood has tenses, its slot without a tense comes from incomplete annotation.
        slots = self._verbs_by_slot.keys()
        tensed_moods = {slot.mood for slot in slots if slot.tense is not None}
        tenseless = {slot for slot in slots if slot.tense is None}
        self._incomplete = {slot for slot in tenseless if slot.mood in tensed_moods}
        self.share = cache(self._share_of_ending)

    def _states_feature(self, row: LexiconRow) -> bool:
        return any(_defined([row], name) for name in words.STATED_AS[self.feature])

    def verdict(self, lemma: str, disagreeing: Iterable[LexiconRow], subject: Agreement) -> Verdict:
        """Judge whether a form is right for the subject, in spite of its ``disagreeing`` readings.

        All readings are of the form. A further reading in some mood and tense that agrees, or a
        rule among similar verbs, makes the form right. Exceptions among similar verbs, or no
        evidence from any other mood, make it undecided.
        """
        readings = [row for row in disagreeing if _is_finite(row)]
        forms = {row.form for row in readings}
        # The verb's own forms for the subject, in each mood and tense.
        without_verb: list[Slot] = []
        for slot, verbs in self._verbs_by_slot.items():
            fitting = self._fitting(verbs.get(lemma, ()), subject)
            if any(row.form in forms for row in fitting):
                return "right"
            if not fitting and slot not in self._incomplete:
                without_verb.append(slot)
        # Similar verbs, in moods and tenses where the lexicons lack the verb.
        shares: dict[tuple[Slot, str], float] = {}
        for row, slot in product(readings, without_verb):
            # The cells to compare: the subject's values in ``slot``, and the reading's in its slot.
            values = agreement_of(lookup.defined_query(row))
            for length in ENDINGS:
                ending = lemma[len(lemma) - length :]
                share = self.share(ending, slot, subject, _slot(row), values)
                if share is not None:
                    shares[slot, row.bundle] = share
                    break
        if any(share >= RULE for share in shares.values()):
            return "right"
        if any(share >= EXCEPTION for share in shares.values()):
            return "undecided"
        # A form is wrong only if some other mood was checked, by the verb's own forms or by similar
        # verbs, unless no other mood states the feature.
        moods = {row.features.get("Mood") for row in readings}
        to_check = {slot for slot in self._stating - self._incomplete if slot.mood not in moods}
        checked_by_verb = to_check - {*without_verb}
        checked_by_similar_verbs = to_check & {slot for slot, _ in shares}
        is_checked = not to_check or checked_by_verb or checked_by_similar_verbs
        return "wrong" if is_checked else "undecided"

    def _fitting(self, rows: Iterable[LexiconRow], agreement: Agreement) -> list[LexiconRow]:
        """Return the readings that agree with a subject, preferably those with a stated value."""
        suiting = [row for row in rows if _suits(row, agreement)]
        return [row for row in suiting if self._states_feature(row)] or suiting

    def _share_of_ending(
        self, ending: str, slot: Slot, subject: Agreement, other_slot: Slot, other_values: Agreement
    ) -> float | None:
        """Return the share of verbs with one form for two cells; None for fewer than ``ENOUGH``.

        Verbs count whose lemma has this ``ending`` and that have forms in both cells. One cell has
        the values ``subject`` in ``slot``, the second cell ``other_values`` in ``other_slot``.
        """
        share_a_form: list[bool] = []  # for each verb
        other_verbs = {} if slot == other_slot else self._verbs_by_slot.get(other_slot, {})
        for lemma, rows in self._verbs_by_slot[slot].items():
            if lemma.endswith(ending) and lemma in other_verbs:
                forms = {row.form for row in self._fitting(rows, subject)}
                suiting = (row for row in other_verbs[lemma] if _suits(row, other_values))
                other_forms = {row.form for row in suiting if self._states_feature(row)}
                if forms and other_forms:
                    share_a_form.append(not forms.isdisjoint(other_forms))
        return sum(share_a_form) / len(share_a_form) if len(share_a_form) >= ENOUGH else None


NO_ENTRY, NO_FORM = "no lexicon entry", "no other form"
SAME_FORM, SAME_VALUE = "same form", "same value"
UNDEFINED_VALUE, AMBIGUOUS = "undefined value", "ambiguous subject"
RIGHT = "right in another mood or tense"
REJECTION_REASONS = (NO_ENTRY, NO_FORM, SAME_FORM, SAME_VALUE, UNDEFINED_VALUE, AMBIGUOUS)
"""Reasons against a pair, in the order of the checks; the corrected variant also has ``RIGHT``."""


class Lookup(NamedTuple):
    """Rows of a form in one source, and the feature ``column`` by which that source inflects."""

    column: str
    matches: list[LexiconRow]
    contrasts: list[LexiconRow]
    """Rows of the same lemma with another value of ``column``."""


class OtherForm(NamedTuple):
    """Values of another form of a word, and the reason why it makes no minimal pair."""

    values: list[str]
    objection: str | None
    """One of the reasons above; None for a form that makes a pair."""
    undecided: bool
    """Whether the form may be right in another mood."""


class Trace(NamedTuple):
    """Lookups of a word in the lexicons, and the judgement of each other form."""

    lookups: Mapping[str, Lookup]
    """Lookups keyed by source, of the sources that were consulted."""
    own_values: list[str]
    """Values of the word itself; empty if no source has it."""
    forms: Mapping[str, OtherForm]
    rejected: Mapping[str, int]
    """Number of forms that make no pair, keyed by reason; 1 for a word without other forms."""


class Inflector:
    """Finder of verbs' other forms by an agreement ``feature``.

    ``verbs`` and ``subjects`` are the lexicons of ``load_resources``, one of each source, in order.
    """

    def __init__(
        self,
        feature: str,
        verbs: Sequence[Lexicon],
        subjects: Sequence[Lexicon],
        options: MultiblimpOptions,
        lang: str,
    ) -> None:
        self.feature, self.verbs, self.subjects, self.lang = feature, verbs, subjects, lang
        self.any_case = corrected(options, "letter_case")
        self.strict = corrected(options, "other_features")
        # The column ("Number" or "Number[subj]") from which values of forms and subjects are taken:
        # the treebanks' column if they inflect for the feature, or else UniMorph's.
        unimorph, treebanks = (lexicon.columns[feature] for lexicon in verbs)
        self._reported = treebanks or unimorph or feature
        moods = read_cells(Path(__file__).with_name("bound_moods.tsv"))
        bound = [row["mood"] for row in moods if row["lang"] == lang]
        judging = verbs if corrected(options, "right_forms") else []
        self._paradigms = Paradigms(feature, judging, bound)
        self.trace = cache(self._trace)

    def _trace(self, form: str, lemma: str, features: words.Bundle, subject: str) -> Trace:
        """Look a word up, with its features and its subject, and judge each other form."""
        query = lookup.query_of(dict(features))
        lookups = self._look_up(form, lemma, query)
        successful = [entry for entry in lookups.values() if entry.matches]
        if not successful:
            lower = (words.lower_case(form, self.lang), words.lower_case(lemma, self.lang))
            if self.any_case and lower != (form, lemma):
                return self._trace(*lower, features, subject)
            return Trace(lookups, [], {}, {NO_ENTRY: 1})

        matches = [row for entry in successful for row in entry.matches]
        contrasts = [row for entry in successful for row in entry.contrasts]
        columns = {entry.column for entry in successful}
        own_values: set[str] = set()
        for entry in successful:
            own_values |= _defined(entry.matches, entry.column)
        # Agreement features are those of the treebank. The word's lexicon rows fill what it leaves
        # open, and replace the features by which the sources inflect.
        agreeing_query = dict(query)
        for name in lookup.AGREEING:
            if name not in query or name in columns:
                stated = frozenset(_defined(matches, name))
                if stated:
                    agreeing_query[name] = stated

        forms: dict[str, OtherForm] = {}
        for other_form in sorted({row.form for row in contrasts}):
            values = self._values_of(other_form, lemma, query)
            objection = self._objection(form, other_form, own_values, values, subject)
            verdict: Verdict = "wrong"
            if objection is None:
                readings = [row for row in contrasts if row.form == other_form]
                verdict = self._paradigms.verdict(lemma, readings, agreement_of(agreeing_query))
                objection = RIGHT if verdict == "right" else None
            forms[other_form] = OtherForm(sorted(values), objection, verdict == "undecided")
        rejected = Counter(judged.objection for judged in forms.values() if judged.objection)
        return Trace(lookups, sorted(own_values), forms, rejected if forms else {NO_FORM: 1})

    def _look_up(self, form: str, lemma: str, query: Query) -> dict[str, Lookup]:
        """Look a word up in each source; in the treebanks unless UniMorph has one other form."""
        lookups: dict[str, Lookup] = {}
        other_forms: set[str] = set()
        for source, verbs in zip(lookup.SOURCES, self.verbs, strict=True):
            column = verbs.columns[self.feature]
            if column is None or len(other_forms) == 1:
                continue
            rows = lookup.find_matches(verbs, lemma, form, query, column, self.strict)
            contrasting: list[LexiconRow] = []
            for row in rows:
                contrasting += lookup.find_contrasts(verbs, row, query, column, self.strict)
            other_forms.update(row.form for row in contrasting)
            lookups[source] = Lookup(column, rows, contrasting)
        return lookups

    def _values_of(self, form: str, lemma: str, query: Query) -> set[str]:
        """Return all values of the agreement feature that a form can have in either source."""
        query = {name: accepted for name, accepted in query.items() if name != self._reported}
        values: set[str] = set()
        for verbs in self.verbs:
            rows = [row for row in verbs.rows.get(lemma, ()) if row.form == form]
            inflecting = verbs.columns[self.feature]
            values |= lookup.collect_values(verbs, rows, query, self._reported, inflecting)
        return values

    def _objection(
        self, form: str, other_form: str, own_values: Set[str], values: Set[str], subject: str
    ) -> str | None:
        """Return the reason against a pair of two forms; None if they make a pair.

        ``own_values`` are the values of ``form``, ``values`` those of ``other_form``.
        """
        if other_form == form:
            return SAME_FORM
        if values & own_values:
            return SAME_VALUE
        if not values or words.UNDEFINED in values:
            return UNDEFINED_VALUE
        # Values of the subject as a nominative: UniMorph's, or else the treebank's.
        for subjects in self.subjects:
            rows: list[LexiconRow] = []
            for spelling in lookup.spellings([subject], self.any_case, self.lang):
                rows += subjects.rows.get(spelling, ())
            query, inflecting = lookup.NOMINATIVE, subjects.columns[self.feature]
            readings = lookup.collect_values(subjects, rows, query, self._reported, inflecting)
            if readings:
                return AMBIGUOUS if readings & values else None
        return None


def _defined(rows: Iterable[LexiconRow], column: str) -> set[str]:
    return {row.features.get(column, words.UNDEFINED) for row in rows} - {words.UNDEFINED}
