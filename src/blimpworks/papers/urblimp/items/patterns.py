"""Patterns over dependency trees, in a part of Grew-match's request language, and their matches.

A pattern is a list of clauses, separated by semicolons; all must hold of distinct words::

    V [upos=VERB, Person=3]       a word's features; "A|B", "<>", "!Aspect", re"..." as values;
    S [form=@people]              a regular expression that the language's pack has under a name;
    V -[nsubj]-> S                an edge; "a|b" for either relation, "^a|b" for neither;
    V -> S                        any edge;
    S < K                         S directly precedes K;
    S << V                        S precedes V;
    S.Gender = V.Gender           the same value, which both have; "<>" for different values.

Besides the treebank's features a word has ``form``, ``lemma``, ``upos`` and ``xpos``. Source of
syntax and meaning: Guillaume (2021), Graph Matching and Graph Rewriting: GREW tools for corpus
exploration, maintenance and conversion, EACL.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, VisitError

from blimpworks.errors import UserError
from blimpworks.linguistics.regular import Expression, expression
from blimpworks.papers.urblimp.items.trees import Tree

EXPECTED = (
    "expected clauses such as V [upos=VERB], V -[nsubj]-> S, S < K or S.Gender = V.Gender, "
    "separated by semicolons"
)
MOST_WORDS, MOST_APART = 10, 3
"""Most words of a pattern, and most that no edges connect: each of these can be any word."""
Match = Mapping[str, int]
"""Indices of words in a tree, by their names in the pattern."""


Value = str | Expression
"""A value that stands for itself, or an expression of all of it."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A word's feature must be one of ``values`` or, negated, another one."""

    name: str
    values: tuple[Value, ...]
    """Empty: any value or, negated, no such feature."""
    negated: bool = False

    def holds(self, features: Mapping[str, str]) -> bool:
        present = features.get(self.name)
        if not self.values:
            return (present is None) == self.negated
        if present is None:
            return False
        return self.negated != any(
            value == present if isinstance(value, str) else value.fullmatch(present)
            for value in self.values
        )


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of two words: an edge (->), an order (<, <<) or a comparison (=, <>)."""

    first: str
    sign: str
    second: str
    names: tuple[str, ...] = ()
    """Relations of the edge, empty for any; or the feature of the first word, and the second's."""
    negated: bool = False
    """Whether the edge has another relation than these."""

    def holds(self, tree: Tree, first: int, second: int) -> bool:
        if self.sign == "->":
            child = tree.words[second]
            allowed = not self.names or (child.relation in self.names) != self.negated
            return allowed and child.head == first
        if self.sign in ("<", "<<"):
            return second - first == 1 if self.sign == "<" else second > first
        pairs = zip((first, second), self.names, strict=True)
        values = [tree.words[index].features.get(name) for index, name in pairs]
        return None not in values and (values[0] == values[1]) == (self.sign == "=")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Features of each word in order of first mention, and relations between words."""

    nodes: Mapping[str, tuple[Feature, ...]]
    relations: tuple[Relation, ...] = ()

    @property
    def apart(self) -> int:
        """Number of groups of words that no edge connects."""
        groups = {name: {name} for name in self.nodes}
        for edge in self.relations:
            if edge.sign == "->":
                joined = groups[edge.first] | groups[edge.second]
                groups |= dict.fromkeys(joined, joined)
        return len({id(group) for group in groups.values()})


@v_args(inline=True)
class _Reader(Transformer[Token, Any]):
    """Makes records of the parse tree's clauses."""

    NAME = RELATION = word = str
    order = Relation

    def __init__(self, lists: Mapping[str, str]) -> None:
        super().__init__()
        self.lists = lists

    def listed(self, name: Token) -> Value:
        if name not in self.lists:
            list_names = ", ".join(self.lists) or "none, for it has none"
            raise UserError(f"pattern names the list {str(name)!r}; the pack has {list_names}.")
        return expression(self.lists[name])

    def string(self, text: Token) -> Value:
        return str(text[1:-1])

    def regex(self, text: Token) -> Value:
        return expression(str(text[3:-1]))

    def values(self, *expressions: Value) -> tuple[Value, ...]:
        return expressions

    def feature(self, name: str, sign: str | None, values: Any) -> Feature:
        return Feature(name, values or (), negated=sign == "<>")

    def absent(self, name: str) -> Feature:
        return Feature(name, (), negated=True)

    def node(self, name: str, *features: Feature | None) -> tuple[str, tuple[Feature, ...]]:
        return name, tuple(feature for feature in features if feature is not None)

    def any_edge(self, head: str, child: str) -> Relation:
        return Relation(head, "->", child)

    def edge(self, head: str, negation: Token | None, *relations_and_child: str) -> Relation:
        *relations, child = relations_and_child
        return Relation(head, "->", child, tuple(relations), negation is not None)

    def compare(self, first: str, name: str, sign: str, second: str, other: str) -> Relation:
        return Relation(first, sign, second, (name, other))

    def start(self, *clauses: Any) -> Pattern:
        """Collect the pattern; features of a word that is named several times add up."""
        nodes: dict[str, tuple[Feature, ...]] = {}
        relations = []
        for clause in clauses:
            if isinstance(clause, Relation):
                relations.append(clause)
                nodes |= {n: () for n in (clause.first, clause.second) if n not in nodes}
            elif clause is not None:
                name, features = clause
                nodes[name] = nodes.get(name, ()) + features
        return Pattern(nodes, tuple(relations))


