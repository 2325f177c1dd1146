"""Constituents of a pair, and their parts that sentences can have.

A part is a tuple of lexical entries' forms: section 3.1 compares lengths of sentences in entries,
whatever number of words a form has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, ClassVar, get_args

from blimpworks.papers.blimp.items.lexicon import (
    Adjective,
    Auxiliary,
    Determiner,
    Noun,
    Number,
    Verb,
    VerbForm,
    possessive,
)

Part = tuple[str, ...]
Parts = Mapping[str, Callable[[Any], Part]]
OTHER: dict[Number, Number] = {"sg": "pl", "pl": "sg"}
THEMSELVES = "themselves"
REFLEXIVES = {"m": ("himself",), "f": ("herself",), "n": ("itself",)}
"""Reflexives of singulars, by gender."""
EITHER = {True: ("himself", "herself"), False: ("itself", "himself", "herself")}
"""Reflexives of persons of either gender, and of animals."""
CASES = {
    "himself": {"nominative": "he", "accusative": "him"},
    "herself": {"nominative": "she", "accusative": "her"},
    "itself": {"nominative": "it", "accusative": "it"},
    THEMSELVES: {"nominative": "they", "accusative": "them"},
}
"""Other cases of the pronouns, by the reflexive."""


class Constituent:
    """Anything that can be drawn."""

    __slots__ = ()
    PARTS: ClassVar[Parts]
    """Parts by the name in ``{name.part}``; "" is ``{name}`` itself."""

    def part(self, name: str = "") -> Part:
        """Return the forms in place of ``{name.part}`` in a sentence."""
        return self.PARTS[name](self)


def _some(*forms: str) -> Part:
    return tuple(filter(None, forms))


@dataclass(frozen=True, slots=True)
class DeterminerForm(Constituent):
    """A determiner; its part ``swapped`` is the counterpart of the other number."""

    entry: Determiner

    PARTS: ClassVar[Parts] = {
        "": lambda determiner: (determiner.entry.determiner,),
        "swapped": lambda determiner: (determiner.entry.swapped,),
    }


@dataclass(frozen=True, slots=True)
class NounForm(Constituent):
    """A noun in one of its numbers; as a phrase, with the determiner that it may have."""

    entry: Noun
    number: Number
    determiner: DeterminerForm | None = None

    @property
    def text(self) -> str:
        """The noun's form in this number."""
        return self.entry.forms[self.number]

    @property
    def countability(self) -> str:
        """The determiner's number: sg, pl or mass."""
        return "mass" if self.entry.mass else self.number

    @property
    def reflexives(self) -> Part:
        """Reflexive pronouns that can refer to the noun."""
        if self.number == "pl":
            return (THEMSELVES,)
        if self.entry.gender == "c":
            return EITHER["person" in self.entry.classes]
        return REFLEXIVES[self.entry.gender]

    @property
    def det(self) -> Part:
        """The determiner, or nothing."""
        return self.determiner.part() if self.determiner else ()

    def words(self) -> list[str]:
        """Split the phrase: determiners and names can have several words."""
        return " ".join(self.part()).split(" ")

    PARTS: ClassVar[Parts] = {
        "": lambda noun: (*noun.det, noun.text),
        "swapped": lambda noun: (*noun.det, noun.entry.forms[OTHER[noun.number]]),
        "possessive": lambda noun: (*noun.det, possessive(noun.text, plural=noun.number == "pl")),
        "det": lambda noun: noun.det,
        "noun": lambda noun: (noun.text,),
        "first": lambda noun: (noun.words()[0],),
        "rest": lambda noun: _some(*noun.words()[1:]),
    }


class Nothing(Constituent):
    """The object of a verb that takes none: all its parts are empty."""

    PARTS: ClassVar[Parts] = dict.fromkeys(NounForm.PARTS, lambda _: ())


NOTHING = Nothing()


@dataclass(frozen=True, slots=True)
class VerbEntry(Constituent):
    """A verb; its parts are its forms, each with its particle."""

    entry: Verb

    PARTS: ClassVar[Parts] = {
        form: methodcaller("form_with_particle", form) for form in get_args(VerbForm)
    }

    def form_with_particle(self, form: VerbForm) -> Part:
        """Return one of the verb's forms, with its particle."""
        return (f"{self.entry.form(form)} {self.entry.particle}".strip(),)


@dataclass(frozen=True, slots=True)
class Realisation:
    """A predicate's auxiliary, if any, and the form of its verb."""

    auxiliary: Auxiliary | None
    negated: bool
    form: VerbForm

    @property
    def aux(self) -> Part:
        """The auxiliary's form; nothing if there is none."""
        if self.auxiliary is None:
            return ()
        return (self.auxiliary.negated if self.negated else self.auxiliary.auxiliary,)


@dataclass(frozen=True, slots=True)
class Predicate(Constituent):
    """A verb inflected for its subject, or a copula."""

    verb: Verb | None
    chosen: Realisation
    counterpart: Realisation | None
    """The same in the other number, if that differs."""

    def realised(self, part: str, swapped: bool) -> Part:
        """Return one part as drawn, or in the other number, if that differs.

        ``finite`` is the agreeing word (the auxiliary, or the verb's first word), ``rest`` all
        after it.
        """
        chosen = self.counterpart if swapped and self.counterpart else self.chosen
        verb = VerbEntry(self.verb).form_with_particle(chosen.form) if self.verb else ()
        if part == "aux":
            return chosen.aux
        if part == "verb":
            return verb
        if part == "finite":
            return chosen.aux or (verb[0].split(" ")[0],)
        if part == "rest":
            return verb if chosen.aux else _some(self.verb.particle if self.verb else "")
        return chosen.aux + verb

    PARTS: ClassVar[Parts] = {
        f"{'swapped.' * swapped}{part}".rstrip("."): methodcaller("realised", part, swapped)
        for swapped in (False, True)
        for part in ("", "aux", "verb", "finite", "rest")
    }


@dataclass(frozen=True, slots=True)
class AdjectiveEntry(Constituent):
    """An adjective."""

    entry: Adjective

    PARTS: ClassVar[Parts] = {"": lambda adjective: (adjective.entry.adjective,)}


@dataclass(frozen=True, slots=True)
class Pronoun(Constituent):
    """A pronoun, with its reflexive."""

    text: str
    reflexive: str

    @property
    def number(self) -> Number:
        """Plural if its reflexive is "themselves"."""
        return "pl" if self.reflexive == THEMSELVES else "sg"

    @property
    def reflexives(self) -> Part:
        """The only reflexive pronoun that goes with this one."""
        return (self.reflexive,)

    PARTS: ClassVar[Parts] = {"": lambda pronoun: (pronoun.text,)}


@dataclass(frozen=True, slots=True)
class Words(Constituent):
    """A word, or row of words, chosen from several."""

    row: Part

    PARTS: ClassVar[Parts] = {"": lambda words: _some(words.row[0])}

    def part(self, name: str = "") -> Part:
        """Return the word at an index in the row (default: the first); an empty one is nothing."""
        return _some(self.row[int(name or 0)])
