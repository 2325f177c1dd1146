"""What rules do to a sentence, operation by operation."""

from collections.abc import Sequence

from blimpworks.papers.urblimp.items.attested import Attested
from blimpworks.papers.urblimp.items.drafts import Draft, complex_of, in_draft
from blimpworks.papers.urblimp.items.inflection import cell_of, shared
from blimpworks.papers.urblimp.items.patterns import Match
from blimpworks.papers.urblimp.items.rules import (
    OF,
    Add,
    Delete,
    Inflect,
    Language,
    Move,
    Operation,
    Replace,
)
from blimpworks.papers.urblimp.items.trees import Tree, Word

NO_FORM = "no form by rule"
UNATTESTED = "not in the lexicon"
NOT_IN_TABLE = "not in the table"
LICENSED = "the new form is licensed too"
DISAGREEING = "does not agree as it is"


class Rejected(Exception):
    """A match that gives no pair; the text says why."""


def _chosen(forms: Sequence[str], attested: Attested) -> str:
    """The first form that is attested. Raises Rejected where there is none."""
    found = next((form for form in forms if attested.has(form)), None)
    if found is None:
        raise Rejected(UNATTESTED)
    return found


def _values(operation: Inflect, tree: Tree, match: Match) -> dict[str, str]:
    """New values by feature; those of another word, written ``=NODE``, where it has any."""
    found: dict[str, str] = {}
    for name, value in operation.to.items():
        node = value.removeprefix(OF)
        told = value if node == value else tree.words[match[node]].features.get(name)
        found |= {name: told} if told else {}
    return found


class _Complex:
    """A word and those that change with it, in their present forms."""

    def __init__(
        self, operation: Inflect, tree: Tree, match: Match, draft: Draft, language: Language
    ) -> None:
        self.indices = complex_of(tree, match[operation.inflect], operation.along)
        self.inflection = language.inflection
        self.to = _values(operation, tree, match)
        words = [in_draft(tree, draft, index) for index in self.indices]
        self.pairs: list[tuple[Word, Word | None]] = list(
            zip(words, [*words[1:], None], strict=True)
        )
        self.readings = [self.inflection.readings(*pair) for pair in self.pairs]
        self.known = shared(self.readings)

    def agrees(self, word: Word) -> bool:
        """Whether it has the values that another word has of the features to be changed."""
        return all(
            self.known.get(name, word.features.get(name)) == word.features.get(name)
            for name in self.to
        )

    def forms(self) -> list[tuple[int, Word, tuple[str, ...]]]:
        """Words that can change: index in the tree, the word, and its new forms."""
        found = []
        for index, pair, readings in zip(self.indices, self.pairs, self.readings, strict=True):
            if any(self.to.keys() & reading.cell.keys() for reading in readings):
                changed = self.inflection.changed(pair[0], self.to, pair[1], self.known)
                found.append((index, pair[0], changed))
        return found


def _inflect(
    operation: Inflect, tree: Tree, match: Match, draft: Draft, tools: tuple[Language, Attested]
) -> None:
    """Change each word of a complex that has the features; raises Rejected if none changes."""
    language, attested = tools
    words = _Complex(operation, tree, match, draft, language)
    if operation.agreeing and not words.agrees(tree.words[match[operation.agreeing]]):
        raise Rejected(DISAGREEING)
    changed = False
    for index, word, forms in words.forms():
        # A form that serves both cells says nothing of the feature.
        if forms and word.form not in forms:
            new = _chosen(forms, attested)
            if _licensed(operation, word.spelled(new), language):
                raise Rejected(LICENSED)
            draft.spell(index, new)
            changed = True
    if not changed:
        raise Rejected(NO_FORM)


def _licensed(operation: Inflect, word: Word, language: Language) -> bool:
    """Whether a new form also fills a cell that the place asks for."""
    unless = operation.unless.items()
    found = language.inflection.readings(word) if unless else []
    return any(unless <= reading.cell.items() for reading in found)


def _added(operation: Add, tree: Tree, match: Match, draft: Draft, language: Language) -> str:
    """The form of a closed class in the cell of the word that it agrees with."""
    word = in_draft(tree, draft, match[operation.agreeing])
    paradigm = language.inflection.paradigms[operation.add]
    for reading in language.inflection.readings(word):
        for cell, forms in paradigm.forms("").items():
            if cell_of(cell).items() <= reading.cell.items():
                return forms[0]
    raise Rejected(NO_FORM)


def _below(tree: Tree, match: Match, node: int) -> list[int]:
    """A word and all below it, but other words of the pattern with what is below them."""
    others = {index for index in match.values() if index != node}
    found, left = [], [node]
    while left:
        index = left.pop()
        found.append(index)
        left += [child for child in tree.children.get(index, ()) if child not in others]
    return sorted(found)


def apply(
    operation: Operation,
    tree: Tree,
    match: dict[str, int],
    draft: Draft,
    tools: tuple[Language, Attested],
) -> None:
    """Carry out an operation on a draft of a tree; ``match`` gets the words that are added.

    ``tools`` are the language's pack and its attested forms. Raises Rejected where it can't be
    done: no form by rule or table, none that is attested, or one that is licensed too.
    """
    language, attested = tools
    match operation:
        case Delete():
            draft.delete(match[operation.delete])
        case Inflect():
            _inflect(operation, tree, match, draft, tools)
        case Replace():
            index = match[operation.replace]
            old = draft.form(index)
            if old not in language.tables[operation.by]:
                raise Rejected(NOT_IN_TABLE)
            new = language.tables[operation.by][old]
            if new == old:
                raise Rejected(NO_FORM)
            draft.spell(index, _chosen([new], attested))
        case Add():
            form = _added(operation, tree, match, draft, language)
            match[operation.name] = draft.add(form, match[operation.after])
        case Move():
            last = complex_of(tree, match[operation.after], operation.along)[-1]
            draft.move(_below(tree, match, match[operation.move]), last)
