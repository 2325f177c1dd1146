"""Draw the words of a minimal pair from the lexicon, so that each fits the words drawn before.

A scheme has named draws such as "act: a verb; who: a noun that can be its subject". The method
``Builder.draw`` returns the drawn constituents by name, which ``generate`` puts into sentences. A
pool is the list of entries from which a draw chooses, all with the same probability (Warstadt et
al. 2020, 3.1). A realisation is a verb's form with its auxiliary. Its counterpart has the other
number: "has seen" for "have seen". ``accepts(restriction, classes)`` tells whether a noun of these
classes, such as ("person",), satisfies the restriction of a verb on its subject or object.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar, cast

from blimpworks.papers.blimp.items import declarations as declared
from blimpworks.papers.blimp.items import lexicon as entries
from blimpworks.papers.blimp.items.declarations import OTHER_NUMBER, Forms, NounForm, Realisation
from blimpworks.papers.blimp.items.lexicon import SAME, Adjective, Determiner, Lexicon, Number, Verb

NounGroups = dict[tuple[tuple[str, ...], Number], list[NounForm]]
"""Nouns by (classes, number). A restriction accepts all nouns of a group, or none of them."""
PRESENT: dict[Number, entries.VerbForm] = {"sg": "third", "pl": "base"}
OTHER_PRESENT: dict[entries.VerbForm, entries.VerbForm] = {"third": "base", "base": "third"}


class Pools:
    """Lists the lexical entries and verb forms that a draw allows by itself."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon, self.accepts = lexicon, lexicon.classes.accepts
        self.verb_frames: dict[str, set[str]] = defaultdict(set)
        for verb in lexicon.verbs:
            self.verb_frames[verb.lexeme].add(verb.frame)
        self.adjective_frames: dict[str, set[str]] = defaultdict(set)
        for adjective in lexicon.adjectives:
            self.adjective_frames[adjective.adjective].add(adjective.frame)
        self.noun_classes = {noun.classes for noun in lexicon.nouns}
        self.auxiliaries = {entry.auxiliary: entry for entry in lexicon.auxiliaries}
        self.realisations = lru_cache(maxsize=None)(self._realisations)

    def nouns(self, draw: declared.NominalDraw) -> NounGroups:
        """Group the nouns in the numbers that a draw allows."""
        groups: NounGroups = defaultdict(list)
        # Mass nouns, names and relational nouns are left out unless a draw asks for them.
        with_relational = draw.relational or "relational" in draw.tags
        for noun in self.lexicon.nouns:
            plural_type = "irregular" if noun.irregular else "regular"
            if (
                (draw.plural is None or (noun.marked and draw.plural == plural_type))
                and (noun.plural != SAME or not draw.distinct_plural)
                and (draw.mass or not noun.mass)
                and (draw.proper or "name" not in noun.tags)
                and (with_relational or "relational" not in noun.tags)
                and noun.gender in draw.gender
                and noun.noun not in draw.other_than
                and noun.tags.issuperset(draw.tags)
                and self.accepts(draw.classes, noun.classes)
            ):
                for number in noun.forms:
                    if draw.number in (None, number):
                        groups[noun.classes, number].append(NounForm(noun, number))
        return groups

    def verbs(self, draw: declared.VerbDraw) -> list[Verb]:
        """List the verbs that a draw allows if its subject and object are still open."""
        accepts = self.accepts
        # Nouns of classes that ``subject_within`` excludes must not be possible subjects.
        excluded_classes = [c for c in self.noun_classes if not accepts(draw.subject_within, c)]
        return [
            verb
            for verb in self.lexicon.verbs
            if verb.frame in draw.frame
            and verb.tags.issuperset(draw.tags)
            and not verb.tags & {*draw.without}
            and (not draw.words or verb.lexeme in draw.words)
            and verb.lexeme not in draw.other_than
            and {*draw.complement} <= {*verb.complement.split()}
            and not self.verb_frames[verb.lexeme] & {*draw.never}
            and draw.irregular in (None, verb.irregular)
            and not (draw.distinct_past and verb.form("past") == verb.verb)
            and not (draw.distinct_participle and verb.form("participle") == verb.verb)
            and draw.particle in (None, bool(verb.particle))
            and not any(accepts(verb.subject, classes) for classes in excluded_classes)
            and all(accepts(verb.subject, (name,)) for name in draw.subject_accepts.split())
        ]

    def adjectives(self, draw: declared.AdjectiveDraw) -> list[Adjective]:
        return [
            entry
            for entry in self.lexicon.adjectives
            if entry.frame == draw.frame
            and (not draw.words or entry.adjective in draw.words)
            and entry.adjective not in draw.other_than
            and entry.tags.issuperset(draw.tags)
            and not self.adjective_frames[entry.adjective] & {*draw.never}
        ]

    def determiners(self, among: str | tuple[str, ...]) -> list[Determiner]:
        """List the determiners of a set, or the named ones."""
        determiners = self.lexicon.determiners
        if isinstance(among, str):
            return [entry for entry in determiners if among in entry.sets]
        return [entry for entry in determiners if entry.determiner in among]

    def _realisations(
        self, draw: declared.PredicateDraw, number: Number, stative: bool
    ) -> list[list[Realisation]]:
        """Return the realisations that a draw allows with a subject in ``number``.

        One list has finite verbs, one has verbs with an auxiliary; an empty list is left out. A
        ``stative`` verb ("know") has no gerund. Questions and negations need an auxiliary.
        """
        finite, with_auxiliary = [], []
        is_plain_statement = draw.use == "statement" and draw.negated != "yes"
        if draw.verb and is_plain_statement and draw.auxiliary != "always":
            if "present" in draw.forms:
                finite.append(Realisation(None, False, PRESENT[number]))
            if "past" in draw.forms:
                finite.append(Realisation(None, False, "past"))
        for entry in self.auxiliaries.values():
            if (
                draw.auxiliary != "none"
                and number in entry.numbers
                and (draw.verb or "copula" in entry.use)
                and (not draw.among or entry.auxiliary in draw.among)
                and (not draw.verb or entry.takes in draw.forms)
            ):
                if draw.negated != "yes" and draw.use in entry.use:
                    with_auxiliary.append(Realisation(entry, False, entry.takes))
                if draw.negated != "no" and entry.negated and "negation" in entry.use:
                    with_auxiliary.append(Realisation(entry, True, entry.takes))
        groups = [finite, with_auxiliary]
        if stative:
            groups = [[option for option in group if option.form != "gerund"] for group in groups]
        if draw.agreeing:
            groups = [[option for option in group if self.counterpart(option)] for group in groups]
        return [group for group in groups if group]

    def counterpart(self, chosen: Realisation) -> Realisation | None:
        """Return a realisation in the other number; None if number makes no difference."""
        if chosen.auxiliary is not None:
            swapped = self.auxiliaries.get(chosen.auxiliary.swapped)
            return Realisation(swapped, chosen.negated, chosen.form) if swapped else None
        form = OTHER_PRESENT.get(chosen.form)
        return Realisation(None, False, form) if form else None

    def all_agree(self, draw: declared.PredicateDraw) -> bool:
        """Tell whether all verb forms that ``draw`` allows have a form in the other number."""
        numbers: tuple[Number, ...] = (draw.number,) if draw.number else ("sg", "pl")
        groups = (group for number in numbers for group in self.realisations(draw, number, False))
        return all(self.counterpart(realisation) for group in groups for realisation in group)


