"""What tells the sentences of a pair apart, by words."""

import unicodedata
from collections import Counter
from difflib import SequenceMatcher
from functools import cache
from typing import Literal

from blimpworks.benchmarks.regions import UNSPACED, joins

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
