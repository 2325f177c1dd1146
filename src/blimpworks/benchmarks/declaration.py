"""Read a benchmark's declaration, ``config/benchmarks/NAME/benchmark.yaml``, with types."""

from collections.abc import Callable, Collection, Mapping
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, model_validator

from blimpworks.benchmarks.entries import UNITS, Code, Column, Data, Files, Values, as_list
from blimpworks.campaign.settings.base import Method, Positive, TiePolicy, distinct
from blimpworks.campaign.settings.parsing import parse_yaml
from blimpworks.errors import UserError
from blimpworks.strict import DrawnLabel, Label, Strict


class People(Files):
    """Judgements of people: choices between sentences, ratings of each, or accuracies."""

    kind: Literal["choices", "ratings", "accuracies"]
    paradigm: Column | None = None
    phenomenon: Column | None = None
    lang: Column | None = None
    person: Column | None = None
    """Column with the person; null: each row is another person's."""
    correct: Column | None = None
    """Column that says whether the good sentence was chosen."""
    right: Values = (1, True, "good")
    """Values of ``correct``, or of the columns with choices, that mean yes."""
    side: Column | None = None
    """Column that says whether a rating is of the ``good`` or the ``bad`` sentence."""
    rating: Column | None = None
    headings: str | None = None
    """Pattern of the headings of ratings (``{phenomenon}_{side}``) or choices (``{person}``)."""
    answer: Column | None = None
    """Column with the right choice, for choices by ``headings``; null: ``right`` has it."""
    accuracy: Column | None = None
    """Column from 0 to 1, or in percent where a file has values above 1."""
    n: Column | None = None
    """Number of judgements behind an accuracy."""
    without: tuple[str, ...] = ()
    """Paradigms, or phenomena, to leave out, since the benchmark lacks them."""
    note: Label = ""
    """People and method, for captions."""

    @model_validator(mode="after")
    def _columns(self) -> "People":
        rated = bool(self.side and self.rating)
        is_given, expected = {
            "choices": (bool(self.correct) != bool(self.headings), "correct, or headings,"),
            "accuracies": (bool(self.accuracy), "accuracy"),
            "ratings": (bool(self.headings) != rated, "headings, or side and rating,"),
        }[self.kind]
        if not is_given:
            raise ValueError(f"{expected} must be given for {self.kind}")
        if self.answer and (self.kind != "choices" or not self.headings):
            raise ValueError("answer is of choices with headings")
        return self


class Released(Files):
    """Decisions that authors have released, a row each."""

    model: Column
    paradigm: Column
    correct: Column
    right: Values = (True, 1)
    """Values that mean a right decision."""
    lang: Column | None = None


class Perplexities(Files):
    """Perplexities of models that authors have released."""

    model: Column
    """Template of the models' names in released decisions."""
    perplexity: Column


