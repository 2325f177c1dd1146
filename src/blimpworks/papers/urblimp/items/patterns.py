"""Sentences as dependency trees, a language of patterns over them, and the patterns' matches.

``parse_pattern`` reads a pattern, ``matches`` finds it in a tree: for ``V -[nsubj]-> S``, it yields
{"V": 4, "S": 0}. V and S are nodes, which are names of words in the pattern; 4 and 0 are indices of
words in the sentence. The language is a subset of Grew-match's. A pattern has clauses, separated by
semicolons, which must all hold::

    V [upos=VERB, Person<>3]      a word's features: A=B|C for either value, A<>B for another value,
                                  !A for no feature A, A=re"..." for a regular expression;
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

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, VisitError

from blimpworks.errors import UserError
from blimpworks.linguistics.orthography import Orthography
from blimpworks.linguistics.regular import Expression, expression
from blimpworks.tables import SENTENCES, TOKENS, read_table

AUX = "aux"


@dataclass(frozen=True, slots=True)
class TreeWord:
    """A word of a sentence."""

    form: str
    head: int
    """Index of its head in the tree; -1 for a root and in text without edges."""
    relation: str
    features: Mapping[str, str]
    """Features of the treebank; also form, lemma, upos and xpos."""
    space: bool = True
    """Whether a space follows it."""

    @property
    def lemma(self) -> str:
        return self.features.get("lemma", "")

    @property
    def upos(self) -> str:
        return self.features.get("upos", "")

    def spelled(self, form: str) -> "TreeWord":
        return replace(self, form=form, features={**self.features, "form": form})


@dataclass(frozen=True)
class Tree:
    """A sentence: its words in order, and its source."""

    words: tuple[TreeWord, ...]
    treebank: str = ""
    file: str = ""
    sent_id: str = ""
    line: int = 0
    contracted: bool = False
    """Whether a token is not written as the words it stands for (French *du*: *de*, *le*)."""

    @cached_property
    def children(self) -> Mapping[int, Sequence[int]]:
        children: dict[int, list[int]] = defaultdict(list)
        for index, word in enumerate(self.words):
            children[word.head].append(index)
        return dict(children)

    def complex_of(self, head: int, relations: Sequence[str]) -> list[int]:
        """Return a word and its later children with ``relations``, such as a verb's auxiliaries."""
        children = self.children.get(head, ())
        later = [child for child in children if child > head]
        return [head, *(child for child in later if self.words[child].relation in relations)]

    def subtree(self, node: int, without: Collection[int]) -> list[int]:
        """Return a word and its descendants in order, except subtrees of the words ``without``."""
        indices = [node]
        # The list grows while it is read, so that children of children are reached too.
        for index in indices:
            indices += [child for child in self.children.get(index, ()) if child not in without]
        return sorted(indices)


def _words(rows: Sequence[Mapping[str, object]], orthography: Orthography) -> Iterator[TreeWord]:
    """Yield the words of a sentence from its rows of the tokens table.

    The spelling may cut off the end of a token, such as Urdu's auxiliary of the future (*will go*
    in one token). The end becomes a word without features, an auxiliary of the token.
    """
    # Index of each word in the sentence, by its number in the treebank; 0 is the head of a root.
    indices: dict[object, int] = {0: -1}
    forms_and_ends: list[tuple[str, str]] = []  # the end is "" if nothing is cut off
    count = 0
    for row in rows:
        form = orthography.word(str(row["form"]))
        stem, gap, last = form.rpartition(" ")
        is_cut = bool(gap) and orthography.stands_apart(last)
        forms_and_ends.append((stem, last) if is_cut else (form, ""))
        indices[row["word"]] = count
        count += 2 if is_cut else 1
    for row, (form, end) in zip(rows, forms_and_ends, strict=True):
        pairs = str(row["feats"] or "").split("|")
        features = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        features |= {
            "form": form,
            "lemma": orthography.word(str(row["lemma"] or "")),
            "upos": str(row["upos"] or ""),
            "xpos": str(row["xpos"] or ""),
        }
        head, relation = indices.get(row["head"], -1), str(row["deprel"] or "")
        space = bool(row["space_after"])
        yield TreeWord(form, head, relation, features, space or bool(end))
        if end:
            # The end of an auxiliary belongs to the auxiliary's verb.
            if not relation.startswith((AUX, "cop", "compound")):
                head = indices[row["word"]]
            features = {"form": end, "lemma": end, "upos": "AUX", "xpos": ""}
            yield TreeWord(end, head, AUX, features, space)


