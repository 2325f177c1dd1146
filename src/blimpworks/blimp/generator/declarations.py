"""Paradigms as declarations: what is drawn, in which order, and the two sentences made of it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError

from blimpworks.blimp.lexicon.entries import Frame, Number, Restriction, VerbTag
from blimpworks.config import Strict, complaints, read_settings
from blimpworks.errors import UserError

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
"""Of something that is drawn."""
Names = tuple[Name, ...]
Gender = Literal["m", "f", "c", "n"]
Realised = Literal["present", "past", "base", "participle", "gerund"]
"""What a verb stands as: finite, or after an auxiliary in that form."""
NAMES: dict[str, Any] = {"names": True}
"""Marks the fields that name what is drawn."""
SLOT = re.compile(r"\{([a-z][a-z0-9_]*)((?:\.[a-z0-9_]+)*)\}")


class Drawn(Strict):
    """Base of everything that is drawn."""

    def names(self) -> Iterator[tuple[str, str]]:
        """What it says of others that are drawn: key and name."""
        for key, field in type(self).model_fields.items():
            if field.json_schema_extra != NAMES:
                continue
            value = getattr(self, key)
            for name in (value,) if isinstance(value, str) else value or ():
                yield key, name


def _names(default: Any = ()) -> Any:
    return Field(default, json_schema_extra=NAMES)


class VerbDraw(Drawn):
    """An entry of a verb."""

    kind: Literal["verb"] = Field(alias="is")
    frame: Frame | tuple[Frame, ...] = get_args(Frame)
    words: tuple[str, ...] = ()
    """Verbs, with their particles; all if empty."""
    other_than: tuple[str, ...] = ()
    """Verbs, with their particles, that it is not."""
    tags: tuple[VerbTag, ...] = ()
    """All of them hold."""
    without: tuple[VerbTag, ...] = ()
    """None of them holds."""
    complement: Literal["that", "wh"] | tuple[Literal["that", "wh"], ...] = ()
    """Kinds of clauses that it takes, all of them."""
    only: Literal["that", "wh"] | None = None
    """The only kind of clause that it takes."""
    also: Frame | None = None
    """The verb has an entry of this frame too."""
    never: tuple[Frame, ...] = ()
    """The verb has no entry of these frames."""
    subject: Names = _names()
    """Each of them could be its subject."""
    object: Names = _names()
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
    """Whether it has one."""
    unlike: Names = _names()
    """Verbs that it is not."""


class NominalDraw(Drawn):
    """What nouns and phrases have in common."""

    number: Number | None = None
    number_of: Name | None = _names(None)
    """The same number as this one."""
    number_unlike: Name | None = _names(None)
    """The other number than this one's."""
    plural: Literal["regular", "irregular"] | None = None
    """How its plural is made; it has one that differs."""
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
    subject_of: Names = _names()
    """Verbs that it could be the subject of."""
    object_of: Names = _names()
    """Verbs that it could be the object of."""
    said_of: Names = _names()
    """Adjectives that could be said of it."""
    of: Name | None = _names(None)
    """A relational noun that it could stand after "of"."""
    unlike: Names = _names()
    """Nouns that it is not."""
    mismatch: Names = _names()
    """Constituents that it shares no reflexive pronoun with."""
    match: Names = _names()
    """Constituents that it shares a reflexive pronoun with."""


class NounDraw(NominalDraw):
    """A noun without determiner, in one of its numbers."""

    kind: Literal["noun"] = Field(alias="is")


class PhraseDraw(NominalDraw):
    """A noun with its determiner, or a name."""

    kind: Literal["phrase"] = Field(alias="is")
    proper: bool = True
    determiner: str | tuple[str, ...] = "frequent"
    """A set of determiners, or some of them."""
    complement_of: Name | None = _names(None)
    """A verb that it is the object of; nothing at all if that takes none."""


class DeterminerDraw(Drawn):
    """A determiner."""

    kind: Literal["determiner"] = Field(alias="is")
    among: str | tuple[str, ...] = "frequent"
    """A set of determiners, or some of them."""
    for_: Name = Field(alias="for", json_schema_extra=NAMES)
    """The noun that it stands before."""
    unlike: Names = _names()
    """Determiners that it is not."""


class PredicateDraw(Drawn):
    """A verb, inflected for its subject, with an auxiliary or without."""

    kind: Literal["predicate"] = Field(alias="is")
    verb: Name | None = _names(None)
    """Nothing for a copula."""
    subject: Names = _names()
    """What it agrees with; of several, joined by "and", the plural."""
    number: Number | None = None
    """What it agrees with where there is no such subject."""
    auxiliary: Literal["any", "none", "always"] = "any"
    among: tuple[str, ...] = ()
    """Auxiliaries that it may have; all if empty."""
    negated: Literal["no", "yes", "any"] = "any"
    use: Literal["statement", "question"] = "statement"
    """A question wants an auxiliary, and has "do" too."""
    forms: tuple[Realised, ...] = get_args(Realised)
    agreeing: bool = False
    """Whether it must have a counterpart of the other number."""
    like: Name | None = _names(None)
    """A predicate whose auxiliary and form it has."""


