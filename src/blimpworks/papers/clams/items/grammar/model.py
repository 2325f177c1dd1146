"""Read and check attribute-varying grammars, from which CLAMS's evaluation sets are generated.

``read_grammar`` reads a file such as ::

    vary: V[]
    S[] the N[s] V[3,s]
    N[s] dog
    V[3,s] barks
    V[3,p] bark

A *template*, a rule of ``S[]``, has words and references to *preterminals*. A preterminal is a name
with attributes, ``V[3,s]``, and has *alternatives* of one or more words, separated by ``|``. The
*vary statement* has items such as ``V[]`` or ``V[s]``. An item *covers* the preterminals with its
name and at least its attributes. If a covered preterminal is replaced by another one of the same
name ("barks" by "bark"), the sentence is ungrammatical. A repeated left-hand side adds
alternatives. ``#`` begins a comment.
Source: Mueller et al. (2020), section 3, and the authors' released grammars.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import NoReturn

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedToken, VisitError

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError
from blimpworks.files import read_cells

START = "S"
MISTAKES = {
    row.pop("mistake"): tuple(row.values())
    for row in read_cells(Path(__file__).with_name("mistakes.tsv"))
}
"""Texts of messages by mistake: the finding, what is expected, and advice."""
COMMON = "common.avg"
"""File that the authors' program reads before each other grammar of its directory."""


@dataclass(frozen=True, slots=True)
class Location:
    """A file, a line and a column, both counted from 1."""

    file: Path
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def fail(location: Location, mistake: str, **facts: object) -> NoReturn:
    """Raise the UserError of a ``mistake`` at a location; ``facts`` are filled into its text."""
    finding, expected, advice = (text.format_map(facts) for text in MISTAKES[mistake])
    raise UserError(f"{location}: found {finding}; expected {expected}; {advice}.")


@dataclass(frozen=True, slots=True)
class Preterminal:
    """A name with a set of attributes; ``written`` is its first spelling in the grammar."""

    name: str
    attributes: frozenset[str]
    written: str = field(compare=False, default="")

    def __str__(self) -> str:
        return self.written or f"{self.name}[{','.join(sorted(self.attributes))}]"


@dataclass(frozen=True, slots=True)
class Reference:
    """A mention of a preterminal in a template or in the vary statement."""

    target: Preterminal
    location: Location


@dataclass(frozen=True, slots=True)
class Alternative:
    """An alternative of a preterminal: words with single spaces between them."""

    text: str
    location: Location


@dataclass(frozen=True, slots=True)
class Rule:
    """A preterminal, its alternatives in order, and the location of its first line."""

    defined: Preterminal
    alternatives: list[Alternative]
    location: Location


@dataclass(frozen=True, slots=True)
class Template:
    """An expansion of ``S[]``: words and references."""

    elements: tuple[str | Reference, ...]
    location: Location

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(element for element in self.elements if isinstance(element, Reference))

    def __str__(self) -> str:
        texts = [getattr(element, "target", element) for element in self.elements]
        return " ".join(map(str, [f"{START}[]", *texts]))


@dataclass(frozen=True)
class Grammar:
    """Templates and rules in order of definition, the vary statement, and the grammar's file."""

    templates: tuple[Template, ...]
    rules: Mapping[Preterminal, Rule]
    vary: tuple[Reference, ...]
    file: Path
    variant: Variant
    """published: as the authors' program reads and expands it; corrected: as it is meant."""

    def named(self, name: str) -> list[Rule]:
        """Return the rules of the preterminals with a name, whatever their attributes."""
        return [rule for rule in self.rules.values() if rule.defined.name == name]

    def items_for(self, target: Preterminal) -> list[Preterminal]:
        """Return the items of the vary statement that cover a preterminal."""
        items = (item.target for item in self.vary)
        return [item for item in items if _falls_under(target, item)]

    def uncovered(self, reference: Reference) -> bool:
        """Tell whether items of the vary statement have a reference's name, but none covers it."""
        named = any(item.target.name == reference.target.name for item in self.vary)
        return named and not self.items_for(reference.target)

    def segments(self, template: Template) -> tuple[str | Reference, ...]:
        """Return the elements of a template that are in its sentences.

        At an uncovered slot the authors' program loses the slot and all words before it, and so
        does ``published``. ``corrected`` keeps these words.
        """
        start = 0
        if self.variant == "published":
            for number, element in enumerate(template.elements, start=1):
                if isinstance(element, Reference) and self.uncovered(element):
                    start = number
        return template.elements[start:]

    def rule_groups(self, target: Preterminal) -> list[list[Rule]]:
        """Return the rules for a slot in groups: the right rule, then the wrong ones.

        There is one group, unless all items that cover the slot have attributes. ``published``
        then has a group for each item, with the right rule also among the wrong rules, as in the
        authors' program.
        """
        right, named = self.rules[target], self.named(target.name)
        items = list(dict.fromkeys(self.items_for(target)))
        if self.variant == "published" and items and all(item.attributes for item in items):
            return [
                [right, *(rule for rule in named if _falls_under(rule.defined, item))]
                for item in items
            ]
        wrong = []
        for rule in named:
            is_covered = any(_falls_under(rule.defined, item) for item in items)
            if is_covered and rule is not right:
                wrong.append(rule)
        return [[right, *wrong]]

    def slot_rules(self, target: Preterminal) -> dict[Preterminal, Rule]:
        """Return the rules for a slot by preterminal, the right one first."""
        return {rule.defined: rule for rules in self.rule_groups(target) for rule in rules}


