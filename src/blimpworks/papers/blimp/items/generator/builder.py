"""The builder of constituents: draws what a declaration asks for, each draw fitting the last.

Source: Warstadt et al. (2020), section 3.1: lexical items are sampled evenly from those that the
restrictions allow.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

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
    PhraseDraw,
    PredicateDraw,
    PronounDraw,
    Scheme,
    VerbDraw,
    WhDraw,
)
from blimpworks.papers.blimp.items.generator.pools import Pools, Realisations
from blimpworks.papers.blimp.items.lexicon.entries import Number
from blimpworks.papers.blimp.items.lexicon.load import Lexicon

Thing = TypeVar("Thing")
TRIES = 25
"""Draws from a pool before it is taken for unusable; the whole pair is drawn again then."""
INTERROGATIVES = {True: ("who",), False: ("what",)}
RELATIVES = {True: ("who", "that"), False: ("which", "that")}
"""By whether they stand for a person."""


class Redraw(Exception):
    """Nothing fits what was drawn before: the pair has to be drawn anew."""


class Builder:
    """Draws the constituents of pairs of one scheme.

    Reading a declaration has checked that names stand for constituents of suitable kinds.
    """

    def __init__(self, lexicon: Lexicon, scheme: Scheme, source: random.Random) -> None:
        """``scheme``: what is drawn; ``source``: of all random choices."""
        self.lexicon, self.scheme, self.source = lexicon, scheme, source
        self.pools, self.realisations = Pools(lexicon), Realisations(lexicon.auxiliaries)
        self._known: dict[Any, Any] = {}
        # Constituents of the pair that is being drawn. Of which kind each is, the scheme says.
        self._drawn: dict[str, Any] = {}
        self._makers: Mapping[str, Callable[[str, Any], Constituent]] = {
            "verb": self._verb,
            "noun": self._noun,
            "phrase": self._phrase,
            "determiner": self._determiner,
            "predicate": self._predicate,
            "adjective": self._adjective,
            "pronoun": self._pronoun,
            "wh": self._wh,
            "choice": self._choice,
        }

    def draw(self) -> dict[str, Constituent]:
        """All constituents of a pair, by name. Raises Redraw when one cannot be drawn."""
        self._drawn = {}
        for name, draw in self.scheme.draw.items():
            self._drawn[name] = self._makers[draw.kind](name, draw)
        return self._drawn

    def _pool(self, key: Any, make: Callable[[], Thing]) -> Thing:
        """What ``make`` returns, computed once for each key."""
        if key not in self._known:
            self._known[key] = make()
        known: Thing = self._known[key]
        return known

    def _pick(
        self, name: str, pool: Sequence[Thing], fits: Callable[[Thing], bool] | None = None
    ) -> Thing:
        """A member of a pool that fits, each equally likely."""
        for _ in range(TRIES if pool else 0):
            candidate = self.source.choice(pool)
            if fits is None or fits(candidate):
                return candidate
        raise Redraw(f"nothing in the lexicon fits {name!r}")

    def _others(self, names: Iterable[str]) -> list[Any]:
        """Constituents drawn before, by their names."""
        return [self._drawn[name] for name in names]

    def _classes(self, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Classes of nouns that are drawn."""
        return tuple(other.entry.classes for other in self._others(names))

    def _verb(self, name: str, draw: VerbDraw) -> VerbEntry:
        subjects, objects = self._classes(draw.subject), self._classes(draw.object)
        accepts = self.lexicon.classes.accepts

        def fitting() -> Sequence[VerbEntry]:
            """Verbs that fit the nouns drawn."""
            return [
                VerbEntry(verb)
                for verb in self._pool(name, lambda: self.pools.verbs(draw))
                if all(accepts(verb.subject, each) for each in subjects)
                and all(accepts(verb.object, each) for each in objects)
            ]

        taken = {other.entry.lexeme for other in self._others(draw.unlike)}
        pool = self._pool((name, subjects, objects), fitting)
        return self._pick(name, pool, lambda verb: verb.entry.lexeme not in taken)

    def _restrictions(self, draw: NominalDraw) -> frozenset[str]:
        """Restrictions of verbs, adjectives and relational nouns on a noun."""
        restrictions = {other.entry.subject for other in self._others(draw.subject_of)}
        restrictions |= {other.entry.object for other in self._others(draw.object_of)}
        restrictions |= {other.entry.noun for other in self._others(draw.said_of)}
        if draw.of:
            restrictions.add(self._drawn[draw.of].entry.of)
        return frozenset(restrictions - {""})

    def _number(self, draw: NominalDraw) -> Number | None:
        """The number that other constituents require of a noun, if any."""
        number: Number | None = None
        if draw.number_of:
            number = self._drawn[draw.number_of].number
        elif draw.number_unlike:
            number = OTHER[self._drawn[draw.number_unlike].number]
        return number

    def _noun(
        self, name: str, draw: NominalDraw, further: frozenset[str] = frozenset()
    ) -> NounForm:
        """A noun; ``further`` are restrictions beyond those that the draw names."""
        restrictions, number = self._restrictions(draw) | further, self._number(draw)
        accepts = self.lexicon.classes.accepts

        def fitting() -> Sequence[NounForm]:
            """Nouns that satisfy all restrictions."""
            groups = self._pool(name, partial(self.pools.nouns, draw))
            return [
                form
                for (classes, of), group in groups.items()
                if number in (None, of) and all(accepts(each, classes) for each in restrictions)
                for form in group
            ]

        taken = {other.entry for other in self._others(draw.unlike)}
        mismatch, match = (
            [{*other.reflexives} for other in self._others(names)]
            for names in (draw.mismatch, draw.match)
        )

        def fits(form: NounForm) -> bool:
            """Whether a noun is another one, and its pronouns are as required."""
            own = form.reflexives
            return (
                form.entry not in taken
                and not any(each.intersection(own) for each in mismatch)
                and all(each.intersection(own) for each in match)
            )

        plain = not (taken or mismatch or match)
        pool = self._pool((name, restrictions, number), fitting)
        return self._pick(name, pool, None if plain else fits)

    def _phrase(self, name: str, draw: PhraseDraw) -> Constituent:
        further: frozenset[str] = frozenset()
        if draw.complement_of:
            verb = self._drawn[draw.complement_of].entry
            if verb.frame == "intransitive":
                return NOTHING
            further = frozenset({verb.object} - {""})
        noun = self._noun(name, draw, further)
        if "name" in noun.entry.tags:
            return Phrase(noun, None)
        return Phrase(noun, self._determined(name, draw.determiner, noun))

    def _determined(
        self, name: str, among: str | tuple[str, ...], noun: NounForm
    ) -> DeterminerForm:
        """A determiner that suits a noun."""
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

    def _determiner(self, name: str, draw: DeterminerDraw) -> DeterminerForm:
        noun = self._drawn[draw.for_]
        form = noun.noun if isinstance(noun, Phrase) else noun
        taken = self._others(draw.unlike)
        for _ in range(TRIES):
            determiner = self._determined(name, draw.among, form)
            if determiner not in taken:
                return determiner
        raise Redraw(f"nothing in the lexicon fits {name!r}")

    def _predicate(self, name: str, draw: PredicateDraw) -> Predicate:
        verb = self._drawn[draw.verb].entry if draw.verb else None
        number = draw.number or "pl"
        if len(draw.subject) == 1:
            number = self._drawn[draw.subject[0]].number
        stative = verb is not None and "stative" in verb.tags
        if draw.like:
            chosen = self.realisations.in_number(self._drawn[draw.like].chosen, number)
            if chosen and stative and chosen.form == "gerund":
                chosen = None
        else:
            chosen = self.realisations.draw(draw, number, stative=stative, source=self.source)
        if chosen is None:
            raise Redraw(f"{name!r} has no form that is allowed")
        return Predicate(verb, chosen, self.realisations.counterpart(chosen))

    def _adjective(self, name: str, draw: AdjectiveDraw) -> AdjectiveEntry:
        nouns = self._classes(draw.of)
        accepts = self.lexicon.classes.accepts
        pool = self._pool(
            (name, nouns),
            lambda: [
                AdjectiveEntry(each)
                for each in self.pools.adjectives(draw)
                if all(accepts(each.noun, classes) for classes in nouns)
            ],
        )
        taken = {other.entry.adjective for other in self._others(draw.unlike)}
        return self._pick(name, pool, lambda adjective: adjective.entry.adjective not in taken)

    def _pronoun(self, name: str, draw: PronounDraw) -> Pronoun:
        number = draw.number
        if draw.number_unlike:
            number = OTHER[self._drawn[draw.number_unlike].number]
        allowed = tuple(CASES)
        if draw.like:
            noun = self._drawn[draw.like]
            noun = noun.noun if isinstance(noun, Phrase) else noun
            if number and isinstance(noun, NounForm):
                noun = NounForm(noun.entry, number)
            allowed = noun.reflexives
        taken = {form for other in self._others(draw.mismatch) for form in other.reflexives}
        pool = [
            Pronoun(form if draw.case == "reflexive" else CASES[form][draw.case], form)
            for form in allowed
            if form not in taken
        ]
        return self._pick(name, [each for each in pool if number in (None, each.number)])

    def _wh(self, name: str, draw: WhDraw) -> Words:
        person = "person" in self._drawn[draw.for_].entry.classes
        words = (RELATIVES if draw.relative else INTERROGATIVES)[person]
        return Words((self._pick(name, words),))

    def _choice(self, name: str, draw: ChoiceDraw) -> Words:
        among = draw.among
        if draw.of:
            among = draw.by_number.get(self._drawn[draw.of].number, among)
        rows = [Words((row,) if isinstance(row, str) else row) for row in among]
        taken = self._others(draw.unlike)
        return self._pick(name, [row for row in rows if row not in taken])
