"""Word forms by rule: which cells of a paradigm a form fills, and the form of another cell.

A paradigm makes forms of a stem, which it cuts from the lemma, and of endings, one or more for
each cell; closed classes are paradigms whose endings are whole words. A form is only changed
where its lemma gives it by rule, so that a treebank's slips change nothing.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, Self

from pydantic import Field, model_validator

from blimpworks.config.base import Strict
from blimpworks.urblimp.trees import Word

JOINT = "+"
OTHER = "other"
OPPOSITE = {"Masc": "Fem", "Fem": "Masc", "Sing": "Plur", "Plur": "Sing"}
Cell = Mapping[str, str]
"""Features by name."""


def cell_of(text: str) -> dict[str, str]:
    """The features of a cell written as ``Gender=Masc|Number=Sing``; none for ``_``.

    Raises ValueError where a part is no such pair.
    """
    found = {}
    for pair in text.split("|") if text != "_" else ():
        name, sign, value = pair.partition("=")
        if not (name and sign and value):
            raise ValueError(
                f"cell {text!r} is malformed at {pair!r}; expected Name=Value|Name=Value"
            )
        found[name] = value
    return found


class Paradigm(Strict):
    """Forms of a class of words."""

    upos: tuple[str, ...] = ()
    """Parts of speech that it is of; empty for any, as of words without one."""
    lemma: str = ".*"
    """Regular expression of its lemmas."""
    stem: tuple[str, str] = ("$", "")
    """Regular expression in a lemma, and what replaces it, to have the stem."""
    cells: dict[str, tuple[str, ...]]
    """Endings of each cell, the usual one first."""
    inside: dict[str, tuple[str, ...]] = Field(default={})
    """Endings of cells that are others where a word of the same complex follows."""
    joints: tuple[tuple[str, str], ...] = ()
    """Spelling where stem and ending, with a ``+`` between, meet: regular expressions and what
    replaces them."""
    irregular: dict[str, dict[str, tuple[str, ...]]] = Field(default={})
    """Whole forms of cells, by lemma."""
    names: dict[str, str] = Field(default={})
    """Lemmas that the treebank has for others."""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        for cell in [*self.cells, *self.inside, *(c for f in self.irregular.values() for c in f)]:
            cell_of(cell)
        for expression in (self.lemma, self.stem[0], *(first for first, _ in self.joints)):
            re.compile(expression)
        return self

    @cached_property
    def _joints(self) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(expression), new) for expression, new in self.joints]

    def has(self, word: Word) -> bool:
        """Whether a word is of the class, by its part of speech and lemma."""
        return (not self.upos or word.upos in self.upos) and bool(
            re.fullmatch(self.lemma, self.names.get(word.lemma, word.lemma))
        )

    def _spelled(self, stem: str, ending: str) -> str:
        text = f"{stem}{JOINT}{ending}"
        for expression, new in self._joints:
            text = expression.sub(new, text)
        return text.replace(JOINT, "")

    def forms(self, lemma: str, *, inside: bool = False) -> dict[str, tuple[str, ...]]:
        """Forms of each cell, the usual one first."""
        lemma = self.names.get(lemma, lemma)
        stem = re.sub(self.stem[0], self.stem[1], lemma, count=1)
        irregular = self.irregular.get(lemma, {})
        cells = self.cells | (self.inside if inside else {})
        return {
            cell: irregular.get(cell, tuple(self._spelled(stem, ending) for ending in endings))
            for cell, endings in cells.items()
        }


class Reading(NamedTuple):
    """A cell that a form fills."""

    paradigm: str
    cell: Cell


class Inflection(Strict):
    """All paradigms of a language, by name."""

    paradigms: dict[str, Paradigm] = Field(default={})

    def readings(self, word: Word, *, inside: bool = False) -> list[Reading]:
        """Cells that a word's form fills, given its lemma."""
        return [
            Reading(name, cell_of(cell))
            for name, paradigm in self.paradigms.items()
            if paradigm.has(word)
            for cell, forms in paradigm.forms(word.lemma, inside=inside).items()
            if word.form in forms
        ]

    def changed(
        self, word: Word, change: Mapping[str, str], *, inside: bool = False
    ) -> Iterator[str]:
        """Forms of the word in each cell that differs as told from one that its form fills.

        ``other`` stands for the opposite of a gender or number. Cells whose features the treebank
        contradicts come last; none where the form fills no cell that has all features of
        ``change``.
        """
        readings = self.readings(word, inside=inside)
        for reading in sorted(readings, key=lambda each: _contradicted(each.cell, word)):
            if not change.keys() <= reading.cell.keys():
                continue
            wanted = {**reading.cell, **_told(change, reading.cell)}
            forms = self.paradigms[reading.paradigm].forms(word.lemma, inside=inside)
            for cell, found in forms.items():
                if cell_of(cell) == wanted:
                    yield from found


def _told(change: Mapping[str, str], cell: Cell) -> dict[str, str]:
    return {
        name: OPPOSITE.get(cell[name], cell[name]) if value == OTHER else value
        for name, value in change.items()
    }


def _contradicted(cell: Cell, word: Word) -> int:
    """How many features of a cell the treebank has other values of."""
    return sum(word.features.get(name, value) != value for name, value in cell.items())
