"""Unify the spelling and spacing of a language's words by the rules of its language pack.

``read_orthography`` reads the rules, ``Orthography.word`` applies them to a word, and ``text`` to a
sentence: with the defaults, ``Orthography().text("dogs  bark .")`` is "dogs bark.". A language pack
is a YAML file with all that a benchmark needs to know of a language. A token is a word or a
punctuation mark; one token of a treebank may become several words.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from blimpworks.campaign.settings.base import parse_yaml
from blimpworks.linguistics import regular
from blimpworks.strict import Strict

INVISIBLE = dict.fromkeys(
    [0x0640, 0x061C, 0x200D, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF]
)
"""Characters to delete: marks of direction and joining, and tatweel, which stretches words."""
ZWNJ = "\u200c"
"""Zero-width non-joiner."""
MOST_ROUNDS = 9
"""Most times that all rules are applied to a word, since rules may undo each other forever."""

Character = Annotated[str, Field(min_length=1, max_length=1)]


class Orthography(Strict):
    """Rules that unify a language's spelling, whatever keyboard or treebank words come from."""

    characters: dict[Character, str] = Field(default={})
    """{character: replacement}, for characters of other languages that look the same."""
    spellings: tuple[regular.Replacement, ...] = ()
    """Regular expressions within a word and their replacements, applied in order.

    A space in the replacement cuts the word in two.
    """
    apart: regular.Checked = regular.NOTHING
    """Expression of words at the end of a token that are separate words, such as auxiliaries."""
    closing: str = ".,:;!?)]"
    """Characters without a space before them."""
    opening: str = "(["
    """Characters without a space after them."""
    quotes: str = '"'
    """Marks that open and close in turn."""
    final: dict[str, str] = Field(default={})
    """{mark at the end of a sentence: replacement}."""

    @cached_property
    def _table(self) -> dict[int, str | None]:
        return INVISIBLE | str.maketrans(self.characters)

    @cached_property
    def _respelled(self) -> Callable[[str], str]:
        replaced = regular.replacer(self.spellings)
        return cache(lambda text: " ".join(replaced(text).split()))

    @cached_property
    def _pieces(self) -> re.Pattern[str]:
        """Expression of a mark, or of text between marks."""
        # A comma outside ``closing`` is a mark too, except within numbers. A quote may be ''.
        mark = rf"''|[{re.escape(self.closing + self.opening + self.quotes)}]|,(?!\d)"
        return re.compile(rf"{mark}|(?:(?!{mark}).)+")

    def word(self, form: str) -> str:
        """Return a word in the spelling of the rules, in Unicode's form NFC.

        Zero-width non-joiners and the underscores of treebanks become spaces, because they separate
        what readers see as words.
        """
        text = form
        # Rules also apply to words that they cut off, and to letters that they compose.
        for _ in range(MOST_ROUNDS):
            before = text
            text = unicodedata.normalize("NFC", text.translate(self._table))
            text = text.replace(ZWNJ, " ").replace("_", " ")
            text = " ".join(filter(None, map(self._respelled, text.split())))
            if text == before:
                break
        return text or form  # a word of deleted characters alone stays

    def sentence(self, text: str) -> str:
        return " ".join(self.word(word) for word in text.split())

    def stands_apart(self, form: str) -> bool:
        """Tell whether ``form``, the last of several words of a token, is a separate word."""
        return regular.expression(self.apart).fullmatch(form)

    def tokens(self, text: str) -> list[tuple[str, bool]]:
        """Split a text into (spelled word or punctuation mark, whether a space follows).

        With the defaults, "(a b)" gives ("(", False), ("a", True), ("b", False), (")", True).
        """
        tokens: list[tuple[str, bool]] = []
        for chunk in text.translate(self._table).split():
            # Rules for the ends of words do not match "(word)", so marks are cut off first.
            pieces = self._pieces.findall(chunk)
            for number, piece in enumerate(pieces, start=1):
                *first_words, last = self.word(piece).split()
                tokens += [(word, True) for word in first_words]
                tokens.append((last, number == len(pieces)))
        # The final mark may be written without a space, and need not be among ``closing``.
        if tokens and len(tokens[-1][0]) > 1 and tokens[-1][0][-1] in self.final:
            last, space = tokens.pop()
            tokens += [(last[:-1], False), (last[-1], space)]
        return tokens

    def text(self, sentence: str) -> str:
        """Return a sentence in the spelling and with the spaces of the rules."""
        return self.joined(self.tokens(sentence))

    def joined(self, tokens: Iterable[tuple[str, bool]]) -> str:
        """Join tokens (text, whether a space follows) to a sentence, with spaces by the rules."""
        text, space_before, in_quotes = "", False, False
        forms = list(tokens)
        if forms:
            last, space_after = forms[-1]
            forms[-1] = self.final.get(last, last), space_after
        for form, space_after in forms:
            # A quote opens or closes in turn, since the spaces of the source do not tell which.
            is_quote = form in self.quotes
            closes = form[:1] in self.closing or (is_quote and in_quotes)
            follows_opening = text[-1:] in self.opening or (text[-1:] in self.quotes and in_quotes)
            expects_space = space_before or (is_quote and not in_quotes)
            has_space = text and expects_space and not closes and not follows_opening
            text += f" {form}" if has_space else form
            # A space follows a closing quote, also where the treebank has none.
            space_before = space_after or (is_quote and in_quotes)
            if is_quote:
                in_quotes = not in_quotes
        return text


class _SpellingOfPack(BaseModel):
    """The section ``orthography`` of a language pack; other sections are ignored."""

    orthography: Orthography = Orthography()


def read_orthography(path: Path) -> Orthography:
    """Read the orthography of a language pack. Raises UserError for a malformed one."""
    return parse_yaml(_SpellingOfPack, path, "language pack").orthography
