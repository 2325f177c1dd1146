"""Draw the constituents that a declaration asks for, each draw fitting those before.

Source: Warstadt et al. (2020), section 3.1: lexical items are sampled evenly from those that the
restrictions allow.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
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
    Predicate,
    Pronoun,
    Realisation,
    VerbEntry,
    Words,
)
from blimpworks.papers.blimp.items.lexicon import (
    SAME,
    Adjective,
    Auxiliary,
    Determiner,
    Lexicon,
    Number,
    Verb,
    VerbForm,
)

NounGroups = dict[tuple[tuple[str, ...], Number], list[NounForm]]


class Pools:
    """Entries of the lexicon that a draw allows, whatever else is drawn."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon, self.accepts = lexicon, lexicon.classes.accepts
        self.verb_frames: dict[str, set[str]] = defaultdict(set)
        for verb in lexicon.verbs:
            self.verb_frames[verb.lexeme].add(verb.frame)
        self.adjective_frames: dict[str, set[str]] = defaultdict(set)
        for adjective in lexicon.adjectives:
            self.adjective_frames[adjective.adjective].add(adjective.frame)
        self.noun_classes = {noun.classes for noun in lexicon.nouns}

    def nouns(self, draw: declared.NominalDraw) -> NounGroups:
        """Group the nouns in the numbers that a draw allows."""
        groups: NounGroups = defaultdict(list)
        for noun in self.lexicon.nouns:
            if (
                (
                    draw.plural is None
                    or (noun.marked and noun.irregular == (draw.plural == "irregular"))
                )
                and (noun.plural != SAME or not draw.distinct_plural)
                and (draw.mass or not noun.mass)
                and (draw.proper or "name" not in noun.tags)
                and (draw.relational or "relational" in draw.tags or "relational" not in noun.tags)
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
        """List the verbs that a draw allows."""
        accepts, within, complement = self.accepts, draw.subject_within, draw.complement
        complements = {complement} if isinstance(complement, str) else {*complement}

        def subjects_of(verb: Verb) -> list[tuple[str, ...]]:
            return [classes for classes in self.noun_classes if accepts(verb.subject, classes)]

        def fits(verb: Verb) -> bool:
            frames = self.verb_frames[verb.lexeme]
            return (
                verb.frame in draw.frames
                and verb.tags.issuperset(draw.tags)
                and not verb.tags & {*draw.without}
                and (not draw.words or verb.lexeme in draw.words)
                and verb.lexeme not in draw.other_than
                and complements <= {*verb.complement.split()}
                and not frames & {*draw.never}
                and draw.irregular in (None, verb.irregular)
                and not (draw.distinct_past and verb.form("past") == verb.verb)
                and not (draw.distinct_participle and verb.form("participle") == verb.verb)
                and draw.particle in (None, bool(verb.particle))
                and (not within or all(accepts(within, c) for c in subjects_of(verb)))
                and all(accepts(verb.subject, (c,)) for c in draw.subject_accepts.split())
            )

        return [verb for verb in self.lexicon.verbs if fits(verb)]

    def adjectives(self, draw: declared.AdjectiveDraw) -> list[Adjective]:
        """List the adjectives that a draw allows."""
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
        return [
            entry
            for entry in self.lexicon.determiners
            if (among in entry.sets if isinstance(among, str) else entry.determiner in among)
        ]


PRESENT: dict[Number, VerbForm] = {"sg": "third", "pl": "base"}


class Realisations:
    """Forms of a predicate: with an auxiliary, or finite."""

    def __init__(self, auxiliaries: Sequence[Auxiliary]) -> None:
        self.auxiliaries = {entry.auxiliary: entry for entry in auxiliaries}
        self._pools = lru_cache(maxsize=None)(self._list)

    def _list(
        self, draw: declared.PredicateDraw, number: Number, stative: bool
    ) -> list[list[Realisation]]:
        finite, with_auxiliary = [], []
        if draw.verb and draw.use == "statement" and draw.auxiliary != "always":
            forms: dict[declared.Realised, VerbForm] = {"present": PRESENT[number], "past": "past"}
            if draw.negated != "yes":
                finite = [Realisation(None, False, f) for n, f in forms.items() if n in draw.forms]
        for entry in self.auxiliaries.values() if draw.auxiliary != "none" else ():
            if (
                number in entry.numbers
                and (draw.verb or "copula" in entry.use)
                and (not draw.among or entry.auxiliary in draw.among)
                and (not draw.verb or entry.takes in draw.forms)
            ):
                if draw.negated != "yes" and draw.use in entry.use:
                    with_auxiliary.append(Realisation(entry, False, entry.takes))
                if draw.negated != "no" and entry.negated and "negation" in entry.use:
                    with_auxiliary.append(Realisation(entry, True, entry.takes))
        fitting = (
            [
                realisation
                for realisation in group
                if not (stative and realisation.form == "gerund")
                and (not draw.agreeing or self.counterpart(realisation))
            ]
            for group in (finite, with_auxiliary)
        )
        return [group for group in fitting if group]

    def counterpart(self, chosen: Realisation) -> Realisation | None:
        """Return the same in the other number; None where number makes no difference."""
        if chosen.auxiliary is not None:
            swapped = self.auxiliaries.get(chosen.auxiliary.swapped)
            return Realisation(swapped, chosen.negated, chosen.form) if swapped else None
        number = next((n for n, form in PRESENT.items() if form == chosen.form), None)
        return Realisation(None, False, PRESENT[OTHER[number]]) if number else None

    def draw(
        self, draw: declared.PredicateDraw, number: Number, *, stative: bool, source: random.Random
    ) -> Realisation | None:
        """Draw one that ``draw`` allows; finite verbs as often as all auxiliaries together.

        A ``stative`` verb has no progressive. Returns None if there is none.
        """
        pools = self._pools(draw, number, stative)
        return source.choice(source.choice(pools)) if pools else None

    def agree(self, draw: declared.PredicateDraw) -> bool:
        """Return whether all that ``draw`` allows have a counterpart of the other number."""
        numbers: tuple[Number, ...] = (draw.number,) if draw.number else ("sg", "pl")
        return all(
            self.counterpart(realisation)
            for number in numbers
            for pool in self._pools(draw, number, False)
            for realisation in pool
        )


# Drawing


Member = TypeVar("Member")
TRIES = 25
"""Number of draws from a pool before the whole pair is drawn again."""
INTERROGATIVES = {True: ("who",), False: ("what",)}
RELATIVES = {True: ("who", "that"), False: ("which", "that")}
"""Pronouns, by whether they refer to a person."""


class Redraw(Exception):
    """Failure of all draws to fit the earlier ones: the pair has to be drawn again."""


class Builder:
    """Draws the constituents of pairs of one scheme.

    ``read_declaration`` has checked that names refer to constituents of suitable kinds.
    """

    def __init__(self, lexicon: Lexicon, scheme: declared.Scheme, source: random.Random) -> None:
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
            "determiner": lambda name, draw: self._determined(
                name, draw.among, self._drawn[draw.for_]
            ),
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
        if key not in self._computed:
            self._computed[key] = make()
        pool: Member = self._computed[key]
        return pool

    def _pick(
        self, name: str, pool: Sequence[Member], fits: Callable[[Member], bool] | None = None
    ) -> Member:
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
        pronouns = {
            form for mismatched in draw.mismatch for form in self._drawn[mismatched].reflexives
        }
        pool = self._pool((name, restricting, number), fitting)
        return self._pick(
            name,
            pool,
            lambda form: form.entry not in taken and pronouns.isdisjoint(form.reflexives),
        )

    def _phrase(self, name: str, draw: declared.PhraseDraw) -> Constituent:
        further: frozenset[str] = frozenset()
        if draw.complement_of:
            verb = self._drawn[draw.complement_of].entry
            if verb.frame == "intransitive":
                return NOTHING
            further = frozenset({verb.object} - {""})
        noun = self._noun(name, draw, further)
        if "name" in noun.entry.tags:
            return noun
        return replace(noun, determiner=self._determined(name, draw.determiner, noun))

    def _determined(
        self, name: str, among: str | tuple[str, ...], noun: NounForm
    ) -> DeterminerForm:
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

    def _predicate(self, name: str, draw: declared.PredicateDraw) -> Predicate:
        verb = self._drawn[draw.verb].entry if draw.verb else None
        number = draw.number or "pl"
        if len(draw.subject) == 1:
            number = self._drawn[draw.subject[0]].number
        stative = verb is not None and "stative" in verb.tags
        if draw.like:
            liked: Realisation = self._drawn[draw.like].chosen
            if liked.auxiliary is not None:
                fits = number in liked.auxiliary.numbers
            else:
                fits = liked.form in ("past", PRESENT[number])
            chosen = liked if fits else self.realisations.counterpart(liked)
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
            if number and isinstance(noun, NounForm):
                noun = replace(noun, number=number)
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
        return self._pick(name, [Words((row,) if isinstance(row, str) else row) for row in among])
