r"""Apply users' regular expressions with RE2, in time linear in the text.

``expression`` compiles an expression of a settings file, and ``replacer`` several expressions with
their replacements: ``replacer([("colou?r", "hue")])("a color")`` is "a hue". Python's ``re`` could
take hours for a malicious expression. RE2 lacks look-behind and look-ahead; instead, match the
context in a group, and repeat the group in the replacement. ``\w`` and ``\d`` match ASCII only,
``\pL`` letters of any script.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import Annotated, Any

import re2
from pydantic import AfterValidator

NOTHING = r"[^\x00-\x{10FFFF}]"
"""Expression that no text matches."""
MOST_CHARACTERS = 2000
"""Most characters of an expression, so that it compiles quickly."""
_REFERENCE = re.compile(r"\\(?:([1-9]\d?)|(.?))", re.DOTALL)
"""Escape in a replacement: the number of a group, as in ``\\1``, or another character."""

_OPTIONS: Any = re2.Options()
_OPTIONS.log_errors = False  # errors are raised


def _fill_in(new: str, match: Any) -> str:
    r"""Return the replacement ``new`` with the groups of a match in place of ``\1``, ``\2``, …."""

    def value_of(reference: re.Match[str]) -> str:
        number, character = reference[1], reference[2]
        if number is None:
            return character
        return match[int(number)] or ""  # a group that took no part in the match is None

    return _REFERENCE.sub(value_of, new)


class Expression:
    """A compiled regular expression. Raises ValueError for a text that RE2 does not know."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise ValueError(
                f"an expression has {len(text)} characters, expected at most {MOST_CHARACTERS}"
            )
        try:
            self._compiled: Any = re2.compile(text, _OPTIONS)
        except re2.error as error:
            reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
            raise ValueError(f"{text!r:.80} is no regular expression of RE2 ({reason})") from None
        self.groups = int(self._compiled.groups)
        """Number of groups that a replacement can name."""

    def fullmatch(self, text: str) -> bool:
        """Tell whether the expression matches all of a text."""
        return self._compiled.fullmatch(text) is not None

    def sub(self, new: str, text: str, count: int = 0) -> str:
        r"""Replace all matches, or the first ``count``, by ``new``; ``\1`` is a group."""
        # RE2 finds an empty match after other text twice, with the same span; keep one of a span.
        matches = {match.span(): match for match in self._compiled.finditer(text)}
        result, copied_to = "", 0
        for (start, end), match in islice(matches.items(), count or None):
            result += text[copied_to:start] + _fill_in(new, match)
            copied_to = end
        return result + text[copied_to:]


expression = cache(Expression)
"""Function that compiles an expression. Raises ValueError if RE2 does not know it."""


def replacer(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    """Return a function that replaces matches of the expressions in a text, in their order.

    ``pairs`` are (expression, replacement). Raises ValueError for an unknown expression.
    """
    # Most words have no match, which one search for all expressions together finds out.
    rules = [(expression(text), new) for text, new in pairs]
    any_rule = re2.compile("|".join(f"(?:{text})" for text, _ in pairs) or NOTHING, _OPTIONS)

    def replaced(text: str) -> str:
        if any_rule.search(text) is not None:
            for rule, new in rules:
                text = rule.sub(new, text)
        return text

    return replaced


def check(text: str, new: str = "") -> str:
    """Validate an expression and its replacement for pydantic; return ``text``, or ValueError."""
    groups = expression(text).groups
    for reference in _REFERENCE.finditer(new):
        number, character = reference[1], reference[2]
        fault = ""
        if number is None and character != "\\":
            fault = "bad escape"
        elif number is not None and int(number) > groups:
            fault = f"invalid group reference {number}, groups: {groups}"
        if fault:
            raise ValueError(f"{new!r:.80} can't replace what {text!r:.80} finds ({fault})")
    return text


def _check_pair(pair: tuple[str, str]) -> tuple[str, str]:
    check(*pair)
    return pair


Checked = Annotated[str, AfterValidator(check)]
"""A regular expression of a settings file."""
Replacement = Annotated[tuple[str, str], AfterValidator(_check_pair)]
"""A regular expression and its replacement in a settings file."""
