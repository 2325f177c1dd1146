"""Patterns over dependency trees, written as requests of Grew-match are.

A pattern is a list of clauses, separated by semicolons; all must hold of distinct words::

    V [upos=VERB, Person=3]       a word's features; "A|B", "<>", "!Aspect", re"..." as values
    S [form=@people]              a regular expression that the language's pack has under a name
    V -[nsubj]-> S                an edge; "a|b" for either relation, "^a|b" for neither
    V -> S                        any edge
    S < K                         S stands right before K
    S << V                        S stands somewhere before V
    S.Gender = V.Gender           the same value, which both have; "<>" for different values

Besides the treebank's features a word has ``form``, ``lemma``, ``upos`` and ``xpos``. Syntax and
meaning are those of Grew's request language (Guillaume 2021, Graph Matching and Graph Rewriting:
GREW tools for corpus exploration, maintenance and conversion, EACL), of which this is a part.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, VisitError

from blimpworks.errors import UserError

GRAMMAR = r"""
start: [clause (";" clause)*] ";"?
?clause: node | edge | adjacent | before | compare
node: NAME "[" [feature ("," feature)*] "]"
feature: NAME "=" values -> among
    | NAME "<>" values -> none_of
    | "!" NAME -> absent
    | NAME -> present
values: value ("|" value)*
?value: "@" WORD -> listed | WORD -> word | STRING -> string | REGEX -> regex
edge: NAME "-[" relations "]->" NAME | NAME "->" NAME -> any_edge
relations: [NOT] RELATION ("|" RELATION)*
adjacent: NAME "<" NAME
before: NAME "<<" NAME
compare: NAME "." NAME SIGN NAME "." NAME
SIGN: "=" | "<>"
NOT: "^"
RELATION: /[a-z]+(:[a-z]+)?/
NAME: /[^\W\d]\w*/
WORD: /\w+/
STRING: /"[^"]*"/
REGEX.2: /re"[^"]*"/
%import common.WS
%ignore WS
%ignore /#[^\n]*/
"""
EXPECTED = (
    "expected clauses such as V [upos=VERB], V -[nsubj]-> S, S < K or S.Gender = V.Gender, "
    "separated by semicolons"
)


@dataclass(frozen=True, slots=True)
class Feature:
    """What a word's feature must be: one of ``values`` or, negated, none of them."""

    name: str
    values: tuple[re.Pattern[str], ...]
    """Empty: any value; negated, that it is absent."""
    negated: bool = False

    def holds(self, features: Mapping[str, str]) -> bool:
        """Whether features fulfil it; other values than those named must be there."""
        found = features.get(self.name)
        if not self.values:
            return (found is None) == self.negated
        if found is None:
            return False
        return any(value.fullmatch(found) for value in self.values) != self.negated


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between two words of a pattern, with one of some relations or none of them."""

    head: str
    child: str
    relations: frozenset[str] | None
    """None: any relation."""
    negated: bool = False

    def allows(self, relation: str) -> bool:
        """Whether an edge of that relation fulfils it."""
        return self.relations is None or (relation in self.relations) != self.negated


@dataclass(frozen=True, slots=True)
class Order:
    """That a word stands before another, ``adjacent`` or not."""

    first: str
    second: str
    adjacent: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """That two words have the same value of features, or different ones."""

    first: tuple[str, str]
    second: tuple[str, str]
    equal: bool


@dataclass(frozen=True, slots=True)
class Pattern:
    """Clauses by kind; ``nodes`` has all words of the pattern in order of first mention."""

    nodes: Mapping[str, tuple[Feature, ...]]
    edges: tuple[Edge, ...] = ()
    orders: tuple[Order, ...] = ()
    comparisons: tuple[Comparison, ...] = ()


@v_args(inline=True)
class _Reader(Transformer[Token, Any]):
    """The parse tree's clauses as records."""

    def __init__(self, lists: Mapping[str, str]) -> None:
        super().__init__()
        self.lists = lists

    def listed(self, name: Token) -> re.Pattern[str]:
        if name not in self.lists:
            known = ", ".join(self.lists) or "none, for it has none"
            raise UserError(f"pattern names the list {str(name)!r}; the pack has {known}.")
        return re.compile(self.lists[name])

    def word(self, name: Token) -> re.Pattern[str]:
        return re.compile(re.escape(name))

    def string(self, text: Token) -> re.Pattern[str]:
        return re.compile(re.escape(text[1:-1]))

    def regex(self, text: Token) -> re.Pattern[str]:
        return re.compile(text[3:-1])

    def values(self, *found: re.Pattern[str]) -> tuple[re.Pattern[str], ...]:
        return found

    def among(self, name: Token, values: tuple[re.Pattern[str], ...]) -> Feature:
        return Feature(str(name), values)

    def none_of(self, name: Token, values: tuple[re.Pattern[str], ...]) -> Feature:
        return Feature(str(name), values, negated=True)

    def present(self, name: Token) -> Feature:
        return Feature(str(name), ())

    def absent(self, name: Token) -> Feature:
        return Feature(str(name), (), negated=True)

    def node(self, name: Token, *features: Feature | None) -> tuple[str, tuple[Feature, ...]]:
        return str(name), tuple(feature for feature in features if feature is not None)

    def relations(self, negated: Token | None, *names: Token) -> tuple[frozenset[str], bool]:
        return frozenset(map(str, names)), negated is not None

    def edge(self, head: Token, relations: tuple[frozenset[str], bool], child: Token) -> Edge:
        return Edge(str(head), str(child), *relations)

    def any_edge(self, head: Token, child: Token) -> Edge:
        return Edge(str(head), str(child), None)

    def adjacent(self, first: Token, second: Token) -> Order:
        return Order(str(first), str(second), adjacent=True)

    def before(self, first: Token, second: Token) -> Order:
        return Order(str(first), str(second), adjacent=False)

    def compare(
        self, first: Token, name: Token, sign: Token, second: Token, other: Token
    ) -> Comparison:
        return Comparison((str(first), str(name)), (str(second), str(other)), sign == "=")

    def start(self, *clauses: Any) -> Pattern:
        return _pattern([clause for clause in clauses if clause is not None])


