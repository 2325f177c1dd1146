"""Split words and punctuation by one rule for training and scoring."""

import re
import sys
import unicodedata
from functools import cache


@cache
def _pattern() -> re.Pattern[str]:
    r"""Match runs of word characters, or one other visible character.

    ``\w`` lacks combining marks, which words in India's scripts need, and the joiners inside words
    of Persian or Sinhala.
    """
    marks = (c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "M")
    inside = "".join(marks) + "\u200c\u200d"
    return re.compile(rf"[\w{inside}]+|[^\w\s\x00-\x1f{inside}]")


def split_words(text: str) -> list[tuple[str, int]]:
    """Return words and punctuation marks of ``text``, each with its end offset.

    A run of letters, digits, combining marks and joiners is one word; any other visible character
    is alone. Case is kept. Offsets count code points. No word holds white space or a control
    character, so words joined by spaces split into the same words.
    """
    return [(match.group(), match.end()) for match in _pattern().finditer(text)]


def split_at_spaces(text: str) -> list[tuple[str, int]]:
    """Return the parts of ``text`` between white space, each with its end offset."""
    return [(match.group(), match.end()) for match in re.finditer(r"\S+", text)]
