"""Find the difference of a pair's sentences, in scripts without spaces too."""

import unicodedata
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from os.path import commonprefix
from typing import Literal

from blimpworks.items import Regions

UNSPACED = (
    *(0x0E00, 0x1100),  # Thai, Lao, Tibetan, Burmese
    *(0x1780, 0x1800),  # Khmer
    *(0x2E80, 0xA4D0),  # Chinese and Japanese
    *(0xF900, 0xFB00),  # Chinese, for compatibility
    *(0x20000, 0x40000),  # rare Chinese characters
)
"""Starts and ends, in turn, of Unicode ranges of scripts without spaces between words."""


def _in_word(character: str) -> bool:
    return character.isalnum() and bisect(UNSPACED, ord(character)) % 2 == 0


def joins(sentence: str, place: int) -> bool:
    """Tell whether no region may end here: inside a word, or before a combining mark."""
    if not 0 < place < len(sentence):
        return False
    before, after = sentence[place - 1], sentence[place]
    if unicodedata.category(after).startswith("M"):
        return True
    marked = unicodedata.category(before).startswith("M")
    return _in_word(after) and (_in_word(before) or (marked and joins(sentence, place - 1)))


def _unit(sentence: str, start: int) -> int:
    """Return the end of the first word, or else character, after a place."""
    while start < len(sentence) and sentence[start].isspace():
        start += 1
    end = min(start + 1, len(sentence))
    while joins(sentence, end):
        end += 1
    return end


def _unit_before(sentence: str, end: int) -> int:
    while end and sentence[end - 1].isspace():
        end -= 1
    start = max(end - 1, 0)
    while joins(sentence, start):
        start -= 1
    return start


def difference(good: str, bad: str) -> Regions:
    """Return the words (without spaces: characters) between common beginning and common end.

    Equal sentences differ in the whole. If one only has something more, both regions include the
    next word or character, or else the one before, so that none is empty.
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
    """Yield the starts of a text in a sentence, with overlaps."""
    start = sentence.find(words)
    while start >= 0:
        yield start
        start = sentence.find(words, start + 1)


Span = tuple[int, int]
"""Half-open span of characters."""


def span_of(sentence: str, words: str, near: Span) -> Span | None:
    """Return the span of a text in a sentence; None where it is absent.

    Of several, whole words go first, then the smallest gap to the span ``near``.
    """
    spans = [(start, start + len(words)) for start in occurrences(sentence, words)]

    def rank(span: Span) -> tuple[int, int]:
        """Return the number of ends inside a word, and the gap."""
        gap = max(span[0] - near[1], near[0] - span[1], 0)
        return sum(joins(sentence, end) for end in span), gap

    return min(spans, key=rank) if words and spans else None


CHANGES = {"insert": "inserted", "delete": "deleted", "replace": "exchanged"}
FORMS: tuple[Literal["NFC", "NFKC"], ...] = ("NFC", "NFKC")
"""Normal forms of Unicode that models' tokenizers use."""


@cache
def _units(text: str) -> tuple[str, ...]:
    if text.isalnum() and max(text) < chr(UNSPACED[0]):
        return (text,)
    ends = [end for end in range(1, len(text) + 1) if not joins(text, end)]
    return tuple(text[start:end] for start, end in zip([0, *ends], ends, strict=False))


def units(sentence: str) -> list[str]:
    """Split a sentence into words and marks; in scripts without spaces, characters."""
    return [unit for text in sentence.split() for unit in _units(text)]


def count_words(sentence: str) -> int:
    """Count the units of a sentence that have a letter or a digit."""
    return sum(any(map(str.isalnum, unit)) for unit in units(sentence))


def plain(text: str, form: Literal["NFC", "NFKC"] = "NFKC") -> str:
    """Normalise a text, with single spaces."""
    return " ".join(unicodedata.normalize(form, text).split())


def same_but_for(first: str, second: str) -> str | None:
    """Name the only difference of two sentences, if it is spaces or normalisation."""
    if first.split() == second.split():
        return "white space"
    for form in FORMS:
        if plain(first, form) == plain(second, form):
            return f"Unicode normalisation ({form})"
    return "where words are parted" if "".join(first.split()) == "".join(second.split()) else None


def pattern(good: str, bad: str) -> str:
    """Name the change from the good to the bad sentence, such as "exchanged 1, inserted 2".

    Numbers count words and marks; "exchanged 1 for 2" replaces one by two. The same ones in another
    order are "reordered". Capitals count only where nothing else differs.
    """
    sides = units(good), units(bad)
    folded = [[unit.casefold() for unit in side] for side in sides]
    if folded[0] == folded[1]:
        return "letter case" if sides[0] != sides[1] else "spaces" if good != bad else "none"
    if Counter(folded[0]) == Counter(folded[1]):
        return "reordered"
    changes = []
    for change, *spans in SequenceMatcher(a=folded[0], b=folded[1], autojunk=False).get_opcodes():
        before, after = spans[1] - spans[0], spans[3] - spans[2]
        if change != "equal":
            unlike = change == "replace" and before != after
            number = f"{before} for {after}" if unlike else str(max(before, after))
            changes.append(f"{CHANGES[change]} {number}")
    return ", ".join(sorted(changes))
