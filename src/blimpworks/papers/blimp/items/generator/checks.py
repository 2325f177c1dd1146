"""What can be wrong with a scheme by itself: names, their kinds, parts, brackets."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from blimpworks.papers.blimp.items.generator.constituents import (
    AdjectiveEntry,
    DeterminerForm,
    NounForm,
    Phrase,
    Predicate,
    Pronoun,
    VerbEntry,
    Words,
)

if TYPE_CHECKING:  # declarations are checked as they are read: they import this module.
    from blimpworks.papers.blimp.items.generator.declarations import AnyDraw, Scheme

SLOT = re.compile(r"\{([a-z][a-z0-9_]*)((?:\.[a-z0-9_]+)*)\}")
"""{name} or {name.part}."""
OPTIONAL = "phrase that can be nothing"
"""Kind of the object of a verb that may take none: it can stand in sentences, that is all."""
PARTS: Mapping[str, Collection[str]] = {
    "verb": VerbEntry.PARTS,
    "noun": NounForm.PARTS,
    "phrase": Phrase.PARTS,
    "determiner": DeterminerForm.PARTS,
    "predicate": Predicate.PARTS,
    "adjective": AdjectiveEntry.PARTS,
    "pronoun": Pronoun.PARTS,
    "wh": Words.PARTS,
}
"""Parts by what is drawn; "" is {name} itself. Those of choices are numbers."""

Complaint = tuple[str, str]
"""A key of a scheme, and what is said of it."""


def section(schemes: Sequence["Scheme"], number: int) -> str:
    """What the keys of a scheme begin with: nothing where it is the only one."""
    return f"one_of.{number}." if len(schemes) > 1 else ""


def _parts(drawn: "AnyDraw") -> Collection[str]:
    if drawn.kind != "choice":
        return PARTS[drawn.kind]
    groups = (drawn.among, *drawn.by_number.values())
    lengths = [1 if isinstance(row, str) else len(row) for group in groups for row in group]
    shortest = min(lengths, default=0)
    return ("", *map(str, range(shortest))) if shortest else ()


def _kind(drawn: "AnyDraw", scheme: "Scheme") -> str:
    """What others may use it as."""
    if drawn.kind == "phrase" and drawn.complement_of:
        verb = scheme.draw.get(drawn.complement_of)
        if verb and verb.kind == "verb" and "intransitive" in verb.frames:
            return OPTIONAL
    return drawn.kind


def _some(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _draws(scheme: "Scheme") -> Iterator[Complaint]:
    """One complaint for each name that is not drawn before it is used, or of a wrong kind."""
    known: dict[str, str] = {}
    for name, drawn in scheme.draw.items():
        for key, used, kinds in drawn.names():
            where = f"draw.{name}.{key}"
            if used not in known:
                yield where, f"names {used!r}, which is not drawn before"
            elif known[used] not in kinds:
                expected = " or ".join(map(_some, kinds))
                yield where, f"names {used!r}, {_some(known[used])}; expected {expected}"
        known[name] = _kind(drawn, scheme)


def _slots(scheme: "Scheme") -> Iterator[Complaint]:
    """One complaint for each slot that nothing, or no such part, is drawn for."""
    for key, text in scheme.templates.items():
        for slot in SLOT.finditer(text):
            drawn, part = scheme.draw.get(slot[1]), slot[2].removeprefix(".")
            if drawn is None:
                yield key, f"names {slot[1]!r}, which is not drawn"
            elif part not in (known := _parts(drawn)):
                has = ", ".join(f"{{{slot[1]}{'.' * bool(each)}{each}}}" for each in known)
                yield key, f"has {slot[0]}, no part of {_some(drawn.kind)}; expected {has}"
        if rest := re.search(r"[{}]", SLOT.sub("", text)):
            yield key, f"has a stray {rest[0]!r}; expected {{name}} or {{name.part}}"


def _brackets(scheme: "Scheme", method: str | None) -> Iterator[Complaint]:
    for key in ("good", "bad"):
        marked = re.findall(r"\[[^][]*\]", getattr(scheme, key))
        if len(marked) != bool(method):
            expected = "one critical word" if method else "none, because there is no method"
            yield key, f"marks {len(marked)} critical words by brackets; expected {expected}"


def check_scheme(scheme: "Scheme", method: str | None, above: str) -> Iterator[str]:
    """One complaint, without file, for each key that is wrong; ``above``: what keys begin with."""
    for key, complaint in (*_draws(scheme), *_slots(scheme), *_brackets(scheme, method)):
        yield f"key '{above}{key}' {complaint}"