Member = TypeVar("Member")
TRIES = 25
"""Number of failed draws from a pool after which the pair is drawn again."""
INTERROGATIVES = {True: ("who",), False: ("what",)}
RELATIVES = {True: ("who", "that"), False: ("which", "that")}
"""Interrogative and relative pronouns, by whether they refer to a person."""


class Redraw(Exception):
    """No draw fits the earlier ones, so the pair must be drawn again."""


class Builder:
    """Draws the constituents of pairs of one scheme.

    ``draw`` calls the method of each draw's category: ``_verb`` for a verb, and so on. Names refer
    to constituents of suitable categories, as ``read_declaration`` has checked.
    """

    def __init__(self, lexicon: Lexicon, scheme: declared.Scheme, source: random.Random) -> None:
        self.scheme, self.source, self.pools = scheme, source, Pools(lexicon)
        self.accepts = lexicon.classes.accepts
        self._pools: dict[Any, Any] = {}
        # Constituents of the present pair by name; the scheme has their categories.
        self._drawn: dict[str, Any] = {}

    def draw(self) -> dict[str, declared.Constituent]:
        """Draw all constituents of a pair, by name. Raises Redraw if one cannot be drawn."""
        self._drawn = {}
        for name, draw in self.scheme.draw.items():
            self._drawn[name] = getattr(self, f"_{draw.category}")(name, draw)
        return self._drawn

    def _pool(self, key: Any, make: Callable[[], Member]) -> Member:
        """Return the pool of ``key``, which must have all that the pool depends on; make it once.

        The key is the name of the draw, perhaps with the classes of drawn nouns and their number.
        """
        if key not in self._pools:
            self._pools[key] = make()
        return cast(Member, self._pools[key])

    def _pick(
        self, name: str, pool: Sequence[Member], fits: Callable[[Member], bool] = lambda _: True
    ) -> Member:
        """Draw a member of a pool that ``fits``. Raises Redraw after ``TRIES`` misfits."""
        for _ in range(TRIES if pool else 0):
            candidate = self.source.choice(pool)
            if fits(candidate):
                return candidate
        raise Redraw(f"nothing in the lexicon fits {name!r}")

    def _constituents(self, names: Sequence[str]) -> list[Any]:
        return [self._drawn[name] for name in names]

    def _verb(self, name: str, draw: declared.VerbDraw) -> Verb:
        """Draw a verb that accepts the drawn nouns as its subject and object."""
        subjects = tuple(noun.entry.classes for noun in self._constituents(draw.subject))
        objects = tuple(noun.entry.classes for noun in self._constituents(draw.object))
        allowed = self._pool(name, lambda: self.pools.verbs(draw))

        def accepts_nouns(verb: Verb) -> bool:
            accepts_subjects = all(self.accepts(verb.subject, classes) for classes in subjects)
            accepts_objects = all(self.accepts(verb.object, classes) for classes in objects)
            return accepts_subjects and accepts_objects

        key = (name, subjects, objects)
        pool = self._pool(key, lambda: [verb for verb in allowed if accepts_nouns(verb)])
        unlike_verbs = {verb.lexeme for verb in self._constituents(draw.unlike)}
        return self._pick(name, pool, lambda verb: verb.lexeme not in unlike_verbs)

    def _noun(self, name: str, draw: declared.NominalDraw, object_of: str = "") -> NounForm:
        """Draw a noun. The restriction ``object_of``, such as "person", is added to the draw's."""
        restrictions = {object_of}
        restrictions |= {verb.subject for verb in self._constituents(draw.subject_of)}
        restrictions |= {verb.object for verb in self._constituents(draw.object_of)}
        restrictions |= {adjective.noun for adjective in self._constituents(draw.said_of)}
        if draw.of:
            restrictions.add(self._drawn[draw.of].entry.of)
        restricting = frozenset(restrictions - {""})  # an empty one restricts nothing
        number = None
        if draw.number_of:
            number = self._drawn[draw.number_of].number
        elif draw.number_unlike:
            number = OTHER_NUMBER[self._drawn[draw.number_unlike].number]
        groups = self._pool(name, lambda: self.pools.nouns(draw))

        def list_accepted() -> list[NounForm]:
            forms = []
            for (classes, group_number), group in groups.items():
                accepted = all(self.accepts(restriction, classes) for restriction in restricting)
                if accepted and number in (None, group_number):
                    forms += group
            return forms

        pool = self._pool((name, restricting, number), list_accepted)
        unlike_nouns = {noun.entry for noun in self._constituents(draw.unlike)}
        pronouns = {form for noun in self._constituents(draw.mismatch) for form in noun.reflexives}

        def is_unlike(form: NounForm) -> bool:
            return form.entry not in unlike_nouns and pronouns.isdisjoint(form.reflexives)

        return self._pick(name, pool, is_unlike)

    def _phrase(self, name: str, draw: declared.PhraseDraw) -> NounForm | None:
        """Draw a noun with its determiner, or a name; None as object of an intransitive verb."""
        verb: Verb | None = self._drawn[draw.complement_of] if draw.complement_of else None
        if verb and verb.frame == "intransitive":
            return None
        noun = self._noun(name, draw, verb.object if verb else "")
        if "name" in noun.entry.tags:
            return noun
        return replace(noun, determiner=self._determiner_of(name, draw.determiner, noun))

    def _determiner(self, name: str, draw: declared.DeterminerDraw) -> Determiner:
        return self._determiner_of(name, draw.among, self._drawn[draw.for_])

    def _determiner_of(self, name: str, among: str | tuple[str, ...], noun: NounForm) -> Determiner:
        """Draw a determiner for a noun in its number, or for a mass noun."""
        countability = "mass" if noun.entry.mass else noun.number
        pool = self._pool(
            (name, "determiner", countability),
            lambda: [d for d in self.pools.determiners(among) if countability in d.numbers],
        )
        return self._pick(f"the determiner of {name}", pool)

    def _predicate(self, name: str, draw: declared.PredicateDraw) -> declared.Predicate:
        """Draw the auxiliary and form of a drawn verb, or copy those of another predicate."""
        verb: Verb | None = self._drawn[draw.verb] if draw.verb else None
        number = draw.number or "pl"
        if len(draw.subject) == 1:
            number = self._drawn[draw.subject[0]].number
        stative = verb is not None and "stative" in verb.tags
        chosen: Realisation | None = None
        if draw.like:
            copied: Realisation = self._drawn[draw.like].chosen
            if copied.auxiliary is not None:
                agrees = number in copied.auxiliary.numbers
            else:
                agrees = copied.form in ("past", PRESENT[number])
            chosen = copied if agrees else self.pools.counterpart(copied)
            if chosen and stative and chosen.form == "gerund":
                chosen = None
        elif groups := self.pools.realisations(draw, number, stative):
            # Finite verbs have the same probability as all auxiliaries together.
            chosen = self.source.choice(self.source.choice(groups))
        if chosen is None:
            raise Redraw(f"{name!r} has no form that is allowed")
        return declared.Predicate(verb, chosen, self.pools.counterpart(chosen))

    def _adjective(self, name: str, draw: declared.AdjectiveDraw) -> Adjective:
        nouns = tuple(noun.entry.classes for noun in self._constituents(draw.of))
        allowed = self._pool(name, lambda: self.pools.adjectives(draw))
        pool = self._pool(
            (name, nouns),
            lambda: [a for a in allowed if all(self.accepts(a.noun, c) for c in nouns)],
        )
        unlike_words = {adjective.adjective for adjective in self._constituents(draw.unlike)}
        return self._pick(name, pool, lambda entry: entry.adjective not in unlike_words)

    def _pronoun(self, name: str, draw: declared.PronounDraw) -> declared.Pronoun:
        """Draw a pronoun that can refer to a drawn noun, or that cannot (``mismatch``)."""
        number = draw.number
        if draw.number_unlike:
            number = OTHER_NUMBER[self._drawn[draw.number_unlike].number]
        reflexives = tuple(declared.CASES)
        if draw.like:
            referent = self._drawn[draw.like]
            if number and isinstance(referent, NounForm):
                referent = replace(referent, number=number)
            reflexives = referent.reflexives
        mismatch = {form for noun in self._constituents(draw.mismatch) for form in noun.reflexives}
        pool = []
        for form in reflexives:
            text = form if draw.case == "reflexive" else declared.CASES[form][draw.case]
            pronoun = declared.Pronoun(text, form)
            if form not in mismatch and number in (None, pronoun.number):
                pool.append(pronoun)
        return self._pick(name, pool)

    def _wh(self, name: str, draw: declared.WhDraw) -> Forms:
        is_person = "person" in self._drawn[draw.for_].entry.classes
        return (self._pick(name, (RELATIVES if draw.relative else INTERROGATIVES)[is_person]),)

    def _choice(self, name: str, draw: declared.ChoiceDraw) -> Forms:
        among = draw.among
        if draw.of:
            among = draw.by_number.get(self._drawn[draw.of].number, among)
        rows = [(row,) if isinstance(row, str) else row for row in among]  # of one or more words
        return self._pick(name, rows)
