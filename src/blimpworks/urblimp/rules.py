"""Rules as data: which sentences a paradigm's pairs are made of, and by which change.

A rule matches a pattern in a tree, prepares both sentences where the treebank's is not yet one of
the pair, and changes the other. docs/urblimp.md says how to write one.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from blimpworks.config import parse_yaml
from blimpworks.config.base import Strict, Variant, distinct
from blimpworks.errors import UserError
from blimpworks.urblimp.inflection import Inflection
from blimpworks.urblimp.orthography import Orthography
from blimpworks.urblimp.patterns import Pattern, parse_pattern
from blimpworks.urblimp.phenomena import PARADIGMS

LANGUAGE = "language"
"""Name of a language's pack among its files; all others are called after paradigms."""
Node = str
NODES = ("delete", "inflect", "replace", "after", "agreeing", "move")
"""Keys of operations that name a word."""


class Delete(Strict):
    """Leave a word out."""

    delete: Node


class Inflect(Strict):
    """Put a word, and what follows it in its complex, into other cells of their paradigms."""

    inflect: Node
    to: dict[str, str]
    """Features and their new values; ``other`` for the opposite gender or number, ``=NODE`` for
    the value that another word has."""
    along: tuple[str, ...] = ()
    """Relations of children that follow the word and change with it, where they have the
    features: a verb's auxiliaries."""
    agreeing: Node | None = None
    """A word that it must have the same values of these features as."""
    unless: dict[str, str] = Field(default={})
    """Features that the place asks for: a new form that has them too is licensed."""


class Replace(Strict):
    """Put another form for a word, by one of the language's tables."""

    replace: Node
    by: str


class Add(Strict):
    """Put a form of a closed class after a word."""

    add: str
    """Name of the paradigm that the new word is of."""
    name: Node
    """What later operations call it."""
    after: Node
    agreeing: Node
    """The word whose gender and number it has."""


class Move(Strict):
    """Put a word, with what is below it but other nodes of the pattern, after another word."""

    move: Node
    after: Node
    along: tuple[str, ...] = ()
    """Relations of children that follow that word and stay before what is moved."""


Operation = Delete | Inflect | Replace | Add | Move


def _pattern(text: object) -> object:
    if not isinstance(text, str):
        return text
    try:
        return parse_pattern(text)
    except UserError as error:
        raise ValueError(str(error)) from None


Request = Annotated[Pattern, BeforeValidator(_pattern)]


class Rule(Strict, arbitrary_types_allowed=True):
    """How pairs are made of one kind of sentence."""

    name: str = "plain"
    variant: Variant | None = None
    """The only variant that has the rule; null for both."""
    source: Literal["treebank", "text"] = "treebank"
    """text: of words without edges, as plain text has them too."""
    pattern: Request
    without: tuple[Request, ...] = ()
    """Patterns that must not hold of the words found."""
    prepare: tuple[Operation, ...] = ()
    """Changes of both sentences: the treebank's is not one of the pair."""
    change: tuple[Operation, ...] = Field(min_length=1)
    """Changes of the ungrammatical sentence alone."""
    context: tuple[Literal["previous", "next"], ...] = ()
    """Refuse a changed word that the treebank has beside the same neighbours: it is licensed."""

    @model_validator(mode="after")
    def _known_nodes(self) -> Self:
        known = [*self.pattern.nodes]
        for operation in (*self.prepare, *self.change):
            for key, node in operation:
                if key in NODES and node is not None and node not in known:
                    raise ValueError(
                        f"{key} has {node!r}, expected a word of the pattern: {', '.join(known)}"
                    )
            known += [operation.name] if isinstance(operation, Add) else []
            for value in operation.to.values() if isinstance(operation, Inflect) else ():
                if value.startswith("=") and value[1:] not in known:
                    raise ValueError(
                        f"to has {value!r}, expected = and a word of the pattern: "
                        f"{', '.join(known)}"
                    )
        return self


class Declaration(Strict):
    """All rules of a paradigm."""

    about: str
    """What makes the other sentence ungrammatical, in a sentence."""
    rules: Annotated[tuple[Rule, ...], Field(min_length=1)]

    def of_variant(self, variant: Variant) -> list[Rule]:
        """The rules that a variant has."""
        return [rule for rule in self.rules if rule.variant in (None, variant)]

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        distinct(tuple(rule.name for rule in self.rules))
        return self


class Attestation(Strict):
    """Where forms are looked up, besides the treebanks and UniMorph."""

    wordfreq: str | None = None
    """Language code in wordfreq (Speer 2022), a library of word frequencies."""


class Language(Strict):
    """What rules need to know of a language."""

    orthography: Orthography = Orthography()
    inflection: Inflection = Inflection()
    tables: dict[str, dict[str, str]] = Field(default={})
    """Forms and what replaces them, by the name of the table."""
    attestation: Attestation = Attestation()


def read_language(path: Path) -> Language:
    """Read a language's pack. Raises UserError, with the key, for what is malformed."""
    return parse_yaml(Language, path, "language pack")


def read_declaration(path: Path, language: Language) -> Declaration:
    """Read a paradigm's rules.

    Raises UserError, with the key, for what is malformed, for a file that is not called after a
    paradigm, and for tables and closed classes that the language does not have.
    """
    if path.stem not in PARADIGMS:
        raise UserError(
            f"{path} is called after no paradigm; expected one of {', '.join(PARADIGMS)}. "
            "Rename it, or declare the paradigm in urblimp/phenomena.py."
        )
    found = parse_yaml(Declaration, path, "rule file")
    for rule in found.rules:
        for operation in (*rule.prepare, *rule.change):
            _check_names(operation, language, path, rule.name)
    return found


def _check_names(operation: Operation, language: Language, path: Path, rule: str) -> None:
    known: dict[str, object] = {}
    match operation:
        case Replace(by=name):
            known = {**language.tables}
        case Add(add=name):
            known = {**language.inflection.paradigms}
        case _:
            return
    if name not in known:
        raise UserError(
            f"{path}: rule {rule!r} names {name!r}, which {path.with_name(f'{LANGUAGE}.yaml')} "
            f"does not have; expected one of {', '.join(known) or 'none, for it has none'}."
        )
