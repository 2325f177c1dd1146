"""The builder of constituents: draws what a declaration asks for, each draw fitting the last.

Source: Warstadt et al. (2020), section 3.1: lexical items are sampled evenly from those that the
restrictions allow.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from blimpworks.papers.blimp.items.generator.constituents import (
    CASES,
    NOTHING,
    OTHER,
    AdjectiveEntry,
    Constituent,
    DeterminerForm,
    NounForm,
    Phrase,
    Predicate,
    Pronoun,
    VerbEntry,
    Words,
)
from blimpworks.papers.blimp.items.generator.declarations import (
    AdjectiveDraw,
    ChoiceDraw,
    DeterminerDraw,
    NominalDraw,
    NounDraw,
    PhraseDraw,
    PredicateDraw,
    PronounDraw,
    Scheme,
    VerbDraw,
    WhDraw,
)
from blimpworks.papers.blimp.items.generator.pools import Pools
from blimpworks.papers.blimp.items.generator.realisations import Realisations
from blimpworks.papers.blimp.items.lexicon.entries import Number
from blimpworks.papers.blimp.items.lexicon.load import Lexicon

Thing = TypeVar("Thing")
Draws = Mapping[str, Constituent]
TRIES = 25
"""Draws from a pool before it is taken for unusable; the whole pair is drawn again then."""
INTERROGATIVES = {True: ("who",), False: ("what",)}
RELATIVES = {True: ("who", "that"), False: ("which", "that")}
"""By whether they stand for a person."""


class Redraw(Exception):
    """Nothing fits what was drawn before: the pair has to be drawn anew."""


class Builder:
    """Draws the constituents of pairs of one scheme.

    That names stand for constituents of the kinds they should is checked where it is read.
    """

    def __init__(self, lexicon: Lexicon, scheme: Scheme, source: random.Random) -> None:
        """``scheme``: what is drawn; ``source``: of all random choices."""
        self.lexicon, self.scheme, self.source = lexicon, scheme, source
        self.pools, self.realisations = Pools(lexicon), Realisations(lexicon.auxiliaries)
        self._known: dict[Any, Any] = {}
        self._makers: dict[type, Callable[[str, Any, Draws], Constituent]] = {
            VerbDraw: self._verb,
            NounDraw: self._noun,
            PhraseDraw: self._phrase,
            DeterminerDraw: self._determiner,
            PredicateDraw: self._predicate,
            AdjectiveDraw: self._adjective,
            PronounDraw: self._pronoun,
            WhDraw: self._wh,
            ChoiceDraw: self._choice,
        }

    def draw(self) -> dict[str, Constituent]:
        """All constituents of a pair, by name. Raises Redraw when one cannot be drawn."""
        drawn: dict[str, Constituent] = {}
        for name, asked in self.scheme.draw.items():
            drawn[name] = self._makers[type(asked)](name, asked, drawn)
        return drawn

    def _pool(self, key: Any, make: Callable[[], Thing]) -> Thing:
        """What ``make`` gives, made once for each key."""
        if key not in self._known:
            self._known[key] = make()
        known: Thing = self._known[key]
        return known

    def _pick(
        self, name: str, pool: Sequence[Thing], fits: Callable[[Thing], bool] | None = None
    ) -> Thing:
        """One of a pool that fits, each equally likely."""
        for _ in range(TRIES if pool else 0):
            found = self.source.choice(pool)
            if fits is None or fits(found):
                return found
        raise Redraw(f"nothing in the lexicon fits {name!r}")

    def _classes(self, names: Sequence[str], drawn: Draws) -> tuple[tuple[str, ...], ...]:
        """Classes of nouns that are drawn."""
        return tuple(cast(Phrase, drawn[name]).entry.classes for name in names)

    def _verb(self, name: str, asked: VerbDraw, drawn: Draws) -> VerbEntry:
        subjects, objects = (self._classes(n, drawn) for n in (asked.subject, asked.object))
        accepts = self.lexicon.classes.accepts

        def fitting() -> Sequence[VerbEntry]:
            """Verbs that fit the nouns drawn."""
            return [
                VerbEntry(verb)
                for verb in self._pool(name, lambda: self.pools.verbs(asked))
                if all(accepts(verb.subject, each) for each in subjects)
                and all(accepts(verb.object, each) for each in objects)
            ]

        taken = {cast(VerbEntry, drawn[other]).entry.lexeme for other in asked.unlike}
        pool = self._pool((name, subjects, objects), fitting)
        return self._pick(name, pool, lambda found: found.entry.lexeme not in taken)

    def _restrictions(self, asked: NominalDraw, drawn: Draws) -> frozenset[str]:
        """What verbs, adjectives and relational nouns want of a noun."""
        found = {cast(VerbEntry, drawn[verb]).entry.subject for verb in asked.subject_of}
        found |= {cast(VerbEntry, drawn[verb]).entry.object for verb in asked.object_of}
        found |= {cast(AdjectiveEntry, drawn[each]).entry.noun for each in asked.said_of}
        if asked.of:
            found.add(cast(Phrase, drawn[asked.of]).entry.of)
        return frozenset(found - {""})

    def _number(self, asked: NominalDraw, drawn: Draws) -> Number | None:
        if asked.number_of:
            return cast(Phrase, drawn[asked.number_of]).number
        if asked.number_unlike:
            return OTHER[cast(Phrase, drawn[asked.number_unlike]).number]
        return None

    def _nominal(
        self, name: str, asked: NominalDraw, drawn: Draws, more: frozenset[str] = frozenset()
    ) -> NounForm:
        restrictions, number = self._restrictions(asked, drawn) | more, self._number(asked, drawn)
        accepts = self.lexicon.classes.accepts

        def fitting() -> Sequence[NounForm]:
            """Nouns that satisfy all restrictions."""
            return [
                form
                for (classes, of), group in self._pool(
                    name, partial(self.pools.nouns, asked)
                ).items()
                if number in (None, of) and all(accepts(each, classes) for each in restrictions)
                for form in group
            ]

        taken = {cast(Phrase, drawn[other]).entry for other in asked.unlike}
        mismatch, match = (
            [{*cast(Phrase, drawn[other]).reflexives} for other in others]
            for others in (asked.mismatch, asked.match)
        )

        def fits(form: NounForm) -> bool:
            """Whether a noun is another one, and its pronouns are as asked for."""
            own = form.reflexives
            return (
                form.entry not in taken
                and not any(each.intersection(own) for each in mismatch)
                and all(each.intersection(own) for each in match)
            )

        plain = not (taken or mismatch or match)
        pool = self._pool((name, restrictions, number), fitting)
        return self._pick(name, pool, None if plain else fits)

    def _noun(self, name: str, asked: NounDraw, drawn: Draws) -> NounForm:
        return self._nominal(name, asked, drawn)

    def _phrase(self, name: str, asked: PhraseDraw, drawn: Draws) -> Constituent:
        more: frozenset[str] = frozenset()
        if asked.complement_of:
            verb = cast(VerbEntry, drawn[asked.complement_of]).entry
            if verb.frame == "intransitive":
                return NOTHING
            more = frozenset({verb.object} - {""})
        noun = self._nominal(name, asked, drawn, more)
        if "name" in noun.entry.tags:
            return Phrase(noun, None)
        return Phrase(noun, self._determined(name, asked.determiner, noun))

    def _determined(
        self, name: str, among: str | tuple[str, ...], noun: NounForm
    ) -> DeterminerForm:
        countability = noun.countability
        pool = self._pool(
            (name, "determiner", countability),
            lambda: [
                DeterminerForm(each)
                for each in self.pools.determiners(among)
                if countability in each.numbers
            ],
        )
        return self._pick(f"the determiner of {name}", pool)

    def _determiner(self, name: str, asked: DeterminerDraw, drawn: Draws) -> DeterminerForm:
        noun = drawn[asked.for_]
        form = noun.noun if isinstance(noun, Phrase) else cast(NounForm, noun)
        taken = [drawn[other] for other in asked.unlike]
        for _ in range(TRIES):
            found = self._determined(name, asked.among, form)
            if found not in taken:
                return found
        raise Redraw(f"nothing in the lexicon fits {name!r}")

    def _predicate(self, name: str, asked: PredicateDraw, drawn: Draws) -> Predicate:
        verb = cast(VerbEntry, drawn[asked.verb]).entry if asked.verb else None
        number = asked.number or "pl"
        if len(asked.subject) == 1:
            number = cast(Phrase, drawn[asked.subject[0]]).number
        stative = verb is not None and "stative" in verb.tags
        if asked.like:
            liked = cast(Predicate, drawn[asked.like]).chosen
            chosen = self.realisations.in_number(liked, number)
            if chosen and stative and chosen.form == "gerund":
                chosen = None
        else:
            chosen = self.realisations.draw(asked, number, stative=stative, source=self.source)
        if chosen is None:
            raise Redraw(f"{name!r} has no form that is allowed")
        return Predicate(verb, chosen, self.realisations.counterpart(chosen))

    def _adjective(self, name: str, asked: AdjectiveDraw, drawn: Draws) -> AdjectiveEntry:
        nouns = self._classes(asked.of, drawn)
        accepts = self.lexicon.classes.accepts
        pool = self._pool(
            (name, nouns),
            lambda: [
                AdjectiveEntry(each)
                for each in self.pools.adjectives(asked)
                if all(accepts(each.noun, classes) for classes in nouns)
            ],
        )
        taken = {cast(AdjectiveEntry, drawn[other]).entry.adjective for other in asked.unlike}
        return self._pick(name, pool, lambda found: found.entry.adjective not in taken)

    def _pronoun(self, name: str, asked: PronounDraw, drawn: Draws) -> Pronoun:
        number = asked.number
        if asked.number_unlike:
            number = OTHER[cast(Phrase, drawn[asked.number_unlike]).number]
        allowed = tuple(CASES)
        if asked.like:
            liked = drawn[asked.like]
            noun = liked.noun if isinstance(liked, Phrase) else cast(NounForm, liked)
            if number and isinstance(noun, NounForm):
                noun = NounForm(noun.entry, number)
            allowed = noun.reflexives
        taken = {form for other in asked.mismatch for form in cast(Phrase, drawn[other]).reflexives}
        pool = [
            Pronoun(form if asked.case == "reflexive" else CASES[form][asked.case], form)
            for form in allowed
            if form not in taken
        ]
        return self._pick(name, [each for each in pool if number in (None, each.number)])

    def _wh(self, name: str, asked: WhDraw, drawn: Draws) -> Words:
        person = "person" in cast(Phrase, drawn[asked.for_]).entry.classes
        words = (RELATIVES if asked.relative else INTERROGATIVES)[person]
        return Words((self._pick(name, words),))

    def _choice(self, name: str, asked: ChoiceDraw, drawn: Draws) -> Words:
        among = asked.among
        if asked.of:
            among = asked.by_number.get(cast(Phrase, drawn[asked.of]).number, among)
        rows = [Words((row,) if isinstance(row, str) else row) for row in among]
        taken = [drawn[other] for other in asked.unlike]
        return self._pick(name, [row for row in rows if row not in taken])
