"""Compute ids, critical regions and evenly spaced samples of items, for all benchmarks.

An item is a row of a benchmark's table, such as a minimal pair: a good and a bad sentence. The
critical regions are the words in which the two sentences differ. ``regions_of`` returns them as
character offsets::

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
"""Value of the column language, phenomenon or paradigm in rows with accuracies over all of them."""
APART = "\x1f"
"""Character between context and word in items whose context and word are encoded separately."""
SAMPLED = "sampled"
"""Directory of sampled items, in campaigns with a limit."""


def item_id(*fields: object) -> str:
    """Return a hash of the fields that define an item: 16 hexadecimal digits."""
    return blake2b("\x1f".join(map(str, fields)).encode(), digest_size=8).hexdigest()


def evenly(elements: Sequence[Element], most: int | None) -> Sequence[Element]:
    """Return at most ``most`` elements, evenly spaced in the sequence; all if ``most`` is None."""
    if most is None or len(elements) <= most:
        return elements
    return [elements[i * len(elements) // most] for i in range(most)]


class Regions(NamedTuple):
    """Character spans in which two sentences differ; an end is the offset after the span."""

    good_start: int
    good_end: int
    bad_start: int
    bad_end: int


def regions_of(good: str, bad: str) -> Regions:
    """Return the spans of words after the common beginning and before the common end of a pair.

    Each span has at least one word. If one sentence only adds words to the other, both spans also
    have the next word: "is" and "not is" (at the end of a sentence, the previous word). If the
    sentences are equal, the spans are the sentences.
    """
    good_words, bad_words = good.split(" "), bad.split(" ")
    words_before = words_after = 0
    if good != bad:
        # At least one word of the shorter sentence stays for its span. An equal end is an equal
        # beginning of the reversed words.
        shorter = min(len(good_words), len(bad_words))
        words_before = min(common_prefix_length(good_words, bad_words), shorter - 1)
        good_tail, bad_tail = good_words[words_before + 1 :], bad_words[words_before + 1 :]
        words_after = common_prefix_length(good_tail[::-1], bad_tail[::-1])
    start = _spaced_length(good_words[:words_before])
    good_end = _spaced_length(good_words[: len(good_words) - words_after]) - 1
    bad_end = _spaced_length(bad_words[: len(bad_words) - words_after]) - 1
    return Regions(start, good_end, start, bad_end)


def common_prefix_length(first: Sequence[object], second: Sequence[object]) -> int:
    """Return the number of equal elements at the beginning of two sequences."""
    shorter = min(len(first), len(second))
    return next((i for i in range(shorter) if first[i] != second[i]), shorter)


def _spaced_length(segment: Sequence[str]) -> int:
    return sum(map(len, segment)) + len(segment)