def read_trees(tokens: Path, sentences: Path, orthography: Orthography) -> Iterator[Tree]:
    """Yield treebanks' sentences in the tables' order, without multiword ranges and empty nodes."""
    columns = ["sentence", "id", "word", "form", "lemma", "upos", "xpos", "feats", "head", "deprel"]
    rows: dict[int, list[dict[str, object]]] = defaultdict(list)
    contracted = set()
    for row in read_table(TOKENS, tokens, [*columns, "space_after"]).to_pylist():
        if row["word"] is not None:
            rows[row["sentence"]].append(row)
        elif "-" in row["id"]:
            contracted.add(row["sentence"])
    origins = read_table(SENTENCES, sentences)
    for origin in origins.select(["sentence", "treebank", "file", "sent_id", "line"]).to_pylist():
        number = origin.pop("sentence")
        tree_words = tuple(_words(rows[number], orthography))
        yield Tree(tree_words, **origin, contracted=number in contracted)


def plain_trees(text: Path, orthography: Orthography) -> Iterator[Tree]:
    """Yield the lines of a plain text as sentences without edges, with the form as only feature.

    Spaces separate words, and so does punctuation at their ends.
    """
    from blimpworks.models.text import read_sentences

    for number, line in enumerate(read_sentences(text), start=1):
        tokens = orthography.tokens(line)
        tree_words = tuple(TreeWord(form, -1, "", {"form": form}, space) for form, space in tokens)
        yield Tree(tree_words, file=text.name, sent_id=str(number), line=number)


# Patterns

EXPECTED = (
    "expected clauses such as V [upos=VERB], V -[nsubj]-> S, S < K or S.Gender = V.Gender, "
    "separated by semicolons"
)
# The limits keep the search short: it tries each word of a sentence as start of each group.
MOST_WORDS, MOST_GROUPS = 10, 3
"""Most words of a pattern, and most groups of words that no edge connects."""
Match = Mapping[str, int]
"""Indices of words in a tree, by their names in the pattern."""
Value = str | Expression
"""A literal value, or a regular expression that must match all of a value."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A condition: a word has the feature, with one of ``values`` or, if negated, another value."""

    name: str
    values: tuple[Value, ...]
    """Empty: the word has the feature or, if negated, lacks it."""
    negated: bool = False

    def holds(self, features: Mapping[str, str]) -> bool:
        present = features.get(self.name)
        if not self.values:
            return (present is None) == self.negated
        if present is None:
            return False
        has_value = any(
            value == present if isinstance(value, str) else value.fullmatch(present)
            for value in self.values
        )
        return has_value != self.negated


@dataclass(frozen=True, slots=True)
class Relation:
    """A condition on two words: an edge (V -[nsubj]-> S), an order (S < V) or a comparison."""

    first: str
    sign: str
    second: str
    names: tuple[str, ...] = ()
    """The relations that an edge may have, empty for any; the two features of a comparison."""
    negated: bool = False
    """Whether the edge must have none of the relations."""

    def holds(self, tree: Tree, first: int, second: int) -> bool:
        if self.sign == "->":
            child = tree.words[second]
            allowed = not self.names or (child.relation in self.names) != self.negated
            return allowed and child.head == first
        if self.sign == "<":
            return second == first + 1
        if self.sign == "<<":
            return second > first
        name, second_name = self.names
        value = tree.words[first].features.get(name)
        second_value = tree.words[second].features.get(second_name)
        is_equal = value == second_value
        return None not in (value, second_value) and is_equal == (self.sign == "=")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Conditions on words and on pairs of words."""

    nodes: Mapping[str, tuple[Feature, ...]]
    """{name of a word: conditions on it}, in the order in which the pattern mentions the names."""
    relations: tuple[Relation, ...] = ()

    @property
    def annotated(self) -> frozenset[str]:
        """Names of features except the form, and "->" for edges: what plain text does not have."""
        names = {feature.name for features in self.nodes.values() for feature in features}
        for relation in self.relations:
            names |= {relation.sign} if relation.sign == "->" else {*relation.names}
        return frozenset(names - {"form"})

    @property
    def group_count(self) -> int:
        """Number of groups of words that no edges connect."""
        # Each edge merges the groups of its ends. Words of a group have the same set object.
        groups = {name: {name} for name in self.nodes}
        for edge in self.relations:
            if edge.sign == "->":
                joined = groups[edge.first] | groups[edge.second]
                groups |= dict.fromkeys(joined, joined)
        return len({id(group) for group in groups.values()})


@v_args(inline=True)
class _Reader(Transformer[Token, Any]):
    """Turns lark's parse tree into a pattern; its methods are called after rules of the grammar."""

    NAME = RELATION = word = str
    # The grammar's rule for "S < V" gives first, sign and second.
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

    def compare(self, first: str, name: str, sign: str, second: str, name_2: str) -> Relation:
        return Relation(first, sign, second, (name, name_2))

    def start(self, *clauses: Any) -> Pattern:
        """Collect the clauses; a word has the conditions of all clauses that name it."""
        nodes: dict[str, tuple[Feature, ...]] = {}
        relations = []
        for clause in clauses:
            if isinstance(clause, Relation):
                relations.append(clause)
                for name in (clause.first, clause.second):
                    nodes.setdefault(name, ())
            elif clause is not None:
                name, features = clause
                nodes[name] = nodes.get(name, ()) + features
        return Pattern(nodes, tuple(relations))


