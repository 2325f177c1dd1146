"""What is drawn for a pair, and what of it can stand in a sentence.

A part of a constituent is a tuple of lexical entries' forms: what counts when the two
sentences of a pair are to be equally long (section 3.1), whatever number of words a form has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from blimpworks.papers.blimp.items.lexicon.entries import (
    Adjective,
    Auxiliary,
    Determiner,
    Noun,
    Number,
    Verb,
    VerbForm,
)
from blimpworks.papers.blimp.items.lexicon.inflection import possessive

Part = tuple[str, ...]
OTHER: dict[Number, Number] = {"sg": "pl", "pl": "sg"}
THEMSELVES = "themselves"
REFLEXIVES = {"m": ("himself",), "f": ("herself",), "n": ("itself",)}
"""Of singulars, by gender."""
EITHER = {True: ("himself", "herself"), False: ("itself", "himself", "herself")}
"""Of persons of either gender, and of animals."""
CASES = {
    "himself": {"nominative": "he", "accusative": "him"},
    "herself": {"nominative": "she", "accusative": "her"},
    "itself": {"nominative": "it", "accusative": "it"},
    THEMSELVES: {"nominative": "they", "accusative": "them"},
}
"""Other cases of the pronouns, by the reflexive."""


class Constituent(Protocol):
    """Anything that can be drawn."""

    @property
    def parts(self) -> Mapping[str, Callable[[], Part]]:
        """What ``{name.part}`` stands for, by part; "" is ``{name}`` itself."""


def _some(*forms: str) -> Part:
    """Those of some forms that are not empty."""
    return tuple(filter(None, forms))


@dataclass(frozen=True, slots=True)
class NounForm:
    """A noun in one of its numbers."""

    entry: Noun
    number: Number

    @property
    def text(self) -> str:
        """Its form."""
        return self.entry.forms[self.number]

    @property
    def countability(self) -> str:
        """What determiners ask for: sg, pl or mass."""
        return "mass" if self.entry.mass else self.number

    @property
    def reflexives(self) -> Part:
        """Reflexive pronouns that can stand for it."""
        if self.number == "pl":
            return (THEMSELVES,)
        if self.entry.gender == "c":
            return EITHER["person" in self.entry.classes]
        return REFLEXIVES[self.entry.gender]

    @property
    def swapped(self) -> "NounForm":
        """In the other number."""
        return replace(self, number=OTHER[self.number])

    @property
    def parts(self) -> Mapping[str, Callable[[], Part]]:
        """Itself, ``swapped``, ``possessive``."""
        return {
            "": lambda: (self.text,),
            "swapped": lambda: (self.swapped.text,),
            "possessive": lambda: (possessive(self.text, plural=self.number == "pl"),),
        }


@dataclass(frozen=True, slots=True)
class DeterminerForm:
    """A determiner."""

    entry: Determiner

    @property
    def parts(self) -> Mapping[str, Callable[[], Part]]:
        """Itself, and ``swapped``, its counterpart of the other number."""
        return {
            "": lambda: (self.entry.determiner,),
            "swapped": lambda: (self.entry.swapped,),
        }


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun and its determiner, if it has one."""

    noun: NounForm
    determiner: DeterminerForm | None

    @property
    def det(self) -> Part:
        """The determiner, or nothing."""
        return (self.determiner.entry.determiner,) if self.determiner else ()

    def _first(self) -> Part:
        """Its first word, which need not be all of the determiner or name."""
        return (" ".join(self.parts[""]()).split(" ")[0],)

    def _rest(self) -> Part:
        """What follows the first word."""
        return _some(*" ".join(self.parts[""]()).split(" ")[1:])

    @property
    def number(self) -> Number:
        """That of its noun."""
        return self.noun.number

    @property
    def entry(self) -> Noun:
        """Its noun's entry."""
        return self.noun.entry

    @property
    def reflexives(self) -> Part:
        """Those of its noun."""
        return self.noun.reflexives

    @property
    def parts(self) -> Mapping[str, Callable[[], Part]]:
        """Itself, ``det``, ``noun``, ``first`` word, ``rest``, ``swapped``, ``possessive``."""
        parts = {
            name: (lambda part=part: self.det + part()) for name, part in self.noun.parts.items()
        }
        own = {"det": lambda: self.det, "noun": lambda: (self.noun.text,)}
        return {**parts, **own, "first": self._first, "rest": self._rest}


