r"""Apply users' regular expressions with RE2, in time linear in the text.

Python's ``re`` can take hours for a malicious expression. Beyond RE2, expressions may have a
context as in ``re``: ``(?<=before)`` at the beginning and ``(?=after)`` at the end. For example
``(?<=a)b(?=c)`` replaces the b of "abc". ``\w`` and ``\d`` match ASCII only, ``\pL`` letters of
any script.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import re2

NOTHING = r"[^\x00-\x{10FFFF}]"
"""Expression that no text matches."""
MOST_CHARACTERS = 2000
"""Longest expression, so that compiling takes no long time."""
_REFERENCE = re.compile(r"\\(?:([1-9]\d?)|(.?))", re.DOTALL)
"""Matches the name of a group in a replacement, such as ``\\1``, or another escape."""

_OPTIONS: Any = re2.Options()
_OPTIONS.log_errors = False


def _compile(expression: str, text: str) -> Any:
    """Compile ``expression``, which is a part of the user's ``text``. ValueError if malformed."""
    if len(expression) > MOST_CHARACTERS:
        raise ValueError(
            f"an expression of {len(expression)} characters, expected {MOST_CHARACTERS}"
        )
    try:
        return re2.compile(expression, _OPTIONS)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(f"{text!r:.80} is no regular expression of RE2 ({reason})") from None


_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
"""Piece of an expression: an escape, a class of characters, or a character."""


def _outer_spans(expression: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each outermost group; a bar outside groups has equal start and end."""
    level = start = 0
    for piece in _PIECE.finditer(expression):
        if piece[0] == "(":
            start = start if level else piece.start()
            level += 1
        elif piece[0] == ")":
            level -= 1
            if level == 0:
                yield start, piece.end()
        elif piece[0] == "|" and level == 0:
            yield piece.start(), piece.start()


def _split_context(expression: str) -> tuple[str, str, str]:
    """Split an expression into the context before, what is replaced, and the context after.

    "(?<=a)b(?=c)" becomes ("a", "b", "c"). Raises ValueError for alternatives beside a context.
    """
    spans = [*_outer_spans(expression)]
    before, start = "", 0
    if expression.startswith("(?<=") and spans and spans[0][0] == 0:
        start = spans[0][1]
        before = expression[len("(?<=") : start - 1]
    after, end = "", len(expression)
    if spans and spans[-1][1] == end and expression.startswith("(?=", spans[-1][0]):
        end = spans[-1][0]
        after = expression[end + len("(?=") : -1]
    if (before or after) and any(first == last for first, last in spans):
        raise ValueError(
            f"{expression!r:.80} has alternatives beside a context; put brackets there"
        )
    return before, expression[start:end], after


def _fill_in(new: str, groups: Sequence[str | None]) -> str:
    # The first of the groups is the replaced text.
    return _REFERENCE.sub(lambda ref: (groups[int(ref[1])] or "") if ref[1] else ref[2], new)


class Expression:
    """A regular expression. Raises ValueError for one that RE2 does not know."""

    def __init__(self, text: str) -> None:
        before, core, after = _split_context(text)
        self.searched_text = f"({core})" + (f"(?:{after})" if after else "")
        """Expression of the replaced text, as a group, and of the context after."""
        self._searched = _compile(self.searched_text, text)
        self._before = _compile(f"(?:{before})$", text) if before else None
        if self._searched.groups < 1 or (self._before and self._before.groups):
            raise ValueError(f"{text!r:.80} has a group in what stands before; leave it out")
        self.groups = int(self._searched.groups) - 1
        """Number of groups that a replacement can name."""
        # There is no text around a full match, so that contexts must match the empty text.
        contexts = (_compile(f"(?:{context})", text) for context in (before, after) if context)
        possible = all(context.match("") for context in contexts)
        self._full = _compile(core if possible else NOTHING, text)

    def fullmatch(self, text: str) -> bool:
        """Tell whether the expression matches all of a text."""
        return self._full.fullmatch(text) is not None

    def sub(self, new: str, text: str, count: int = 0) -> str:
        r"""Replace all matches, or the first ``count``, by ``new``; ``\\1`` is a group."""
        result, copied_to, replaced = "", 0, 0
        position, empty_at = 0, -1
        while position <= len(text) and (not count or replaced < count):
            match = self._searched.search(text, position)
            if match is None:
                break
            start, end = match.span(1)
            fits = self._before is None or self._before.search(text[:start]) is not None
            if not fits or (start, end) == (empty_at, empty_at):
                position = start + 1
                continue
            result += text[copied_to:start] + _fill_in(new, match.groups())
            copied_to, replaced = end, replaced + 1
            # The context after a match may be part of the next match.
            position, empty_at = end + (start == end), end if start == end else -1
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
    any_rule = re2.compile("|".join(rule.searched_text for rule, _ in rules) or NOTHING, _OPTIONS)

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
