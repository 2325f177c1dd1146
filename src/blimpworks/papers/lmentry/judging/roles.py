"""How patterns name the arguments of a prompt, so that they need not know them.

Patterns are compiled once for a task; in an answer, arguments are marked in one of two ways with
characters of Unicode's private use area, which patterns hold too.

Corrected rules replace each argument by the character of its role, so that what an argument
contains can never be taken for syntax.

The release puts the arguments of a prompt into each of its patterns. For published rules each
occurrence of an argument gets two brackets around it, one pair for each role. The words stay where
they are: one argument may stand inside another, two may overlap, and one may be a word of a pattern
("the first word is *the*"), and every reading that the release's patterns have is still there.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import re2

# Roles in the place of arguments


NAMES = (
    "answer",
    "distractor",
    "query",
    "word",
    "letter",
    "sentence",
    "category",
    "other",
    "answer_ergative",
    "answer_comitative",
    "answer_genitive",
    "query_ergative",
    "query_comitative",
    "query_genitive",
    "category_absolutive",
    "category_comitative",
    "answer_rewritten",
    "distractor_rewritten",
    "listed1",
    "listed2",
    "listed3",
    "listed4",
    "listed5",
)
LISTED = tuple(name for name in NAMES if name.startswith("listed"))
ROLE = {name: chr(0xE000 + number) for number, name in enumerate(NAMES)}
"""Character of each role. other: a word of a list that is not the answer; names with a case behind
them: the argument in that case, as published patterns have it; rewritten: a word as the release has
it where it exchanges "more" for "less" inside words too; listed: words of a list in its order."""
INFLECTED = {
    name: tuple(name.split("_"))
    for name in NAMES
    if "_" in name and not name.endswith("_rewritten")
}
"""Argument and case of each role that is an argument in a case."""
ANY_ROLE = "".join(ROLE.values())
HIDDEN = chr(0xE000 + len(NAMES))
"""Stands for a word that is no argument where it stands, though it is written as one."""
EITHER = f"[{ROLE['answer']}{ROLE['distractor']}]"
CLASSES = dict.fromkeys(("word1", "word2", "n1", "n2"), EITHER)
"""Roles that are one of two arguments, as expressions."""


class Argument(NamedTuple):
    """What is looked for in an answer, and its role there."""

    text: str
    role: str
    """The private-use character that stands for the argument."""
    syntax: bool = False
    """Whether the text is an expression of RE2, as the release takes it."""
    bare: bool = False
    """Whether it may be part of a word."""


def bounded(text: str, start: int, end: int, particles: tuple[str, ...]) -> int:
    """Where the word that begins at ``start`` ends, a particle included; -1 where it is none."""
    if start and text[start].isalnum() and text[start - 1].isalnum():
        return -1
    if end == len(text) or not text[end].isalnum() or not text[end - 1].isalnum():
        return end
    # One letter has none: in Basque, d is not in da.
    for particle in particles if end - start > 1 or not text[start:end].isascii() else ():
        past = end + len(particle)
        if text.startswith(particle, end) and (past == len(text) or not text[past].isalnum()):
            return past
    return -1


def find_word(text: str, word: str, particles: tuple[str, ...] = ()) -> bool:
    """Whether ``word`` stands in ``text`` as a word of its own."""
    start = text.find(word)
    while start >= 0:
        if bounded(text, start, start + len(word), particles) >= 0:
            return True
        start = text.find(word, start + 1)
    return False


def replace_word(text: str, argument: Argument, marks: str, particles: tuple[str, ...] = ()) -> str:
    """``text`` with the role in place of each occurrence as a word, marks around it included.

    A particle stays behind the role: it says who is longer than whom.
    """
    word, role = argument.text, argument.role
    start = text.find(word)
    if start < 0:
        return text
    parts, done = [], 0
    while start >= 0:
        end = start + len(word)
        if role != ROLE["sentence"] and bounded(text, start, end, particles) < 0:
            start = text.find(word, start + 1)
            continue
        while start > done and text[start - 1] in marks:
            start -= 1
        while end < len(text) and text[end] in marks:
            end += 1
        parts += [text[done:start], role]
        done, start = end, text.find(word, end)
    return "".join([*parts, text[done:]])


def without_particle(text: str, particles: tuple[str, ...]) -> str:
    """What follows a word, without a particle that is written on to it."""
    for particle in particles:
        rest = text.removeprefix(particle)
        if rest != text and not rest[:1].isalnum():
            return rest
    return text


def mask(
    text: str, arguments: Iterable[Argument], marks: str, particles: tuple[str, ...] = ()
) -> str:
    """``text`` with roles in place of arguments, which come in the order of replacement."""
    for argument in arguments:
        # Nothing is said of the other words: they need no particles.
        known = () if argument.role == ROLE["other"] else particles
        text = replace_word(text, argument, marks, known)
    return text


# Brackets around arguments


_FIRST = 0xE100
CLOSE = {role: chr(_FIRST + number) for number, role in enumerate(ROLE.values())}
OPEN = {role: chr(_FIRST + len(NAMES) + number) for number, role in enumerate(ROLE.values())}
"""Brackets of each role's character. Of two at one place, closing ones come first."""
BRACKETS = f"{CLOSE[ROLE[NAMES[0]]]}-{OPEN[ROLE[NAMES[-1]]]}"
"""All brackets, as a range in a character class."""
PASSED = f"[{BRACKETS}]*"
"""Expression of brackets of arguments that a pattern does not ask for at a place."""
SPACE = rf"(?:[^a-z0-9{BRACKETS}]{PASSED})"
"""Expression of what the release takes for the space between words."""
_UNBOUNDED = {ROLE[name] for name in ("sentence", *LISTED)}


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Any:
    # None where the text is no expression, and the release would fail.
    try:
        return re2.compile(expression)
    except re2.error:
        return None


