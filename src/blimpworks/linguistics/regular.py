r"""Match regular expressions of users by RE2, in time linear in the text.

One thing that only Python's ``re`` has is added: the context of a replacement, ``(?<=before)`` at
the beginning and ``(?=after)`` at the end. Letters of any script are ``\\pL``; ``\\w`` and ``\\d``
are ASCII alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from typing import Any

import re2

NOTHING = r"[^\x00-\x{10FFFF}]"
"""An expression that matches no text."""
LONGEST = 2000
"""Characters of the longest expression."""
_REFERENCE = re.compile(r"\\(?:([1-9]\d?)|(.?))", re.DOTALL)


_OPTIONS: Any = re2.Options()
_OPTIONS.log_errors = False


def _compile(expression: str, whole: str) -> Any:
    """Compile by RE2; raise ValueError, which quotes ``whole``, for a faulty expression."""
    if len(expression) > LONGEST:
        raise ValueError(f"an expression of {len(expression)} characters, expected {LONGEST}")
    try:
        return re2.compile(expression, _OPTIONS)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(f"{whole!r:.80} is no regular expression of RE2 ({reason})") from None


_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


def _groups(expression: str) -> Iterator[tuple[int, int]]:
    """Span of each outermost group; an empty span at each bar outside of groups."""
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


def _with_context(expression: str) -> tuple[str, str, str]:
    """Split an expression into context before, replaced part, and context after.

    Raises ValueError where alternatives share such a context.
    """
    groups = [*_groups(expression)]
    before, start = "", 0
    if expression.startswith("(?<=") and groups and groups[0][0] == 0:
        start = groups[0][1]
        before = expression[4 : start - 1]
    after, end = "", len(expression)
    if groups and groups[-1][1] == end and expression.startswith("(?=", groups[-1][0]):
        end = groups[-1][0]
        after = expression[end + 3 : -1]
    if (before or after) and any(first == last for first, last in groups):
        raise ValueError(
            f"{expression!r:.80} has alternatives beside a context; put brackets there"
        )
    return before, expression[start:end], after


@dataclass(frozen=True)
class Expression:
    """A regular expression; ValueError for one that RE2 does not know."""

    text: str

    def __post_init__(self) -> None:
        before, _, _ = _with_context(self.text)
        if self._searched.groups < 1 or (before and self._before.groups):
            raise ValueError(f"{self.text!r:.80} has a group in what stands before; leave it out")

    @cached_property
    def _searched(self) -> Any:
        return _compile(self.searched_text, self.text)

    @property
    def searched_text(self) -> str:
        """The replaced part as a group, then the context after it."""
        _, core, after = _with_context(self.text)
        return f"({core})" + (f"(?:{after})" if after else "")

    @cached_property
    def _before(self) -> Any:
        before, _, _ = _with_context(self.text)
        return _compile(f"(?:{before})$", self.text) if before else None

    @cached_property
    def _whole(self) -> Any:
        """The expression for whole texts, without anything around them."""
        before, core, after = _with_context(self.text)
        alone = all(
            _compile(f"(?:{each})", self.text).match("") for each in (before, after) if each
        )
        return _compile(core if alone else NOTHING, self.text)

    @property
    def groups(self) -> int:
        """Number of groups that a replacement can name."""
        return int(self._searched.groups) - 1

    def fullmatch(self, text: str) -> bool:
        """Return whether the expression matches a whole text."""
        return self._whole.fullmatch(text) is not None

    def _matches(self, text: str) -> Iterator[Any]:
        """Matches from left to right; the context after one may be part of the next."""
        at, empty_at = 0, -1
        while at <= len(text):
            match = self._searched.search(text, at)
            if match is None:
                return
            start, end = match.span(1)
            fits = self._before is None or self._before.search(text[:start]) is not None
            if fits and (start, end) != (empty_at, empty_at):
                yield match
                at, empty_at = end, end if start == end else -1
                at += start == end
            else:
                at = start + 1

    def sub(self, new: str, text: str, count: int = 0) -> str:
        r"""Replace each match in ``text``, or the first ``count``; ``\\1`` is a group."""
        replaced, done = "", 0
        for match in islice(self._matches(text), count or None):
            start, end = match.span(1)
            replaced += text[done:start] + _filled(new, match.groups())
            done = end
        return replaced + text[done:]


def _filled(new: str, groups: Sequence[str | None]) -> str:
    # The first group is all that is replaced.
    return _REFERENCE.sub(lambda ref: (groups[int(ref[1])] or "") if ref[1] else ref[2], new)


@cache
def expression(text: str) -> Expression:
    """Compile an expression once; raise ValueError for one that RE2 does not know."""
    return Expression(text)


class Replacements:
    """Expressions and their replacements, applied in order.

    One search over all of them settles most words, which need no replacement.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._rules = [(expression(text), new) for text, new in pairs]
        every = "|".join(rule.searched_text for rule, _ in self._rules) or NOTHING
        self._any = re2.compile(every, _OPTIONS)

    def __call__(self, text: str) -> str:
        """Return a text after all replacements."""
        if self._any.search(text) is not None:
            for rule, new in self._rules:
                text = rule.sub(new, text)
        return text


def check(text: str, new: str = "") -> None:
    """Raise ValueError unless RE2 knows an expression and ``new`` can replace its matches.

    A group in ``new`` that the expression lacks is an error, too.
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
