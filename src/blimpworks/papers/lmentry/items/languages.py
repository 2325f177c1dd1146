"""Sort words by a language's alphabet; decline Basque categories, and spell Basque numbers.

Source of the alphabetical orders: the languages' dictionaries. An accented letter that is not a
separate letter of the alphabet (German ä, Catalan ç, Italian è) is sorted as its base letter.
Hangul syllables have the order of their code points, as in South Korean dictionaries.

Sources of the Basque forms (num2words has no Basque): Moroni, Aula-Blasco, Conia and others
(2025), appendix A.3; regular declension of common nouns and numbers (Hualde and Ortiz de Urbina, A
Grammar of Basque, 2003, chapters 3.2 and 3.3); Euskaltzaindia's standard spelling.
"""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal

from jamo import h2j, j2hcj

Key = tuple[tuple[int, ...], str, str]
"""Sort key of a word: the letters' positions in the alphabet, the word with accents, the word."""
CONSONANTS = 19
"""Number of consonants, which are first in the Hangul alphabet; each syllable begins with one."""


def is_jamo(letter: str) -> bool:
    """Return whether a letter is a jamo, a letter (not a syllable) of Hangul."""
    return unicodedata.name(letter[:1], "").startswith("HANGUL LETTER")


def in_letters(word: str) -> str:
    """Decompose Hangul syllables into letters; keep other scripts."""
    return str(j2hcj(h2j(word)))


def spell(word: str) -> str:
    """Spell a word in lower case, with Hangul syllables as letters."""
    return in_letters(word).lower()


class Alphabet:
    """A language's letters in their order."""

    def __init__(self, letters: str) -> None:
        """``letters``: lower case, in alphabetical order; for Hangul single letters."""
        self.letters: Sequence[str] = tuple(letters)
        self.hangul = is_jamo(letters[0])
        self.initials = self.letters[:CONSONANTS] if self.hangul else self.letters
        """Letters that a word can begin with."""
        self._rank = {letter: number for number, letter in enumerate(letters)}

    def letter_of(self, character: str) -> str:
        """Return the letter of the alphabet that a character is sorted as, or an empty text."""
        base = unicodedata.normalize("NFD", character)[0]
        return next((letter for letter in (character, base) if letter in self._rank), "")

    def initial(self, word: str) -> str:
        """Return the letter that a word is sorted by, or an empty text."""
        return self.letter_of(spell(word[0])[0])

    def key(self, word: str) -> Key:
        """Return the sort key of a word: letters, then accents, then capitals."""
        if self.hangul:
            return tuple(map(ord, word)), word, word
        folded = word.casefold()
        letters = filter(None, map(self.letter_of, folded))
        return tuple(self._rank[c] for c in letters), unicodedata.normalize("NFD", folded), word


Case = Literal[
    "absolutive_singular", "absolutive_plural", "comitative_singular", "comitative_plural",
    "ergative", "genitive",
]  # fmt: skip
ENDINGS: dict[Case, tuple[str, str, str]] = {
    "absolutive_singular": ("a", "a", "a"),
    "absolutive_plural": ("ak", "ak", "ak"),
    "comitative_singular": ("arekin", "arekin", "arekin"),
    "comitative_plural": ("ekin", "ekin", "ekin"),
    # The forms of these two cases are indefinite. The genitive is the possessive one.
    "ergative": ("ak", "k", "ek"),
    "genitive": ("aren", "ren", "en"),
}
"""Endings after a stem in -a (which they replace), in another vowel, and in a consonant."""


def decline(noun: str, case: Case) -> str:
    """Decline the last word of a noun phrase; a final r is doubled."""
    after_a, after_vowel, after_consonant = ENDINGS[case]
    if noun.endswith("a"):
        return noun[:-1] + after_a
    if noun.endswith(("e", "i", "o", "u")):
        return noun + after_vowel
    return noun + ("r" if noun.endswith("r") else "") + after_consonant


def _related(category: str, have: str) -> str:
    # "Words that have to do with" a category; ``have``: singular or plural form of the verb.
    return f"{decline(category, 'comitative_singular')} zerikusia {have} hitz"


def category_name(
    category: str, task: str, number: int, abstract: frozenset[str], *, correct: bool
) -> str:
    """Return a Basque category as template ``number`` of a task on categories has it.

    Words relate to an ``abstract`` category (art), but belong to any other category (animals), so
    that phrases and cases differ. The release replaces "and" by "or" in a name, looks for the new
    name in ``abstract``, and so misses names with "and". ``correct``: look for the unchanged name.
    """
    if task in ("most_associated_word", "least_associated_word"):
        case: Case = "absolutive_singular" if category in abstract else "absolutive_plural"
        return decline(category, case)
    with_or = category.replace(" eta ", " edo ")  # "and" to "or"
    is_abstract = (category if correct else with_or) in abstract
    if task == "all_words_from_category":
        return decline(_related(with_or, "duten") if is_abstract else with_or, "absolutive_plural")
    name = _related(with_or, "duen") if is_abstract else with_or
    return decline(name, "genitive") if number == 3 else name


_TO_TEN = ("zero", "bat", "bi", "hiru", "lau", "bost", "sei", "zazpi", "zortzi", "bederatzi")
_TEENS = ("hamar", "hamaika", "hamabi", "hamahiru", "hamalau", "hamabost", "hamasei", "hamazazpi")
_UNITS = (*_TO_TEN, *_TEENS, "hemezortzi", "hemeretzi")
_SCORES = ("", "hogei", "berrogei", "hirurogei", "laurogei")
_IRREGULAR = ("", "ehun", "berrehun", "hirurehun", "laurehun")
_HUNDREDS = (*_IRREGULAR, *(f"{unit}ehun" for unit in _TO_TEN[5:]))


def spelled(number: int) -> str:
    """Spell a number from 0 to 999 in Basque, which counts by scores. Raises ValueError."""
    if not 0 <= number < 1000:
        raise ValueError(f"Basque number {number}: expected 0 to 999")
    hundreds, remainder = divmod(number, 100)
    if hundreds:
        return _HUNDREDS[hundreds] + (f" eta {spelled(remainder)}" if remainder else "")
    scores, units = divmod(remainder, 20)
    if not scores:
        return _UNITS[units]
    return f"{_SCORES[scores]}ta {_UNITS[units]}" if units else _SCORES[scores]


SPELLED: dict[str, Callable[[int], str]] = {
    "eu": spelled,
    # The release has an older form of eighteen.
    "eu-release": lambda number: spelled(number).replace("hemezortzi", "hamazortzi"),
}
"""Functions that spell a number, by name in packs, for languages that num2words lacks."""
