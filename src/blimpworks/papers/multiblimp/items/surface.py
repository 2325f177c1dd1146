"""Sentences as models see them, put together from a treebank's words."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.tables import SENTENCES, read_table

SURFACE_COLUMNS = ("sentence", "id", "word", "form", "space_after")


@dataclass(slots=True)
class Unit:
    """A stretch of text without inner choice: a word, or a contraction of several."""

    text: str
    space_after: bool
    words: range
    """CoNLL-U ids that it stands for."""


@dataclass(slots=True)
class Surface:
    """One sentence's text units and where the sentence comes from."""

    treebank: str
    file: str
    sent_id: str
    units: list[Unit]

    def _at(self, word: int) -> int:
        return next(i for i, unit in enumerate(self.units) if word in unit.words)

    def form(self, word: int) -> str:
        """Text of the unit that holds a word."""
        return self.units[self._at(word)].text

    def replaceable(self, word: int) -> bool:
        """Whether a word is a unit of its own."""
        return len(self.units[self._at(word)].words) == 1

    def replace(self, word: int, form: str) -> tuple[str, str, int]:
        """The sentence, the same with ``form`` in place of a word, and where they part.

        The position counts code points.
        """
        at = self._at(word)
        spaced = [u.text + (" " if u.space_after else "") for u in self.units]
        before = "".join(spaced[:at]).lstrip()
        gap = " " if self.units[at].space_after else ""
        after = "".join(spaced[at + 1 :])
        good = (before + self.units[at].text + gap + after).rstrip()
        return good, (before + form + gap + after).rstrip(), len(before)


def _units(rows: pa.Table, whole_contractions: bool) -> dict[int, list[Unit]]:
    columns = (rows[name].to_pylist() for name in SURFACE_COLUMNS)
    by_sentence: dict[int, list[Unit]] = {}
    contractions: list[tuple[list[Unit], Unit]] = []
    for sentence, identifier, word, form, space_after in zip(*columns, strict=True):
        units = by_sentence.setdefault(sentence, [])
        if word is not None:
            units.append(Unit(form, space_after, range(word, word + 1)))
        elif whole_contractions and "-" in identifier:
            first, last = map(int, identifier.split("-"))
            contractions.append((units, Unit(form, space_after, range(first, last + 1))))
    for units, contraction in contractions:
        _contract(units, contraction)
    return by_sentence


def _contract(units: list[Unit], contraction: Unit) -> None:
    """Put a contraction in the place of its words, in a sentence's units.

    Where the words are merely written together, they stay units of their own, without
    spaces between them.
    """
    at = [i for i, unit in enumerate(units) if unit.words.start in contraction.words]
    words = units[at[0] : at[-1] + 1]
    if "".join(unit.text for unit in words) == contraction.text:
        for unit in words:
            unit.space_after = False
        words[-1].space_after = contraction.space_after
    else:
        units[at[0] : at[-1] + 1] = [contraction]


def load_surfaces(
    rows: pa.Table, sentences: Path, *, whole_contractions: bool
) -> dict[int, Surface]:
    """Sentences of the ``rows`` of a ``tokens`` table, by their number.

    With ``whole_contractions`` a multiword token stands as in the treebank's text, and is
    one unit unless its words are merely written together; without, its words stand apart,
    each with its own SpaceAfter.
    """
    units = _units(rows, whole_contractions)
    origins = read_table(SENTENCES, sentences, ["sentence", "treebank", "file", "sent_id", "line"])
    origins = origins.filter(pc.is_in(origins["sentence"], pa.array([*units], pa.int32())))
    return {
        row["sentence"]: Surface(
            row["treebank"],
            row["file"],
            row["sent_id"] or f"line {row['line']}",
            units[row["sentence"]],
        )
        for row in origins.to_pylist()
    }