def _mentioned(clause: Any) -> tuple[str, ...]:
    match clause:
        case Edge():
            return clause.head, clause.child
        case Order():
            return clause.first, clause.second
        case Comparison():
            return clause.first[0], clause.second[0]
        case _:
            return (clause[0],)


def _pattern(clauses: list[Any]) -> Pattern:
    nodes: dict[str, tuple[Feature, ...]] = {}
    for clause in clauses:
        for name in _mentioned(clause):
            nodes.setdefault(name, ())
        if isinstance(clause, tuple):
            nodes[clause[0]] += clause[1]
    return Pattern(
        nodes,
        tuple(clause for clause in clauses if isinstance(clause, Edge)),
        tuple(clause for clause in clauses if isinstance(clause, Order)),
        tuple(clause for clause in clauses if isinstance(clause, Comparison)),
    )


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr")


def parse_pattern(text: str, lists: Mapping[str, str] | None = None) -> Pattern:
    """Read a pattern, of one word or more; ``lists`` has regular expressions by name.

    Raises UserError with line and column of what the grammar doesn't have, and for a list that
    there is none of.
    """
    try:
        found: Pattern = _Reader(lists or {}).transform(_parser().parse(text))
    except VisitError as error:
        if isinstance(error.orig_exc, UserError):
            raise error.orig_exc from None
        raise UserError(
            f"pattern has a malformed regular expression ({error.orig_exc}); expected one "
            'as Python reads it, such as re".+ے".'
        ) from None
    except UnexpectedInput as error:
        line = (text.splitlines() or [""])[max(error.line, 1) - 1] if error.line > 0 else text
        raise UserError(
            f"pattern is malformed at line {error.line}, column {error.column}, in "
            f"{line.strip()!r}; {EXPECTED}."
        ) from None
    if not found.nodes:
        raise UserError(f"pattern is empty; {EXPECTED}.")
    return found