def places(
    text: str,
    argument: Argument,
    particles: tuple[str, ...] = (),
    *,
    anywhere: bool = False,
) -> Iterator[tuple[int, int]]:
    """Yield start and end of each occurrence of an argument, as a word but for sentences and lists.

    ``anywhere``: inside longer words too. ``particles``: endings that a word may have.
    """
    bare = anywhere or argument.bare or argument.role in _UNBOUNDED
    if argument.syntax:
        compiled = _compiled(argument.text)
        spans = [match.span() for match in (compiled.finditer(text) if compiled else ())]
    else:
        spans, start = [], text.find(argument.text)
        while start >= 0:
            end = start + len(argument.text)
            spans.append((start, end))
            start = text.find(argument.text, max(end, start + 1) if bare else start + 1)
    for start, end in spans:
        # Whether a word begins or ends at either end.
        edges = (
            (at > 0 and text[at - 1].isalnum()) != (at < len(text) and text[at].isalnum())
            for at in (start, end)
        )
        if bare or all(edges) or (particles and bounded(text, start, end, particles) >= 0):
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
    empty: list[tuple[int, str]] = []
    for argument in arguments:
        opening = OPEN[argument.role]
        for start, end in places(text, argument, particles, anywhere=anywhere):
            if start < end:
                edges.setdefault((start, opening), end)
            elif (start, opening) not in edges:
                empty.append((start, opening + CLOSE[argument.role]))
    if not edges and not empty:
        return text
    closing = [(end, chr(ord(opening) - len(NAMES))) for (_, opening), end in edges.items()]
    parts, done = [], 0
    for place, bracket in sorted([*edges, *closing, *empty]):
        parts += [text[done:place], bracket]
        done = place
    return "".join([*parts, text[done:]])


def between(role: str) -> str:
    """Expression of a role's argument between its brackets."""
    return f"{OPEN[role]}[^{CLOSE[role]}]*{CLOSE[role]}"


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
