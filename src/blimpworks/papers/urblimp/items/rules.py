"""Rules as data: the sentences that a paradigm's pairs are made of, and the change.

A rule matches a pattern in a tree. It prepares both sentences where the treebank's does not fit the
paradigm, then changes the ungrammatical one. docs/urblimp.md says how to write one.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from blimpworks.campaign.settings.base import Variant, parse_yaml
from blimpworks.errors import UserError
from blimpworks.linguistics import regular
from blimpworks.linguistics.orthography import Orthography
from blimpworks.papers.urblimp.items.inflection import Inflection
from blimpworks.papers.urblimp.items.patterns import Pattern, holds, matches, parse_pattern
from blimpworks.papers.urblimp.items.trees import Tree
from blimpworks.strict import Strict

LANGUAGE = "language"
"""Name of the language's pack; all other files are called after paradigms."""
Node = str
OF = "="
"""Prefix of a word's name that stands for its value."""
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
    another word's value."""
    along: tuple[str, ...] = ()
    """Relations of following children that change too if they have the features: a verb's
    auxiliaries."""
    agreeing: Node | None = None
    """A word whose values of these features it must have."""
    unless: dict[str, str] = Field(default={})
    """Features that the place asks for; a new form with them is licensed too."""


class Replace(Strict):
    """Replace a form by another one of the language's tables."""

    replace: Node
    by: str


class Add(Strict):
    """Put a form of a closed class after a word."""

    add: str
    """Paradigm of the new word."""
    name: Node
    """Its name in later operations."""
    after: Node
    agreeing: Node
    """The word whose gender and number it has."""


class Move(Strict):
    """Put a word and its descendants, except the pattern's other nodes, after another word."""

    move: Node
    after: Node
    along: tuple[str, ...] = ()
    """Relations of that word's following children, which stay before the moved words."""


Operation = Delete | Inflect | Replace | Add | Move
KINDS: dict[str, type[Operation]] = {
    kind.__name__.lower(): kind for kind in (Delete, Inflect, Replace, Add, Move)
}
"""Kinds of operations, by their key."""


def _kind(operation: object) -> str | None:
    if isinstance(operation, Strict):
        return type(operation).__name__
    keys = operation if isinstance(operation, dict) else ()
    # Not the key itself: pydantic puts the tag into the places of errors.
    return next((KINDS[key].__name__ for key in keys if key in KINDS), None)


def _complete(operation: object) -> object:
    keys = [key for key in operation if key in KINDS] if isinstance(operation, dict) else []
    if isinstance(operation, dict) and keys:
        fields = KINDS[keys[0]].model_fields.items()
        needed = [name for name, field in fields if field.is_required()]
        missing = [name for name in needed if name not in operation]
        if missing:
            raise ValueError(f"{keys[0]} lacks {', '.join(missing)}, expected {', '.join(needed)}")
    return operation


Step = Annotated[
    Annotated[Delete, Tag("Delete")]
    | Annotated[Inflect, Tag("Inflect")]
    | Annotated[Replace, Tag("Replace")]
    | Annotated[Add, Tag("Add")]
    | Annotated[Move, Tag("Move")],
    Discriminator(
        _kind,
        custom_error_type="operation",
        custom_error_message=f"expected an operation with one of the keys {', '.join(KINDS)}",
    ),
    BeforeValidator(_complete),
]
"""An operation as a rule file has it."""
Listed = TypeVar("Listed", bound=tuple[Any, ...])


def _not_empty(members: Listed) -> Listed:
    if not members:
        raise ValueError("expected a list of one or more")
    return members


def _pattern(text: object, info: ValidationInfo) -> object:
    if isinstance(text, Pattern):
        return text
    if not isinstance(text, str):
        raise ValueError("expected a pattern as text, such as V [upos=VERB]; V -[nsubj]-> S")
    try:
        return parse_pattern(text, info.context)
    except UserError as error:
        raise ValueError(str(error).removesuffix(".")) from None


Request = Annotated[Pattern, BeforeValidator(_pattern)]


def _check_names(pattern: Pattern, operations: Sequence[Operation]) -> None:
    """Raise ValueError for an operation that names a word which does not exist by then."""
    nodes, deleted, added = [*pattern.nodes], set[str](), set[str]()
    for operation in operations:
        named = [(key, node, "") for key, node in operation if key in NODES and node is not None]
        for value in operation.to.values() if isinstance(operation, Inflect) else ():
            if value.startswith(OF):
                named.append(("to", value.removeprefix(OF), OF))
        for key, node, mark in named:
            if node in added and key not in ("replace", "delete"):
                raise ValueError(
                    f"{key} has {mark + node!r}, which an operation before adds; expected a word "
                    "of the sentence (added words can be replaced and deleted)"
                )
            if node in deleted:
                raise ValueError(
                    f"{key} has {mark + node!r}, which an operation before leaves out; expected a "
                    "word that stays"
                )
            if node not in nodes:
                expected = f"{mark} and a word" if mark else "a word"
                raise ValueError(
                    f"{key} has {mark + node!r}, expected {expected} of the pattern: "
                    f"{', '.join(nodes)}"
                )
        match operation:
            case Delete(delete=node):
                deleted.add(node)
            case Move(move=node, after=after) if node == after:
                raise ValueError(f"move and after are both {node!r}, expected different words")
            case Add(name=node) if node in nodes:
                raise ValueError(
                    f"name has {node!r}, expected another than those of the words that there are: "
                    f"{', '.join(nodes)}"
                )
            case Add(name=node):
                nodes.append(node)
                added.add(node)


