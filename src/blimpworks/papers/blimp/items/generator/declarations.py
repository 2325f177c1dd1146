"""Declarations of paradigms: draws in their order, and two sentences made of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import Field

from blimpworks.papers.blimp.items.lexicon import (
    AdjectiveFrame,
    Frame,
    Gender,
    Number,
    Restriction,
    VerbTag,
)
from blimpworks.strict import Strict

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
"""Name of a draw."""
Names = tuple[Name, ...]
Realised = Literal["present", "past", "base", "participle", "gerund"]
"""Form of a verb: finite, or after an auxiliary."""
NOMINAL = ("noun", "phrase")
PRONOMINAL = (*NOMINAL, "pronoun")


class Drawn(Strict):
    """Base of all draws."""

    def names(self) -> Iterator[tuple[str, str, Sequence[str]]]:
        """Yield references to other draws: key, name, and the kinds that these may have."""
        for key, field in type(self).model_fields.items():
            if not isinstance(field.json_schema_extra, dict):
                continue
            value = getattr(self, key)
            for name in (value,) if isinstance(value, str) else value or ():
                yield field.alias or key, name, cast(list[str], field.json_schema_extra["names"])


def _names(*kinds: str, default: Any = ()) -> Any:
    return Field(default, json_schema_extra={"names": [*kinds]})


def _for() -> Any:
    return Field(alias="for", json_schema_extra={"names": [*NOMINAL]})


class VerbDraw(Drawn):
    """An entry of a verb."""

    kind: Literal["verb"] = Field(alias="is")
    frame: Frame | tuple[Frame, ...] = get_args(Frame)
    words: tuple[str, ...] = ()
    """Verbs, with their particles; all if empty."""
    other_than: tuple[str, ...] = ()
    """Verbs, with their particles, that it is not."""
    tags: tuple[VerbTag, ...] = ()
    """Tags that all hold."""
    without: tuple[VerbTag, ...] = ()
    """Tags of which none holds."""
    complement: Literal["that", "wh"] | tuple[Literal["that", "wh"], ...] = ()
    """Kinds of clauses that it takes, all of them."""
    never: tuple[Frame, ...] = ()
    """The verb has no entry of these frames."""
    subject: Names = _names(*NOMINAL)
    """Each of them could be its subject."""
    object: Names = _names(*NOMINAL)
    """Each of them could be its object."""
    subject_within: Restriction = ""
    """Nothing else could be its subject."""
    subject_accepts: Restriction = ""
    """Nouns of all these classes could be its subject."""
    irregular: bool | None = None
    """Whether past and participle differ."""
    distinct_past: bool = False
    """Past and base differ (unlike those of "put")."""
    distinct_participle: bool = False
    """Participle and base differ (unlike those of "come")."""
    particle: bool | None = None
    """Whether it has a particle."""
    unlike: Names = _names("verb")
    """Verbs that it is not."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,) if isinstance(self.frame, str) else self.frame


class NominalDraw(Drawn):
    """Keys that nouns and phrases have in common."""

    number: Number | None = None
    number_of: Name | None = _names(*PRONOMINAL, default=None)
    """The same number as this one."""
    number_unlike: Name | None = _names(*PRONOMINAL, default=None)
    """The other number than this one's."""
    plural: Literal["regular", "irregular"] | None = None
    """Kind of its plural, which differs from the singular."""
    distinct_plural: bool = False
    """Its plural, if any, differs from its singular (unlike that of "sheep")."""
    gender: tuple[Gender, ...] = get_args(Gender)
    classes: Restriction = ""
    other_than: tuple[str, ...] = ()
    """Nouns, in the singular, that it is not."""
    tags: tuple[Literal["common", "clause", "relational"], ...] = ()
    mass: bool = False
    """Whether nouns without plural count too."""
    proper: bool = False
    """Whether names count too."""
    relational: bool = False
    """Whether nouns that want an "of" count too."""
    subject_of: Names = _names("verb")
    """Verbs that it could be the subject of."""
    object_of: Names = _names("verb")
    """Verbs that it could be the object of."""
    said_of: Names = _names("adjective")
    """Adjectives that could be said of it."""
    of: Name | None = _names(*NOMINAL, default=None)
    """A relational noun that it could stand after "of"."""
    unlike: Names = _names(*NOMINAL)
    """Nouns that it is not."""
    mismatch: Names = _names(*PRONOMINAL)
    """Constituents that it shares no reflexive pronoun with."""


class NounDraw(NominalDraw):
    """A noun without determiner, in one of its numbers."""

    kind: Literal["noun"] = Field(alias="is")


class PhraseDraw(NominalDraw):
    """A noun with its determiner, or a name."""

    kind: Literal["phrase"] = Field(alias="is")
    proper: bool = True
    determiner: str | tuple[str, ...] = "frequent"
    """A set of determiners, or some of them."""
    complement_of: Name | None = _names("verb", default=None)
    """A verb that it is the object of; nothing at all if that takes none."""


