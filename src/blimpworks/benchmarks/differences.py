"""Find and name the differences between the two sentences of a pair.

``difference`` returns the words that differ, as spans of characters, for critical regions. Checks
of a benchmark name changes: ``change_between("Dogs bark.", "Dogs barks.")`` is "exchanged 1".
"""

import unicodedata
from bisect import bisect
from collections import Counter
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise

from blimpworks.benchmarks.templates import FORMS, INVISIBLE, plain
from blimpworks.items import Regions, common_prefix_length

UNSPACED = (
    *(0x0E00, 0x1100),  # Thai, Lao, Tibetan, Burmese
    *(0x1780, 0x1800),  # Khmer
    *(0x2E80, 0xA4D0),  # Chinese and Japanese
    *(0xF900, 0xFB00),  # Chinese, for compatibility
    *(0x20000, 0x40000),  # rare Chinese characters
)
"""Ranges of code points of scripts without spaces between words: first, and first after the end."""


def _is_letter(character: str) -> bool:
    # UNSPACED alternates between starts and ends, so that an odd position is inside a range.
    return character.isalnum() and bisect(UNSPACED, ord(character)) % 2 == 0


def is_inside_word(sentence: str, index: int) -> bool:
    """Tell whether a word continues at ``index``: in "we do", at index 1 and 4 only."""
    if not 0 < index < len(sentence):
        return False
    before, after = sentence[index - 1], sentence[index]
    if unicodedata.category(after).startswith("M"):
        return True  # a combining mark, which belongs to the character before it
    if unicodedata.category(before).startswith("M"):
        return _is_letter(after) and is_inside_word(sentence, index - 1)
    return _is_letter(before) and _is_letter(after)


def difference(good: str, bad: str) -> Regions:
    """Return the spans of words (or characters without spaces) that differ in two sentences.

    The spans lie between the common start and the common end of the sentences. Equal sentences
    differ in all words. If one sentence only adds words, both spans include the next word, or else
    the word before, so that neither is empty: "is" and "not is" for "It is." and "It not is."
    """
    if good == bad:
        return Regions(0, len(good), 0, len(bad))
    # Numbers of common characters at the start and at the end, reduced to full words.
    start = common_prefix_length(good, bad)
    n_after = common_prefix_length(good[start:][::-1], bad[start:][::-1])
    while is_inside_word(good, start) or is_inside_word(bad, start):
        start -= 1
    while is_inside_word(good, len(good) - n_after) or is_inside_word(bad, len(bad) - n_after):
        n_after -= 1
    shorter = min(good, bad, key=len)
    end = len(shorter) - n_after
    if start == end:  # the shorter sentence only lacks words: include the next word
        while end < len(shorter) and shorter[end].isspace():
            end += 1
        end = min(end + 1, len(shorter))
        while is_inside_word(shorter, end):
            end += 1
        n_after = len(shorter) - end
    if start == end:  # there is no next word: include the word before
        while start and shorter[start - 1].isspace():
            start -= 1
        start = max(start - 1, 0)
        while is_inside_word(shorter, start):
            start -= 1
    return Regions(start, len(good) - n_after, start, len(bad) - n_after)


CHANGES = {"insert": "inserted", "delete": "deleted", "replace": "exchanged"}
"""Name of a change, by its name in ``difflib``."""
DIVISION = "where words are divided"
"""Difference of sentences such as one with *every day* and one with *everyday*."""


@cache
def _units_of_token(token: str) -> tuple[str, ...]:
    if token.isalnum() and max(token) < chr(UNSPACED[0]):
        return (token,)  # a word of a script with spaces, as most tokens: this saves time
    ends = [end for end in range(1, len(token) + 1) if not is_inside_word(token, end)]
    return tuple(token[start:end] for start, end in pairwise([0, *ends]))


def units(sentence: str) -> list[str]:
    """Split a sentence into words and marks (isn ' t), or characters in scripts without spaces."""
    return [unit for token in sentence.split() for unit in _units_of_token(token)]


def count_words(sentence: str) -> int:
    """Count the units of a sentence that have a letter or a digit."""
    return sum(any(map(str.isalnum, unit)) for unit in units(sentence))


def non_verbal_difference(first: str, second: str) -> str | None:
    """Name the only difference of two sentences, such as "white space"; None if words differ."""
    if first.translate(INVISIBLE) == second.translate(INVISIBLE):
        return "invisible characters"
    if first.split() == second.split():
        return "white space"
    for form in FORMS:
        if plain(first, form) == plain(second, form):
            return f"Unicode normalisation ({form})"
    return DIVISION if "".join(first.split()) == "".join(second.split()) else None


def change_between(good: str, bad: str) -> str:
    """Name the change from the good to the bad sentence, such as "exchanged 1, inserted 2".

    The numbers are of words and marks; "exchanged 1 for 2" means that two replace one. The same
    words in another order are "reordered". A difference only in upper and lower case is "letter
    case", one only in white space is "spaces".
    """
    good_units, bad_units = units(good), units(bad)
    good_lower = [unit.casefold() for unit in good_units]
    bad_lower = [unit.casefold() for unit in bad_units]
    if good_lower == bad_lower:
        if good_units != bad_units:
            return "letter case"
        return "none" if good == bad else "spaces"
    if Counter(good_lower) == Counter(bad_lower):
        return "reordered"
    changes = []
    matcher = SequenceMatcher(a=good_lower, b=bad_lower, autojunk=False)
    for change, good_start, good_end, bad_start, bad_end in matcher.get_opcodes():
        removed, added = good_end - good_start, bad_end - bad_start
        if change != "equal":
            is_unequal = change == "replace" and removed != added
            number = f"{removed} for {added}" if is_unequal else str(max(removed, added))
            changes.append(f"{CHANGES[change]} {number}")
    return ", ".join(sorted(changes))
