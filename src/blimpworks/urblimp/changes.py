"""What rules do to a sentence, operation by operation."""

from collections.abc import Sequence

from blimpworks.urblimp.attested import Attested
from blimpworks.urblimp.drafts import Draft, complex_of, in_draft
from blimpworks.urblimp.inflection import cell_of
from blimpworks.urblimp.matching import Match
from blimpworks.urblimp.rules import Add, Delete, Inflect, Language, Move, Operation, Replace
from blimpworks.urblimp.trees import Tree

NO_FORM = "no form by rule"
UNATTESTED = "not in the lexicon"
NOT_IN_TABLE = "not in the table"
FIRST_LETTERS = 1


class Rejected(Exception):
    """A match that gives no pair; the text says why."""


def _chosen(forms: Sequence[str], old: str, attested: Attested) -> str:
    """The first form that is attested and another one. Raises Rejected where there is none."""
    others = [form for form in forms if form != old]
    if not others:
        raise Rejected(NO_FORM)
    found = next((form for form in others if attested.has(form)), None)
    if found is None:
        raise Rejected(UNATTESTED)
    return found


def _inflect(
    operation: Inflect, tree: Tree, match: Match, draft: Draft, tools: tuple[Language, Attested]
) -> None:
    """Change each word of a complex that has the features; raises Rejected if none has."""
    language, attested = tools
    words = complex_of(tree, match[operation.inflect], operation.along)
    changed = False
    for place, index in enumerate(words):
        word = in_draft(tree, draft, index)
        inside = place < len(words) - 1
        readings = language.inflection.readings(word, inside=inside)
        if not readings:
            raise Rejected(NO_FORM)
        if not any(operation.to.keys() <= reading.cell.keys() for reading in readings):
            continue
        forms = list(language.inflection.changed(word, operation.to, inside=inside))
        # A form that serves both cells says nothing of the feature, as in "has been".
        if forms and word.form not in forms[:FIRST_LETTERS]:
            draft.spell(index, _chosen(forms, word.form, attested))
            changed = True
    if not changed:
        raise Rejected(NO_FORM)


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
    operation: Operation, tree: Tree, match: Match, draft: Draft, tools: tuple[Language, Attested]
) -> None:
    """Carry out an operation on a draft of a tree.

    ``tools`` are the language's pack and its attested forms. Raises Rejected where it can't be
    done: no form by rule or table, or none that is attested.
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
            draft.spell(index, _chosen([language.tables[operation.by][old]], old, attested))
        case Add():
            draft.add(_added(operation, tree, match, draft, language), match[operation.after])
        case Move():
            last = complex_of(tree, match[operation.after], operation.along)[-1]
            draft.move(_below(tree, match, match[operation.move]), last)
