"""Compute ids, critical regions and samples of items, for all benchmarks.

An item is a row of a benchmark's table, such as a minimal pair: a good and a bad sentence. Its
critical regions are the words in which they differ, as character offsets::

    The dog barks .     good_start 8, good_end 13
    The dog bark .      bad_start  8, bad_end  12
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple, TypeVar

Element = TypeVar("Element")
SIDES = ("good", "bad")
"""Names of a pair's sentences in columns."""
ALL = "all"
"""Language, phenomenon or paradigm of an accuracy over all of them."""
APART = "\x1f"
"""Character between a context and a word if the two are encoded separately, without a space."""
SAMPLED = "sampled"
"""Directory of sampled items, in campaigns with a limit."""


def item_id(*fields: object) -> str:
    """Return a hash of the fields that define an item: 16 hexadecimal digits."""
    return blake2b("\x1f".join(map(str, fields)).encode(), digest_size=8).hexdigest()


def evenly(pairs: Sequence[Element], most: int | None) -> Sequence[Element]:
    """Return at most ``most`` of the elements ``pairs``, evenly spaced; for None, all."""
    if most is None or len(pairs) <= most:
        return pairs
    return [pairs[i * len(pairs) // most] for i in range(most)]


class Regions(NamedTuple):
    """Character spans in which two sentences differ; an end is the offset after the span."""

    good_start: int
    good_end: int
    bad_start: int
    bad_end: int


def regions_of(good: str, bad: str) -> Regions:
    """Return the spans between the longest common beginning and end of two sentences, in words.

    In equal sentences, the spans have all words. Each span has at least one word: if one sentence
    only has additional words, both spans also take the word after these (at the end of a sentence,
    the word before).
    """
    sides = good.split(" "), bad.split(" ")
    words_before = words_after = 0
    if good != bad:
        words_before = min(common_prefix_length(*sides), min(map(len, sides)) - 1)
        reversed_ends = (side[words_before + 1 :][::-1] for side in sides)
        words_after = common_prefix_length(*reversed_ends)
    start = _width(sides[0][:words_before])
    good_end, bad_end = (_width(side[: len(side) - words_after]) - 1 for side in sides)
    return Regions(start, good_end, start, bad_end)


def common_prefix_length(first: Sequence[object], second: Sequence[object]) -> int:
    """Count the elements at the beginning that two sequences have in common."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))


def _width(segment: Sequence[str]) -> int:
    return sum(map(len, segment)) + len(segment)
