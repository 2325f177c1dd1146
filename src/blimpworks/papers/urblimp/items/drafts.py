"""A sentence under change: words that are deleted, put in other forms, added or moved."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from blimpworks.linguistics.orthography import Orthography
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

    slots: list[Slot]
    moved: bool = False
    """Whether a word stands elsewhere than in the sentence that it is a draft of."""

    @classmethod
    def of(cls, tree: Tree) -> Self:
        """A sentence as the treebank has it."""
        return cls([Slot(i, word.form, word.space) for i, word in enumerate(tree.words)])

    def copy(self) -> "Draft":
        """The same sentence, to be changed by itself; that a word was moved is forgotten."""
        return Draft(list(self.slots))

    def _at(self, index: int) -> int:
        """Where a word of the tree stands. Raises Absent where it is left out."""
        for place, slot in enumerate(self.slots):
            if slot.word == index:
                return place
        raise Absent(f"word {index} is not among those of the draft, {[*self._words()]}")

    def _words(self) -> Iterator[int]:
        return (slot.word for slot in self.slots)

    def size(self) -> int:
        """How many words it has: a form such as that of a fused pronoun may be several."""
        return sum(len(slot.form.split()) for slot in self.slots)

    def form(self, index: int) -> str:
        """The present form of a word of the tree."""
        return self.slots[self._at(index)].form

    def delete(self, index: int) -> None:
        """Leave a word out."""
        place = self._at(index)
        del self.slots[place]
        self._part(place - 1)

    def spell(self, index: int, form: str) -> None:
        """Put a word into another form."""
        place = self._at(index)
        self.slots[place] = replace(self.slots[place], form=form)

    def add(self, form: str, after: int) -> int:
        """Put a new word after one of the tree; its index, which is below zero."""
        place = self._at(after)
        self._part(place)
        index = min(-1, *self._words()) - 1
        self.slots.insert(place + 1, Slot(index, form, space=True))
        return index

    def move(self, indices: Iterable[int], after: int) -> None:
        """Put words, in their order, after another one."""
        words = list(indices)
        moved = [replace(self.slots[self._at(index)], space=True) for index in words]
        self.slots = [slot for slot in self.slots if slot.word not in words]
        place = self._at(after)
        self._part(place)
        self.slots[place + 1 : place + 1] = moved
        self.moved = True

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


def new_indices(good: Draft, bad: Draft) -> list[int]:
    """Places in the bad draft of words whose forms the good one has not there: changed or added.

    They are other places than the good draft's where a word before them was left out, added or
    moved.
    """
    forms = {slot.word: slot.form for slot in good.slots}
    return [place for place, slot in enumerate(bad.slots) if forms.get(slot.word) != slot.form]


def complex_of(tree: Tree, head: int, relations: Sequence[str]) -> list[int]:
    """A word and its children by some relations that follow it: a verb and its auxiliaries."""
    children = tree.children.get(head, ())
    return [head, *(i for i in children if i > head and tree.words[i].relation in relations)]


def in_draft(tree: Tree, draft: Draft, index: int) -> Word:
    """A word of the tree in its present form."""
    return tree.words[index].spelled(draft.form(index))
