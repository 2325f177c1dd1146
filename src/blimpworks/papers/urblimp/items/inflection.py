"""Inflect words by rules of a language pack, for example from the masculine to the feminine.

A paradigm has cells with the endings that follow a stem, which is cut from the lemma::

    cells: {Gender=Masc|Number=Sing: [ā], Gender=Fem|Number=Sing: [ī]}

``Inflection.readings`` returns the readings of a word, the cells that its form fills: English
*put* is present, past and participle. ``Inflection.inflect`` returns a word's forms in another
cell. A complex is a verb and the auxiliaries after it. An auxiliary can require cells of the word
before it (a government), as English *has* requires a participle after it.

In closed classes the endings are complete words. Only forms that the rules derive from their lemma
are changed, so that a wrong lemma in a treebank gives no form.
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
"""Value that stands for the opposite one (``OPPOSITE``)."""
SUBJUNCTIVE = "Sub"
"""The only mood that cells have. So a cell with the feature Mood is a subjunctive, which can have
the same form as a participle."""
OPPOSITE = {"Masc": "Fem", "Fem": "Masc", "Sing": "Plur", "Plur": "Sing"}
Cell = Mapping[str, str]
"""{feature: value}, such as {"Gender": "Fem", "Number": "Sing"}."""


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


CellName = Annotated[str, AfterValidator(lambda text: cell_of(text) and text)]
"""Name of a cell in a language's pack; ``cell_of`` raises ValueError for a malformed name."""


class Paradigm(Strict):
    """Rules for the forms of a class of words: a paradigm of inflection, not of the benchmark."""

    upos: tuple[str, ...] = ()
    """Parts of speech of its words; empty for any."""
    lemma: regular.Checked = ".*"
    """Regular expression of its lemmas."""
    stem: regular.Replacement = ("$", "")
    """Regular expression and replacement that turn a lemma into the stem."""
    cells: dict[CellName, tuple[str, ...]]
    """Endings of each cell, the usual one first."""
    inside: dict[str, str] = Field(default={})
    """{cell: cell whose forms it takes if another word of the complex follows}. In Urdu the
    feminine plural takes the forms of the singular then: only the last word marks it."""
    joints: tuple[regular.Replacement, ...] = ()
    """Regular expressions and replacements for the spelling at the ``+`` after the stem."""
    irregular: dict[str, dict[CellName, tuple[str, ...]]] = Field(default={})
    """{lemma: {cell: complete forms}}, in place of stem and endings."""
    names: dict[str, str] = Field(default={})
    """{lemma in the treebank: lemma that is used in its place}."""
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
        """Return {cell: forms, the usual first}; ``inside``: before another word of the complex."""
        lemma = self.names.get(lemma, lemma)
        if lemma not in self._forms_by_lemma:
            expression, replacement = self.stem
            stem = regular.expression(expression).sub(replacement, lemma, count=1)
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
    """The cells that a word can have before a given word of its complex."""

    before: tuple[str, ...] = ()
    """Lemmas of the following word."""
    paradigm: str | None = None
    """Paradigm of the following word, in place of its lemma."""
    cells: tuple[CellName, ...]
    """Features of accepted cells; the first cell that the word's form fills is its reading."""

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
    def _check_governments(self) -> Self:
        for government in self.governments:
            if government.paradigm not in (None, *self.paradigms):
                raise ValueError(
                    f"governments name the paradigm {government.paradigm!r}; expected one of "
                    f"{', '.join(self.paradigms) or 'none, for there is none'}"
                )
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
        """Return the readings of a word before ``following``, the next word of its complex.

        There is none if the form fills no cell, or no cell that the first government which applies
        to ``following`` accepts.
        """
        readings = [
            Reading(name, cell_of(cell))
            for name, paradigm in self.paradigms.items()
            if paradigm.has(word)
            for cell, forms in paradigm.forms(word.lemma, inside=following is not None).items()
            if word.form in forms
        ]
        if following is None:
            return readings
        for government in self.governments:
            applies = following.lemma in government.before
            if government.paradigm is not None:
                paradigm = self.paradigms[government.paradigm]
                forms = chain.from_iterable(paradigm.forms(following.lemma).values())
                applies = paradigm.has(following) and following.form in forms
            if applies:
                for cell in map(cell_of, government.cells):
                    accepted = [entry for entry in readings if cell.items() <= entry.cell.items()]
                    if accepted:
                        return accepted
                return []
        return readings

    def inflect(
        self,
        word: TreeWord,
        change: Mapping[str, str],
        following: TreeWord | None = None,
        certain: Cell | None = None,
    ) -> tuple[str, ...]:
        """Return a word's forms in the cell that results from ``change`` to its present cell.

        ``change`` is {feature: new value}; ``other`` means the opposite gender or number: with
        {"Gender": "other"}, *acchā* has the form *acchī*. A word without these features has no
        forms. If the word's form fills several cells, the present cell is the reading with the
        fewest contradictions to ``certain``, the ``certain_features`` of the complex. Next count
        contradictions to the mood, then to all features that the treebank gives the word.
        """

        def wrong_mood(reading: Reading) -> bool:
            # A treebank that marks neither mood nor aspect of a word tells nothing of its mood.
            is_marked = "Aspect" in word.features or "Mood" in word.features
            word_is_subjunctive = word.features.get("Mood") == SUBJUNCTIVE
            reading_is_subjunctive = "Mood" in reading.cell
            return is_marked and word_is_subjunctive != reading_is_subjunctive

        def contradictions(reading: Reading) -> tuple[int, ...]:
            with_complex = with_word = 0
            for name, value in reading.cell.items():
                with_complex += (certain or {}).get(name, value) != value
                with_word += word.features.get(name, value) != value
            return with_complex, int(wrong_mood(reading)), with_word

        for reading in sorted(self.readings(word, following), key=contradictions):
            if not change.keys() & reading.cell.keys():
                continue
            # Before another word of the complex, a government decides on the mood instead.
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
    """Return gender and number of a complex, as far as one of its words leaves no doubt.

    ``readings`` has a list for each word of the complex. If all readings of a word have the same
    gender, the complex has this gender; the last such word decides.
    """
    features = {}
    for name in ("Gender", "Number"):
        for word_readings in readings:
            # ``value`` is None if the readings differ, and if all of them lack the feature.
            values = {reading.cell.get(name) for reading in word_readings}
            value = values.pop() if len(values) == 1 else None
            if value is not None:
                features[name] = value
    return features
