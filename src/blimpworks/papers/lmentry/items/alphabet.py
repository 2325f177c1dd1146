"""Letters and alphabetical order of a language, Latin or Hangul.

Source of the orders: the languages' dictionaries. Letters with accents that are no letters of
their own (German ä, Catalan ç, Italian è) stand with their base letter; Hangul syllables stand
in the order of their code points, which is that of South Korean dictionaries.
"""

import unicodedata
from collections.abc import Sequence

from jamo import h2j, j2hcj

Key = tuple[tuple[int, ...], str, str]
FIRST_JAMO, LAST_JAMO = "ㄱ", "ㅣ"
CONSONANTS = 19
"""Consonants, which come first in the Hangul alphabet; each syllable begins with one."""


def in_letters(word: str) -> str:
    """Hangul syllables taken apart into letters; other scripts as they are."""
    return str(j2hcj(h2j(word)))


def spell(word: str) -> str:
    """A word letter by letter: Hangul syllables as their letters, all in lower case."""
    return in_letters(word).lower()


class Alphabet:
    """A language's letters in their order."""

    def __init__(self, letters: str) -> None:
        """``letters``: in lower case, in alphabetical order; of Hangul the single letters."""
        self.letters: Sequence[str] = tuple(letters)
        self.hangul = FIRST_JAMO <= letters[0] <= LAST_JAMO
        self.initials = self.letters[:CONSONANTS] if self.hangul else self.letters
        """Letters that a word can begin with."""
        self._rank = {letter: number for number, letter in enumerate(letters)}

    def letter_of(self, character: str) -> str:
        """The letter of the alphabet that a character counts as; empty where it is none."""
        base = unicodedata.normalize("NFD", character)[0]
        return next((letter for letter in (character, base) if letter in self._rank), "")

    def initial(self, word: str) -> str:
        """The letter of the alphabet that a word begins with; empty where it is none."""
        return self.letter_of(spell(word[0])[0])

    def key(self, word: str) -> Key:
        """What words are sorted by: letters, then accents, then capitals."""
        if self.hangul:
            return tuple(map(ord, word)), word, word
        folded = word.casefold()
        letters = filter(None, map(self.letter_of, folded))
        return tuple(self._rank[c] for c in letters), unicodedata.normalize("NFD", folded), word

    def first(self, word: str, other: str) -> str:
        """The word of two that comes first in alphabetical order."""
        return min(word, other, key=self.key)
