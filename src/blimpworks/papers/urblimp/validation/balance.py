"""Sides and orders without a pattern that gives answers away."""

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

Keys = Sequence[Hashable]
"""Groups that something is in, one in the next: the smallest first."""


def _partners(keys: Sequence[Keys]) -> list[int | None]:
    """For each thing another one of the smallest group that has one left; None for the last."""
    partners: list[int | None] = [None] * len(keys)
    waiting = [*range(len(keys))]
    for level in range(len(keys[0]) if keys else 0):
        alone: dict[Hashable, int] = {}
        for one in waiting:
            other = alone.pop(keys[one][level], None)
            if other is None:
                alone[keys[one][level]] = one
            else:
                partners[one], partners[other] = other, one
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
    """The group of the next thing: that which has more than half of the rest, or one by lot."""
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
