"""The lexicon's tables, read and checked."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from blimpworks.campaign.settings.parsing import read_settings
from blimpworks.errors import UserError
from blimpworks.papers.blimp.items.lexicon.classes import Classes, read_classes
from blimpworks.papers.blimp.items.lexicon.entries import (
    Adjective,
    Auxiliary,
    Determiner,
    Noun,
    Sounds,
    Verb,
)

Entry = TypeVar("Entry", bound=BaseModel)
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


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Where each line of a table stands, and its cells."""
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            reader = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
            for row in reader:
                where = f"{path}:{reader.line_num}"
                if None in row or None in row.values():
                    raise UserError(
                        f"{where}: expected {len(reader.fieldnames or ())} cells, separated by "
                        f"tabs ({', '.join(reader.fieldnames or ())})."
                    )
                yield where, row
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; expected a table of the lexicon.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not in UTF-8 ({error.reason}); save it so.") from error


def _restrictions(entry: BaseModel) -> Iterator[tuple[str, str]]:
    for column in RESTRICTED:
        value = getattr(entry, column, "")
        if column != "noun" or isinstance(entry, Adjective):
            yield column, value
    yield "classes", " ".join(getattr(entry, "classes", ()))


def _read(path: Path, kind: type[Entry], classes: Classes, **more: str) -> tuple[Entry, ...]:
    """The entries of a file. Raises UserError for the first that is wrong, or stands twice."""
    found: dict[Entry, str] = {}
    for where, row in _rows(path):
        try:
            entry = kind.model_validate(row | more)
        except ValidationError as error:
            first = error.errors()[0]
            column = first["loc"][0] if first["loc"] else "the line"
            raise UserError(
                f"{where}: {column} is {row.get(str(column))!r}; {first['msg'].lower()}. "
                "See docs/generator.md."
            ) from error
        for column, restriction in _restrictions(entry):
            if (unknown := classes.check(restriction)) is not None:
                raise UserError(
                    f"{where}: {column} names the class {unknown!r}, which classes.yaml lacks; "
                    "correct it, or add it there."
                )
        if entry in found:
            raise UserError(f"{where}: the entry stands at {found[entry]} too; leave one out.")
        found[entry] = where
    return tuple(found)


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

    def read(name: str, kind: type[Entry], **more: str) -> tuple[Entry, ...]:
        """Entries of a table of this lexicon."""
        return _read(folder / f"{name}.tsv", kind, classes, **more)

    nouns: Sequence[Noun] = (*read("nouns", Noun), *read("names", Noun, tags="name"))
    return Lexicon(
        classes=classes,
        sounds=_sounds(folder / "sounds.yaml"),
        nouns=tuple(nouns),
        verbs=read("verbs", Verb),
        adjectives=read("adjectives", Adjective),
        determiners=read("determiners", Determiner),
        auxiliaries=read("auxiliaries", Auxiliary),
    )
