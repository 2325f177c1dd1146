"""Which pairs are judged, who judges them, and sides and orders that give no answers away.

Slots of pairs go round the lists as cards are dealt, without a stop between paradigms. So the
lists' numbers of pairs of any paradigm, and in all, differ by one at most, and no list has a pair
twice.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

Group = tuple[int, ...]
"""Lists that have a pair, from 0."""
Keys = Sequence[Hashable]
"""Groups that something is in, one in the next: the smallest first."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A minimal pair, and the sentence that it was made from, where that is known."""

    item_id: str
    phenomenon: str
    paradigm: str
    good: str
    bad: str
    source: str | None = None
    acceptable: bool | None = None
    """Of a single sentence, which stands on both sides."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What pairs of the same sentence have in common: its place, or its text."""
        return (self.good,) if self.source is None else (self.source, self.good)


def groups_of(sizes: Mapping[str, int], participants: int, per_pair: int) -> dict[str, list[Group]]:
    """The lists of each of so many pairs of a paradigm, at most as many as ``participants``."""
    groups, start = {}, 0
    for paradigm, size in sizes.items():
        starts = range(start, start + (size + 1) * per_pair, per_pair)
        groups[paradigm] = [
            tuple(slot % participants for slot in range(first, after))
            for first, after in pairwise(starts)
        ]
        start = starts[-1]
    return groups


class Deal:
    """Pairs dealt to lists, none twice, and as rarely as can be two of one sentence to a list."""

    def __init__(self, groups: Mapping[str, Sequence[Group]], participants: int) -> None:
        """Nothing dealt yet. ``groups`` are the lists of each pair of a paradigm, in order."""
        self.places = [(kind, group) for kind, some in groups.items() for group in some]
        self.pairs: list[Pair] = []
        self._seen: list[Counter[str]] = [Counter() for _ in range(participants)]

    def _clashes(self, pair: Pair, group: Group) -> int:
        return sum(self._seen[number][text] for number in group for text in pair.sentences)

    def _count(self, pair: Pair, group: Group, by: int) -> None:
        for number in group:
            for text in pair.sentences:
                self._seen[number][text] += by

    def clashing(self) -> list[int]:
        """Places, from 0, whose pair is of a sentence that one of its lists has twice."""
        return [place for place, pair in enumerate(self.pairs) if self._cost(place, pair)]

    def _cost(self, place: int, pair: Pair) -> int:
        """What clashes there would be of a ``pair`` in the place of the one that is there."""
        group, there = self.places[place][1], self.pairs[place]
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
            self.pairs.append(chosen)
            self._count(chosen, group, 1)

    def mend(self, waiting: Mapping[str, list[Pair]]) -> None:
        """Exchange clashing pairs for others of their paradigm, as long as that helps."""
        while sum(self._mended(place, waiting) for place in self.clashing()):
            pass

    def _put(self, place: int, pair: Pair) -> Pair:
        """Put a pair in a place, and give back the one that was there."""
        before, group = self.pairs[place], self.places[place][1]
        self._count(before, group, -1)
        self._count(pair, group, 1)
        self.pairs[place] = pair
        return before

    def _mended(self, place: int, waiting: Mapping[str, list[Pair]]) -> bool:
        """Whether an exchange has made fewer clashes: with a pair that waits, or in a place."""
        before, kind = self._cost(place, self.pairs[place]), self.places[place][0]
        if not before:
            return False
        for pair in waiting[kind]:
            if self._cost(place, pair) < before:
                waiting[kind].remove(pair)
                waiting[kind].append(self._put(place, pair))
                return True
        alike = (n for n, (of, _) in enumerate(self.places) if of == kind and n != place)
        return any(self._swapped(place, other) for other in alike)

    def _swapped(self, place: int, other: int) -> bool:
        """Exchange the pairs of two places if that makes fewer clashes."""
        before = self._both(place, other)
        self._put(other, self._put(place, self.pairs[other]))
        if self._both(place, other) < before:
            return True
        self._put(other, self._put(place, self.pairs[other]))
        return False

    def _both(self, place: int, other: int) -> int:
        return sum(self._cost(each, self.pairs[each]) for each in (place, other))


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
    dealt = Deal(groups_of(sizes, participants, per_pair), participants)
    dealt.fill(shuffled)
    dealt.mend(shuffled)
    return dealt


def _one_paradigm_each(waiting: Mapping[str, Sequence[Pair]]) -> dict[str, list[Pair]]:
    """Pairs by paradigm, those of several in the one that has the fewest."""
    own, known = {}, set[str]()
    for kind in sorted(waiting, key=lambda kind: (len(waiting[kind]), kind)):
        own[kind] = [pair for pair in waiting[kind] if pair.item_id not in known]
        known |= {pair.item_id for pair in own[kind]}
    return own


# Sides and orders without a pattern that gives answers away.


def _partners(keys: Sequence[Keys]) -> list[int | None]:
    """For each thing another one of the smallest group that has one left; None for the last."""
    partners: list[int | None] = [None] * len(keys)
    waiting = [*range(len(keys))]
    for level in range(len(keys[0]) if keys else 0):
        alone: dict[Hashable, int] = {}
        for number in waiting:
            other = alone.pop(keys[number][level], None)
            if other is None:
                alone[keys[number][level]] = number
            else:
                partners[number], partners[other] = other, number
        waiting = sorted(alone.values())
    return partners


def halve(left: Sequence[Keys], right: Sequence[Keys], random: np.random.Generator) -> list[bool]:
    """Part some things into two halves, so that each group of either kind is parted evenly.

    ``left`` and ``right`` are the groups of each thing, of two kinds. In any group the halves
    differ by one at most: it falls into couples and perhaps one more, and things that are coupled
    by either kind go to different halves. That is always possible, for going from partner to
    partner, by one kind and the other in turn, no round is of an odd length.
    """
    partners = (_partners(left), _partners(right))
    sides: list[bool | None] = [None] * len(left)
    for start in range(len(left)):
        if sides[start] is not None:
            continue
        sides[start] = bool(random.integers(2))
        for kind in (0, 1):
            here, turn = start, kind
            while (there := partners[turn][here]) is not None and sides[there] is None:
                sides[there] = not sides[here]
                here, turn = there, 1 - turn
    return [bool(side) for side in sides]


def apart(groups: Sequence[str], random: np.random.Generator) -> list[int]:
    """A random order of some things, without neighbours of one group where that is possible.

    Returns their numbers, from 0. It is possible where no group has more than half of them,
    rounded up.
    """
    waiting: dict[str, list[int]] = {}
    for number in random.permutation(len(groups)):
        waiting.setdefault(groups[number], []).append(int(number))
    order: list[int] = []
    while len(order) < len(groups):
        order.append(waiting[_next_group(waiting, groups, order, random)].pop())
    return order


def _next_group(
    waiting: dict[str, list[int]],
    groups: Sequence[str],
    order: Sequence[int],
    random: np.random.Generator,
) -> str:
    """The group of the next thing: that which has more than half of the rest, or a random one."""
    left = len(groups) - len(order)
    sizes = Counter({name: len(some) for name, some in waiting.items() if some})
    if order and len(sizes) > 1:
        sizes.pop(groups[order[-1]], None)
    name, most = sizes.most_common(1)[0]
    if 2 * most > left:
        return name
    names = sorted(sizes)
    shares = np.array([sizes[each] for each in names], float)
    return str(random.choice(names, p=shares / shares.sum()))


def spread(count: int, among: int) -> list[int]:
    """How many of ``among`` things stand before each of ``count`` others that are spread evenly."""
    return [round((number + 0.5) * among / count) for number in range(count)]
