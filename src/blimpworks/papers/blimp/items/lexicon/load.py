"""The lexicon's tables, read and checked, and the hierarchy of classes that restrictions name."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from blimpworks.campaign.settings.parsing import read_settings
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.papers.blimp.items.lexicon.entries import (
    Adjective,
    Auxiliary,
    Determiner,
    NameRow,
    Noun,
    Sounds,
    Verb,
)
from blimpworks.strict import Strict

EXCLUDED = "!"
"""Before the name of a class that a restriction excludes."""


def _below(tree: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[str, frozenset[str]]]:
    """List each class below some, with all that it falls under, itself included."""
    for name, narrower in tree.items():
        if not isinstance(name, str) or not isinstance(narrower, Mapping | None):
            raise ValueError(
                f"below {' / '.join((*above, str(name)))} stands {narrower!r:.60}, expected names "
                "of classes, each with a colon; correct it."
            )
        yield name, frozenset((*above, name))
        yield from _below(narrower or {}, (*above, name))


class Classes:
    """A hierarchy of classes: which ones each falls under."""

    def __init__(self, wider: Mapping[str, frozenset[str]]) -> None:
        """``wider``: for each class all that it falls under, itself included."""
        self.wider = wider
        self.accepts = lru_cache(maxsize=None)(self._accepts)
        """Tells whether nouns of some classes satisfy a restriction.

        It names classes, any of which will do, and after "!" those that will not; an empty one
        is satisfied by all.
        """

    def check(self, restriction: str) -> str | None:
        """Find the first word of a restriction that is no class, if any."""
        words = (word.removeprefix(EXCLUDED) for word in restriction.split())
        return next((word for word in words if word not in self.wider), None)

    def _accepts(self, restriction: str, classes: tuple[str, ...]) -> bool:
        words = restriction.split()
        accepted = {word for word in words if not word.startswith(EXCLUDED)}
        excluded = {word.removeprefix(EXCLUDED) for word in words} - accepted
        held = {wider for name in classes for wider in self.wider[name]}
        return not held & excluded and (not accepted or bool(held & accepted))

    def within(self, restriction: str, wide: str, known: Collection[tuple[str, ...]]) -> bool:
        """Tell whether all ``known`` classes that satisfy a restriction satisfy ``wide`` too."""
        satisfying = (classes for classes in known if self.accepts(restriction, classes))
        return all(self.accepts(wide, classes) for classes in satisfying)


def read_classes(path: Path) -> Classes:
    """Read a hierarchy.

    Raises UserError when it is missing or malformed, or a class stands twice in it.
    """
    classes: dict[str, frozenset[str]] = {}
    tree = read_settings(path, "hierarchy of classes")
    try:
        hierarchy = [*_below(tree, ())]
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    for name, wider in hierarchy:
        if name in classes:
            raise UserError(f"{path}: class {name!r} stands twice; name it once.")
        classes[name] = wider
    return Classes(classes)


RESTRICTED = ("subject", "object", "of", "noun")
"""Columns of restrictions; ``noun`` is one of adjectives alone."""
FILES = (
    "classes.yaml",
    "sounds.yaml",
    "nouns.tsv",
    "names.tsv",
    "verbs.tsv",
    "adjectives.tsv",
    "determiners.tsv",
    "auxiliaries.tsv",
)
"""All files of a lexicon, in a directory."""
Entry = TypeVar("Entry", bound=Strict)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All entries, each kind in the order of its file."""

    classes: Classes
    sounds: Sounds
    nouns: tuple[Noun, ...]
    """Common nouns, then names."""
    verbs: tuple[Verb, ...]
    adjectives: tuple[Adjective, ...]
    determiners: tuple[Determiner, ...]
    auxiliaries: tuple[Auxiliary, ...]

    def __len__(self) -> int:
        """Count the entries of all kinds."""
        kinds = (self.nouns, self.verbs, self.adjectives, self.determiners, self.auxiliaries)
        return sum(map(len, kinds))


def _read(path: Path, kind: type[Entry], classes: Classes) -> tuple[Entry, ...]:
    """Read the entries of a file. Raises UserError for the first that is wrong, or stands twice."""
    seen: dict[Entry, str] = {}
    for line, entry in enumerate(read_rows(kind, path), start=2):
        where = f"{path}:{line}"
        restrictions = {
            column: getattr(entry, column, "")
            for column in RESTRICTED
            if column != "noun" or isinstance(entry, Adjective)
        }
        restrictions["classes"] = " ".join(getattr(entry, "classes", ()))
        for column, restriction in restrictions.items():
            if (unknown := classes.check(restriction)) is not None:
                raise UserError(
                    f"{where}: {column} names the class {unknown!r}, which classes.yaml lacks; "
                    "correct it, or add it there."
                )
        if entry in seen:
            raise UserError(f"{where}: the entry stands at {seen[entry]} too; leave one out.")
        seen[entry] = where
    return tuple(seen)


def read_lexicon(folder: Path) -> Lexicon:
    """Read the lexicon in a directory.

    Raises UserError, naming file and line, for what is missing, malformed or there twice.
    """
    classes = read_classes(folder / "classes.yaml")
    path = folder / "sounds.yaml"
    settings = read_settings(path, "list of words whose sound differs from their spelling")
    try:
        sounds = Sounds(tuple(settings["vowel"]), tuple(settings["consonant"]))
    except (KeyError, TypeError) as error:
        raise UserError(f"{path}: expected the lists vowel and consonant ({error}).") from error
    nouns = _read(folder / "nouns.tsv", Noun, classes)
    verbs = _read(folder / "verbs.tsv", Verb, classes)
    names = _read(folder / "names.tsv", NameRow, classes)
    return Lexicon(
        classes=classes,
        sounds=sounds,
        nouns=(*nouns, *(Noun(**row.model_dump(), tags="name") for row in names)),
        verbs=verbs,
        adjectives=_read(folder / "adjectives.tsv", Adjective, classes),
        determiners=_read(folder / "determiners.tsv", Determiner, classes),
        auxiliaries=_read(folder / "auxiliaries.tsv", Auxiliary, classes),
    )
