"""Roles: characters that stand for arguments in answers, so that patterns need not know them.

Before an answer is compared with patterns, each argument in it is replaced by one character of
Unicode's private use area. Patterns hold the same characters, so they are compiled once for a
task, and what an argument contains can never be taken for syntax.
"""

from collections.abc import Iterable
from typing import NamedTuple

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
)
ROLE = {name: chr(0xE000 + number) for number, name in enumerate(NAMES)}
"""Character of each role. other: a word of a list that is not the answer; names with a case behind
them: the argument in that case, as published patterns have it; rewritten: a word as the release has
it where it exchanges "more" for "less" inside words too."""
INFLECTED = {
    name: tuple(name.split("_"))
    for name in NAMES
    if "_" in name and not name.endswith("_rewritten")
}
"""Of each role of an argument in a case the argument and the case."""
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
    """Character of the role."""
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
