"""Words and punctuation for models that know words: one rule for training and scoring."""

import re
import sys
import unicodedata
from functools import cache


@cache
def _pattern() -> re.Pattern[str]:
    r"""Runs of word characters, or one other visible character.

    ``\w`` lacks combining marks, without which the scripts of India fall to pieces, and the
    joiners that stand inside words of Persian or Sinhala.
    """
    marks = (c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "M")
    inside = "".join(marks) + "\u200c\u200d"
    return re.compile(rf"[\w{inside}]+|[^\w\s\x00-\x1f{inside}]")


def split_words(text: str) -> list[tuple[str, int]]:
    """Words and punctuation marks of ``text``, each with the offset at which it ends.

    Runs of letters, digits, combining marks and joiners are one word; every other visible
    character stands alone. Case is kept. Offsets count code points; no word holds white
    space or a control character, so words joined by spaces split into the same words.
    """
    return [(match.group(), match.end()) for match in _pattern().finditer(text)]


def split_at_spaces(text: str) -> list[tuple[str, int]]:
    """What stands between white space in ``text``, each with the offset at which it ends."""
    return [(match.group(), match.end()) for match in re.finditer(r"\S+", text)]