class Rule(Strict, arbitrary_types_allowed=True):
    """A way to make pairs of one kind of sentence."""

    name: str = "plain"
    variant: Variant | None = None
    """The only variant that has the rule; null for both."""
    source: Literal["treebank", "text"] = "treebank"
    """text: of words without edges, so that plain text has them too."""
    pattern: Request
    without: tuple[Request, ...] = ()
    """Patterns that must not hold; each names at least one of the words found."""
    corrected: tuple[Request, ...] = ()
    """More of them, for the variant corrected alone."""
    prepare: tuple[Step, ...] = ()
    """Changes of both sentences: the grammatical one is not the treebank's."""
    change: Annotated[tuple[Step, ...], AfterValidator(_not_empty)]
    """Changes of the ungrammatical sentence alone."""
    context: tuple[Literal["previous", "next"], ...] = ()
    """Refuse a changed word that the treebank has beside the same neighbours, because it is
    licensed. Deleted and moved words are not checked."""

    @model_validator(mode="after")
    def _about_its_words(self) -> Self:
        _check_names(self.pattern, [*self.prepare, *self.change])
        for key, patterns in (("without", self.without), ("corrected", self.corrected)):
            for number, excluded in enumerate(patterns):
                if not excluded.nodes.keys() & self.pattern.nodes.keys():
                    raise ValueError(
                        f"{key}.{number} has {', '.join(excluded.nodes)}, expected a word of the "
                        f"pattern among them: {', '.join(self.pattern.nodes)}"
                    )
        return self


def _distinct(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Return rules. Raises ValueError if two have the same name."""
    first: dict[str, int] = {}
    for number, rule in enumerate(rules):
        if first.setdefault(rule.name, number) != number:
            raise ValueError(
                f"names must not be repeated, but rules.{first[rule.name]}.name and "
                f"rules.{number}.name are both {rule.name!r} (plain where none is given); "
                "expected different names"
            )
    return rules


class Declaration(Strict):
    """Rules of a paradigm."""

    about: str
    """Why the other sentence is ungrammatical, in a sentence."""
    rules: Annotated[tuple[Rule, ...], AfterValidator(_not_empty), AfterValidator(_distinct)]

    def of_variant(self, variant: Variant) -> list[Rule]:
        rules = [rule for rule in self.rules if rule.variant in (None, variant)]
        if variant == "corrected":
            rules = [
                rule.model_copy(update={"without": rule.without + rule.corrected}) for rule in rules
            ]
        return rules


class Attestation(Strict):
    """Further sources of attested forms, besides the treebanks and UniMorph."""

    wordfreq: str | None = None
    """Language code in wordfreq (Speer 2022), a library of word frequencies."""


class Fault(Strict, arbitrary_types_allowed=True):
    """A fault that makes sentences of treebanks ungrammatical."""

    about: str
    """The fault, for reasons of rejected matches."""
    pattern: Request | None = None
    """Pattern of faulty sentences; null if all are named."""
    without: tuple[Request, ...] = ()
    """Patterns that must not hold of the words found."""
    sentences: dict[str, tuple[str, ...]] = Field(default={})
    """Faulty sentences that no pattern finds, by the name of their treebank's file."""

    def is_in(self, tree: Tree) -> bool:
        pattern_matches = matches(self.pattern, tree) if self.pattern else ()
        return tree.sent_id in self.sentences.get(tree.file, ()) or any(
            not any(holds(excluded, tree, match) for excluded in self.without)
            for match in pattern_matches
        )


class Language(Strict):
    """Everything that rules need to know of a language."""

    orthography: Orthography = Orthography()
    inflection: Inflection = Inflection()
    tables: dict[str, dict[str, str]] = Field(default={})
    """Forms and their replacements, by the name of the table."""
    lists: dict[str, str] = Field(default={})
    """Regular expressions of words, by their names in patterns."""
    attestation: Attestation = Attestation()
    faults: tuple[Fault, ...] = ()
    """Faults whose sentences the variant corrected leaves out."""

    @field_validator("lists")
    @classmethod
    def _regular(cls, lists: dict[str, str]) -> dict[str, str]:
        for expression in lists.values():
            regular.check(expression)
        return lists


def read_language(path: Path) -> Language:
    """Read a language's pack. Raises UserError, with the key, if it is malformed."""
    return parse_yaml(Language, path, "language pack")


def read_declaration(path: Path, language: Language) -> Declaration:
    """Read a paradigm's rules. Raises UserError."""
    declaration = parse_yaml(Declaration, path, "rule file", language.lists)
    for rule in declaration.rules:
        for operation in (*rule.prepare, *rule.change):
            present: Collection[str]
            match operation:
                case Replace(by=name):
                    present = language.tables
                case Add(add=name):
                    present = language.inflection.paradigms
                case _:
                    continue
            if name not in present:
                raise UserError(
                    f"{path}: rule {rule.name!r} names {name!r}, which "
                    f"{path.with_name(f'{LANGUAGE}.yaml')} does not have; expected one of "
                    f"{', '.join(present) or 'none, for it has none'}."
                )
    return declaration