class Declaration(Strict):
    """A benchmark that is data alone."""

    label: DrawnLabel = Field(min_length=1)
    """Name in tables and figures."""
    title: Label = Field(min_length=1)
    """Title of the paper, or of the data set."""
    authors: Label = Field(min_length=1)
    """Authors with the year."""
    address: str = Field("", pattern=r"^(https?://[^\s\"'<>]+)?$")
    licence: Label = ""
    """Licence of the items: SPDX's name, such as CC-BY-4.0, or words."""
    bibtex: str = Field("", pattern=r"^(\s*@\w+\s*\{[^\x00-\x08\x7f]*\}\s*)?$")
    """Citation, as an entry of BibTeX."""
    contact: Label = ""
    """E-mail address or web page of the contact."""
    languages: Annotated[
        tuple[Code, ...] | Mapping[Code, Label], Field(min_length=1), BeforeValidator(as_list)
    ]
    """ISO 639-3 codes; with names where config/languages.tsv lacks the language."""
    data: Annotated[tuple[Data, ...], Field(min_length=1)]
    items: Positive | Mapping[Code, Positive] | None = None
    """Expected number of items of each language, which is checked; null: no check."""
    phenomena: Mapping[str, tuple[str, ...]] = Field(default={})
    """Paradigms of each phenomenon (``*`` for any text), in the order of tables."""
    methods: Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)] | None = (
        None
    )
    """Methods of judgement; the first is shown. null: the unit's default methods."""
    ties: TiePolicy = "wrong"
    """Value of a tie in the variant "published"; it is half in "corrected"."""
    unknown_words: Literal["any", "critical", "score"] = "score"
    """Items to leave out for models with a vocabulary of whole words."""
    tokens: Annotated[float, Field(gt=0)] = 20.0
    """Expected tokens of a sentence."""
    people: tuple[People, ...] = ()
    released: tuple[Released, ...] = ()
    perplexities: tuple[Perplexities, ...] = ()
    _folder: Path = PrivateAttr(Path())

    @model_validator(mode="after")
    def _one_unit(self) -> "Declaration":
        units = {UNITS.get(entry.layout, "pair") for entry in self.data}
        if len(units) > 1:
            raise ValueError(
                f"data has items of several kinds ({', '.join(sorted(units))}), which are judged "
                "in different ways: declare a benchmark for each"
            )
        if len({getattr(entry, "right", "all") == "mean" for entry in self.data}) > 1:
            raise ValueError("right must be all or mean in the whole of data")
        if isinstance(self.items, Mapping) and {*self.items} != {*self.languages}:
            raise ValueError("items must name the languages of the benchmark")
        return self

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a declaration. Raises UserError with a sentence for each wrong key."""
        declaration = parse_yaml(cls, path, "declaration of a benchmark")
        declaration._folder = path.parent
        return declaration

    @property
    def unit(self) -> str:
        """Unit of judgement: pair, sentence or item."""
        return UNITS.get(self.data[0].layout, "pair")

    @property
    def right(self) -> str:
        """Whether all predictions of an item must hold, or their mean counts."""
        return "mean" if getattr(self.data[0], "right", "all") == "mean" else "all"

    @property
    def folder(self) -> Path:
        """Folder of the declaration, with files and tables that it names."""
        return self._folder

    @property
    def path(self) -> Path:
        """File of the declaration."""
        return declaration_in(self._folder)

    @property
    def only_language(self) -> str | None:
        """Language, if there are no several."""
        return next(iter(self.languages)) if len(self.languages) == 1 else None

    def expected(self, lang: str) -> int | None:
        """Return the declared number of items of a language, if any."""
        return self.items.get(lang) if isinstance(self.items, Mapping) else self.items

    def check_number(self, lang: str, count: int) -> None:
        """Raise UserError for a language without items, or with another number than declared."""
        expected = self.expected(lang)
        if count == 0:
            raise UserError(
                f"{self.path}: the files have no item of language {lang!r}; correct 'lang'."
            )
        if expected is not None and count != expected:
            raise UserError(
                f"{self.path}: the files have {count:,} items of {lang!r}, and 'items' says "
                f"{expected:,}; retrieve the files again, or correct 'items'."
            )

    @cached_property
    def phenomenon_of(self) -> Callable[[str], str | None]:
        """Function from paradigms to phenomena; it raises UserError for one left out."""

        @cache
        def phenomenon_of(paradigm: str) -> str | None:
            for phenomenon, patterns in self.phenomena.items():
                if any(fnmatchcase(paradigm, pattern) for pattern in patterns):
                    return phenomenon
            if self.phenomena:
                raise UserError(
                    f"paradigm {paradigm!r} is of no phenomenon of {self.label}; add it to one "
                    f"of 'phenomena' ({', '.join(self.phenomena)})."
                )
            return None

        return phenomenon_of

    def check_phenomena(self, paradigms: Collection[str]) -> None:
        """Raise UserError for a pattern of ``phenomena`` to which no paradigm is left."""
        free = {*paradigms}
        for phenomenon, patterns in self.phenomena.items():
            for pattern in patterns:
                fitting = {paradigm for paradigm in free if fnmatchcase(paradigm, pattern)}
                if not fitting:
                    raise UserError(
                        f"{self.path}: key phenomena.{phenomenon}: {pattern!r} fits no paradigm "
                        "that others before it leave; those of the files are "
                        f"{', '.join(sorted(paradigms)[:6])}. Correct it."
                    )
                free -= fitting


# Here too, because its own module takes long to load.
ALL = "all"
"""Label of accuracies of whole phenomena, and of the whole benchmark."""


def declaration_in(folder: Path) -> Path:
    """Return the path of a folder's declaration."""
    return folder / "benchmark.yaml"
