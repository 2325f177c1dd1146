"""Operations that rules carry out on a sentence, and a language's attested word forms."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import wordfreq

from blimpworks.errors import UserError
from blimpworks.linguistics.orthography import Orthography
from blimpworks.papers.urblimp.items.inflection import cell_of, shared
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
from blimpworks.tables import LEXICON, read_table

BEGINNING, END = "^", "$"
LIST = "small"
"""List that wordfreq has for all its languages."""


class Attested:
    """Attested forms, and the sentences and neighbouring words of treebanks."""

    def __init__(
        self,
        trees: Iterable[Tree],
        orthography: Orthography,
        lexicon: Path | None = None,
        code: str | None = None,
    ) -> None:
        """Collect the forms of ``trees``, a table ``lexicon`` and wordfreq's language ``code``."""
        self.neighbours: set[tuple[str, str]] = set()
        self.sentences: set[tuple[str, ...]] = set()
        forms: set[str] = set()
        for tree in trees:
            tree_forms = [word.form for word in tree.words]
            forms.update(tree_forms)
            self.sentences.add(tuple(tree_forms))
            self.neighbours.update(zip([BEGINNING, *tree_forms], [*tree_forms, END], strict=True))
        if lexicon is not None:
            table = read_table(LEXICON, lexicon, ["form"])
            forms.update(map(orthography.word, set(table["form"].to_pylist())))
        if code is not None:
            try:
                forms.update(map(orthography.word, wordfreq.get_frequency_dict(code, LIST)))
            except (LookupError, ValueError):
                available = ", ".join(sorted(wordfreq.available_languages(LIST)))
                raise UserError(
                    f"the language pack's key 'attestation.wordfreq' is {code!r}, for which "
                    f"wordfreq has no list; expected one of {available}, or null to do without."
                ) from None
        self.forms = {word for form in forms for word in form.split()}

    def first(self, forms: Iterable[str]) -> str:
        """Return the first of some forms that is attested. Raises Rejected without one."""
        for form in forms:
            if all(word in self.forms for word in form.split()):
                return form
        raise Rejected("not in the lexicon")


class Absent(LookupError):
    """The draft does not have the word asked for: it was left out, or is being moved."""


class Rejected(Exception):
    """A match gives no pair; the text says why."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a draft: the tree's index of its word, or below zero for an added one."""

    word: int
    form: str
    space: bool


@dataclass
class Draft:
    """The words of a sentence in their present order and forms."""

    tree: Tree
    slots: list[Slot]
    moved: bool = False
    """Whether a word has moved since the draft was made or copied."""

    @classmethod
    def of(cls, tree: Tree) -> Self:
        return cls(tree, [Slot(i, word.form, word.space) for i, word in enumerate(tree.words)])

    def copy(self) -> "Draft":
        """Return an independent draft in which no word has moved."""
        return Draft(self.tree, [*self.slots])

    @property
    def forms(self) -> list[str]:
        return [slot.form for slot in self.slots]

    def position(self, index: int) -> int:
        """Return the position of a word of the tree. Raises Absent if it was left out."""
        indices = [slot.word for slot in self.slots]
        if index not in indices:
            raise Absent(f"word {index} is not among those of the draft, {indices}")
        return indices.index(index)

    def size(self) -> int:
        """Count the words; a form such as that of a fused pronoun may have several."""
        return sum(len(form.split()) for form in self.forms)

    def word(self, index: int) -> Word:
        """Return a word of the tree in its present form. Raises Absent if it was left out."""
        return self.tree.words[index].spelled(self.slots[self.position(index)].form)

    def spell(self, index: int, form: str) -> None:
        position = self.position(index)
        self.slots[position] = replace(self.slots[position], form=form)

    def insert(self, slots: Sequence[Slot], after: int) -> None:
        """Put words after one of the tree, which gets a space after it."""
        position = self.position(after)
        # ``Orthography.joined`` takes it away before punctuation.
        spaced = replace(self.slots[position], space=True)
        self.slots[position : position + 1] = [spaced, *slots]

    def text(self, orthography: Orthography) -> str:
        return orthography.joined((slot.form, slot.space) for slot in self.slots)

    def changed_positions(self, other: "Draft", *, absent: bool) -> list[int]:
        """Return positions of words with another form in ``other`` or, if ``absent``, with none."""
        forms = {slot.word: slot.form for slot in other.slots}
        return [
            position
            for position, slot in enumerate(self.slots)
            if forms.get(slot.word, None if absent else slot.form) != slot.form
        ]


