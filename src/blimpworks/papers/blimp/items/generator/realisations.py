"""How a predicate can stand: with which auxiliary, or which finite form of its verb."""

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache

from blimpworks.papers.blimp.items.generator.constituents import OTHER, Realisation
from blimpworks.papers.blimp.items.generator.declarations import PredicateDraw, Realised
from blimpworks.papers.blimp.items.lexicon.entries import Auxiliary, Number, VerbForm

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
