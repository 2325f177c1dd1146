"""What a draw may choose from: entries of the lexicon, and ways in which a predicate can stand."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
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
    Noun,
    Number,
    Verb,
    VerbForm,
)
from blimpworks.papers.blimp.items.lexicon.load import Lexicon

NounGroups = dict[tuple[tuple[str, ...], Number], list[NounForm]]
"""Nouns by classes and number: what restrictions distinguish."""


class Pools:
    """The lexicon by what paradigms ask of it."""

    def __init__(self, lexicon: Lexicon) -> None:
        """Index the frames of each verb and adjective, and the classes of nouns."""
        self.lexicon = lexicon
        self.frames: dict[str, set[str]] = defaultdict(set)
        for verb in lexicon.verbs:
            self.frames[verb.lexeme].add(verb.frame)
        self.uses: dict[str, set[str]] = defaultdict(set)
        for each in lexicon.adjectives:
            self.uses[each.adjective].add(each.frame)
        self.known = {noun.classes for noun in lexicon.nouns}

    def nouns(self, draw: NominalDraw) -> NounGroups:
        """Nouns in the numbers that a draw allows, whatever else is drawn, in groups."""
        accepts = self.lexicon.classes.accepts
        groups: NounGroups = defaultdict(list)
        for noun in self.lexicon.nouns:
            if (
                self._countable(noun, draw)
                and noun.gender in draw.gender
                and noun.noun not in draw.other_than
                and noun.tags.issuperset(draw.tags)
                and accepts(draw.classes, noun.classes)
            ):
                for number in noun.forms:
                    if draw.number in (None, number):
                        groups[noun.classes, number].append(NounForm(noun, number))
        return groups

    def _countable(self, noun: Noun, draw: NominalDraw) -> bool:
        """Whether mass nouns, names, relational ones and plurals of that kind are asked for."""
        if draw.plural is not None and not (
            noun.marked and noun.irregular == (draw.plural == "irregular")
        ):
            return False
        return (
            (noun.plural != SAME or not draw.distinct_plural)
            and (draw.mass or not noun.mass)
            and (draw.proper or "name" not in noun.tags)
            and (draw.relational or "relational" in draw.tags or "relational" not in noun.tags)
        )

    def verbs(self, draw: VerbDraw) -> list[Verb]:
        """Verbs that a draw allows, whatever else is drawn."""
        tests = [*self._tests(draw)]
        return [verb for verb in self.lexicon.verbs if all(test(verb) for test in tests)]

    def _tests(self, draw: VerbDraw) -> Iterator[Callable[[Verb], bool]]:
        yield lambda verb: verb.frame in draw.frames
        yield lambda verb: verb.tags.issuperset(draw.tags) and not verb.tags & {*draw.without}
        if draw.words:
            yield lambda verb: verb.lexeme in draw.words
        if draw.other_than:
            yield lambda verb: verb.lexeme not in draw.other_than
        kinds = {draw.complement} if isinstance(draw.complement, str) else {*draw.complement}
        yield lambda verb: kinds <= {*verb.complement.split()}
        if draw.only:
            yield lambda verb: verb.complement == draw.only
        if draw.also:
            yield lambda verb: draw.also in self.frames[verb.lexeme]
        yield lambda verb: not self.frames[verb.lexeme] & {*draw.never}
        yield from self._forms(draw)
        yield lambda verb: self._restricts(draw, verb)

    def _forms(self, draw: VerbDraw) -> Iterator[Callable[[Verb], bool]]:
        if draw.irregular is not None:
            yield lambda verb: verb.irregular == draw.irregular
        if draw.distinct_past:
            yield lambda verb: verb.form("past") != verb.form("base")
        if draw.distinct_participle:
            yield lambda verb: verb.form("participle") != verb.form("base")
        if draw.particle is not None:
            yield lambda verb: bool(verb.particle) == draw.particle

    def _restricts(self, draw: VerbDraw, verb: Verb) -> bool:
        """Whether what can be its subject is as wide, and as narrow, as asked for."""
        classes = self.lexicon.classes
        within = draw.subject_within
        if within and not classes.within(verb.subject, within, self.known):
            return False
        return all(classes.accepts(verb.subject, (each,)) for each in draw.subject_accepts.split())

    def adjectives(self, draw: AdjectiveDraw) -> list[Adjective]:
        """Adjectives that a draw allows, whatever else is drawn."""
        return [
            each
            for each in self.lexicon.adjectives
            if each.frame == draw.frame
            and (not draw.words or each.adjective in draw.words)
            and each.adjective not in draw.other_than
            and each.tags.issuperset(draw.tags)
            and not self.uses[each.adjective] & {*draw.never}
        ]

    def determiners(self, among: str | tuple[str, ...]) -> list[Determiner]:
        """Determiners of a set, or some of them by themselves."""
        return [
            each
            for each in self.lexicon.determiners
            if (among in each.sets if isinstance(among, str) else each.determiner in among)
        ]


# Predicates: with which auxiliary, or which finite form of the verb


PRESENT: dict[Number, VerbForm] = {"sg": "third", "pl": "base"}
"""The verb's form in the present."""


