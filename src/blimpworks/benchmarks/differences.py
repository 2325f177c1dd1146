"""Where and how sentences of a pair differ, for scripts without spaces too."""

import re
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
"""Where the scripts that put no spaces between words begin and end in Unicode, in turn."""


def _in_word(character: str) -> bool:
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
    """Words and marks of a sentence; in scripts without spaces, its characters."""
    return [unit for text in sentence.split() for unit in _units(text)]


def count_words(sentence: str) -> int:
    """Number of the units of a sentence that have a letter or a digit."""
    return sum(any(map(str.isalnum, unit)) for unit in units(sentence))


def plain(text: str, form: Literal["NFC", "NFKC"] = "NFKC") -> str:
    """A text in a normal form of Unicode, with single spaces."""
    return " ".join(unicodedata.normalize(form, text).split())


def same_but_for(first: str, second: str) -> str | None:
    """Tell what two different sentences differ in, if it is only spaces or normalisation."""
    if first.split() == second.split():
        return "white space"
    for form in FORMS:
        if plain(first, form) == plain(second, form):
            return f"Unicode normalisation ({form})"
    return "where words are parted" if "".join(first.split()) == "".join(second.split()) else None


def pattern(good: str, bad: str) -> str:
    """Tell how the bad sentence comes from the good one, such as "exchanged 1, inserted 2".

    Numbers are of words and marks; "exchanged 1 for 2" has two in the bad sentence in place of
    one. The same ones in another order are "reordered". Capitals count only where nothing else
    differs.
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
