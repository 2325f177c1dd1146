"""A sentence under change: words that are deleted, put in other forms, added or moved."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from blimpworks.urblimp.orthography import Orthography
from blimpworks.urblimp.trees import Tree, Word


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a draft: the index of the tree's word that it has, or one below zero."""

    word: int
    form: str
    space: bool


@dataclass
class Draft:
    """The words of a sentence in their present order and forms."""

    slots: list[Slot]
    kinds: set[str] = field(default_factory=set)
    """What was done: deletion, replacement, addition, move."""

    @classmethod
    def of(cls, tree: Tree) -> Self:
        """A sentence as the treebank has it."""
        return cls([Slot(i, word.form, word.space) for i, word in enumerate(tree.words)])

    def copy(self) -> "Draft":
        """The same sentence, to be changed by itself; what was done to both is forgotten."""
        return Draft(list(self.slots))

    def _at(self, index: int) -> int:
        return next(place for place, slot in enumerate(self.slots) if slot.word == index)

    def form(self, index: int) -> str:
        """The present form of a word of the tree."""
        return self.slots[self._at(index)].form

    def delete(self, index: int) -> None:
        """Leave a word out."""
        place = self._at(index)
        del self.slots[place]
        self._part(place - 1)
        self.kinds.add("deletion")

    def spell(self, index: int, form: str) -> None:
        """Put a word into another form."""
        place = self._at(index)
        self.slots[place] = replace(self.slots[place], form=form)
        self.kinds.add("replacement")

    def add(self, form: str, after: int) -> int:
        """Put a new word after one of the tree; its index, which is below zero."""
        place = self._at(after)
        self._part(place)
        index = min(-1, *(slot.word for slot in self.slots)) - 1
        self.slots.insert(place + 1, Slot(index, form, space=True))
        self.kinds.add("addition")
        return index

    def move(self, indices: Iterable[int], after: int) -> None:
        """Put words, in their order, after another one."""
        words = list(indices)
        moved = [replace(self.slots[self._at(index)], space=True) for index in words]
        self.slots = [slot for slot in self.slots if slot.word not in words]
        place = self._at(after)
        self._part(place)
        self.slots[place + 1 : place + 1] = moved
        self.kinds.add("move")

    def _part(self, place: int) -> None:
        """See that a space follows a place; punctuation goes without by itself."""
        if place >= 0:
            self.slots[place] = replace(self.slots[place], space=True)

    def text(self, orthography: Orthography) -> str:
        """The sentence."""
        return orthography.joined((slot.form, slot.space) for slot in self.slots)


def changed_indices(good: Draft, bad: Draft) -> list[int]:
    """Places in the good draft of the words that the bad one has in other forms."""
    forms = {slot.word: slot.form for slot in bad.slots}
    return [
        place
        for place, slot in enumerate(good.slots)
        if forms.get(slot.word, slot.form) != slot.form
    ]


def complex_of(tree: Tree, head: int, relations: Sequence[str]) -> list[int]:
    """A word and its children by some relations that follow it: a verb and its auxiliaries."""
    children = tree.children.get(head, ())
    return [head, *(i for i in children if i > head and tree.words[i].relation in relations)]


def in_draft(tree: Tree, draft: Draft, index: int) -> Word:
    """A word of the tree in its present form."""
    return tree.words[index].spelled(draft.form(index))
