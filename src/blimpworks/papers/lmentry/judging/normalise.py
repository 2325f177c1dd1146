"""Normalise answers for the comparison with patterns.

Corrected verdicts also find contexts that change an argument's meaning: an article written as the
gold word or letter, a longer number, a reason after an answer, two alternatives.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from blimpworks.papers.lmentry.judging.roles import ANY_ROLE, CLOSE, HIDDEN, OPEN, ROLE

PUBLISHED_MARKS = "\"'.,"
CORRECTED_MARKS = "\"'.,“”‘’«»„‚「」『』…"
_SPACES = re.compile(" +")
_BLANK = re.compile(r"\s+")
_MARKUP = "*`#_\u200b\u200c\u200d\u2060\ufeff"
# An answer may hold the characters of roles, and is not to be taken for one then.
_PRIVATE = "".join((ANY_ROLE, *CLOSE.values(), *OPEN.values()))
_NO_ROLES = str.maketrans(dict.fromkeys(_PRIVATE, " "))
_STRAIGHT = str.maketrans(dict.fromkeys("“”„", '"') | {"’": "'"})
_PLAIN = str.maketrans(dict.fromkeys(_MARKUP) | {HIDDEN: " "}) | _NO_ROLES | _STRAIGHT
_ODD_TEXT = re.compile(rf"[^\S ]|  | [!?:;]|[{re.escape(_MARKUP)}“”„’«»{_PRIVATE}{HIDDEN}]")
_FRENCH = (("« ", '"'), ("«", '"'), (" »", '"'), ("»", '"'), *((f" {x}", x) for x in "!?:;"))
ASCII_WORD = re.compile(r"\b[a-z]+\b")
ASCII_TOKEN = re.compile(r"\b[a-z\d]+\b")
WORD = re.compile(r"[^\W_]+(?:[-'’·][^\W_]+)*")
"""Word of any script, with inner hyphens and apostrophes."""
LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def published(text: str) -> str:
    """Normalise as the release does: lower case, single spaces, a space for each underscore."""
    if not text.isascii():
        text = text.translate(_NO_ROLES)
    text = text.strip().lower()
    if "  " in text:
        text = _SPACES.sub(" ", text)
    return text.replace("_", " ")


def corrected(text: str) -> str:
    """Normalise to NFC, lower case and straight marks, without markup and French spaces."""
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    if not _ODD_TEXT.search(text):
        return text.strip().lower()
    lines = text.translate(_PLAIN).lower().splitlines()
    kept = (_BLANK.sub(" ", line).strip() for line in lines)
    plain = "\n".join(line for line in kept if line)
    for french, usual in _FRENCH:
        plain = plain.replace(french, usual)
    return plain


def plain_letters(accents: str) -> dict[int, str]:
    """Return a table for ``str.translate`` that removes accents."""
    return {ord(accented): unicodedata.normalize("NFD", accented)[0] for accented in accents}


# No run of digits is read twice: hostile answers are long.
_LONGER = re.compile(r"(?<!\w)[-−]\d++(?:[.,]\d++)*+|(?<!\d)\d++(?:[.,]\d++)++")
_NOT_DIGIT = re.compile(r"\D")
_FOLLOWER = re.compile(r"\{answer\}[^\w{]*(\w+)")
_GIVEN = ROLE["answer"] + ROLE["distractor"] + ROLE["other"]
OTHERWISE = str.maketrans(
    {
        ROLE["answer"]: ROLE["distractor"],
        ROLE["distractor"]: ROLE["answer"],
        ROLE["other"]: ROLE["answer"],
    }
)
"""Table for ``str.translate`` that exchanges the gold answer with the others."""


def whole_numbers(text: str) -> str:
    """Hide digits of -321, 321.5 and 321,000, which do not contain the number 321."""
    return _LONGER.sub(lambda match: _NOT_DIGIT.sub("x", match[0]), text)


def followers(patterns: Iterable[str]) -> frozenset[str]:
    """Return words that follow the answer in patterns."""
    return frozenset(word for pattern in patterns for word in _FOLLOWER.findall(pattern))


@lru_cache(maxsize=4096)
def article_uses(form: str, follow: frozenset[str]) -> re.Pattern[str]:
    """Find ``form`` as an article: unquoted in a clause before a word that is not in ``follow``."""
    followers_pattern = "|".join(map(re.escape, sorted(follow))) or "(?!)"
    before, after = (
        rf"(?<=[\w{ANY_ROLE}] )",
        rf"(?= [\"{ANY_ROLE}]| (?!(?:{followers_pattern})\b)\w)",
    )
    return re.compile(before + re.escape(form) + after)


def reason_of(words: Sequence[str]) -> re.Pattern[str]:
    """Find the start of a reason, a bracketed remark or a remark after a dash."""
    word_pattern = "|".join(map(re.escape, words)) or "(?!)"
    return re.compile(rf" ?[(–—]| - |[,;]?\s(?:{word_pattern})\b")


def either_of(words: Sequence[str]) -> re.Pattern[str]:
    """Find two arguments joined by "or"."""
    word_pattern = "|".join(map(re.escape, words)) or "(?!)"
    return re.compile(rf"[{_GIVEN}]\s*(?:{word_pattern})\s(?:\w+ ){{0,2}}?[{_GIVEN}]")
