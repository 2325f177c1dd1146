"""Read the YAML files of UrBLiMP: a language's pack, and the rules of each paradigm.

A rule makes minimal pairs from sentences that match a pattern (docs/urblimp_rules.md)::

    pattern: V [upos=VERB]; V -[nsubj]-> S
    change: [{inflect: V, to: {Gender: other}}]

V and S are the rule's names of two words, a verb and its subject. ``prepare`` changes both
sentences of a pair, ``change`` only the ungrammatical one. A complex is a word and its auxiliaries.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

import pydantic
from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, ValidationInfo

from blimpworks.campaign.settings.base import Variant, parse_yaml
from blimpworks.errors import UserError
from blimpworks.linguistics import regular
from blimpworks.linguistics.orthography import Orthography
from blimpworks.papers.urblimp.items.inflection import Inflection
from blimpworks.papers.urblimp.items.patterns import Pattern, Tree, holds, matches, parse_pattern
from blimpworks.strict import Strict

LANGUAGE = "language"
"""Name of the language's pack; other files are called after paradigms."""
Node = str
"""A rule's name of a word, such as V."""
OF = "="
"""Prefix of a name in ``to``: ``Gender: =S`` means the gender that the word S has."""
NODES = ("delete", "inflect", "replace", "after", "agreeing", "move")
"""Keys of operations whose value is the name of a word, which must exist."""


class Delete(Strict):
    """Leave a word out."""

    delete: Node


class Inflect(Strict):
    """Inflect a word, and words that follow it in its complex, for other features."""

    inflect: Node
    to: dict[str, str]
    """Features and their new values; ``other`` for the opposite gender or number, ``=NODE`` for
    another word's value."""
    along: tuple[str, ...] = ()
    """Relations of inflected dependents that follow the word, such as a verb's auxiliaries."""
    agreeing: Node | None = None
    """A word with which the complex must agree in the features of ``to`` before the change."""
    unless: dict[str, str] = Field(default={})
    """Features that are grammatical here too: a new form that can also have them is rejected."""


class Replace(Strict):
    """Replace a form by another form from a table of the language's pack."""

    replace: Node
    by: str
    """Name of the table."""


class Add(Strict):
    """Add a word of a closed class after a word."""

    add: str
    """Name of the inflection table (in the pack's ``paradigms``) of the new word."""
    name: Node
    """Name of the new word in later operations."""
    after: Node
    agreeing: Node
    """The word that the new word agrees with in gender and number."""


class Move(Strict):
    """Move a word and its descendants, except other words of the pattern, after another word."""

    move: Node
    after: Node
    along: tuple[str, ...] = ()
    """Relations to ``after`` of dependents that follow it, and stay before the moved words."""


Operation = Delete | Inflect | Replace | Add | Move
OPERATIONS: dict[str, type[Operation]] = {o.__name__.lower(): o for o in get_args(Operation)}
"""{key that only this operation has: operation}, such as "delete"."""


def _operation_tag(operation: object) -> str | None:
    """Return the name of the operation's class, by which pydantic chooses it; None if unknown."""
    if isinstance(operation, Strict):
        return type(operation).__name__
    for key in operation if isinstance(operation, dict) else ():
        if key in OPERATIONS:
            # pydantic adds this tag to the locations of errors. Thanks to its capital it is no key
            # of the operation, so ``parse_yaml`` leaves it out of messages.
            return OPERATIONS[key].__name__
    return None


Step = Annotated[
    Annotated[Delete, Tag("Delete")]
    | Annotated[Inflect, Tag("Inflect")]
    | Annotated[Replace, Tag("Replace")]
    | Annotated[Add, Tag("Add")]
    | Annotated[Move, Tag("Move")],
    Discriminator(
        _operation_tag,
        custom_error_type="operation",
        custom_error_message=f"expected an operation with one of the keys {', '.join(OPERATIONS)}",
    ),
]
"""An operation as a rule file has it."""


