"""The lexicon of the generator: its entries, regular English inflection, and classes of nouns.

``read_lexicon``, at the end, reads a directory with a table for each part of speech, a row for each
entry, such as ``noun: child, plural: children, gender: c, classes: person``. Empty cells have
regular forms, which follow from spelling. Classes of nouns are a hierarchy. A restriction
lists the classes that a verb, an adjective or "of" accepts, and "!" excludes a class: "person
!group" accepts persons that are not groups.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BeforeValidator, Field

from blimpworks.campaign.settings.base import parse_yaml, read_settings
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.strict import Strict

VOWELS = "aeiou"
SIBILANTS = ("s", "x", "z", "ch", "sh")


def _after_consonant(word: str) -> bool:
    return len(word) > 1 and word[-2] not in VOWELS


def plural(noun: str) -> str:
    """Return the regular plural of a noun; the last of its words is inflected."""
    if noun.endswith(SIBILANTS):
        return f"{noun}es"
    if noun.endswith("y") and _after_consonant(noun):
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def regular_plurals(noun: str) -> frozenset[str]:
    """Return the possible plurals that are regular but for their spelling: heroes, quizzes."""
    return frozenset((plural(noun), f"{noun}s", f"{noun}es", f"{noun}{noun[-1]}es"))


def third(verb: str) -> str:
    """Return the regular third person singular of the present."""
    return f"{verb}es" if verb.endswith("o") else plural(verb)


def past(verb: str) -> str:
    """Return the regular past, also the participle. No consonant is doubled."""
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and _after_consonant(verb):
        return f"{verb[:-1]}ied"
    return f"{verb}ed"


def gerund(verb: str) -> str:
    """Return the regular -ing form. No consonant is doubled."""
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return f"{verb[:-1]}ing"
    return f"{verb}ing"


def _words(value: Any) -> Any:
    return tuple(value.split()) if isinstance(value, str) else value


Word = Annotated[str, Field(pattern=r"^\S+( \S+)*$")]
Form = Annotated[str, Field(pattern=r"^(\S+( \S+)*)?$")]
"""An irregular form; empty for the regular one."""
Restriction = Annotated[str, Field(pattern=r"^(!?[a-z]+( !?[a-z]+)*)?$")]
Value = TypeVar("Value")
Several = Annotated[frozenset[Value], BeforeValidator(_words)]
"""Words of a cell, separated by spaces."""
ClassNames = Annotated[tuple[str, ...], BeforeValidator(_words), Field(min_length=1)]
Number = Literal["sg", "pl"]
Gender = Literal["m", "f", "c", "n"]
"""Masculine, feminine, common (either of them), neuter."""
NOTHING, SAME = "-", "="
"""Marks in place of a plural: the noun has none; it is equal to the singular."""


class Noun(Strict):
    """A common noun, or a name."""

    noun: Word
    """The singular."""
    plural: Form = NOTHING
    gender: Gender
    classes: ClassNames
    of: Restriction = ""
    """Classes to which the noun after its "of" must belong."""
    tags: Several[Literal["common", "clause", "relational", "name"]] = frozenset()

    @property
    def mass(self) -> bool:
        """Whether the noun is a common noun without plural."""
        return self.plural == NOTHING and "name" not in self.tags

    @property
    def forms(self) -> dict[Number, str]:
        if self.plural == NOTHING:
            return {"sg": self.noun}
        other_form = self.noun if self.plural == SAME else self.plural or plural(self.noun)
        return {"sg": self.noun, "pl": other_form}

    @property
    def marked(self) -> bool:
        return len({*self.forms.values()}) == 2

    @property
    def irregular(self) -> bool:
        """Whether the plural differs by more than spelling (unlike "heroes")."""
        return self.marked and self.forms["pl"] not in regular_plurals(self.noun)


Frame = Literal[
    "intransitive", "transitive", "clause", "raising", "control", "object_raising", "object_control"
]
AdjectiveFrame = Literal["", "tough", "raising", "control", "clause"]
VerbTag = Literal[
    "drops", "passive", "alternates", "psych", "reflexive", "double", "stative", "common",
    "agentive", "nonagentive", "becoming", "objects", "bare", "animate", "role", "timeless", "zero",
]  # fmt: skip
VerbForm = Literal["base", "third", "past", "participle", "gerund"]


class Verb(Strict):
    """A verb in one of its frames; docs/generator.md explains frames and tags."""

    verb: Word
    third: Form
    past: Form
    participle: Form
    gerund: Form
    particle: Form
    """A word after the verb that belongs to the entry, such as "at" of "look at"."""
    frame: Frame
    subject: Restriction
    object: Restriction
    complement: Literal["", "that", "that wh", "wh"]
    """Types of finite clauses that it takes."""
    tags: Several[VerbTag]

    @property
    def lexeme(self) -> str:
        return f"{self.verb} {self.particle}".strip()

    def form(self, form: VerbForm) -> str:
        """Return a form, without the particle."""
        regular_past = past(self.verb)
        return {
            "base": self.verb,
            "third": self.third or third(self.verb),
            "past": self.past or regular_past,
            "participle": self.participle or self.past or regular_past,
            "gerund": self.gerund or gerund(self.verb),
        }[form]

    def with_particle(self, form: VerbForm) -> tuple[str, ...]:
        return (f"{self.form(form)} {self.particle}".strip(),)

    @property
    def irregular(self) -> bool:
        """Whether past and participle differ."""
        return self.form("past") != self.form("participle")


class Adjective(Strict):
    """An adjective in one of its frames."""

    adjective: Word
    noun: Restriction
    """Classes of nouns that it can modify."""
    frame: AdjectiveFrame
    tags: Several[Literal["attributive", "predicative", "common"]]


class Determiner(Strict):
    """A determiner."""

    determiner: Word
    numbers: Several[Literal["sg", "pl", "mass"]]
    """Nouns that may follow it: singular count nouns, plurals, mass nouns."""
    sets: Several[str]
    """Names of sets that declarations refer to."""
    swapped: Form
    """Its counterpart of the other number."""


class Auxiliary(Strict):
    """An auxiliary, with the verb form that it requires."""

    auxiliary: Word
    negated: Form
    """Contracted with "not"."""
    numbers: Several[Number]
    takes: Literal["base", "participle", "gerund"]
    tense: Literal["present", "past", "modal"]
    swapped: Form
    """Its counterpart of the other number."""
    use: Several[Literal["statement", "question", "negation", "copula"]]
    """Uses without emphasis ("do" lacks statement); a copula can precede adjectives by itself."""


class Sounds(Strict):
    """Beginnings of words whose first letter suggests the wrong article, such as "hour" (an)."""

    vowel: tuple[str, ...]
    consonant: tuple[str, ...]

    def article(self, word: str) -> str:
        """Return the indefinite article before a word; the longest matching beginning decides."""
        word = word.lower()
        articles = {**dict.fromkeys(self.vowel, "an"), **dict.fromkeys(self.consonant, "a")}
        beginnings = [beginning for beginning in articles if word.startswith(beginning)]
        if beginnings:
            return articles[max(beginnings, key=len)]
        return "an" if word[:1] in VOWELS else "a"


Entry = TypeVar("Entry", bound=Strict)
EXCLUDED = "!"
"""Prefix of a class that a restriction excludes."""


class Classes:
    """A hierarchy of classes of nouns, such as animate > person."""

    def __init__(self, wider: Mapping[str, frozenset[str]]) -> None:
        self.wider = wider
        """Wider classes of each class, and the class itself."""
        self.accepts = lru_cache(maxsize=None)(self._accepts)

    def _accepts(self, restriction: str, classes: tuple[str, ...]) -> bool:
        """Tell whether a noun of these classes satisfies a restriction; "" restricts nothing."""
        names = restriction.split()
        accepted = {name for name in names if not name.startswith(EXCLUDED)}
        excluded = {name.removeprefix(EXCLUDED) for name in names} - accepted
        noun_classes = {wider for name in classes for wider in self.wider[name]}
        if noun_classes & excluded:
            return False
        return not accepted or bool(noun_classes & accepted)


def read_classes(path: Path) -> Classes:
    """Read a hierarchy of classes. Raises UserError if it is malformed or repeats a class."""
    wider: dict[str, frozenset[str]] = {}

    def add(tree: Mapping[str, Any], above: tuple[str, ...]) -> None:
        for name, narrower in tree.items():
            if not isinstance(name, str) or not isinstance(narrower, Mapping | None):
                raise UserError(
                    f"{path}: {' / '.join((*above, str(name)))} has {narrower!r:.60} below, "
                    "expected names of classes, each with a colon; correct it."
                )
            if name in wider:
                raise UserError(f"{path}: class {name!r} occurs twice; name it once.")
            wider[name] = frozenset((*above, name))
            add(narrower or {}, (*above, name))

    add(read_settings(path, "hierarchy of classes"), ())
    return Classes(wider)


FILES = (
    "classes.yaml", "sounds.yaml", "nouns.tsv", "names.tsv", "verbs.tsv", "adjectives.tsv",
    "determiners.tsv", "auxiliaries.tsv",
)  # fmt: skip


class Lexicon(NamedTuple):
    """Entries of the lexicon, in the order of their files."""

    classes: Classes
    sounds: Sounds
    nouns: Sequence[Noun]
    """Common nouns, then names."""
    verbs: Sequence[Verb]
    adjectives: Sequence[Adjective]
    determiners: Sequence[Determiner]
    auxiliaries: Sequence[Auxiliary]


def read_lexicon(folder: Path) -> Lexicon:
    """Read the lexicon in a directory. Raises UserError for a malformed file or unknown class."""
    classes = read_classes(folder / "classes.yaml")

    def read_entries(name: str, entry_type: type[Entry], *class_columns: str) -> list[Entry]:
        """Read a table; its ``class_columns`` must name classes of the hierarchy.

        A counterpart in the column ``swapped`` must be an entry of the table, too.
        """
        rows = read_rows(entry_type, folder / name)
        word_column = next(iter(entry_type.model_fields))
        entry_words = {getattr(entry, word_column) for entry in rows}
        for line, entry in enumerate(rows, start=2):
            swapped = getattr(entry, "swapped", "")
            if swapped and swapped not in entry_words:
                raise UserError(
                    f"{folder / name}:{line}: swapped is {swapped!r}, which has no row in this "
                    "table; correct it, or add its row."
                )
            for column in class_columns:
                cell = getattr(entry, column)
                for word in cell.split() if isinstance(cell, str) else cell:
                    class_name = word.removeprefix(EXCLUDED)
                    if class_name not in classes.wider:
                        raise UserError(
                            f"{folder / name}:{line}: {column} names the class {class_name!r}, "
                            "which classes.yaml lacks; correct it, or add it there."
                        )
        return rows

    names = read_entries("names.tsv", Noun, "classes")
    return Lexicon(
        classes=classes,
        sounds=parse_yaml(Sounds, folder / "sounds.yaml", "list of words by their sound"),
        nouns=[
            *read_entries("nouns.tsv", Noun, "of", "classes"),
            *(noun.model_copy(update={"tags": frozenset({"name"})}) for noun in names),
        ],
        verbs=read_entries("verbs.tsv", Verb, "subject", "object"),
        adjectives=read_entries("adjectives.tsv", Adjective, "noun"),
        determiners=read_entries("determiners.tsv", Determiner),
        auxiliaries=read_entries("auxiliaries.tsv", Auxiliary),
    )
