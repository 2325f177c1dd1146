"""What rules do to a sentence, operation by operation, and the sentence under change."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from blimpworks.linguistics.orthography import Orthography
from blimpworks.papers.urblimp.items.attested import Attested
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


class Absent(LookupError):
    """A word is looked up that the draft doesn't have: it was left out, or is being moved."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a draft: the index of the tree's word that it has, or one below zero."""

    word: int
    form: str
    space: bool


@dataclass
class Draft:
    """The words of a sentence in their present order and forms."""

    tree: Tree
    slots: list[Slot]
    moved: bool = False
    """Whether a word stands elsewhere than in the sentence that it is a draft of."""

    @classmethod
    def of(cls, tree: Tree) -> Self:
        """A sentence as the treebank has it."""
        return cls(tree, [Slot(i, word.form, word.space) for i, word in enumerate(tree.words)])

    def copy(self) -> "Draft":
        """The same sentence, to be changed by itself; that a word was moved is forgotten."""
        return Draft(self.tree, [*self.slots])

    @property
    def indices(self) -> list[int]:
        """Indices of its words in the tree, below zero for words that are added."""
        return [slot.word for slot in self.slots]

    @property
    def forms(self) -> list[str]:
        """Forms of its words, in their present order."""
        return [slot.form for slot in self.slots]

    def _place_of(self, index: int) -> int:
        """Where a word of the tree stands. Raises Absent where it is left out."""
        indices = self.indices
        if index not in indices:
            raise Absent(f"word {index} is not among those of the draft, {indices}")
        return indices.index(index)

    def size(self) -> int:
        """How many words it has: a form such as that of a fused pronoun may be several."""
        return sum(len(form.split()) for form in self.forms)

    def form(self, index: int) -> str:
        """The present form of a word of the tree."""
        return self.slots[self._place_of(index)].form

    def word(self, index: int) -> Word:
        """A word of the tree in its present form."""
        return self.tree.words[index].spelled(self.form(index))

    def delete(self, index: int) -> None:
        """Leave a word out."""
        place = self._place_of(index)
        del self.slots[place]
        self._add_space(place - 1)

    def spell(self, index: int, form: str) -> None:
        """Put a word into another form."""
        place = self._place_of(index)
        self.slots[place] = replace(self.slots[place], form=form)

    def add(self, form: str, after: int) -> int:
        """Put a new word after one of the tree; its index, which is below zero."""
        place = self._place_of(after)
        self._add_space(place)
        index = min(-1, *self.indices) - 1
        self.slots.insert(place + 1, Slot(index, form, space=True))
        return index

    def move(self, indices: Iterable[int], after: int) -> None:
        """Put words, in their order, after another one."""
        words = list(indices)
        moved = [replace(self.slots[self._place_of(index)], space=True) for index in words]
        self.slots = [slot for slot in self.slots if slot.word not in words]
        place = self._place_of(after)
        self._add_space(place)
        self.slots[place + 1 : place + 1] = moved
        self.moved = True

    def _add_space(self, place: int) -> None:
        """Let a space follow a place; punctuation goes without by itself."""
        if place >= 0:
            self.slots[place] = replace(self.slots[place], space=True)

    def text(self, orthography: Orthography) -> str:
        """The sentence."""
        return orthography.joined((slot.form, slot.space) for slot in self.slots)

    def changed_places(self, other: "Draft", *, absent: bool) -> list[int]:
        """Places of the words that the other draft has in other forms.

        ``absent`` says whether words that it does not have at all count too. Places are those in
        this draft: elsewhere than in the other where a word before was left out, added or moved.
        """
        forms = dict(zip(other.indices, other.forms, strict=True))
        return [
            place
            for place, slot in enumerate(self.slots)
            if forms.get(slot.word, None if absent else slot.form) != slot.form
        ]


# Operations


NO_FORM = "no form by rule"
UNATTESTED = "not in the lexicon"
NOT_IN_TABLE = "not in the table"
LICENSED = "the new form is licensed too"
DISAGREEING = "does not agree as it is"


class Rejected(Exception):
    """A match that gives no pair; the text says why."""


class _Complex:
    """A word and those that change with it, in their present forms."""

    def __init__(self, operation: Inflect, revision: "Revision") -> None:
        draft = revision.draft
        self.inflection = revision.language.inflection
        self.to = revision.values(operation)
        self.indices = draft.tree.complex_of(revision.match[operation.inflect], operation.along)
        words = [draft.word(index) for index in self.indices]
        self.pairs: list[tuple[Word, Word | None]] = [*zip(words, [*words[1:], None], strict=True)]
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
        return [
            (index, word, self.inflection.changed(word, self.to, following, self.known))
            for index, (word, following), readings in zip(
                self.indices, self.pairs, self.readings, strict=True
            )
            if any(self.to.keys() & reading.cell.keys() for reading in readings)
        ]


@dataclass(frozen=True)
class Revision:
    """A draft that operations change, and what they need to know.

    ``match`` has the words of the tree by the names that a rule gives them; it gets those that
    are added.
    """

    language: Language
    attested: Attested
    match: dict[str, int]
    draft: Draft

    def apply(self, operation: Operation) -> None:
        """Carry out an operation on the draft.

        Raises Rejected where it can't be done: no form by rule or table, none that is attested, or
        one that is licensed too.
        """
        draft, match = self.draft, self.match
        match operation:
            case Delete():
                draft.delete(match[operation.delete])
            case Inflect():
                self._inflect(operation)
            case Replace():
                self._replace(match[operation.replace], self.language.tables[operation.by])
            case Add():
                match[operation.name] = draft.add(self._added(operation), match[operation.after])
            case Move():
                last = draft.tree.complex_of(match[operation.after], operation.along)[-1]
                draft.move(draft.tree.subtree(match[operation.move], {*match.values()}), last)

    def values(self, operation: Inflect) -> dict[str, str]:
        """New values by feature; those of another word, written ``=NODE``, where it has any."""
        values: dict[str, str] = {}
        for name, value in operation.to.items():
            node = value.removeprefix(OF)
            if node == value:
                values[name] = value
            elif other := self.draft.tree.words[self.match[node]].features.get(name):
                values[name] = other
        return values

    def _attested(self, forms: Sequence[str]) -> str:
        """The first form that is attested. Raises Rejected where there is none."""
        for form in forms:
            if self.attested.has(form):
                return form
        raise Rejected(UNATTESTED)

    def _inflect(self, operation: Inflect) -> None:
        """Change each word of a complex that has the features; raises Rejected if none changes."""
        words = _Complex(operation, self)
        agreeing = operation.agreeing
        if agreeing and not words.agrees(self.draft.tree.words[self.match[agreeing]]):
            raise Rejected(DISAGREEING)
        # A form that serves both cells says nothing of the feature.
        changed = [each for each in words.forms() if each[2] and each[1].form not in each[2]]
        for index, word, forms in changed:
            new = self._attested(forms)
            if self._licensed(operation, word.spelled(new)):
                raise Rejected(LICENSED)
            self.draft.spell(index, new)
        if not changed:
            raise Rejected(NO_FORM)

    def _licensed(self, operation: Inflect, word: Word) -> bool:
        """Whether a new form also fills a cell that the place asks for."""
        unless = operation.unless.items()
        readings = self.language.inflection.readings(word) if unless else []
        return any(unless <= reading.cell.items() for reading in readings)

    def _replace(self, index: int, table: dict[str, str]) -> None:
        """Put the form for a word that a table has for its present form."""
        old = self.draft.form(index)
        if old not in table:
            raise Rejected(NOT_IN_TABLE)
        if table[old] == old:
            raise Rejected(NO_FORM)
        self.draft.spell(index, self._attested([table[old]]))

    def _added(self, operation: Add) -> str:
        """The form of a closed class in the cell of the word that it agrees with."""
        inflection = self.language.inflection
        cells = inflection.paradigms[operation.add].forms("").items()
        for reading in inflection.readings(self.draft.word(self.match[operation.agreeing])):
            for cell, forms in cells:
                if cell_of(cell).items() <= reading.cell.items():
                    return forms[0]
        raise Rejected(NO_FORM)
