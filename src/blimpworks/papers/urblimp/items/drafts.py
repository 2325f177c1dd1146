"""A sentence under change: words that are deleted, put in other forms, added or moved."""

from collections.abc import Iterable
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
