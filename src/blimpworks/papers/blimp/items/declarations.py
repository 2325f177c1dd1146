"""Define declarations of generated paradigms, and the forms that fill the slots of their sentences.

``generate.read_declaration`` reads a YAML file into a ``Paradigm``, with one or more schemes::

    draw: {who: {is: noun}, act: {is: verb, subject: [who]}}
    good: The {who} {act.past}.
    bad: The {who} {act.base}.

A draw (``who``) chooses a constituent, such as a noun in the plural. Its category (``is``) decides
the class here, ``NounDraw``. Draws name earlier draws that they must fit (``subject``). A slot of a
sentence has a draw, and perhaps one of its forms: {who}, {act.past}. ``forms_of`` returns the text
of a slot as a string for each lexical entry, because Warstadt et al. (2020, section 3.1) compare
the lengths of sentences in entries.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BeforeValidator, Field, model_validator

from blimpworks.papers.blimp.items import lexicon
from blimpworks.strict import Strict

SLOT = re.compile(r"\{([a-z][a-z0-9_]*)((?:\.[a-z0-9_]+)*)\}")
"""A slot: {name}, or {name.form} such as {act.past}, with the groups "act" and ".past"."""
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
"""Name of a draw."""
Names = tuple[Name, ...]
Realised = Literal["present", "past", "base", "participle", "gerund"]
"""Form of a verb: finite, or after an auxiliary."""
NOMINAL = ("noun", "phrase")
PRONOMINAL = (*NOMINAL, "pronoun")
OneOrMore = BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)
"""Validator that makes a list of a single name."""


class Draw(Strict):
    """Base of all draws: what to choose for a constituent of the sentences."""

    def names(self) -> Iterator[tuple[str, str, Sequence[str]]]:
        """Yield the names of other draws, each with its key and the categories allowed for it.

        An example: ("subject", "who", ["noun", "phrase"]).
        """
        for key, field in type(self).model_fields.items():
            # ``_names`` has marked the keys that name draws.
            if not isinstance(field.json_schema_extra, dict):
                continue
            categories = cast(list[str], field.json_schema_extra["names"])
            value = getattr(self, key)
            for name in (value,) if isinstance(value, str) else value or ():
                yield field.alias or key, name, categories


def _names(*categories: str, default: Any = ()) -> Any:
    # Declares a key whose value is the name or names of other draws, of these categories.
    return Field(default, json_schema_extra={"names": [*categories]})


class VerbDraw(Draw):
    """An entry of a verb."""

    category: Literal["verb"] = Field(alias="is")
    frame: Annotated[tuple[lexicon.Frame, ...], OneOrMore] = get_args(lexicon.Frame)
    words: tuple[str, ...] = ()
    """Verbs, with their particles; all if empty."""
    other_than: tuple[str, ...] = ()
    """Verbs to exclude, with their particles."""
    tags: tuple[lexicon.VerbTag, ...] = ()
    """Tags that the verb must all have."""
    without: tuple[lexicon.VerbTag, ...] = ()
    """Tags of which the verb must have none."""
    complement: Annotated[tuple[Literal["that", "wh"], ...], OneOrMore] = ()
    """Types of clauses that the verb must all take."""
    never: tuple[lexicon.Frame, ...] = ()
    """Frames that no entry of the same verb may have."""
    subject: Names = _names(*NOMINAL)
    """Draws of nouns, each of which the verb must accept as its subject."""
    object: Names = _names(*NOMINAL)
    """Draws of nouns, each of which the verb must accept as its object."""
    subject_within: lexicon.Restriction = ""
    """Classes to which all possible subjects must belong."""
    subject_accepts: lexicon.Restriction = ""
    """Classes of nouns that must all be possible subjects."""
    irregular: bool | None = None
    """Whether past and participle differ."""
    distinct_past: bool = False
    """Whether past and base must differ ("put" is excluded)."""
    distinct_participle: bool = False
    """Whether participle and base must differ ("come" is excluded)."""
    particle: bool | None = None
    """Whether it has a particle."""
    unlike: Names = _names("verb")
    """Draws of verbs that it must differ from."""


class NominalDraw(Draw):
    """Keys that nouns and phrases share."""

    number: lexicon.Number | None = None
    number_of: Name | None = _names(*PRONOMINAL, default=None)
    """A draw that has the same number."""
    number_unlike: Name | None = _names(*PRONOMINAL, default=None)
    """A draw that has the other number."""
    plural: Literal["regular", "irregular"] | None = None
    """Type of its plural, which must differ from the singular."""
    distinct_plural: bool = False
    """Whether a plural must differ from the singular ("sheep" is excluded)."""
    gender: tuple[lexicon.Gender, ...] = get_args(lexicon.Gender)
    classes: lexicon.Restriction = ""
    other_than: tuple[str, ...] = ()
    """Nouns to exclude, in the singular."""
    tags: tuple[Literal["common", "clause", "relational"], ...] = ()
    mass: bool = False
    """Whether to include mass nouns."""
    proper: bool = False
    """Whether to include names."""
    relational: bool = False
    """Whether to include nouns that need an "of"."""
    subject_of: Names = _names("verb")
    """Verbs that accept it as subject."""
    object_of: Names = _names("verb")
    """Verbs that accept it as object."""
    said_of: Names = _names("adjective")
    """Adjectives that can modify it."""
    of: Name | None = _names(*NOMINAL, default=None)
    """A relational noun that accepts it after "of"."""
    unlike: Names = _names(*NOMINAL)
    """Draws of nouns that it must differ from."""
    mismatch: Names = _names(*PRONOMINAL)
    """Draws with which it must not share a reflexive pronoun."""


class NounDraw(NominalDraw):
    """A noun without determiner, in one of its numbers."""

    category: Literal["noun"] = Field(alias="is")


class PhraseDraw(NominalDraw):
    """A noun with its determiner, or a name."""

    category: Literal["phrase"] = Field(alias="is")
    proper: bool = True
    determiner: str | tuple[str, ...] = "frequent"
    """A set of determiners, or some of them."""
    complement_of: Name | None = _names("verb", default=None)
    """A verb that it is the object of; the phrase is empty if the verb takes none."""


class DeterminerDraw(Draw):
    """A determiner."""

    category: Literal["determiner"] = Field(alias="is")
    among: str | tuple[str, ...] = "frequent"
    """A set of determiners, or some of them."""
    for_: Name = Field(alias="for", json_schema_extra={"names": [*NOMINAL]})
    """The noun that it precedes."""


class PredicateDraw(Draw):
    """A verb, inflected for its subject, with an auxiliary or without."""

    category: Literal["predicate"] = Field(alias="is")
    verb: Name | None = _names("verb", default=None)
    """Name of the verb; None for a copula."""
    subject: Names = _names(*PRONOMINAL)
    """The constituents that it agrees with. It is plural if more than one is joined by "and"."""
    number: lexicon.Number | None = None
    """Its number if it has no single subject."""
    auxiliary: Literal["any", "none", "always"] = "any"
    among: tuple[str, ...] = ()
    """Allowed auxiliaries; all if empty."""
    negated: Literal["no", "yes", "any"] = "any"
    use: Literal["statement", "question"] = "statement"
    """A question requires an auxiliary, which may be "do"."""
    forms: tuple[Realised, ...] = get_args(Realised)
    agreeing: bool = False
    """Whether it must differ from its counterpart in the other number, as "has" and "have" do."""
    like: Name | None = _names("predicate", default=None)
    """A predicate to copy the auxiliary and the verb form from."""


class AdjectiveDraw(Draw):
    """An adjective."""

    category: Literal["adjective"] = Field(alias="is")
    frame: lexicon.AdjectiveFrame = ""
    words: tuple[str, ...] = ()
    other_than: tuple[str, ...] = ()
    """Adjectives to exclude."""
    tags: tuple[Literal["attributive", "predicative", "common"], ...] = ()
    never: tuple[lexicon.AdjectiveFrame, ...] = ()
    """Frames that no entry of the same adjective may have."""
    of: Names = _names(*NOMINAL)
    """Nouns that it can modify."""
    unlike: Names = _names("adjective")
    """Draws of adjectives that it must differ from."""


class PronounDraw(Draw):
    """A pronoun of the third person."""

    category: Literal["pronoun"] = Field(alias="is")
    case: Literal["nominative", "accusative", "reflexive"]
    like: Name | None = _names(*PRONOMINAL, default=None)
    """The constituent that it refers to, or would refer to in the required number."""
    number: lexicon.Number | None = None
    number_unlike: Name | None = _names(*PRONOMINAL, default=None)
    """A draw that has the other number."""
    mismatch: Names = _names(*PRONOMINAL)
    """Constituents that it cannot refer to."""


class WhDraw(Draw):
    """An interrogative or relative pronoun."""

    category: Literal["wh"] = Field(alias="is")
    for_: Name = Field(alias="for", json_schema_extra={"names": [*NOMINAL]})
    """The noun that it refers to."""
    relative: bool = False
    """True for who, which or that; false for who or what."""


class ChoiceDraw(Draw):
    """A word from a list, or a row of words from a list of rows ({name.0}, {name.1} …)."""

    category: Literal["choice"] = Field(alias="is")
    among: tuple[str | tuple[str, ...], ...] = ()
    by_number: dict[lexicon.Number, tuple[str | tuple[str, ...], ...]] = Field(default={})
    """The words to choose from, by the number of ``of``."""
    of: Name | None = _names(*PRONOMINAL, default=None)


Lexical = VerbDraw | NounDraw | PhraseDraw | DeterminerDraw | PredicateDraw | AdjectiveDraw
AnyDraw = Annotated[Lexical | PronounDraw | WhDraw | ChoiceDraw, Field(discriminator="category")]


class Scheme(Strict):
    """The draws of a pair, and its two sentences."""

    draw: dict[Name, AnyDraw] = Field(min_length=1)
    """Draws by name, in their order."""
    good: str
    """The acceptable sentence, with {name} or {name.form} in place of draws."""
    bad: str
    crucial_item: str | None = None
    """Field ``crucial_item`` of the released form, a template too."""
    dependency_length: str | None = None
    """A template; its number of words is the field ``dependency_length`` of the released form."""

    @property
    def templates(self) -> Mapping[str, str]:
        return self.model_dump(exclude={"draw"}, exclude_none=True)


class Paradigm(Strict):
    """A paradigm: fields of the released form, and schemes. A single scheme may omit ``one_of``."""

    note: str = ""
    """Sentence on what the pairs test."""
    term: str
    """Field ``linguistics_term``."""
    field: Literal["morphology", "syntax", "syntax_semantics", "semantics"]
    method: Literal["one_prefix", "two_prefix"] | None = None
    """The prefix method that it allows; both sentences then mark a critical word by brackets."""
    lexically_identical: bool
    one_of: Annotated[tuple[Scheme, ...], Field(min_length=1)]
    """Schemes to draw pairs by, with equal probability."""

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, settings: Any) -> Any:
        if not isinstance(settings, dict) or "one_of" in settings:
            return settings
        scheme = {key: value for key, value in settings.items() if key in Scheme.model_fields}
        remaining = {key: value for key, value in settings.items() if key not in scheme}
        return remaining | {"one_of": [scheme]}


# Constituents

Forms = tuple[str, ...]
"""Text of a slot, one string for each lexical entry: ("the", "ice cream")."""
FormGetters = Mapping[str, Callable[[Any], Forms]]
OTHER_NUMBER: dict[lexicon.Number, lexicon.Number] = {"sg": "pl", "pl": "sg"}
THEMSELVES = "themselves"
REFLEXIVES = {"m": ("himself",), "f": ("herself",), "n": ("itself",)}
"""Reflexives of singulars, by gender."""
COMMON_REFLEXIVES = {True: ("himself", "herself"), False: ("itself", "himself", "herself")}
"""Reflexives of singulars of common gender, by whether they are persons; the others are animals."""
CASES = {
    "himself": {"nominative": "he", "accusative": "him"},
    "herself": {"nominative": "she", "accusative": "her"},
    "itself": {"nominative": "it", "accusative": "it"},
    THEMSELVES: {"nominative": "they", "accusative": "them"},
}
"""Cases of the pronouns, by the reflexive."""


def _not_empty(*forms: str) -> Forms:
    return tuple(filter(None, forms))


@dataclass(frozen=True, slots=True)
class NounForm:
    """A noun in one of its numbers; a phrase may have a determiner too."""

    entry: lexicon.Noun
    number: lexicon.Number
    determiner: lexicon.Determiner | None = None

    @property
    def text(self) -> str:
        return self.entry.forms[self.number]

    @property
    def possessive(self) -> str:
        plural_in_s = self.number == "pl" and self.text.endswith("s")
        return self.text + ("'" if plural_in_s else "'s")

    @property
    def reflexives(self) -> Forms:
        """Reflexive pronouns that can refer to the noun."""
        if self.number == "pl":
            return (THEMSELVES,)
        if self.entry.gender == "c":
            return COMMON_REFLEXIVES["person" in self.entry.classes]
        return REFLEXIVES[self.entry.gender]

    @property
    def det(self) -> Forms:
        return (self.determiner.determiner,) if self.determiner else ()

    def words(self) -> list[str]:
        """Split the phrase into words; determiners and names can have more than one."""
        return " ".join((*self.det, self.text)).split(" ")


@dataclass(frozen=True, slots=True)
class Realisation:
    """A predicate's auxiliary, if any, and the form of its verb."""

    auxiliary: lexicon.Auxiliary | None
    negated: bool
    form: lexicon.VerbForm

    @property
    def aux(self) -> Forms:
        if self.auxiliary is None:
            return ()
        return (self.auxiliary.negated if self.negated else self.auxiliary.auxiliary,)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A verb inflected for its subject, or a copula."""

    verb: lexicon.Verb | None
    chosen: Realisation
    counterpart: Realisation | None
    """The realisation in the other number, if it differs."""

    def realised(self, name: str, swapped: bool) -> Forms:
        """Return the forms called ``name``, in the other number if ``swapped``.

        In "has looked at", "aux" and "finite" are "has", "verb" and "rest" are "looked at". In
        "looks at", "finite" is "looks", "rest" is "at". The name "" returns all forms.
        """
        chosen = self.counterpart if swapped and self.counterpart else self.chosen
        verb = self.verb.with_particle(chosen.form) if self.verb else ()
        if name == "aux":
            return chosen.aux
        if name == "verb":
            return verb
        if name == "finite":
            return chosen.aux or (verb[0].split(" ")[0],)
        if name == "rest":
            return verb if chosen.aux else _not_empty(self.verb.particle if self.verb else "")
        return chosen.aux + verb


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A pronoun, with its reflexive."""

    text: str
    reflexive: str

    @property
    def number(self) -> lexicon.Number:
        return "pl" if self.reflexive == THEMSELVES else "sg"

    @property
    def reflexives(self) -> Forms:
        return (self.reflexive,)