@cache
def _parser() -> Lark:
    return Lark.open("patterns.lark", rel_to=__file__, parser="lalr")


def parse_pattern(text: str, lists: Mapping[str, str] | None = None) -> Pattern:
    """Read a pattern; ``lists`` has regular expressions by name. Raises UserError."""
    try:
        pattern: Pattern = _Reader(lists or {}).transform(_parser().parse(text))
    except VisitError as error:
        if isinstance(error.orig_exc, UserError):
            raise error.orig_exc from None
        raise UserError(
            f"pattern has a malformed regular expression ({error.orig_exc}); expected one "
            'as RE2 reads it, such as re".+ے".'
        ) from None
    except UnexpectedInput as error:
        line = (text.splitlines() or [""])[max(error.line, 1) - 1] if error.line > 0 else text
        raise UserError(
            f"pattern is malformed at line {error.line}, column {error.column}, in "
            f"{line.strip()!r}; {EXPECTED}."
        ) from None
    if not pattern.nodes:
        raise UserError(f"pattern is empty; {EXPECTED}.")
    if len(pattern.nodes) > MOST_WORDS or pattern.apart > MOST_APART:
        raise UserError(
            f"pattern has {len(pattern.nodes)} words in {pattern.apart} parts that no edge "
            f"connects; expected at most {MOST_WORDS} words in {MOST_APART} parts. Connect them "
            "with edges, or leave some out."
        )
    return pattern


def matches(pattern: Pattern, tree: Tree, known: Match | None = None) -> Iterator[Match]:
    """Yield each way in which distinct words fulfil a pattern, in the order of the words.

    ``known`` fixes the words of some names; the pattern must hold of them too.
    """

    def fits(match: Match, node: str) -> bool:
        features = tree.words[match[node]].features
        return all(feature.holds(features) for feature in pattern.nodes[node]) and all(
            relation.holds(tree, match[relation.first], match[relation.second])
            for relation in pattern.relations
            if node in (ends := (relation.first, relation.second)) and match.keys() >= {*ends}
        )

    def candidates(match: Match, node: str) -> Sequence[int]:
        # Words at the other end of an edge to a matched word, or else all.
        for edge in pattern.relations:
            if edge.sign == "->" and edge.second == node and edge.first in match:
                return tree.children.get(match[edge.first], ())
            if edge.sign == "->" and edge.first == node and edge.second in match:
                return [head] if (head := tree.words[match[edge.second]].head) >= 0 else []
        return range(len(tree.words))

    def extended(match: Match) -> Iterator[Match]:
        node = next((name for name in pattern.nodes if name not in match), None)
        if node is None:
            yield match
            return
        for index in candidates(match, node):
            longer = {**match, node: index}
            if index not in match.values() and fits(longer, node):
                yield from extended(longer)

    match = dict(known or {})
    if all(fits(match, name) for name in pattern.nodes if name in match):
        yield from extended(match)


def holds(pattern: Pattern, tree: Tree, known: Match) -> bool:
    """Tell whether a pattern holds of some known words."""
    return next(matches(pattern, tree, known), None) is not None
