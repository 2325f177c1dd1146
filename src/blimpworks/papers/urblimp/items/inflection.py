"""Inflect words by rules of a language pack, for example from the masculine to the feminine.

A paradigm has cells with the endings that follow a stem, which is cut from the lemma::

    cells: {Gender=Masc|Number=Sing: [ā], Gender=Fem|Number=Sing: [ī]}

``Inflection.readings`` returns the readings of a word, the cells that its form fills;
``Inflection.changed`` returns its forms in another cell. A complex is a verb with its auxiliaries.
A government is the requirement of one of its words: an auxiliary needs the participle before it.
In closed classes the endings are complete words. Only forms that the rules derive from their lemma
are changed, so that errors of a treebank change nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Annotated, NamedTuple, Self

from pydantic import AfterValidator, Field, PrivateAttr, model_validator

from blimpworks.linguistics import regular
from blimpworks.papers.urblimp.items.patterns import TreeWord
from blimpworks.strict import Strict

JOINT = "+"
"""Mark between stem and ending."""
OTHER = "other"
SUBJUNCTIVE = "Sub"
"""The only mood that cells have; forms of the subjunctive can look like participles."""
OPPOSITE = {"Masc": "Fem", "Fem": "Masc", "Sing": "Plur", "Plur": "Sing"}
Cell = Mapping[str, str]
"""Features by name."""


def cell_of(text: str) -> dict[str, str]:
    """Return the features of a cell written as ``Gender=Masc|Number=Sing``. Raises ValueError."""
    features = {}
    for pair in text.split("|"):
        name, sign, value = pair.partition("=")
        if not (name and sign and value):
            raise ValueError(
                f"cell {text!r} is malformed at {pair!r}; expected Name=Value|Name=Value"
            )
        features[name] = value
    return features


def _check_cell(text: str) -> str:
    cell_of(text)
    return text


CellName = Annotated[str, AfterValidator(_check_cell)]
"""Name of a cell in a language's pack: its features."""


class Paradigm(Strict):
    """Rules for the forms of a class of words."""

    upos: tuple[str, ...] = ()
    """Parts of speech of its words; empty for any."""
    lemma: regular.Checked = ".*"
    """Regular expression of its lemmas."""
    stem: regular.Replacement = ("$", "")
    """Regular expression and replacement that turn a lemma into the stem."""
    cells: dict[CellName, tuple[str, ...]]
    """Endings of each cell, the usual one first."""
    inside: dict[str, str] = Field(default={})
    """{cell: cell whose forms it takes if the word is not the last of its complex}."""
    joints: tuple[regular.Replacement, ...] = ()
    """Regular expressions and replacements for the spelling at the ``+`` after the stem."""
    irregular: dict[str, dict[CellName, tuple[str, ...]]] = Field(default={})
    """Complete forms of cells, by lemma."""
    names: dict[str, str] = Field(default={})
    """Lemmas of the treebank that are replaced, and their replacements."""
    _forms_by_lemma: dict[str, dict[str, tuple[str, ...]]] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _check_cell_names(self) -> Self:
        for cell in chain(*self.inside.items(), *self.irregular.values()):
            if cell not in self.cells:
                raise ValueError(
                    f"inside or irregular names {cell!r}, which is no cell of the paradigm; "
                    f"expected one of {', '.join(self.cells)}, with features in the same order"
                )
        return self

    @cached_property
    def _joined(self) -> Callable[[str], str]:
        return regular.replacer(self.joints)

    def has(self, word: TreeWord) -> bool:
        """Tell whether a word belongs to the class, by its part of speech and lemma."""
        fits_upos = not self.upos or word.upos in self.upos
        lemma = self.names.get(word.lemma, word.lemma)
        return fits_upos and regular.expression(self.lemma).fullmatch(lemma)

    def forms(self, lemma: str, *, inside: bool = False) -> dict[str, tuple[str, ...]]:
        """Return forms by cell, usual first; ``inside``: as a word before the complex's last."""
        lemma = self.names.get(lemma, lemma)
        if lemma not in self._forms_by_lemma:
            expression, new = self.stem
            stem = regular.expression(expression).sub(new, lemma, count=1)
            irregular, lemma_forms = self.irregular.get(lemma, {}), {}
            for cell, endings in self.cells.items():
                joined = (self._joined(f"{stem}{JOINT}{ending}") for ending in endings)
                regular_forms = tuple(form.replace(JOINT, "") for form in joined)
                lemma_forms[cell] = irregular.get(cell, regular_forms)
            self._forms_by_lemma[lemma] = lemma_forms
        forms = self._forms_by_lemma[lemma]
        return forms | {cell: forms[source] for cell, source in self.inside.items() if inside}


class Reading(NamedTuple):
    """A cell that a form fills."""

    paradigm: str
    cell: Cell