@cache
def _parser() -> Lark:
    return Lark.open("patterns.lark", rel_to=__file__, parser="lalr")


def parse_pattern(text: str, lists: Mapping[str, str] | None = None) -> Pattern:
    """Parse a pattern. Raises UserError if it is malformed or too large.

    ``lists`` are {name: regular expression}, for conditions such as ``form=@people``.
    """
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
        # At the end of the text, lark gives no line.
        line = text.splitlines()[error.line - 1] if error.line > 0 else text
        raise UserError(
            f"pattern is malformed at line {error.line}, column {error.column}, in "
            f"{line.strip()!r}; {EXPECTED}."
        ) from None
    if not pattern.nodes:
        raise UserError(f"pattern is empty; {EXPECTED}.")
    if len(pattern.nodes) > MOST_WORDS or pattern.group_count > MOST_GROUPS:
        raise UserError(
            f"pattern has {len(pattern.nodes)} words in {pattern.group_count} parts that no edge "
            f"connects; expected at most {MOST_WORDS} words in {MOST_GROUPS} parts. Connect them "
            "with edges, or leave some out."
        )
    return pattern


def matches(pattern: Pattern, tree: Tree, fixed: Match | None = None) -> Iterator[Match]:
    """Yield each match of a pattern with distinct words of a tree, in the order of the words.

    ``fixed`` has words that are already chosen; they must fit the pattern too. The search chooses a
    word for one name of the pattern after the other, and goes back if a condition fails.
    """

    def fits(match: Match, node: str) -> bool:
        features = tree.words[match[node]].features
        if not all(feature.holds(features) for feature in pattern.nodes[node]):
            return False
        # A relation is checked as soon as both of its words are matched.
        for relation in pattern.relations:
            pair = (relation.first, relation.second)
            if node in pair and match.keys() >= {*pair}:
                first, second = (match[name] for name in pair)
                if not relation.holds(tree, first, second):
                    return False
        return True

    def candidates(match: Match, node: str) -> Sequence[int]:
        # The words that an edge connects to a word matched so far; without such an edge, all words.
        for edge in pattern.relations:
            if edge.sign == "->" and edge.second == node and edge.first in match:
                return tree.children.get(match[edge.first], ())
            if edge.sign == "->" and edge.first == node and edge.second in match:
                head = tree.words[match[edge.second]].head
                return [head] if head >= 0 else []
        return range(len(tree.words))

    def extend(match: Match) -> Iterator[Match]:
        remaining = [name for name in pattern.nodes if name not in match]
        if not remaining:
            yield match
            return
        node = remaining[0]
        for index in candidates(match, node):
            longer = {**match, node: index}
            if index not in match.values() and fits(longer, node):
                yield from extend(longer)

    match = dict(fixed or {})
    if all(fits(match, name) for name in pattern.nodes if name in match):
        yield from extend(match)


def holds(pattern: Pattern, tree: Tree, fixed: Match) -> bool:
    """Tell whether a pattern has a match with the words ``fixed``."""
    return next(matches(pattern, tree, fixed), None) is not None
