"""Compute ids, critical regions and samples of items, for all benchmarks."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple, TypeVar

Thing = TypeVar("Thing")
SIDES = ("good", "bad")
"""Names of a pair's sentences in columns."""
ALL = "all"
"""Language, phenomenon or paradigm of an accuracy over all of them."""
APART = "\x1f"
"""Character between a context and a word that is encoded apart from it, without a space."""
SAMPLED = "sampled"
"""Directory of sampled items, in campaigns with a limit."""


def item_id(*fields: object) -> str:
    """Return a content hash of a pair's defining fields: 16 hexadecimal digits."""
    return blake2b("\x1f".join(map(str, fields)).encode(), digest_size=8).hexdigest()


def evenly(pairs: Sequence[Thing], most: int | None) -> Sequence[Thing]:
    """Return at most ``most`` elements, evenly spaced; None means all."""
    if most is None or len(pairs) <= most:
        return pairs
    return [pairs[i * len(pairs) // most] for i in range(most)]


class Regions(NamedTuple):
    """Half-open character spans in which two sentences differ."""

    good_start: int
    good_end: int
    bad_start: int
    bad_end: int


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    word_pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in word_pairs if a != b), min(len(first), len(second)))


def _width(segment: Sequence[str]) -> int:
    return sum(map(len, segment)) + len(segment)


def regions_of(good: str, bad: str) -> Regions:
    """Return the spans between the longest common beginning and end, in words, of two sentences.

    In equal sentences, the spans have all words. Where one sentence only has additional words, the
    other's span takes the next word, so that no span is empty.
    """
    sides = good.split(" "), bad.split(" ")
    shortest = min(map(len, sides))
    before = min(_shared(*sides), shortest - 1) if good != bad else 0
    reversed_rests = [side[before + 1 :][::-1] for side in sides]
    after = _shared(*reversed_rests) if good != bad else 0
    start = _width(sides[0][:before])
    good_end, bad_end = (_width(side[: len(side) - after]) - 1 for side in sides)
    return Regions(start, good_end, start, bad_end)
