"""Critical regions of pairs, by characters, so that scripts without spaces have them too."""

import re
import unicodedata
from bisect import bisect
from collections.abc import Iterator
from os.path import commonprefix

from blimpworks.items import Regions

UNSPACED = (
    *(0x0E00, 0x1100),  # Thai, Lao, Tibetan, Burmese
    *(0x1780, 0x1800),  # Khmer
    *(0x2E80, 0xA4D0),  # Chinese and Japanese
    *(0xF900, 0xFB00),  # Chinese, for compatibility
    *(0x20000, 0x40000),  # rare Chinese characters
)
"""Where the scripts that put no spaces between words begin and end in Unicode, in turn."""


def _in_word(character: str) -> bool:
    """Whether a character is part of a word that spaces set off."""
    return character.isalnum() and bisect(UNSPACED, ord(character)) % 2 == 0


def joins(sentence: str, place: int) -> bool:
    """Whether no region may end at a place: it is inside a word, or before a combining mark."""
    if not 0 < place < len(sentence):
        return False
    before, after = sentence[place - 1], sentence[place]
    if unicodedata.category(after).startswith("M"):
        return True
    marked = unicodedata.category(before).startswith("M")
    return _in_word(after) and (_in_word(before) or (marked and joins(sentence, place - 1)))


def _unit(sentence: str, start: int) -> int:
    """Where the first word after a place ends, or without one the first character."""
    while start < len(sentence) and sentence[start].isspace():
        start += 1
    end = min(start + 1, len(sentence))
    while joins(sentence, end):
        end += 1
    return end


def _unit_before(sentence: str, end: int) -> int:
    """Where the last word before a place begins, or without one the last character."""
    while end and sentence[end - 1].isspace():
        end -= 1
    start = max(end - 1, 0)
    while joins(sentence, start):
        start -= 1
    return start


def difference(good: str, bad: str) -> Regions:
    """The words between the longest common beginning and the longest common end.

    In scripts without spaces, the characters; the whole of sentences that are the same. Where
    one sentence only has something more, both regions take in the word (or character) that
    follows, or else the one before, so that none is empty.
    """
    if good == bad:
        return Regions(0, len(good), 0, len(bad))
    # Strings are meant, not paths.
    start = len(commonprefix([good, bad]))  # noqa: RUF071
    after = len(commonprefix([good[start:][::-1], bad[start:][::-1]]))  # noqa: RUF071
    while joins(good, start) or joins(bad, start):
        start -= 1
    while joins(good, len(good) - after) or joins(bad, len(bad) - after):
        after -= 1
    shorter = min(good, bad, key=len)
    if start == len(shorter) - after:
        after = len(shorter) - _unit(shorter, start)
    if start == len(shorter) - after:
        start = _unit_before(shorter, start)
    return Regions(start, len(good) - after, start, len(bad) - after)


def occurrences(sentence: str, words: str) -> Iterator[int]:
    """Where a text begins in a sentence, overlaps included."""
    start = sentence.find(words)
    while start >= 0:
        yield start
        start = sentence.find(words, start + 1)


Span = tuple[int, int]
"""Half-open span of characters."""


def words_at(sentence: str) -> list[Span]:
    """Return the spans of words, which white space sets apart; marks are in the words."""
    return [match.span() for match in re.finditer(r"\S+", sentence)]


def span_of(sentence: str, words: str, near: Span) -> Span | None:
    """Span of a text in a sentence; None where it does not stand there.

    Of several, whole words go first, and then the one with the smallest gap to the span ``near``.
    """
    spans = [(start, start + len(words)) for start in occurrences(sentence, words)]

    def rank(span: Span) -> tuple[int, int]:
        """How many ends are inside a word, and the gap."""
        gap = max(span[0] - near[1], near[0] - span[1], 0)
        return sum(joins(sentence, end) for end in span), gap

    return min(spans, key=rank) if words and spans else None