def _read_pattern(text: object, info: ValidationInfo) -> object:
    if isinstance(text, Pattern):
        return text
    if not isinstance(text, str):
        raise ValueError("expected a pattern as text, such as V [upos=VERB]; V -[nsubj]-> S")
    try:
        return parse_pattern(text, info.context)
    except UserError as error:
        raise ValueError(str(error).removesuffix(".")) from None


Request = Annotated[Pattern, BeforeValidator(_read_pattern)]
"""A pattern as a rule file has it; the context is the pack's lists of words."""


def _check_names(pattern: Pattern, operations: Sequence[Operation]) -> None:
    """Raise ValueError for an operation that names a word which does not exist at that point."""
    nodes, deleted, added = [*pattern.nodes], set[str](), set[str]()
    for operation in operations:
        # (key of the operation, name of a word there, "=" or ""), such as ("to", "S", "=") for =S
        uses = [(key, node, "") for key, node in operation if key in NODES and node is not None]
        if isinstance(operation, Inflect):
            values = operation.to.values()
            uses += [("to", value.removeprefix(OF), OF) for value in values if value.startswith(OF)]
        for key, node, prefix in uses:
            problem = ""
            if node in added and key not in ("replace", "delete"):
                problem = "which an operation before adds; expected a word of the sentence (added "
                problem += "words can only be replaced and deleted)"
            elif node in deleted:
                problem = "which an operation before deletes; expected a word that stays"
            elif node not in nodes:
                expected = f"{prefix} and a word" if prefix else "a word"
                problem = f"expected {expected} of the pattern: {', '.join(nodes)}"
            if problem:
                raise ValueError(f"{key} has {prefix + node!r}, {problem}")
        match operation:
            case Delete(delete=node):
                deleted.add(node)
            case Move(move=node, after=after) if node == after:
                raise ValueError(f"move and after are both {node!r}, expected different words")
            case Add(name=node) if node in nodes:
                raise ValueError(
                    f"name has {node!r}, expected a name that no other word has; there are "
                    f"{', '.join(nodes)}"
                )
            case Add(name=node):
                nodes.append(node)
                added.add(node)


def _check_excluded(key: str, patterns: Sequence[Pattern], pattern: Pattern | None) -> None:
    """Raise ValueError for an excluded pattern that shares no word with ``pattern``."""
    nodes = pattern.nodes if pattern else {}
    for number, excluded in enumerate(patterns):
        if not excluded.nodes.keys() & nodes.keys():
            raise ValueError(
                f"{key}.{number} has {', '.join(excluded.nodes)}, expected a word of the "
                f"pattern among them: {', '.join(nodes) or 'there is no pattern'}"
            )


class Rule(Strict, arbitrary_types_allowed=True):
    """A rule that makes pairs from one type of sentences."""

    name: str = "plain"
    variant: Variant | None = None
    """The only variant that uses the rule; null for both."""
    source: Literal["treebank", "text"] = "treebank"
    """text: the rule applies to plain text too; its patterns have only forms and their order."""
    pattern: Request
    without: tuple[Request, ...] = ()
    """Patterns that must not hold; each names at least one word of the match."""
    corrected: tuple[Request, ...] = ()
    """Further patterns that must not hold, for the variant corrected only."""
    prepare: tuple[Step, ...] = ()
    """Changes of both sentences, if the treebank's sentence cannot be the grammatical one."""
    change: Annotated[tuple[Step, ...], Field(min_length=1)]
    """Changes of the ungrammatical sentence only."""
    context: tuple[Literal["previous", "next"], ...] = ()
    """Reject a pair if the treebank has each changed form beside the same word (previous, next),
    since the bad sentence may be right then. Deleted and moved words are not checked."""

    @pydantic.model_validator(mode="after")
    def _check_word_names(self) -> Self:
        _check_names(self.pattern, [*self.prepare, *self.change])
        _check_excluded("without", self.without, self.pattern)
        _check_excluded("corrected", self.corrected, self.pattern)
        for pattern in (self.pattern, *self.without, *self.corrected):
            if self.source == "text" and pattern.annotated:
                raise ValueError(
                    f"source is text, but a pattern has {', '.join(sorted(pattern.annotated))}, "
                    "which plain text does not have; expected forms and their order (<, <<) only"
                )
        return self