Entry = lexicon.Verb | lexicon.Determiner | lexicon.Adjective
Constituent = Entry | NounForm | Predicate | Pronoun | Forms | None
"""A drawn constituent; a tuple is a row of words, None the object of a verb that takes none."""

PREDICATE_FORMS = ("", "aux", "verb", "finite", "rest")
NOUN_FORMS: FormGetters = {
    "": lambda noun: (*noun.det, noun.text),
    "swapped": lambda noun: (*noun.det, noun.entry.forms[OTHER_NUMBER[noun.number]]),
    "possessive": lambda noun: (*noun.det, noun.possessive),
}
FORMS_BY_CATEGORY: Mapping[str, FormGetters] = {
    "verb": {form: methodcaller("with_particle", form) for form in get_args(lexicon.VerbForm)},
    "noun": NOUN_FORMS,
    "phrase": {
        **NOUN_FORMS,
        "det": lambda noun: noun.det,
        "noun": lambda noun: (noun.text,),
        "first": lambda noun: (noun.words()[0],),
        "rest": lambda noun: _not_empty(*noun.words()[1:]),
    },
    "determiner": {"": lambda entry: (entry.determiner,), "swapped": lambda e: (e.swapped,)},
    "predicate": {
        **{name: methodcaller("realised", name, False) for name in PREDICATE_FORMS},
        "swapped": methodcaller("realised", "", True),
        **{f"swapped.{name}": methodcaller("realised", name, True) for name in PREDICATE_FORMS[1:]},
    },
    "adjective": {"": lambda adjective: (adjective.adjective,)},
    "pronoun": {"": lambda pronoun: (pronoun.text,)},
    "wh": {"": lambda row: row},
}
"""Functions from a constituent to forms, by its category and the slot's name after the dot. Forms
called "swapped" have the other number."""


def forms_of(constituent: Constituent, category: str, name: str) -> Forms:
    """Return the forms of a slot, given the ``name`` after its dot ("" without a dot).

    For a choice, ``name`` is an index in the row of words, 0 if empty. Empty words are left out.
    """
    if isinstance(constituent, tuple):
        return _not_empty(constituent[int(name or 0)])
    return () if constituent is None else FORMS_BY_CATEGORY[category][name](constituent)
