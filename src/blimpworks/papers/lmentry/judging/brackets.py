"""Arguments between brackets in an answer, so that patterns need not know them.

The release puts the arguments of a prompt into each of its patterns. Here each occurrence of an
argument gets two characters of Unicode's private use area around it, one pair for each role, and
patterns hold the pair. The words stay where they are: one argument may stand inside another, two
may overlap, and one may be a word of a pattern ("the first word is *the*"), and every reading that
the release's patterns have is still there. Patterns are compiled once for a task.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import re2

from blimpworks.papers.lmentry.judging.roles import (
    CLASSES,
    INFLECTED,
    NAMES,
    ROLE,
    Argument,
    bounded,
)

_FIRST = 0xE100
CLOSE = {role: chr(_FIRST + number) for number, role in enumerate(ROLE.values())}
OPEN = {role: chr(_FIRST + len(NAMES) + number) for number, role in enumerate(ROLE.values())}
"""Brackets of each role's character. Of two at one place, closing ones come first."""
BRACKETS = f"{CLOSE[ROLE[NAMES[0]]]}-{OPEN[ROLE[NAMES[-1]]]}"
"""All of them, as a range in a class of an expression."""
PASSED = f"[{BRACKETS}]*"
"""Expression of brackets of arguments that a pattern does not ask for at a place."""
SPACE = rf"(?:[^a-z0-9{BRACKETS}]{PASSED})"
"""Expression of what the release takes for the space between words."""
_UNBOUNDED = (ROLE["sentence"], ROLE["other"])


def _boundary(text: str, place: int) -> bool:
    """Whether a word begins or ends there."""
    before = place > 0 and text[place - 1].isalnum()
    return before != (place < len(text) and text[place].isalnum())


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Any:
    """A compiled expression; None where it is none, and the release would fail."""
    try:
        return re2.compile(expression)
    except re2.error:
        return None


def _spans(text: str, argument: Argument, bare: bool) -> Iterator[tuple[int, int]]:
    """Start and end of each place where an argument fits; ``bare``: also inside words."""
    if argument.syntax:
        compiled = _compiled(argument.text)
        yield from (match.span() for match in (compiled.finditer(text) if compiled else ()))
        return
    start = text.find(argument.text)
    while start >= 0:
        end = start + len(argument.text)
        yield start, end
        start = text.find(argument.text, end if bare else start + 1)


def places(
    text: str,
    argument: Argument,
    particles: tuple[str, ...] = (),
    *,
    anywhere: bool = False,
) -> Iterator[tuple[int, int]]:
    """Start and end of each occurrence of an argument, as a word but for sentences and lists.

    ``anywhere``: inside longer words too. ``particles``: endings that a word may have.
    """
    bare = anywhere or argument.bare or argument.role in _UNBOUNDED
    for start, end in _spans(text, argument, bare):
        if (
            bare
            or (_boundary(text, start) and _boundary(text, end))
            or (particles and bounded(text, start, end, particles) >= 0)
        ):
            yield start, end


def bracketed(
    text: str,
    arguments: Iterable[Argument],
    particles: tuple[str, ...] = (),
    *,
    anywhere: bool = False,
) -> str:
    """``text`` with brackets around each occurrence of each argument.

    ``particles`` stay outside. ``anywhere``: inside longer words too. Of two texts of one role that
    begin at one place the one that comes first counts.
    """
    edges: dict[tuple[int, str], int] = {}
    for argument in arguments:
        opening = OPEN[argument.role]
        for start, end in places(text, argument, particles, anywhere=anywhere):
            edges.setdefault((start, opening), end)
    if not edges:
        return text
    closing = [(end, chr(ord(opening) - len(NAMES))) for (_, opening), end in edges.items()]
    parts, done = [], 0
    for place, bracket in sorted([*edges, *closing]):
        parts += [text[done:place], bracket]
        done = place
    return "".join([*parts, text[done:]])


def between(role: str) -> str:
    """Expression of a role's argument between its brackets."""
    return f"{OPEN[role]}[^{CLOSE[role]}]*{CLOSE[role]}"


def member(role: str) -> str:
    """Expression of one argument of a role that has several, of which one may be in another."""
    own = f"{OPEN[role]}{CLOSE[role]}"
    return f"{OPEN[role]}(?:[^{own}]|{OPEN[role]}[^{own}]*{CLOSE[role]})*{CLOSE[role]}"


def bracketed_roles(marks: str, *, once: bool = False) -> dict[str, str]:
    """Expression of each role but *other*, with ``marks`` around it as the release has them.

    ``once``: one of them at most on either side; none on those of an argument in another case.
    """
    around = f"{PASSED}[{marks}]?{PASSED}" if once and marks else f"[{marks}{BRACKETS}]*"
    either = f"(?:{between(ROLE['answer'])}|{between(ROLE['distractor'])})"
    expressions = {name: between(role) for name, role in ROLE.items() if name != "other"}
    expressions |= dict.fromkeys(CLASSES, either)
    bare = {*INFLECTED} - {"category_absolutive"}
    return {
        name: f"{PASSED}{x}{PASSED}" if name in bare else f"{around}{x}{around}"
        for name, x in expressions.items()
    }
