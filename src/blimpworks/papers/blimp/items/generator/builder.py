"""The builder of constituents: draws what a declaration asks for, each draw fitting the last.

Source: Warstadt et al. (2020), section 3.1: lexical items are sampled evenly from those that the
restrictions allow.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from blimpworks.papers.blimp.items.generator import declarations as declared
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
from blimpworks.papers.blimp.items.generator.pools import Pools, Realisations
from blimpworks.papers.blimp.items.lexicon.load import Lexicon

Member = TypeVar("Member")
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

    def __init__(self, lexicon: Lexicon, scheme: declared.Scheme, source: random.Random) -> None:
        """``scheme``: what is drawn; ``source``: of all random choices."""
        self.scheme, self.source = scheme, source
        self.accepts = lexicon.classes.accepts
        self.pools, self.realisations = Pools(lexicon), Realisations(lexicon.auxiliaries)
        self._computed: dict[Any, Any] = {}
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
        """Draw all constituents of a pair, by name. Raises Redraw when one cannot be drawn."""
        self._drawn = {}
        for name, draw in self.scheme.draw.items():
            self._drawn[name] = self._makers[draw.kind](name, draw)
        return self._drawn

    def _pool(self, key: Any, make: Callable[[], Member]) -> Member:
        """Return what ``make`` returns, computed once for each key."""
        if key not in self._computed:
            self._computed[key] = make()
        pool: Member = self._computed[key]
        return pool

    def _pick(
        self, name: str, pool: Sequence[Member], fits: Callable[[Member], bool] | None = None
    ) -> Member:
        """Draw a member of a pool that fits, each equally likely."""
        for _ in range(TRIES if pool else 0):
            candidate = self.source.choice(pool)
            if fits is None or fits(candidate):
                return candidate
        raise Redraw(f"nothing in the lexicon fits {name!r}")

    def _entries(self, names: Sequence[str]) -> list[Any]:
        return [self._drawn[name].entry for name in names]

    def _verb(self, name: str, draw: declared.VerbDraw) -> VerbEntry:
        subjects, objects = (
            tuple(noun.classes for noun in self._entries(names))
            for names in (draw.subject, draw.object)
        )

        def fitting() -> Sequence[VerbEntry]:
            return [
                VerbEntry(verb)
                for verb in self._pool(name, lambda: self.pools.verbs(draw))
                if all(self.accepts(verb.subject, classes) for classes in subjects)
                and all(self.accepts(verb.object, classes) for classes in objects)
            ]

        taken = {verb.lexeme for verb in self._entries(draw.unlike)}
        pool = self._pool((name, subjects, objects), fitting)
        return self._pick(name, pool, lambda verb: verb.entry.lexeme not in taken)

    def _noun(
        self, name: str, draw: declared.NominalDraw, further: frozenset[str] = frozenset()
    ) -> NounForm:
        """Draw a noun; ``further`` are restrictions beyond those that the draw names."""
        restrictions = {verb.subject for verb in self._entries(draw.subject_of)}
        restrictions |= {verb.object for verb in self._entries(draw.object_of)}
        restrictions |= {adjective.noun for adjective in self._entries(draw.said_of)}
        if draw.of:
            restrictions.add(self._drawn[draw.of].entry.of)
        restricting = frozenset(restrictions - {""}) | further
        number = None
        if draw.number_of:
            number = self._drawn[draw.number_of].number
        elif draw.number_unlike:
            number = OTHER[self._drawn[draw.number_unlike].number]

        def fitting() -> Sequence[NounForm]:
            groups = self._pool(name, lambda: self.pools.nouns(draw))
            return [
                form
                for (classes, of_group), group in groups.items()
                if number in (None, of_group)
                and all(self.accepts(restriction, classes) for restriction in restricting)
                for form in group
            ]

        taken = {*self._entries(draw.unlike)}
        mismatch, match = (
            [{*self._drawn[name].reflexives} for name in names]
            for names in (draw.mismatch, draw.match)
        )

        def fits(form: NounForm) -> bool:
            return (
                form.entry not in taken
                and all(reflexives.isdisjoint(form.reflexives) for reflexives in mismatch)
                and not any(reflexives.isdisjoint(form.reflexives) for reflexives in match)
            )

        pool = self._pool((name, restricting, number), fitting)
        return self._pick(name, pool, fits)

    def _phrase(self, name: str, draw: declared.PhraseDraw) -> Constituent:
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
        """Draw a determiner that suits a noun."""
        countability = noun.countability
        pool = self._pool(
            (name, "determiner", countability),
            lambda: [
                DeterminerForm(entry)
                for entry in self.pools.determiners(among)
                if countability in entry.numbers
            ],
        )
        return self._pick(f"the determiner of {name}", pool)

    def _determiner(self, name: str, draw: declared.DeterminerDraw) -> DeterminerForm:
        noun = self._drawn[draw.for_]
        form = noun.noun if isinstance(noun, Phrase) else noun
        taken = [self._drawn[unlike] for unlike in draw.unlike]
        for _ in range(TRIES):
            determiner = self._determined(name, draw.among, form)
            if determiner not in taken:
                return determiner
        raise Redraw(f"nothing in the lexicon fits {name!r}")

    def _predicate(self, name: str, draw: declared.PredicateDraw) -> Predicate:
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

    def _adjective(self, name: str, draw: declared.AdjectiveDraw) -> AdjectiveEntry:
        nouns = tuple(noun.classes for noun in self._entries(draw.of))
        pool = self._pool(
            (name, nouns),
            lambda: [
                AdjectiveEntry(entry)
                for entry in self.pools.adjectives(draw)
                if all(self.accepts(entry.noun, classes) for classes in nouns)
            ],
        )
        taken = {entry.adjective for entry in self._entries(draw.unlike)}
        return self._pick(name, pool, lambda adjective: adjective.entry.adjective not in taken)

    def _pronoun(self, name: str, draw: declared.PronounDraw) -> Pronoun:
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
        taken = {form for name in draw.mismatch for form in self._drawn[name].reflexives}
        pool = [
            Pronoun(form if draw.case == "reflexive" else CASES[form][draw.case], form)
            for form in allowed
            if form not in taken
        ]
        return self._pick(name, [pronoun for pronoun in pool if number in (None, pronoun.number)])

    def _wh(self, name: str, draw: declared.WhDraw) -> Words:
        person = "person" in self._drawn[draw.for_].entry.classes
        return Words((self._pick(name, (RELATIVES if draw.relative else INTERROGATIVES)[person]),))

    def _choice(self, name: str, draw: declared.ChoiceDraw) -> Words:
        among = draw.among
        if draw.of:
            among = draw.by_number.get(self._drawn[draw.of].number, among)
        rows = [Words((row,) if isinstance(row, str) else row) for row in among]
        taken = [self._drawn[unlike] for unlike in draw.unlike]
        return self._pick(name, [row for row in rows if row not in taken])
