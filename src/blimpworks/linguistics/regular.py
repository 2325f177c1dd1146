r"""Apply users' regular expressions with RE2, in time linear in the text.

Python's ``re`` can take hours for a malicious expression. RE2 has no look-behind and look-ahead:
groups that the replacement names do the same. ``\w`` and ``\d`` match ASCII only, ``\pL`` letters
of any script.
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
"""Longest expression, so that compiling takes no long time."""
_REFERENCE = re.compile(r"\\(?:([1-9]\d?)|(.?))", re.DOTALL)
"""Matches the name of a group in a replacement, such as ``\\1``, or another escape."""

_OPTIONS: Any = re2.Options()
_OPTIONS.log_errors = False


def _fill_in(new: str, match: Any) -> str:
    return _REFERENCE.sub(lambda ref: (match[int(ref[1])] or "") if ref[1] else ref[2], new)


class Expression:
    """A regular expression. Raises ValueError for one that RE2 does not know."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"an expression of {len(text)} characters, expected {MOST_CHARACTERS}")
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
        r"""Replace all matches, or the first ``count``, by ``new``; ``\\1`` is a group."""
        # RE2 finds an empty match after other text twice.
        matches = {match.span(): match for match in self._compiled.finditer(text)}
        result, copied_to = "", 0
        for (start, end), match in islice(matches.items(), count or None):
            result += text[copied_to:start] + _fill_in(new, match)
            copied_to = end
        return result + text[copied_to:]


@cache
def expression(text: str) -> Expression:
    """Return the compiled expression. Raises ValueError for one that RE2 does not know."""
    return Expression(text)


def replacer(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    """Return a function that replaces the matches of expressions in a text, one after the other.

    Raises ValueError for an expression that RE2 does not know.
    """
    # Most words have no match, and one search finds that out for all expressions.
    rules = [(expression(text), new) for text, new in pairs]
    any_rule = re2.compile("|".join(f"(?:{text})" for text, _ in pairs) or NOTHING, _OPTIONS)

    def replaced(text: str) -> str:
        if any_rule.search(text) is not None:
            for rule, new in rules:
                text = rule.sub(new, text)
        return text

    return replaced


def check(text: str, new: str = "") -> str:
    """Return the expression ``text`` if it is well-formed, and can be replaced by ``new``.

    Raises ValueError if it is malformed, or if ``new`` names a group that it lacks.
    """
    groups = expression(text).groups
    for reference in _REFERENCE.finditer(new):
        if reference[1] is None and reference[2] != "\\":
            raise ValueError(f"{new!r:.80} can't replace what {text!r:.80} finds (bad escape)")
        if reference[1] and int(reference[1]) > groups:
            raise ValueError(
                f"{new!r:.80} can't replace what {text!r:.80} finds (invalid group reference "
                f"{reference[1]})"
            )
    return text


def _check_pair(pair: tuple[str, str]) -> tuple[str, str]:
    check(*pair)
    return pair


Checked = Annotated[str, AfterValidator(check)]
"""A regular expression of a settings file."""
Replacement = Annotated[tuple[str, str], AfterValidator(_check_pair)]
"""A regular expression and its replacement in a settings file."""
