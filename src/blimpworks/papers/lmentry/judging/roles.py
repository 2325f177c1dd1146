"""Mark the arguments of a prompt in answers, so that patterns need not contain them.

Patterns are compiled once for a task. Answers and patterns mark arguments with characters of
Unicode's private use area, in one of two ways.

Corrected rules replace each argument by the character of its role, so that its text is never read
as syntax.

The release inserts a prompt's arguments into its patterns. Published rules therefore put brackets
around each occurrence of an argument, a pair for each role, and keep the words. Arguments may nest,
overlap, or be words of a pattern ("the first word is *the*"): every reading of the release's
patterns remains.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import re2

NAMES = (
    *("answer", "distractor", "query", "word", "letter", "sentence", "category", "other"),
    *("answer_ergative", "answer_comitative", "answer_genitive"),
    *("query_ergative", "query_comitative", "query_genitive"),
    *("category_absolutive", "category_comitative", "answer_rewritten", "distractor_rewritten"),
    *(f"listed{number}" for number in range(1, 6)),
)
LISTED = tuple(name for name in NAMES if name.startswith("listed"))
ROLE = {name: chr(0xE000 + number) for number, name in enumerate(NAMES)}
"""Character of each role. other: a listed word that is not the answer; with a case: the declined
argument in published patterns; rewritten: the argument after the release's exchange of "more" and
"less" inside words; listed: listed words in order."""
INFLECTED = {
    name: tuple(name.split("_"))
    for name in NAMES
    if "_" in name and not name.endswith("_rewritten")
}
"""Argument and case of each declined role."""
ANY_ROLE = "".join(ROLE.values())
HIDDEN = chr(0xE000 + len(NAMES))
"""Stands for a word that looks like an argument but is none."""
EITHER = f"[{ROLE['answer']}{ROLE['distractor']}]"
CLASSES = dict.fromkeys(("word1", "word2", "n1", "n2"), EITHER)
"""Expressions of roles that are one of two arguments."""


Arguments = Mapping[str, Any]
"""A prompt's arguments by name."""


class Argument(NamedTuple):
    """A text to look for in an answer, and its role."""

    text: str
    role: str
    """Private-use character of the argument."""
    syntax: bool = False
    """Whether the text is an RE2 expression, as in the release."""
    bare: bool = False
    """Whether it may be part of a word."""


_SYNTAX = re.compile(r"[.?*+()\[\]{}|^$\\]")


def readings(text: str, role: str) -> Iterator[Argument]:
    """Yield what the release's expression of an argument matches: ``?`` makes a letter optional."""
    plain = text.replace("(", "").replace(")", "")
    forms = (plain[:-1], plain[:-2]) if plain.endswith("?") else (plain,)
    if _SYNTAX.search(forms[0]):
        yield Argument(text, role, syntax=True)
    else:
        yield from (Argument(form, role) for form in forms)


def bounded(text: str, start: int, end: int, particles: tuple[str, ...]) -> int:
    """Return the end of the word at ``start``, with its particle; -1 if it is no whole word."""
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
    """Return whether ``text`` contains ``word`` as a whole word."""
    start = text.find(word)
    while start >= 0:
        if bounded(text, start, start + len(word), particles) >= 0:
            return True
        start = text.find(word, start + 1)
    return False


def replace_word(text: str, argument: Argument, marks: str, particles: tuple[str, ...] = ()) -> str:
    """Replace each whole word and the marks around it by the role; particles stay."""
    word, role = argument.text, argument.role
    start = text.find(word)
    if start < 0:
        return text
    fragments, done = [], 0
    while start >= 0:
        end = start + len(word)
        if role != ROLE["sentence"] and bounded(text, start, end, particles) < 0:
            start = text.find(word, start + 1)
            continue
        while start > done and text[start - 1] in marks:
            start -= 1
        while end < len(text) and text[end] in marks:
            end += 1
        fragments += [text[done:start], role]
        done, start = end, text.find(word, end)
    return "".join([*fragments, text[done:]])


def mask(text: str, named: Iterable[Argument], marks: str, particles: tuple[str, ...] = ()) -> str:
    """Replace arguments by their roles, in the given order."""
    for argument in named:
        # Nothing is said of the other words: they need no particles.
        removable = () if argument.role == ROLE["other"] else particles
        text = replace_word(text, argument, marks, removable)
    return text


_FIRST = 0xE100
CLOSE = {role: chr(_FIRST + number) for number, role in enumerate(ROLE.values())}
OPEN = {role: chr(_FIRST + len(NAMES) + number) for number, role in enumerate(ROLE.values())}
"""Brackets (CLOSE and OPEN) by a role's character. At one place, closing ones come first."""
BRACKETS = f"{CLOSE[ROLE[NAMES[0]]]}-{OPEN[ROLE[NAMES[-1]]]}"
PASSED = f"[{BRACKETS}]*"
"""Expression of brackets that a pattern ignores."""
SPACE = rf"(?:[^a-z0-9{BRACKETS}]{PASSED})"
"""Expression of the release's space between words."""
_UNBOUNDED = {ROLE[name] for name in ("sentence", *LISTED)}


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Any:
    # None where the text is no expression, and the release would fail.
    try:
        return re2.compile(expression)
    except re2.error:
        return None


def places(
    text: str, argument: Argument, particles: tuple[str, ...] = (), *, anywhere: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield the spans of an argument: whole words, except sentences, lists and ``anywhere``."""
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
    text: str, named: Iterable[Argument], particles: tuple[str, ...] = (), *, anywhere: bool = False
) -> str:
    """Put brackets around each occurrence of each argument; ``particles`` stay outside.

    Of two texts of one role at one start the first argument counts.
    """
    edges: dict[tuple[int, str], int] = {}
    empty: list[tuple[int, str]] = []
    for argument in named:
        opening = OPEN[argument.role]
        for start, end in places(text, argument, particles, anywhere=anywhere):
            if start < end:
                edges.setdefault((start, opening), end)
            elif (start, opening) not in edges:
                empty.append((start, opening + CLOSE[argument.role]))
    if not edges and not empty:
        return text
    closing = [(end, chr(ord(opening) - len(NAMES))) for (_, opening), end in edges.items()]
    fragments, done = [], 0
    for position, bracket in sorted([*edges, *closing, *empty]):
        fragments += [text[done:position], bracket]
        done = position
    return "".join([*fragments, text[done:]])


def between(role: str) -> str:
    """Return the expression of a role's argument between its brackets."""
    return f"{OPEN[role]}[^{CLOSE[role]}]*{CLOSE[role]}"
