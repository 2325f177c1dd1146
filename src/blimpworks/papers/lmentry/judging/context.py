"""What stands around an argument in an answer and makes it another thing.

Corrected verdicts alone read it: an article that is written as the gold word or letter, a number
inside a longer one, an answer with its reason, and two answers of which none is given.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from blimpworks.papers.lmentry.judging.roles import ANY_ROLE, HIDDEN, ROLE

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
"""What ``str.translate`` takes to make the other answers the gold one, and that another."""


def whole_numbers(text: str) -> str:
    """``text`` where -321, 321.5 and 321,000 hold no number 321."""
    return _LONGER.sub(lambda match: _NOT_DIGIT.sub("x", match[0]), text)


def followers(patterns: Iterable[str]) -> frozenset[str]:
    """Words that patterns have behind the answer."""
    return frozenset(word for each in patterns for word in _FOLLOWER.findall(each))


@lru_cache(maxsize=4096)
def article_uses(form: str, follow: frozenset[str]) -> re.Pattern[str]:
    """Finds ``form`` inside a clause, unquoted, before another word: an article there.

    ``follow``: words that follow an answer too.
    """
    known = "|".join(map(re.escape, sorted(follow))) or "(?!)"
    before, after = rf"(?<=[\w{ANY_ROLE}] )", rf"(?= [\"{ANY_ROLE}]| (?!(?:{known})\b)\w)"
    return re.compile(before + re.escape(form) + after)


def hide(text: str, form: str, follow: frozenset[str]) -> str:
    """``text`` without those; ``show`` puts them back."""
    return article_uses(form, follow).sub(HIDDEN, text)


def show(text: str, form: str) -> str:
    """``text`` with what ``hide`` took."""
    return text.replace(HIDDEN, form)


def reason_of(words: Sequence[str]) -> re.Pattern[str]:
    """Finds where a reason, a remark in brackets or behind a dash begins."""
    said = "|".join(map(re.escape, words)) or "(?!)"
    return re.compile(rf" ?[(–—]| - |[,;]?\s(?:{said})\b")


def either_of(words: Sequence[str]) -> re.Pattern[str]:
    """Finds two arguments with "or" between them."""
    said = "|".join(map(re.escape, words)) or "(?!)"
    return re.compile(rf"[{_GIVEN}]\s*(?:{said})\s(?:\w+ ){{0,2}}?[{_GIVEN}]")