def _falls_under(target: Preterminal, item: Preterminal) -> bool:
    return target.name == item.name and item.attributes <= target.attributes


def listed(preterminals: Iterable[Preterminal]) -> str:
    """Join preterminals for a message: ``V[3,s] and V[3,p]``."""
    *first, last = map(str, preterminals)
    return f"{', '.join(first)} and {last}" if first else last


def _fail_undefined(grammar: Grammar, reference: Reference, where: str) -> NoReturn:
    """Raise UserError for an undefined preterminal, with a suggestion of defined ones."""
    name = reference.target.name
    defined = [rule.defined for rule in grammar.named(name)]
    if defined:
        expected = f"one of the attribute sets that {name} is defined with: {listed(defined)}"
    else:
        names = list(dict.fromkeys(preterminal.name for preterminal in grammar.rules))
        # Names similar to a misspelt one, or else a few examples.
        close = get_close_matches(name, names) or names[:5]
        suggestion = f", such as {' or '.join(close)}" if close else "; there is none yet"
        expected = f"a name that a rule defines{suggestion}"
    target = reference.target
    fail(reference.location, "undefined", reference=target, where=where, expected=expected)


def _check_template(grammar: Grammar, template: Template) -> None:
    """Raise UserError for an undefined slot, or slots that cannot vary as the items ask."""
    for reference in template.references:
        if reference.target.name == START:
            fail(reference.location, "template in a template", reference=reference.target)
        if reference.target not in grammar.rules:
            _fail_undefined(grammar, reference, "in a template")
    segments = grammar.segments(template)
    references = (segment for segment in segments if isinstance(segment, Reference))
    varied = [reference for reference in references if grammar.items_for(reference.target)]
    # With ``published`` a template may lose all its elements.
    if segments and not varied:
        items = listed(item.target for item in grammar.vary)
        fail(template.location, "nothing varies", items=items)
    for reference in varied:
        target = reference.target
        groups = grammar.rule_groups(target)
        if len({len(rules) for rules in groups}) > 1:
            fail(reference.location, "unequal items", reference=target)
        if len(groups[0]) == 1:
            fail(reference.location, "nothing to vary with", reference=target, name=target.name)
        for right, *wrong_rules in groups:
            for wrong in wrong_rules:
                count, expected = len(wrong.alternatives), len(right.alternatives)
                if count < expected or (grammar.variant == "corrected" and count > expected):
                    fail(
                        wrong.location,
                        "unequal alternatives",
                        count=f"{count} alternative{'s' if count > 1 else ''}",
                        other=wrong.defined,
                        wanted=expected,
                        right=right.defined,
                        place_of_right=right.location,
                    )


BLANKS = " \t\r"
ARROWS = ("→", "->", "=>", "=", ":", "::=")
"""Signs between the two sides of a rule in other notations; this one has a space."""


def common_beside(path: Path) -> Path | None:
    """Return the ``common.avg`` in a grammar's directory, unless it is the grammar itself."""
    common = path.with_name(COMMON)
    return common if common != path and common.is_file() else None