@dataclass(frozen=True, slots=True)
class Nothing:
    """The object of a verb that takes none."""

    parts: Mapping[str, Callable[[], Part]]


NOTHING = Nothing(
    dict.fromkeys(("", "det", "noun", "first", "rest", "swapped", "possessive"), tuple)
)


@dataclass(frozen=True, slots=True)
class VerbEntry:
    """A verb, in any form that a paradigm asks for."""

    entry: Verb

    def text(self, form: VerbForm) -> str:
        """A form with its particle."""
        return f"{self.entry.form(form)} {self.entry.particle}".strip()

    def _form(self, form: VerbForm) -> Part:
        return (self.text(form),)

    @property
    def parts(self) -> Mapping[str, Callable[[], Part]]:
        """Its forms, each with its particle."""
        forms: tuple[VerbForm, ...] = ("base", "third", "past", "participle", "gerund")
        return {form: partial(self._form, form) for form in forms}


@dataclass(frozen=True, slots=True)
class Realisation:
    """How a predicate stands: its auxiliary, if any, and the form of its verb."""

    auxiliary: Auxiliary | None
    negated: bool
    form: VerbForm

    @property
    def aux(self) -> str:
        """The auxiliary's form; nothing if there is none."""
        if self.auxiliary is None:
            return ""
        return self.auxiliary.negated if self.negated else self.auxiliary.auxiliary


@dataclass(frozen=True, slots=True)
class Predicate:
    """A verb inflected for its subject, or a copula."""

    verb: Verb | None
    chosen: Realisation
    counterpart: Realisation | None
    """The same in the other number, where that makes a difference."""

    def _verb(self, chosen: Realisation) -> Part:
        if self.verb is None:
            return ()
        return (f"{self.verb.form(chosen.form)} {self.verb.particle}".strip(),)

    def _aux(self, chosen: Realisation) -> Part:
        return _some(chosen.aux)

    def _finite(self, chosen: Realisation) -> Part:
        """What agrees: the auxiliary, or the first word of the verb."""
        return _some(chosen.aux) or (self._verb(chosen)[0].split(" ")[0],)

    def _rest(self, chosen: Realisation) -> Part:
        """What follows the part that agrees."""
        return self._verb(chosen) if chosen.aux else _some(self.verb.particle if self.verb else "")

    def _whole(self, chosen: Realisation) -> Part:
        return (*_some(chosen.aux), *self._verb(chosen))

    @property
    def parts(self) -> Mapping[str, Callable[[], Part]]:
        """Itself, ``aux``, ``verb``, ``finite``, ``rest``; each of ``swapped``, too."""
        kinds = {"": self._whole, "aux": self._aux, "verb": self._verb}
        kinds |= {"finite": self._finite, "rest": self._rest}
        found = {name: partial(make, self.chosen) for name, make in kinds.items()}
        if self.counterpart is not None:
            for name, make in kinds.items():
                found[f"swapped.{name}".rstrip(".")] = partial(make, self.counterpart)
        return found


@dataclass(frozen=True, slots=True)
class AdjectiveEntry:
    """An adjective."""

    entry: Adjective

    @property
    def parts(self) -> Mapping[str, Callable[[], Part]]:
        """Itself."""
        return {"": lambda: (self.entry.adjective,)}


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A pronoun, with the reflexive that it goes with."""

    text: str
    reflexive: str

    @property
    def number(self) -> Number:
        """Of "themselves" the plural."""
        return "pl" if self.reflexive == THEMSELVES else "sg"

    @property
    def reflexives(self) -> Part:
        """The one that it goes with."""
        return (self.reflexive,)

    @property
    def parts(self) -> Mapping[str, Callable[[], Part]]:
        """Itself."""
        return {"": lambda: (self.text,)}


@dataclass(frozen=True, slots=True)
class Words:
    """What was chosen of some words, or of some rows of them."""

    row: Part

    @property
    def parts(self) -> Mapping[str, Callable[[], Part]]:
        """The first of its row; each of them by number. Of no words, nothing."""
        numbered = {str(i): partial(_some, word) for i, word in enumerate(self.row)}
        return {"": numbered["0"], **numbered}