class AdjectiveDraw(Drawn):
    """An adjective."""

    kind: Literal["adjective"] = Field(alias="is")
    frame: Literal["", "tough", "raising", "control", "clause"] = ""
    words: tuple[str, ...] = ()
    other_than: tuple[str, ...] = ()
    """Adjectives that it is not."""
    tags: tuple[Literal["attributive", "predicative", "common"], ...] = ()
    never: tuple[Literal["", "tough", "raising", "control", "clause"], ...] = ()
    """The adjective has no entry of these frames."""
    of: Names = _names()
    """What it is said of."""
    unlike: Names = _names()
    """Adjectives that it is not."""


class PronounDraw(Drawn):
    """A pronoun of the third person."""

    kind: Literal["pronoun"] = Field(alias="is")
    case: Literal["nominative", "accusative", "reflexive"]
    like: Name | None = _names(None)
    """What it stands for, or would in the number that is asked for."""
    number: Number | None = None
    number_unlike: Name | None = _names(None)
    """The other number than this one's."""
    mismatch: Names = _names()
    """What it cannot stand for."""


class WhDraw(Drawn):
    """An interrogative or relative pronoun."""

    kind: Literal["wh"] = Field(alias="is")
    for_: Name = Field(alias="for", json_schema_extra=NAMES)
    """What it stands for."""
    relative: bool = False
    """Who, which or that; otherwise who or what."""


class ChoiceDraw(Drawn):
    """One of some words, or one of some rows of words ({name.0}, {name.1} …)."""

    kind: Literal["choice"] = Field(alias="is")
    among: tuple[str | tuple[str, ...], ...] = ()
    by_number: dict[Number, tuple[str | tuple[str, ...], ...]] = Field(default={})
    """What there is to choose from, by the number of ``of``."""
    of: Name | None = _names(None)
    unlike: Names = _names()
    """Choices that it is not."""


AnyDraw = Annotated[
    VerbDraw
    | NounDraw
    | PhraseDraw
    | DeterminerDraw
    | PredicateDraw
    | AdjectiveDraw
    | PronounDraw
    | WhDraw
    | ChoiceDraw,
    Field(discriminator="kind"),
]


class Scheme(Strict):
    """What is drawn for a pair, and its two sentences."""

    draw: dict[Name, AnyDraw] = Field(min_length=1)
    """What is drawn, in this order, by names."""
    good: str
    """The acceptable sentence, with {name} or {name.part} in place of what is drawn."""
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
    """A paradigm: what the released files say of it, and the schemes that its pairs are drawn by.

    With a single scheme, its keys stand beside the others.
    """

    note: str = ""
    """What the pairs are about, in a sentence."""
    term: str
    """Field ``linguistics_term``."""
    field: Literal["morphology", "syntax", "syntax_semantics", "semantics"]
    method: Literal["one_prefix", "two_prefix"] | None = None
    """The prefix method that it allows; then both sentences mark critical words by brackets."""
    lexically_identical: bool
    one_of: Annotated[tuple[Scheme, ...], Field(min_length=1)]
    """Schemes that pairs are drawn by, each as often as any other."""


def _unknown(scheme: Scheme) -> Iterator[str]:
    """One complaint for each name that is not drawn, or not before it is used."""
    known: list[str] = []
    for name, drawn in scheme.draw.items():
        for key, used in drawn.names():
            if used not in known:
                where = f"draw.{name}.{key.rstrip('_')}"
                yield f"key {where!r} names {used!r}, which is not drawn before"
        known.append(name)
    for key, text in scheme.templates.items():
        for used, _ in SLOT.findall(text):
            if used not in known:
                yield f"key {key!r} names {used!r}, which is not drawn"
        if rest := re.search(r"[{}]", SLOT.sub("", text)):
            yield f"key {key!r} has a stray {rest[0]!r}; expected {{name}} or {{name.part}}"


def _unmarked(scheme: Scheme, method: str | None) -> Iterator[str]:
    for key in ("good", "bad"):
        marked = re.findall(r"\[[^][]*\]", getattr(scheme, key))
        if len(marked) != bool(method):
            wanted = "one critical word" if method else "none, for want of a method"
            yield f"key {key!r} marks {len(marked)} critical words by brackets; expected {wanted}"


def _gathered(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with the keys of a single scheme below ``one_of``."""
    if "one_of" in settings:
        return settings
    scheme = {key: value for key, value in settings.items() if key in Scheme.model_fields}
    rest = {key: value for key, value in settings.items() if key not in scheme}
    return {**rest, "one_of": [scheme]}


def read_declaration(path: Path) -> Declaration:
    """Read a paradigm's declaration, a YAML file called after it.

    Raises UserError naming file and key of what is missing, unknown or malformed.
    """
    settings = _gathered(read_settings(path, "declaration of a paradigm"))
    try:
        declaration = Declaration.model_validate(settings)
    except ValidationError as error:
        raise UserError(complaints(error.errors(), settings, str(path))) from error
    for scheme in declaration.one_of:
        wrong = [*_unknown(scheme), *_unmarked(scheme, declaration.method)]
        if wrong:
            raise UserError("\n".join(f"{path}: {each}." for each in wrong))
    return declaration
