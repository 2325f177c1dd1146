"""Entries of the lexicon: what stands in a line of each of its tables."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from blimpworks.papers.blimp.items.lexicon import inflection
from blimpworks.strict import Strict


def _words(value: Any) -> Any:
    return tuple(value.split()) if isinstance(value, str) else value


Word = Annotated[str, Field(pattern=r"^\S+( \S+)*$")]
Form = Annotated[str, Field(pattern=r"^(\S+( \S+)*)?$")]
"""A form, or nothing where it is the regular one."""
Restriction = Annotated[str, Field(pattern=r"^(!?[a-z]+( !?[a-z]+)*)?$")]
Classes = Annotated[tuple[str, ...], BeforeValidator(_words), Field(min_length=1)]
Number = Literal["sg", "pl"]
Gender = Literal["m", "f", "c", "n"]
"""Masculine, feminine, either of them, neuter."""
NOTHING, SAME = "-", "="
"""In place of a plural: there is none; it is the singular."""


class NameRow(Strict):
    """A line of the table of names."""

    noun: Word
    gender: Gender
    classes: Classes


class Noun(Strict):
    """A common noun, or a name."""

    noun: Word
    """The singular."""
    plural: Form = NOTHING
    gender: Gender
    classes: Classes
    of: Restriction = ""
    """What follows its "of"."""
    tags: Annotated[
        frozenset[Literal["common", "clause", "relational", "name"]], BeforeValidator(_words)
    ] = frozenset()

    @property
    def mass(self) -> bool:
        """Whether it has no plural, though it is no name."""
        return self.plural == NOTHING and "name" not in self.tags

    @property
    def forms(self) -> dict[Number, str]:
        """Its forms by number."""
        if self.plural == NOTHING:
            return {"sg": self.noun}
        regular = inflection.plural(self.noun)
        return {
            "sg": self.noun,
            "pl": self.noun if self.plural == SAME else self.plural or regular,
        }

    @property
    def marked(self) -> bool:
        """Whether singular and plural differ."""
        return len({*self.forms.values()}) == 2

    @property
    def irregular(self) -> bool:
        """Whether it has a plural of its own, other than by spelling (as "heroes" has)."""
        return self.marked and self.forms["pl"] not in inflection.regular_plurals(self.noun)


Frame = Literal[
    "intransitive",
    "transitive",
    "clause",
    "raising",
    "control",
    "object_raising",
    "object_control",
]
VerbTag = Literal[
    "drops",
    "passive",
    "alternates",
    "psych",
    "reflexive",
    "double",
    "stative",
    "common",
    "agentive",
    "nonagentive",
    "becoming",
    "objects",
    "bare",
    "animate",
    "role",
    "timeless",
    "zero",
]
VerbForm = Literal["base", "third", "past", "participle", "gerund"]


class Verb(Strict):
    """A verb in one of its frames; docs/generator.md says what frames and tags stand for."""

    verb: Word
    third: Form
    past: Form
    participle: Form
    gerund: Form
    particle: Form
    """What follows it and belongs to the entry, such as "at" of "look at"."""
    frame: Frame
    subject: Restriction
    object: Restriction
    complement: Literal["", "that", "that wh", "wh"]
    """Kinds of finite clauses that it takes."""
    tags: Annotated[frozenset[VerbTag], BeforeValidator(_words)]

    @property
    def lexeme(self) -> str:
        """Verb and particle."""
        return f"{self.verb} {self.particle}".strip()

    def form(self, form: VerbForm) -> str:
        """A form, without the particle."""
        regular_past = inflection.past(self.verb)
        return {
            "base": self.verb,
            "third": self.third or inflection.third(self.verb),
            "past": self.past or regular_past,
            "participle": self.participle or self.past or regular_past,
            "gerund": self.gerund or inflection.gerund(self.verb),
        }[form]

    @property
    def irregular(self) -> bool:
        """Whether past and participle differ."""
        return self.form("past") != self.form("participle")


class Adjective(Strict):
    """An adjective in one of its frames."""

    adjective: Word
    noun: Restriction
    """What it is said of."""
    frame: Literal["", "tough", "raising", "control", "clause"]
    tags: Annotated[
        frozenset[Literal["attributive", "predicative", "common"]], BeforeValidator(_words)
    ]


class Determiner(Strict):
    """A determiner."""

    determiner: Word
    numbers: Annotated[frozenset[Literal["sg", "pl", "mass"]], BeforeValidator(_words)]
    """What it stands before: singular count nouns, plurals, mass nouns."""
    sets: Annotated[frozenset[str], BeforeValidator(_words)]
    """Names that paradigms ask for it by."""
    swapped: Form
    """Its counterpart of the other number."""


class Auxiliary(Strict):
    """An auxiliary, with the form of the verb that it asks for."""

    auxiliary: Word
    negated: Form
    """Contracted with "not"."""
    numbers: Annotated[frozenset[Number], BeforeValidator(_words)]
    takes: Literal["base", "participle", "gerund"]
    tense: Literal["present", "past", "modal"]
    swapped: Form
    """Its counterpart of the other number."""
    use: Annotated[
        frozenset[Literal["statement", "question", "negation", "copula"]], BeforeValidator(_words)
    ]
    """Where it stands without emphasis (do only in questions and before "not"); copula: it
    serves alone before adjectives and participles."""


@dataclass(frozen=True, slots=True)
class Sounds:
    """Beginnings of words that "a" or "an" stands before against their spelling."""

    vowel: tuple[str, ...]
    consonant: tuple[str, ...]

    def article(self, word: str) -> str:
        """The indefinite article before a word; of several beginnings the longest decides."""
        word = word.lower()
        kinds = {**dict.fromkeys(self.vowel, "an"), **dict.fromkeys(self.consonant, "a")}
        known = [beginning for beginning in kinds if word.startswith(beginning)]
        if known:
            return kinds[max(known, key=len)]
        return "an" if word[:1] in inflection.VOWELS else "a"
