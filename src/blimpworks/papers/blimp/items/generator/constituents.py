"""Constituents of a pair, and their parts that sentences can have.

A part is a tuple of lexical entries' forms: section 3.1 compares lengths of sentences in entries,
whatever number of words a form has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, get_args

from blimpworks.papers.blimp.items import lexicon
from blimpworks.papers.blimp.items.lexicon import Number, VerbForm, possessive

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


def _some(*forms: str) -> Part:
    return tuple(filter(None, forms))


@dataclass(frozen=True, slots=True)
class NounForm:
    """A noun in one of its numbers; as a phrase, with the determiner that it may have."""

    entry: lexicon.Noun
    number: Number
    determiner: lexicon.Determiner | None = None

    @property
    def text(self) -> str:
        return self.entry.forms[self.number]

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
        return (self.determiner.determiner,) if self.determiner else ()

    def words(self) -> list[str]:
        """Split the phrase: determiners and names can have several words."""
        return " ".join((*self.det, self.text)).split(" ")


@dataclass(frozen=True, slots=True)
class Realisation:
    """A predicate's auxiliary, if any, and the form of its verb."""

    auxiliary: lexicon.Auxiliary | None
    negated: bool
    form: VerbForm

    @property
    def aux(self) -> Part:
        """The auxiliary's form; nothing if there is none."""
        if self.auxiliary is None:
            return ()
        return (self.auxiliary.negated if self.negated else self.auxiliary.auxiliary,)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A verb inflected for its subject, or a copula."""

    verb: lexicon.Verb | None
    chosen: Realisation
    counterpart: Realisation | None
    """The same in the other number, if that differs."""

    def realised(self, part: str, swapped: bool) -> Part:
        """Return one part as drawn, or in the other number, if that differs.

        ``finite`` is the agreeing word (the auxiliary, or the verb's first word), ``rest`` all
        after it.
        """
        chosen = self.counterpart if swapped and self.counterpart else self.chosen
        verb: Part = (self.verb.with_particle(chosen.form),) if self.verb else ()
        if part == "aux":
            return chosen.aux
        if part == "verb":
            return verb
        if part == "finite":
            return chosen.aux or (verb[0].split(" ")[0],)
        if part == "rest":
            return verb if chosen.aux else _some(self.verb.particle if self.verb else "")
        return chosen.aux + verb


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A pronoun, with its reflexive."""

    text: str
    reflexive: str

    @property
    def number(self) -> Number:
        return "pl" if self.reflexive == THEMSELVES else "sg"

    @property
    def reflexives(self) -> Part:
        return (self.reflexive,)


Entry = lexicon.Verb | lexicon.Determiner | lexicon.Adjective
Constituent = Entry | NounForm | Predicate | Pronoun | Part | None
"""Anything drawn; a tuple is a row of words, None the object of a verb that takes none."""


def _form(form: VerbForm) -> Callable[[lexicon.Verb], Part]:
    return lambda verb: (verb.with_particle(form),)


NOUN_PARTS: Parts = {
    "": lambda noun: (*noun.det, noun.text),
    "swapped": lambda noun: (*noun.det, noun.entry.forms[OTHER[noun.number]]),
    "possessive": lambda noun: (*noun.det, possessive(noun.text, plural=noun.number == "pl")),
}
PARTS: Mapping[str, Parts] = {
    "verb": {form: _form(form) for form in get_args(VerbForm)},
    "noun": NOUN_PARTS,
    "phrase": {
        **NOUN_PARTS,
        "det": lambda noun: noun.det,
        "noun": lambda noun: (noun.text,),
        "first": lambda noun: (noun.words()[0],),
        "rest": lambda noun: _some(*noun.words()[1:]),
    },
    "determiner": {"": lambda d: (d.determiner,), "swapped": lambda d: (d.swapped,)},
    "predicate": {
        f"{'swapped.' * swapped}{part}".rstrip("."): methodcaller("realised", part, swapped)
        for swapped in (False, True)
        for part in ("", "aux", "verb", "finite", "rest")
    },
    "adjective": {"": lambda adjective: (adjective.adjective,)},
    "pronoun": {"": lambda pronoun: (pronoun.text,)},
    "wh": {"": lambda row: row},
}
"""Parts by kind of draw and the name in ``{name.part}``; "" is ``{name}`` itself."""


def part_of(constituent: Constituent, kind: str, name: str = "") -> Part:
    """Return the forms in place of ``{name.part}`` in a sentence.

    Parts of a choice are indices of its row of words (default: the first). Empty words are nothing.
    """
    if isinstance(constituent, tuple):
        return _some(constituent[int(name or 0)])
    return () if constituent is None else PARTS[kind][name](constituent)
