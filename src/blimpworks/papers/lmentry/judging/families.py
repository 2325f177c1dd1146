"""The patterns of a task, from what a language pack declares of its family."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from blimpworks.papers.lmentry.judging.declared import AnswerPatterns, Family, Patterns
from blimpworks.papers.lmentry.judging.roles import INFLECTED

_ROLE = re.compile(r"\{(\w+)\}")
_SLOT = re.compile(r"<(\w+)>")
UNSHARED = ("rhyming_word", "homophones")
"""Tasks in which the release doesn't accept the sentences of all tasks."""
Changed = Sequence[tuple[str, str]]
"""Roles whose argument has what the release exchanges, each with that."""
TWINS = ("distractor", "query")
"""Roles that are changed where the two are one word."""


class Framed(NamedTuple):
    """A sentence that is right, and what may stand before and behind it."""

    pattern: str
    before: Patterns = ()
    after: Patterns = ()


class TaskPatterns(NamedTuple):
    """All patterns of one task, slots filled and exchanges made; roles still stand in braces."""

    exact: tuple[str, ...]
    accept: tuple[Framed, ...]
    reject: tuple[str, ...]


def exchange(pattern: str, roles: Sequence[str]) -> str:
    """Return ``pattern`` with two roles in each other's place, whatever case they are in."""
    other = dict(zip(roles, reversed(roles), strict=True))
    for name, (base, case) in INFLECTED.items():
        if base in roles:
            other[name] = f"{other[base]}_{case}"
    return _ROLE.sub(lambda match: "{" + other.get(match[1], match[1]) + "}", pattern)


def fill(pattern: str, family: Family, number: int) -> str:
    """Return ``pattern`` with the slots' words for the task with a number in the family."""
    return _SLOT.sub(lambda match: family.slots[match[1]][number], pattern)


def rewrites_of(declared: AnswerPatterns, task: str) -> dict[str, str]:
    """Return what the release exchanges inside arguments too, where it makes converses."""
    rewrites: dict[str, str] = {}
    for family in declared.families:
        rewrites |= family.rewrites.get(task, {})
    return rewrites


def task_patterns(
    declared: AnswerPatterns, task: str, variant: str, changed: Changed = ()
) -> TaskPatterns:
    """Return the patterns of ``task`` in a variant, published or corrected, of all its families.

    ``changed``: roles of arguments that the release changes on the way, in published ones.
    Corrected verdicts also reject what says the contrary in any of the accepted forms.
    """
    families = [(f, f.tasks.index(task)) for f in declared.families if task in f.tasks]
    exact: list[str] = []
    accept: list[Framed] = []
    reject: list[str] = []
    frames: list[tuple[Patterns, Patterns]] = []
    for family, number in families:
        for pattern in family.exact:
            filled = fill(pattern, family, number)
            exact.append(filled)
            if family.same:
                twin = exchange(filled, family.same)
                # The release exchanges texts: a distractor that is the query becomes the answer.
                exact.append(twin.replace("{distractor}", "{answer}") if TWINS in changed else twin)
        before = tuple(fill(pattern, family, number) for pattern in family.before)
        after = tuple(fill(pattern, family, number) for pattern in family.after)
        frames.append((before, after))
        accepted = _accepted(family, number, variant, changed)
        accept += (Framed(pattern, before, after) for pattern in accepted)
        published = variant == "published"
        contrary = family.reject + (
            family.published_reject if published else family.corrected_reject
        )
        reject += (fill(pattern, family, number) for pattern in contrary)
        if not published and family.swap:
            for pattern in family.accept + family.corrected:
                if _SLOT.search(pattern):
                    reject.append(fill(exchange(pattern, family.swap), family, number))
                    reject.append(fill(pattern, family, 1 - number))
    if variant == "corrected" or task not in UNSHARED:
        before, after = frames[0] if frames else ((), ())
        accept += (Framed(pattern, before, after) for pattern in declared.shared)
    return TaskPatterns(
        tuple(dict.fromkeys(exact)), tuple(dict.fromkeys(accept)), tuple(dict.fromkeys(reject))
    )


def _accepted(family: Family, number: int, variant: str, changed: Changed) -> Iterator[str]:
    """Yield the sentences of a family that are right, with their converses."""
    published, swap = variant == "published", family.swap or ()
    if changed and family.converse:
        return
    if changed and family.tasks[number] in family.rewrites:
        sentences = family.accept + family.published
        rewritten = [fill(pattern, family, number) for pattern in sentences]
        # Converses as the release makes them, where arguments change on the way.
        for old, new in family.rewrites[family.tasks[number]].items():
            text = old.strip("()")
            roles = [f"{{{role}}}" for role, exchanged in changed if exchanged == old]
            for pattern in tuple(rewritten):
                if text in pattern or any(role in pattern for role in roles):
                    converse = exchange(pattern, swap).replace(text, new)
                    for role in roles:
                        converse = converse.replace(role, role[:-1] + "_rewritten}")
                    rewritten.append(converse)
        yield from rewritten
        return
    for pattern in family.accept + (family.published if published else family.corrected):
        filled = fill(pattern, family, number)
        yield filled
        slots = {*_SLOT.findall(pattern)}
        if slots and swap and not (published and slots & {*family.never}):
            # The converse says the same in the words of the opposite task.
            yield fill(exchange(pattern, swap), family, 1 - number)
        if family.same:
            yield exchange(filled, family.same)
