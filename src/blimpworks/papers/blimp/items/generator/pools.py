"""What a draw may choose from: entries of the lexicon, and ways in which a predicate can stand."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from blimpworks.papers.blimp.items.generator.constituents import OTHER, NounForm, Realisation
from blimpworks.papers.blimp.items.generator.declarations import (
    AdjectiveDraw,
    NominalDraw,
    PredicateDraw,
    Realised,
    VerbDraw,
)
from blimpworks.papers.blimp.items.lexicon.entries import (
    SAME,
    Adjective,
    Auxiliary,
    Determiner,
    Number,
    Verb,
    VerbForm,
)
from blimpworks.papers.blimp.items.lexicon.load import Lexicon

NounGroups = dict[tuple[tuple[str, ...], Number], list[NounForm]]
"""Nouns by classes and number: what restrictions distinguish."""


class Pools:
    """The lexicon by what paradigms ask of it, whatever else is drawn."""

    def __init__(self, lexicon: Lexicon) -> None:
        """Index the frames of each verb and adjective, and the classes of nouns."""
        self.lexicon = lexicon
        self.verb_frames: dict[str, set[str]] = defaultdict(set)
        for verb in lexicon.verbs:
            self.verb_frames[verb.lexeme].add(verb.frame)
        self.adjective_frames: dict[str, set[str]] = defaultdict(set)
        for adjective in lexicon.adjectives:
            self.adjective_frames[adjective.adjective].add(adjective.frame)
        self.noun_classes = {noun.classes for noun in lexicon.nouns}

    def nouns(self, draw: NominalDraw) -> NounGroups:
        """Group the nouns in the numbers that a draw allows."""
        accepts = self.lexicon.classes.accepts
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
                and accepts(draw.classes, noun.classes)
            ):
                for number in noun.forms:
                    if draw.number in (None, number):
                        groups[noun.classes, number].append(NounForm(noun, number))
        return groups

    def verbs(self, draw: VerbDraw) -> list[Verb]:
        """List the verbs that a draw allows."""
        classes = self.lexicon.classes
        complement, within = draw.complement, draw.subject_within
        complements = {complement} if isinstance(complement, str) else {*complement}

        def fits(verb: Verb) -> bool:
            frames = self.verb_frames[verb.lexeme]
            return (
                verb.frame in draw.frames
                and verb.tags.issuperset(draw.tags)
                and not verb.tags & {*draw.without}
                and (not draw.words or verb.lexeme in draw.words)
                and verb.lexeme not in draw.other_than
                and complements <= {*verb.complement.split()}
                and draw.only in (None, verb.complement)
                and (draw.also is None or draw.also in frames)
                and not frames & {*draw.never}
                and draw.irregular in (None, verb.irregular)
                and not (draw.distinct_past and verb.form("past") == verb.verb)
                and not (draw.distinct_participle and verb.form("participle") == verb.verb)
                and draw.particle in (None, bool(verb.particle))
                and (not within or classes.within(verb.subject, within, self.noun_classes))
                and all(classes.accepts(verb.subject, (c,)) for c in draw.subject_accepts.split())
            )

        return [verb for verb in self.lexicon.verbs if fits(verb)]

    def adjectives(self, draw: AdjectiveDraw) -> list[Adjective]:
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
        """List the determiners of a set, or some of them by themselves."""
        return [
            entry
            for entry in self.lexicon.determiners
            if (among in entry.sets if isinstance(among, str) else entry.determiner in among)
        ]


PRESENT: dict[Number, VerbForm] = {"sg": "third", "pl": "base"}
"""The verb's form in the present."""


class Realisations:
    """Ways in which a predicate can stand: with which auxiliary, or in which finite form."""

    def __init__(self, auxiliaries: Sequence[Auxiliary]) -> None:
        """``auxiliaries``: those of the lexicon."""
        self.auxiliaries = {entry.auxiliary: entry for entry in auxiliaries}
        self._pools = lru_cache(maxsize=None)(self._list)

    def _finite(self, draw: PredicateDraw, number: Number) -> Iterator[Realisation]:
        if draw.verb is None or draw.negated == "yes" or draw.use == "question":
            return
        forms: dict[Realised, VerbForm] = {"present": PRESENT[number], "past": "past"}
        for name, form in forms.items():
            if name in draw.forms and draw.auxiliary != "always":
                yield Realisation(None, False, form)

    def _with_auxiliary(self, draw: PredicateDraw, number: Number) -> Iterator[Realisation]:
        copula = draw.verb is None
        for entry in self.auxiliaries.values():
            if (
                number in entry.numbers
                and (not copula or "copula" in entry.use)
                and (not draw.among or entry.auxiliary in draw.among)
                and (copula or entry.takes in draw.forms)
            ):
                if draw.negated != "yes" and draw.use in entry.use:
                    yield Realisation(entry, False, entry.takes)
                if draw.negated != "no" and entry.negated and "negation" in entry.use:
                    yield Realisation(entry, True, entry.takes)

    def _list(
        self, draw: PredicateDraw, number: Number, stative: bool
    ) -> tuple[tuple[Realisation, ...], ...]:
        """List those without an auxiliary, and those with one, if there are any."""
        groups = [self._finite(draw, number)]
        if draw.auxiliary != "none":
            groups.append(self._with_auxiliary(draw, number))
        pools = []
        for group in groups:
            fitting = tuple(
                realisation
                for realisation in group
                if not (stative and realisation.form == "gerund")
                and (not draw.agreeing or self.counterpart(realisation))
            )
            if fitting:
                pools.append(fitting)
        return tuple(pools)

    def counterpart(self, chosen: Realisation) -> Realisation | None:
        """Give the same in the other number; None where number makes no difference."""
        if chosen.auxiliary is not None:
            swapped = self.auxiliaries.get(chosen.auxiliary.swapped)
            return Realisation(swapped, chosen.negated, chosen.form) if swapped else None
        number = next((n for n, form in PRESENT.items() if form == chosen.form), None)
        return Realisation(None, False, PRESENT[OTHER[number]]) if number else None

    def draw(
        self, draw: PredicateDraw, number: Number, *, stative: bool, source: random.Random
    ) -> Realisation | None:
        """Draw one that ``draw`` allows; finite verbs as often as all auxiliaries together.

        ``stative``: the verb has no progressive. None if there is none.
        """
        pools = self._pools(draw, number, stative)
        return source.choice(source.choice(pools)) if pools else None

    def agree(self, draw: PredicateDraw) -> bool:
        """Tell whether all that ``draw`` allows have a counterpart of the other number."""
        numbers: tuple[Number, ...] = (draw.number,) if draw.number else ("sg", "pl")
        return all(
            self.counterpart(realisation)
            for number in numbers
            for pool in self._pools(draw, number, False)
            for realisation in pool
        )

    def in_number(self, chosen: Realisation, number: Number) -> Realisation | None:
        """Give a realisation as it is, or its counterpart, for subjects of a number."""
        if chosen.auxiliary is not None:
            fits = number in chosen.auxiliary.numbers
        else:
            fits = chosen.form in ("past", PRESENT[number])
        return chosen if fits else self.counterpart(chosen)
