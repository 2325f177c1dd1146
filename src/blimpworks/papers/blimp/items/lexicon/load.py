"""The lexicon's tables, read and checked."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from blimpworks.campaign.catalogue import read_rows
from blimpworks.campaign.settings.parsing import read_settings
from blimpworks.errors import UserError
from blimpworks.papers.blimp.items.lexicon.classes import Classes, read_classes
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

Entry = TypeVar("Entry", bound=Strict)
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
"""Everything that a lexicon consists of, in a directory."""


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
        """Entries of all kinds."""
        kinds = (self.nouns, self.verbs, self.adjectives, self.determiners, self.auxiliaries)
        return sum(map(len, kinds))


def _restrictions(entry: Strict) -> Iterator[tuple[str, str]]:
    """The columns of an entry that name classes, and what stands there."""
    for column in RESTRICTED:
        if column != "noun" or isinstance(entry, Adjective):
            yield column, getattr(entry, column, "")
    yield "classes", " ".join(getattr(entry, "classes", ()))


def _read(path: Path, kind: type[Entry], classes: Classes) -> tuple[Entry, ...]:
    """The entries of a file. Raises UserError for the first that is wrong, or stands twice."""
    places: dict[Entry, str] = {}
    for line, entry in enumerate(read_rows(kind, path), start=2):
        where = f"{path}:{line}"
        for column, restriction in _restrictions(entry):
            if (unknown := classes.check(restriction)) is not None:
                raise UserError(
                    f"{where}: {column} names the class {unknown!r}, which classes.yaml lacks; "
                    "correct it, or add it there."
                )
        if entry in places:
            raise UserError(f"{where}: the entry stands at {places[entry]} too; leave one out.")
        places[entry] = where
    return tuple(places)


def _sounds(path: Path) -> Sounds:
    settings = read_settings(path, "list of words whose sound differs from their spelling")
    try:
        return Sounds(tuple(settings["vowel"]), tuple(settings["consonant"]))
    except (KeyError, TypeError) as error:
        raise UserError(f"{path}: expected the lists vowel and consonant ({error}).") from error


def read_lexicon(folder: Path) -> Lexicon:
    """Read the lexicon in a directory.

    Raises UserError, naming file and line, for what is missing, malformed or there twice.
    """
    classes = read_classes(folder / "classes.yaml")

    def read(name: str, kind: type[Entry]) -> tuple[Entry, ...]:
        """Entries of a table of this lexicon."""
        return _read(folder / f"{name}.tsv", kind, classes)

    names = (Noun(**row.model_dump(), tags="name") for row in read("names", NameRow))
    return Lexicon(
        classes=classes,
        sounds=_sounds(folder / "sounds.yaml"),
        nouns=(*read("nouns", Noun), *names),
        verbs=read("verbs", Verb),
        adjectives=read("adjectives", Adjective),
        determiners=read("determiners", Determiner),
        auxiliaries=read("auxiliaries", Auxiliary),
    )