def _check_distinct(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    numbers: dict[str, int] = {}
    for number, rule in enumerate(rules):
        if numbers.setdefault(rule.name, number) != number:
            raise ValueError(
                f"names must not be repeated, but rules.{numbers[rule.name]}.name and "
                f"rules.{number}.name are both {rule.name!r} (plain where none is given); "
                "expected different names"
            )
    return rules


class ParadigmRules(Strict):
    """The rules of a paradigm."""

    about: str
    """Reason why the changed sentence is ungrammatical, in one sentence."""
    rules: Annotated[tuple[Rule, ...], Field(min_length=1), AfterValidator(_check_distinct)]

    def of_variant(self, variant: Variant) -> list[Rule]:
        """Return the rules of a variant, with all their excluded patterns in ``without``."""
        rules = [rule for rule in self.rules if rule.variant in (None, variant)]
        if variant == "corrected":
            rules = [r.model_copy(update={"without": r.without + r.corrected}) for r in rules]
        return rules


class Attestation(Strict):
    """Sources of attested forms in addition to the treebanks and UniMorph."""

    wordfreq: str | None = None
    """Language code in wordfreq (Speer 2022), a library of word frequencies."""


class Fault(Strict, arbitrary_types_allowed=True):
    """A fault that makes sentences of treebanks ungrammatical."""

    about: str
    """The fault, as a reason for rejected matches."""
    pattern: Request | None = None
    """Pattern of faulty sentences; null if all of them are listed."""
    without: tuple[Request, ...] = ()
    """Patterns that must not hold of the matched words."""
    sentences: dict[str, tuple[str, ...]] = Field(default={})
    """Ids of faulty sentences that no pattern matches, by the name of their treebank's file."""

    @pydantic.model_validator(mode="after")
    def _check_without(self) -> Self:
        _check_excluded("without", self.without, self.pattern)
        return self

    def is_in(self, tree: Tree) -> bool:
        if tree.sent_id in self.sentences.get(tree.file, ()):
            return True
        for match in matches(self.pattern, tree) if self.pattern else ():
            if not any(holds(excluded, tree, match) for excluded in self.without):
                return True
        return False


class Language(Strict):
    """A language's pack: what rules need to know about the language."""

    orthography: Orthography = Orthography()
    inflection: Inflection = Inflection()
    tables: dict[str, dict[str, str]] = Field(default={})
    """Forms and their replacements, by name of the table."""
    lists: dict[str, regular.Checked] = Field(default={})
    """Regular expressions of words, by the names that patterns use."""
    attestation: Attestation = Attestation()
    faults: tuple[Fault, ...] = ()
    """Faults of sentences that the variant corrected leaves out."""


def read_language(path: Path) -> Language:
    """Read a language's pack. Raises UserError, naming the key, if it is malformed."""
    return parse_yaml(Language, path, "language pack")


def read_declaration(path: Path, language: Language) -> ParadigmRules:
    """Read a paradigm's rules. Raises UserError, also for names that the pack does not have."""
    declaration = parse_yaml(ParadigmRules, path, "rule file", language.lists)
    for rule in declaration.rules:
        for operation in (*rule.prepare, *rule.change):
            present: Collection[str]
            match operation:
                case Replace(by=name):
                    present = language.tables
                case Add(add=name):
                    present = language.inflection.paradigms
                case Inflect(unless=unless) if unless and not language.inflection.has_cell(unless):
                    raise UserError(
                        f"{path}: rule {rule.name!r} has unless {unless}, but no cell of the "
                        "pack's inflections has these features; correct them."
                    )
                case _:
                    continue
            if name not in present:
                raise UserError(
                    f"{path}: rule {rule.name!r} names {name!r}, which "
                    f"{path.with_name(f'{LANGUAGE}.yaml')} does not have; expected one of "
                    f"{', '.join(present) or 'none, for it has none'}."
                )
    return declaration