def read_grammar(path: Path, common: Path | None, variant: Variant) -> Grammar:
    """Read and check a grammar, after ``common`` if given. Raises UserError for a mistake."""
    reader = _Reader()
    for file in [common, path] if common else [path]:
        reader.read(file)
    templates, varied = tuple(reader.templates), tuple(reader.varied)
    grammar = Grammar(templates, reader.rules, varied, path, variant)
    if not grammar.templates:
        key = "no template common" if path.name == COMMON else "no template"
        fail(Location(path, 1, 1), key, common=COMMON)
    if not grammar.vary:
        fail(Location(path, 1, 1), "no vary statement")
    for item in grammar.vary:
        named = grammar.named(item.target.name)
        if not named:
            _fail_undefined(grammar, item, "in the vary statement")
        if not any(item.target.attributes <= rule.defined.attributes for rule in named):
            sets, name = listed(rule.defined for rule in named), item.target.name
            fail(item.location, "attributes of none", item=item.target, name=name, known=sets)
    for template in grammar.templates:
        _check_template(grammar, template)
    return grammar


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UserError(
            f"{path} is not a file; expected an attribute-varying grammar; correct the path."
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        location = Location(path, before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
        fail(location, "not UTF-8", byte=data[error.start])


@cache
def _parser() -> Lark:
    return Lark.open("grammar.lark", rel_to=__file__, parser="lalr", start=["start", "mistakes"])


@v_args(inline=True)
class _Reader(Transformer[Token, None]):
    """Collector of files' statements; lark calls the method that a rule of grammar.lark names."""

    def __init__(self) -> None:
        super().__init__()
        self.file = Path()
        self.templates: list[Template] = []
        self.rules: dict[Preterminal, Rule] = {}
        self.varied: list[Reference] = []

    def read(self, file: Path) -> None:
        self.file = file
        text = f"{_read(file)}\n"
        try:
            self.transform(_parser().parse(text, start="start"))
        except UnexpectedToken as error:
            _explain(error.token, error.expected, text.split("\n")[error.line - 1], file)
        except VisitError as error:
            raise error.orig_exc from None

    def REFERENCE(self, token: Token) -> Reference:
        name, _, listed_attributes = token.removesuffix("]").partition("[")
        attributes: list[str] = []
        if listed_attributes.strip(BLANKS):
            attributes = [text.strip(BLANKS) for text in listed_attributes.split(",")]
        location = _location(token, self.file)
        if token.type != "ITEM" and not {*BLANKS}.isdisjoint(token):
            fail(location, "blank in brackets", token=token)
        if "" in attributes:
            fail(location, "empty attribute", token=token)
        written = f"{name}[{','.join(attributes)}]"
        return Reference(Preterminal(name, frozenset(attributes), written), location)

    LEFT = ITEM = REFERENCE

    def sentence(self, *elements: Token | Reference) -> Template:
        first = elements[0]
        location = first.location if isinstance(first, Reference) else _location(first, self.file)
        plain = (item if isinstance(item, Reference) else str(item) for item in elements)
        return Template(tuple(plain), location)

    def words(self, *tokens: Token) -> Alternative:
        return Alternative(" ".join(tokens), _location(tokens[0], self.file))

    def template(self, symbol: Token, *sentences: Template) -> None:
        _check_arrow(str(symbol), str(sentences[0].elements[0]), sentences[0].location)
        self.templates += sentences

    def rule(self, defined: Reference, *alternatives: Alternative | None) -> None:
        written = [alternative or Alternative("", defined.location) for alternative in alternatives]
        _check_arrow(str(defined.target), written[0].text.split(" ")[0], written[0].location)
        rule = self.rules.setdefault(defined.target, Rule(defined.target, [], defined.location))
        rule.alternatives.extend(written)

    def vary(self, *items: Reference) -> None:
        self.varied += items


def _location(token: Token, file: Path, offset: int = 0) -> Location:
    return Location(file, token.line or 1, (token.column or 1) + offset)


def _check_arrow(left_hand_side: str, first: str, location: Location) -> None:
    if first in ARROWS:
        fail(location, "arrow", arrow=first, left=left_hand_side)


def _explain(token: Token, expected: Collection[str], line: str, file: Path) -> NoReturn:
    """Raise the UserError for a token of a line where other terminals were ``expected``."""
    key = token.type if token.type in MISTAKES else _misplaced(token, expected, line)
    # The message points to the bracket, or behind "vary", in place of the token's start.
    offsets = {"UNOPENED": len(token) - 1, "UNCLOSED": len(token) - 1, "no colon": len("vary")}
    fail(
        _location(token, file, offsets.get(key, 0)),
        key,
        token=str(token),
        closed=f"{token.partition(']')[0]}]",
        left=line.partition("]")[0].lstrip(BLANKS) + "]",
        item=line.partition(":")[2].strip(BLANKS),
    )


def _misplaced(token: Token, expected: Collection[str], line: str) -> str:
    """Return the key of ``MISTAKES`` for a valid token at a wrong position.

    ``expected``: terminals of grammar.lark that may follow there. They tell the kind of statement.
    """
    if "LEFT" in expected:  # at the start of a line
        if token.startswith("vary"):
            return "no colon"
        return "attributes of S" if token.startswith(f"{START}[") else "no left-hand side"
    if "ITEM" in expected or "SEMICOLON" in expected:  # in a vary statement
        return "no item" if token.type == "_NEWLINE" or token == ";" else "item"
    if token.type == "_NEWLINE" or token == "|":  # in place of a word
        return "empty" if "|" in line else "no right-hand side"
    return "recursion"  # a reference in a rule