def revise(
    draft: Draft,
    operation: Operation,
    nodes: dict[str, int],
    language: Language,
    attested: Attested,
) -> None:
    """Carry out an operation on a draft. Raises Rejected.

    ``nodes`` has the tree's words by their names in the rule; added words are entered.
    """
    match operation:
        case Delete():
            position = draft.position(nodes[operation.delete])
            del draft.slots[position]
            if position:
                draft.slots[position - 1] = replace(draft.slots[position - 1], space=True)
        case Inflect():
            _inflect(draft, operation, nodes, language, attested)
        case Replace():
            index, table = nodes[operation.replace], language.tables[operation.by]
            old = draft.slots[draft.position(index)].form
            if old not in table:
                raise Rejected("not in the table")
            if table[old] == old:
                raise Rejected("no form by rule")
            draft.spell(index, attested.first([table[old]]))
        case Add():
            inflection = language.inflection
            cells = inflection.paradigms[operation.add].forms("").items()
            fitting = (
                forms[0]
                for reading in inflection.readings(draft.word(nodes[operation.agreeing]))
                for cell, forms in cells
                if cell_of(cell).items() <= reading.cell.items()
            )
            form = next(fitting, None)
            if form is None:
                raise Rejected("no form by rule")
            added = min(-1, *(slot.word for slot in draft.slots)) - 1
            draft.insert([Slot(added, form, space=True)], nodes[operation.after])
            nodes[operation.name] = added
        case Move():
            last = draft.tree.complex_of(nodes[operation.after], operation.along)[-1]
            indices = draft.tree.subtree(nodes[operation.move], {*nodes.values()})
            moved = [replace(draft.slots[draft.position(at)], space=True) for at in indices]
            draft.slots = [slot for slot in draft.slots if slot.word not in indices]
            draft.insert(moved, last)
            draft.moved = True


def _inflect(
    draft: Draft,
    operation: Inflect,
    nodes: Mapping[str, int],
    language: Language,
    attested: Attested,
) -> None:
    """Change each word of a complex that has the features. Raises Rejected if none changes."""
    tree_words, inflection = draft.tree.words, language.inflection
    # New values by feature; ``=NODE`` stands for that word's value, if it has one.
    to: dict[str, str] = {}
    for name, value in operation.to.items():
        node = value.removeprefix(OF)
        if node == value:
            to[name] = value
        elif of_word := tree_words[nodes[node]].features.get(name):
            to[name] = of_word
    indices = draft.tree.complex_of(nodes[operation.inflect], operation.along)
    draft_words = [draft.word(index) for index in indices]
    followed = [*zip(draft_words, [*draft_words[1:], None], strict=True)]
    readings = [inflection.readings(word, following) for word, following in followed]
    certain = shared(readings)
    if operation.agreeing:
        features = tree_words[nodes[operation.agreeing]].features
        if any(name in certain and certain[name] != features.get(name) for name in to):
            raise Rejected("does not agree as it is")
    changed: list[tuple[int, Word, tuple[str, ...]]] = []
    for index, (word, following), cells in zip(indices, followed, readings, strict=True):
        if any(to.keys() & reading.cell.keys() for reading in cells):
            forms = inflection.changed(word, to, following, certain)
            # A form that fills both cells does not show the feature.
            if forms and word.form not in forms:
                changed.append((index, word, forms))
    unless = operation.unless.items()
    for index, word, forms in changed:
        new = attested.first(forms)
        # The sentence stays grammatical if the new form has the features asked for.
        licensed = inflection.readings(word.spelled(new)) if unless else []
        if any(unless <= reading.cell.items() for reading in licensed):
            raise Rejected("the new form is licensed too")
        draft.spell(index, new)
    if not changed:
        raise Rejected("no form by rule")
