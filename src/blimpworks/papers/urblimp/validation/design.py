"""Which pairs are judged, and who judges them.

Slots of pairs go round the lists as cards are dealt, without a stop between paradigms. So the
lists' numbers of pairs of any paradigm, and in all, differ by one at most, and no list has a pair
twice.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

Group = tuple[int, ...]
"""Lists that have a pair, from 0."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A minimal pair, and the sentence that it was made from, where that is known."""

    item_id: str
    phenomenon: str
    paradigm: str
    good: str
    bad: str
    source: str | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """What pairs of the same sentence have in common: its place, or its text."""
        return (self.good,) if self.source is None else (self.source, self.good)


def groups_of(sizes: Mapping[str, int], participants: int, per_pair: int) -> dict[str, list[Group]]:
    """The lists of each of so many pairs of a paradigm, at most as many as ``participants``."""
    found, start = {}, 0
    for paradigm, size in sizes.items():
        starts = range(start, start + (size + 1) * per_pair, per_pair)
        found[paradigm] = [
            tuple(slot % participants for slot in range(first, after))
            for first, after in pairwise(starts)
        ]
        start = starts[-1]
    return found


class Deal:
    """Pairs dealt to lists, none twice, and as rarely as can be two of one sentence to a list."""

    def __init__(self, groups: Mapping[str, Sequence[Group]], participants: int) -> None:
        """Nothing dealt yet. ``groups`` are the lists of each pair of a paradigm, in order."""
        self.places = [(kind, group) for kind, some in groups.items() for group in some]
        self.dealt: list[Pair] = []
        self._seen: list[Counter[str]] = [Counter() for _ in range(participants)]

    def _clashes(self, pair: Pair, group: Group) -> int:
        """How many pairs of the same sentence the lists of a group have, all together."""
        return sum(self._seen[one][text] for one in group for text in pair.sentences)

    def _count(self, pair: Pair, group: Group, by: int) -> None:
        for one in group:
            for text in pair.sentences:
                self._seen[one][text] += by

    def clashing(self) -> list[int]:
        """Places, from 0, whose pair is of a sentence that one of its lists has twice."""
        return [place for place, pair in enumerate(self.dealt) if self._cost(place, pair)]

    def _cost(self, place: int, pair: Pair) -> int:
        """What clashes there would be of a ``pair`` in the place of the one that is there."""
        group, there = self.places[place][1], self.dealt[place]
        self._count(there, group, -1)
        cost = self._clashes(pair, group)
        self._count(there, group, 1)
        return cost

    def fill(self, waiting: Mapping[str, list[Pair]]) -> None:
        """Give each place the first waiting pair of its paradigm that clashes least."""
        for kind, group in self.places:
            rest = waiting[kind]
            free = (pair for pair in rest if not self._clashes(pair, group))
            chosen = next(free, None) or min(rest, key=partial(self._clashes, group=group))
            rest.remove(chosen)
            self.dealt.append(chosen)
            self._count(chosen, group, 1)

    def mend(self, waiting: Mapping[str, list[Pair]]) -> None:
        """Exchange clashing pairs for others of their paradigm, as long as that helps."""
        while sum(self._mended(place, waiting) for place in self.clashing()):
            pass

    def _put(self, place: int, pair: Pair) -> Pair:
        """Put a pair in a place, and give back the one that was there."""
        before, group = self.dealt[place], self.places[place][1]
        self._count(before, group, -1)
        self._count(pair, group, 1)
        self.dealt[place] = pair
        return before

    def _mended(self, place: int, waiting: Mapping[str, list[Pair]]) -> bool:
        """Whether an exchange has made fewer clashes: with a pair that waits, or in a place."""
        before, kind = self._cost(place, self.dealt[place]), self.places[place][0]
        if not before:
            return False
        for pair in waiting[kind]:
            if self._cost(place, pair) < before:
                waiting[kind].remove(pair)
                waiting[kind].append(self._put(place, pair))
                return True
        return any(self._swapped(place, other) for other in self._others(place))

    def _others(self, place: int) -> Iterator[int]:
        kind = self.places[place][0]
        return (n for n, (of, _) in enumerate(self.places) if of == kind and n != place)

    def _swapped(self, place: int, other: int) -> bool:
        """Exchange the pairs of two places if that makes fewer clashes."""
        before = self._both(place, other)
        self._put(other, self._put(place, self.dealt[other]))
        if self._both(place, other) < before:
            return True
        self._put(other, self._put(place, self.dealt[other]))
        return False

    def _both(self, place: int, other: int) -> int:
        return sum(self._cost(each, self.dealt[each]) for each in (place, other))


def deal(
    pairs: Collection[Pair],
    per_paradigm: int,
    participants: int,
    per_pair: int,
    random: np.random.Generator,
) -> Deal:
    """Draw pairs of each paradigm and deal them to lists.

    A paradigm that has fewer gives all. A pair that stands in two paradigms is drawn for one. Those
    with few pairs are dealt first, as they have the least choice.
    """
    waiting: dict[str, list[Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.paradigm, pair.item_id)):
        waiting.setdefault(pair.paradigm, []).append(pair)
    own = _one_paradigm_each(waiting)
    order = sorted(own, key=lambda kind: (len(own[kind]), kind))
    shuffled = {kind: [own[kind][n] for n in random.permutation(len(own[kind]))] for kind in order}
    sizes = {kind: min(per_paradigm, len(shuffled[kind])) for kind in order}
    made = Deal(groups_of(sizes, participants, per_pair), participants)
    made.fill(shuffled)
    made.mend(shuffled)
    return made


def _one_paradigm_each(waiting: Mapping[str, Sequence[Pair]]) -> dict[str, list[Pair]]:
    """Pairs by paradigm, those of several in the one that has the fewest."""
    found, known = {}, set[str]()
    for kind in sorted(waiting, key=lambda kind: (len(waiting[kind]), kind)):
        found[kind] = [pair for pair in waiting[kind] if pair.item_id not in known]
        known |= {pair.item_id for pair in found[kind]}
    return found
