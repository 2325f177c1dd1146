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
    """``pattern`` with two roles in each other's place, whatever case they are in."""
    other = dict(zip(roles, reversed(roles), strict=True))
    for name, (base, case) in INFLECTED.items():
        if base in roles:
            other[name] = f"{other[base]}_{case}"
    return _ROLE.sub(lambda match: "{" + other.get(match[1], match[1]) + "}", pattern)


def fill(pattern: str, family: Family, number: int) -> str:
    """``pattern`` with the slots' words for the task with a number in the family."""
    return _SLOT.sub(lambda match: family.slots[match[1]][number], pattern)


def _converse(pattern: str, family: Family, number: int, variant: str) -> Iterator[str]:
    """What says the same in the words of the opposite task."""
    slots = _SLOT.findall(pattern)
    if not slots or family.swap is None:
        return
    if variant == "published" and set(slots) & set(family.never):
        return
    yield fill(exchange(pattern, family.swap), family, 1 - number)


Changed = Sequence[tuple[str, str]]
"""Roles whose argument has what the release exchanges, each with that."""
TWINS = ("distractor", "query")
"""Roles that are changed where the two are one word."""


def _rewritten(own: Sequence[str], family: Family, number: int, changed: Changed) -> list[str]:
    """Converses of patterns as the release makes them, where arguments change on the way."""
    patterns, swap = list(own), family.swap or ()
    for old, new in family.rewrites[family.tasks[number]].items():
        roles = [f"{{{role}}}" for role, text in changed if text == old]
        for pattern in tuple(patterns):
            if old.strip("()") in pattern or any(role in pattern for role in roles):
                other = exchange(pattern, swap).replace(old.strip("()"), new)
                for role in roles:
                    other = other.replace(role, role[:-1] + "_rewritten}")
                patterns.append(other)
    return patterns


def _accepted(family: Family, number: int, variant: str, changed: Changed) -> Iterator[str]:
    if changed and family.converse:
        return
    if changed and family.tasks[number] in family.rewrites:
        filled = [fill(pattern, family, number) for pattern in family.accept + family.published]
        yield from _rewritten(filled, family, number, changed)
        return
    more = family.corrected if variant == "corrected" else family.published
    for pattern in family.accept + more:
        own = fill(pattern, family, number)
        yield own
        yield from _converse(pattern, family, number, variant)
        if family.same:
            yield exchange(own, family.same)


def _exact(family: Family, number: int, changed: Changed) -> Iterator[str]:
    for pattern in family.exact:
        own = fill(pattern, family, number)
        yield own
        if family.same:
            other = exchange(own, family.same)
            # The release exchanges texts: a distractor that is the query becomes the answer.
            yield other.replace("{distractor}", "{answer}") if TWINS in changed else other


def _rejected(family: Family, number: int, variant: str) -> Iterator[str]:
    more = family.published_reject if variant == "published" else ()
    yield from (fill(pattern, family, number) for pattern in family.reject + more)
    if variant == "published":
        return
    yield from (fill(pattern, family, number) for pattern in family.corrected_reject)
    if family.swap is None:
        return
    for pattern in family.accept + family.corrected:
        if _SLOT.search(pattern):
            yield fill(exchange(pattern, family.swap), family, number)
            yield fill(pattern, family, 1 - number)


def _ends(family: Family, number: int) -> tuple[Patterns, Patterns]:
    """What may stand before and behind its patterns."""
    before, after = (
        tuple(fill(pattern, family, number) for pattern in each)
        for each in (family.before, family.after)
    )
    return before, after


def _framed(
    declared: AnswerPatterns,
    families: Sequence[tuple[Family, int]],
    variant: str,
    changed: Changed,
    *,
    shared: bool,
) -> Iterator[Framed]:
    for family, number in families:
        for pattern in _accepted(family, number, variant, changed):
            yield Framed(pattern, *_ends(family, number))
    ends = _ends(*families[0]) if families else ((), ())
    if shared:
        yield from (Framed(pattern, *ends) for pattern in declared.shared)


def rewrites_of(declared: AnswerPatterns, task: str) -> dict[str, str]:
    """What the release exchanges inside arguments too, where it makes converses."""
    rewrites = (family.rewrites.get(task, {}) for family in declared.families)
    return {old: new for each in rewrites for old, new in each.items()}


def task_patterns(
    declared: AnswerPatterns, task: str, variant: str, changed: Changed = ()
) -> TaskPatterns:
    """Patterns of ``task`` in a variant, published or corrected, from all its families.

    ``changed``: roles of arguments that the release changes on the way, in published ones.
    Corrected verdicts also reject what says the contrary in any of the accepted forms.
    """
    families = [(f, f.tasks.index(task)) for f in declared.families if task in f.tasks]
    exact = [pattern for each in families for pattern in _exact(*each, changed)]
    reject = [pattern for each in families for pattern in _rejected(*each, variant)]
    shared = variant == "corrected" or task not in UNSHARED
    return TaskPatterns(
        tuple(dict.fromkeys(exact)),
        tuple(dict.fromkeys(_framed(declared, families, variant, changed, shared=shared))),
        tuple(dict.fromkeys(reject)),
    )