class DeterminerDraw(Drawn):
    """A determiner."""

    kind: Literal["determiner"] = Field(alias="is")
    among: str | tuple[str, ...] = "frequent"
    """A set of determiners, or some of them."""
    for_: Name = _for()
    """The noun that it stands before."""


class PredicateDraw(Drawn):
    """A verb, inflected for its subject, with an auxiliary or without."""

    kind: Literal["predicate"] = Field(alias="is")
    verb: Name | None = _names("verb", default=None)
    """Name of the verb; None for a copula."""
    subject: Names = _names(*PRONOMINAL)
    """The constituents that it agrees with; of several, joined by "and", the plural."""
    number: Number | None = None
    """Its number where it has no such subject."""
    auxiliary: Literal["any", "none", "always"] = "any"
    among: tuple[str, ...] = ()
    """Auxiliaries that it may have; all if empty."""
    negated: Literal["no", "yes", "any"] = "any"
    use: Literal["statement", "question"] = "statement"
    """A question wants an auxiliary, and has "do" too."""
    forms: tuple[Realised, ...] = get_args(Realised)
    agreeing: bool = False
    """Whether it must have a counterpart of the other number."""
    like: Name | None = _names("predicate", default=None)
    """A predicate whose auxiliary and form it has."""


class AdjectiveDraw(Drawn):
    """An adjective."""

    kind: Literal["adjective"] = Field(alias="is")
    frame: AdjectiveFrame = ""
    words: tuple[str, ...] = ()
    other_than: tuple[str, ...] = ()
    """Adjectives that it is not."""
    tags: tuple[Literal["attributive", "predicative", "common"], ...] = ()
    never: tuple[AdjectiveFrame, ...] = ()
    """The adjective has no entry of these frames."""
    of: Names = _names(*NOMINAL)
    """Nouns that it could be said of."""
    unlike: Names = _names("adjective")
    """Adjectives that it is not."""


class PronounDraw(Drawn):
    """A pronoun of the third person."""

    kind: Literal["pronoun"] = Field(alias="is")
    case: Literal["nominative", "accusative", "reflexive"]
    like: Name | None = _names(*PRONOMINAL, default=None)
    """The constituent that it refers to, or would in the number that is asked for."""
    number: Number | None = None
    number_unlike: Name | None = _names(*PRONOMINAL, default=None)
    """The other number than this one's."""
    mismatch: Names = _names(*PRONOMINAL)
    """Constituents that it cannot refer to."""


class WhDraw(Drawn):
    """An interrogative or relative pronoun."""

    kind: Literal["wh"] = Field(alias="is")
    for_: Name = _for()
    """The noun that it refers to."""
    relative: bool = False
    """Who, which or that; otherwise who or what."""


class ChoiceDraw(Drawn):
    """One of some words, or one of some rows of words ({name.0}, {name.1} …)."""

    kind: Literal["choice"] = Field(alias="is")
    among: tuple[str | tuple[str, ...], ...] = ()
    by_number: dict[Number, tuple[str | tuple[str, ...], ...]] = Field(default={})
    """The words to choose from, by the number of ``of``."""
    of: Name | None = _names(*PRONOMINAL, default=None)


Lexical = VerbDraw | NounDraw | PhraseDraw | DeterminerDraw | PredicateDraw | AdjectiveDraw
AnyDraw = Annotated[Lexical | PronounDraw | WhDraw | ChoiceDraw, Field(discriminator="kind")]


class Scheme(Strict):
    """The draws of a pair, and its two sentences."""

    draw: dict[Name, AnyDraw] = Field(min_length=1)
    """Draws by name, in their order."""
    good: str
    """The acceptable sentence, with {name} or {name.part} in place of draws."""
    bad: str
    crucial_item: str | None = None
    """Field of that name, written like a sentence."""
    dependency_length: str | None = None
    """Words whose number is the field of that name, written like a sentence."""

    @property
    def templates(self) -> Mapping[str, str]:
        """Everything that is written like a sentence, by its key."""
        keys = ("good", "bad", "crucial_item", "dependency_length")
        return {key: text for key in keys if (text := getattr(self, key)) is not None}


class Declaration(Strict):
    """A paradigm: its fields in the released form, and the schemes of its pairs.

    A single scheme's keys may be at the top.
    """

    note: str = ""
    """The subject of the pairs, in a sentence."""
    term: str
    """Field ``linguistics_term``."""
    field: Literal["morphology", "syntax", "syntax_semantics", "semantics"]
    method: Literal["one_prefix", "two_prefix"] | None = None
    """The prefix method that it allows; then both sentences mark critical words by brackets."""
    lexically_identical: bool
    one_of: Annotated[tuple[Scheme, ...], Field(min_length=1)]
    """Schemes that pairs are drawn by, each as often as any other."""