class Realisations:
    """Everything that auxiliaries and verbs' forms allow."""

    def __init__(self, auxiliaries: Sequence[Auxiliary]) -> None:
        """``auxiliaries``: those of the lexicon."""
        self.auxiliaries = {each.auxiliary: each for each in auxiliaries}
        self._pools = lru_cache(maxsize=None)(self._list)

    def _polarities(self, each: Auxiliary, draw: PredicateDraw) -> Iterator[bool]:
        """Whether an auxiliary can be plain, and whether negated."""
        if draw.negated != "yes" and draw.use in each.use:
            yield False
        if draw.negated != "no" and each.negated and "negation" in each.use:
            yield True

    def _with_auxiliary(self, draw: PredicateDraw, number: Number) -> Iterator[Realisation]:
        copula = draw.verb is None
        for each in self.auxiliaries.values():
            if number not in each.numbers or (copula and "copula" not in each.use):
                continue
            if draw.among and each.auxiliary not in draw.among:
                continue
            if each.takes in draw.forms or copula:
                for negated in self._polarities(each, draw):
                    yield Realisation(each, negated, each.takes)

    def _finite(self, draw: PredicateDraw, number: Number) -> Iterator[Realisation]:
        if draw.verb is None or draw.negated == "yes" or draw.use == "question":
            return
        forms: dict[Realised, VerbForm] = {"present": PRESENT[number], "past": "past"}
        for name, form in forms.items():
            if name in draw.forms and draw.auxiliary != "always":
                yield Realisation(None, False, form)

    def counterpart(self, chosen: Realisation) -> Realisation | None:
        """The same in the other number; None where number makes no difference."""
        if chosen.auxiliary is not None:
            other = self.auxiliaries.get(chosen.auxiliary.swapped)
            return Realisation(other, chosen.negated, chosen.form) if other else None
        number = next((n for n, form in PRESENT.items() if form == chosen.form), None)
        return Realisation(None, False, PRESENT[OTHER[number]]) if number else None

    def _list(
        self, draw: PredicateDraw, number: Number, stative: bool
    ) -> tuple[tuple[Realisation, ...], ...]:
        """Those with an auxiliary, and those without; no kind that is empty."""
        kinds = [self._finite(draw, number)]
        if draw.auxiliary != "none":
            kinds.append(self._with_auxiliary(draw, number))
        pools = []
        for kind in kinds:
            fitting = [each for each in kind if not (stative and each.form == "gerund")]
            if draw.agreeing:
                fitting = [each for each in fitting if self.counterpart(each)]
            if fitting:
                pools.append(tuple(fitting))
        return tuple(pools)

    def draw(
        self, draw: PredicateDraw, number: Number, *, stative: bool, source: random.Random
    ) -> Realisation | None:
        """One of those that ``draw`` allows; finite verbs as often as all auxiliaries together.

        ``stative``: the verb has no progressive. None if there is none.
        """
        kinds = self._pools(draw, number, stative)
        return source.choice(source.choice(kinds)) if kinds else None

    def agree(self, draw: PredicateDraw) -> bool:
        """Whether all that ``draw`` allows have a counterpart of the other number."""
        numbers: tuple[Number, ...] = (draw.number,) if draw.number else ("sg", "pl")
        kinds = (kind for number in numbers for kind in self._pools(draw, number, False))
        return all(self.counterpart(each) for kind in kinds for each in kind)

    def in_number(self, chosen: Realisation, number: Number) -> Realisation | None:
        """A realisation as it is, or its counterpart, for subjects of a number."""
        if chosen.auxiliary is not None:
            fits = number in chosen.auxiliary.numbers
        else:
            fits = chosen.form in ("past", PRESENT[number])
        return chosen if fits else self.counterpart(chosen)