class Government(Strict):
    """The cell that a word must have before another word of its complex."""

    before: tuple[str, ...] = ()
    """Lemmas of the following word."""
    paradigm: str | None = None
    """Paradigm of the following word, in place of its lemma."""
    cells: tuple[CellName, ...]
    """Accepted cells, in order: the first that any reading of the word fits is required."""

    @model_validator(mode="after")
    def _check_following_word(self) -> Self:
        if bool(self.before) == bool(self.paradigm):
            raise ValueError("expected before (lemmas) or paradigm, one of the two")
        return self


class Inflection(Strict):
    """Paradigms of a language, by name, and requirements between words of a complex."""

    paradigms: dict[str, Paradigm] = Field(default={})
    governments: tuple[Government, ...] = ()

    @model_validator(mode="after")
    def _check_paradigm_names(self) -> Self:
        named = [government.paradigm for government in self.governments if government.paradigm]
        unknown = [name for name in named if name not in self.paradigms]
        if unknown:
            raise ValueError(
                f"governments name the paradigm {unknown[0]!r}; expected one of "
                f"{', '.join(self.paradigms) or 'none, for there is none'}"
            )
        for government in self.governments:
            for cell in government.cells:
                if not self.has_cell(cell_of(cell)):
                    raise ValueError(
                        f"governments name {cell!r}; expected features of a paradigm's cell"
                    )
        return self

    def has_cell(self, features: Cell) -> bool:
        """Tell whether some paradigm has a cell with these features."""
        cells = chain.from_iterable(paradigm.cells for paradigm in self.paradigms.values())
        return any(features.items() <= cell_of(cell).items() for cell in cells)

    def readings(self, word: TreeWord, following: TreeWord | None = None) -> list[Reading]:
        """Return the cells that a word's form fills, given the next word of its complex."""
        readings = [
            Reading(name, cell_of(cell))
            for name, paradigm in self.paradigms.items()
            if paradigm.has(word)
            for cell, forms in paradigm.forms(word.lemma, inside=following is not None).items()
            if word.form in forms
        ]
        for government in self.governments if following else ():
            assert following is not None
            applies = following.lemma in government.before
            if government.paradigm is not None:
                paradigm = self.paradigms[government.paradigm]
                forms = paradigm.forms(following.lemma).values()
                applies = paradigm.has(following) and any(following.form in f for f in forms)
            if applies:
                # There is no reading if the word has none of the accepted cells.
                for cell in map(cell_of, government.cells):
                    fitting = [entry for entry in readings if cell.items() <= entry.cell.items()]
                    if fitting:
                        return fitting
                return []
        return readings

    def changed(
        self,
        word: TreeWord,
        change: Mapping[str, str],
        following: TreeWord | None = None,
        certain: Cell | None = None,
    ) -> tuple[str, ...]:
        """Return a word's forms in the cell that results from ``change`` to its present cell.

        The value ``other`` means the opposite gender or number. If a form fills several cells, its
        cell is the one with the fewest contradictions: first to ``certain``, the features of the
        complex (see ``certain_features``), then to the word's features in the treebank. The result
        is empty if no cell has a feature of ``change``.
        """

        def wrong_mood(reading: Reading) -> bool:
            # The treebank marks mood or aspect, and only one of word and reading is subjunctive.
            is_marked = "Aspect" in word.features or "Mood" in word.features
            is_subjunctive = word.features.get("Mood") == SUBJUNCTIVE
            return is_marked and is_subjunctive != ("Mood" in reading.cell)

        def contradictions(reading: Reading) -> tuple[int, ...]:
            # Numbers of contradictions to the complex, the word's mood, and the word's features.
            with_complex = with_word = 0
            for name, value in reading.cell.items():
                with_complex += (certain or {}).get(name, value) != value
                with_word += word.features.get(name, value) != value
            return with_complex, int(wrong_mood(reading)), with_word

        for reading in sorted(self.readings(word, following), key=contradictions):
            if not change.keys() & reading.cell.keys():
                continue
            # The following word of a complex may require a mood that the treebank does not mark.
            if following is None and wrong_mood(reading):
                continue
            target = dict(reading.cell)
            for name in change.keys() & reading.cell.keys():
                old = reading.cell[name]
                target[name] = OPPOSITE.get(old, old) if change[name] == OTHER else change[name]
            paradigm = self.paradigms[reading.paradigm]
            forms = paradigm.forms(word.lemma, inside=following is not None)
            new_forms = [forms[cell] for cell in forms if cell_of(cell) == target]
            if new_forms and new_forms[0]:
                return new_forms[0]
        return ()


def certain_features(readings: Sequence[Sequence[Reading]]) -> dict[str, str]:
    """Return gender and number of a complex, if all readings of one of its words agree on them."""
    features = {}
    for name in ("Gender", "Number"):
        for word_readings in readings:
            values = {reading.cell.get(name) for reading in word_readings}
            if len(values) == 1 and (value := values.pop()) is not None:
                features[name] = value
    return features
