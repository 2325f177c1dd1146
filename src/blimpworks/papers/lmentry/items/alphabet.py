"""Sort by a language's alphabet, Latin or Hangul.

Source of the orders: the languages' dictionaries. An accented letter that is no letter of its own
(German ä, Catalan ç, Italian è) is sorted as its base letter. Hangul syllables have the order of
their code points, as in South Korean dictionaries.
"""

import unicodedata
from collections.abc import Sequence

from jamo import h2j, j2hcj

Key = tuple[tuple[int, ...], str, str]
FIRST_JAMO, LAST_JAMO = "ㄱ", "ㅣ"
CONSONANTS = 19
"""Consonants, which come first in the Hangul alphabet; each syllable begins with one."""


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
        self.hangul = FIRST_JAMO <= letters[0] <= LAST_JAMO
        self.initials = self.letters[:CONSONANTS] if self.hangul else self.letters
        """Letters that a word can begin with."""
        self._rank = {letter: number for number, letter in enumerate(letters)}

    def letter_of(self, character: str) -> str:
        """Return the letter that a character is sorted as, or an empty text."""
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

    def first(self, word: str, other: str) -> str:
        """Return the first of two words in alphabetical order."""
        return min(word, other, key=self.key)
