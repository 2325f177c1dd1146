"""Define and read the declaration of a benchmark, ``config/benchmarks/NAME/benchmark.yaml``.

A declaration has a line for each field of ``Declaration``, and entries of ``data`` (entries.py)::

    label: MyChinese
    title: Minimal pairs of Chinese classifiers
    authors: Li (2026)
    languages: [zho]
    data:
      - {layout: pairs, files: pairs.jsonl, good: correct, bad: wrong, paradigm: type}

``Declaration.read`` reads one, and raises UserError for wrong keys. ``Declared`` (paper.py) extends
the class with the files that a benchmark needs. An item belongs to a paradigm (items of one
pattern), and a paradigm to a phenomenon.
"""

from collections.abc import Callable, Collection, Mapping
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from blimpworks.benchmarks import entries
from blimpworks.benchmarks.entries import Code, Column, Files, Values, as_list
from blimpworks.campaign.settings.base import Methods, Positive, TiePolicy, parse_yaml
from blimpworks.errors import UserError
from blimpworks.strict import DrawnLabel, Label, Strict

KEYS_OF_KINDS = {
    "choices": {"correct", "right", "headings", "answer", "person"},
    "ratings": {"side", "rating", "headings", "person"},
    "accuracies": {"accuracy", "n"},
}
"""Keys of ``People`` that only some kinds of judgements may have, by kind."""


class People(Files):
    """Judgements of people: choices between two sentences, ratings of sentences, or accuracies."""

    kind: Literal["choices", "ratings", "accuracies"]
    paradigm: Column | None = None
    phenomenon: Column | None = None
    lang: Column | None = None
    person: Column | None = None
    """Column that identifies the person; null: each row is of another person."""
    correct: Column | None = None
    """Column that tells whether the person chose the good sentence, by the values ``right``."""
    right: Values = (1, True, "good")
    """Values that mean a right choice, in column ``correct`` or in the columns of ``headings``."""
    side: Column | None = None
    """Column that says of which sentence a rating is: ``good`` or ``bad``."""
    rating: Column | None = None
    headings: str | None = None
    """Pattern of the headings of columns with ratings (``{phenomenon}_{side}``) or with choices
    (``{person}``)."""
    answer: Column | None = None
    """Column with the right choice, for choices by ``headings``; null: see ``right``."""
    accuracy: Column | None = None
    """Column with accuracies from 0 to 1, or in percent if a value is above 1."""
    n: Column | None = None
    """Column with the number of judgements of an accuracy."""
    without: tuple[str, ...] = ()
    """Paradigms or phenomena to leave out, because the benchmark lacks them."""
    note: Label = ""
    """Sentence on the people and the method, for captions."""

    @model_validator(mode="after")
    def _check_columns(self) -> "People":
        has_headings, has_ratings = bool(self.headings), bool(self.side and self.rating)
        if self.kind == "choices":
            valid, expected = bool(self.correct) != has_headings, "correct, or headings,"
        elif self.kind == "ratings":
            valid, expected = has_headings != has_ratings, "headings, or side and rating,"
        else:
            valid, expected = bool(self.accuracy), "accuracy"
        if not valid:
            raise ValueError(f"{expected} must be given for {self.kind}")
        if self.answer and (self.kind != "choices" or not has_headings):
            raise ValueError("answer is of choices with headings")
        keys_of_some_kinds = set().union(*KEYS_OF_KINDS.values())
        foreign_keys = self.model_fields_set & (keys_of_some_kinds - KEYS_OF_KINDS[self.kind])
        if foreign_keys:
            raise ValueError(f"{min(foreign_keys)} is a key of another kind than {self.kind}")
        return self


class Released(Files):
    """Decisions of models that authors have released, one per row."""

    model: Column
    paradigm: Column
    correct: Column
    right: Values = (True, 1)
    """Values that mean a right decision."""
    lang: Column | None = None
    seeds: bool = False
    """Whether the number after the last "_" of a model's name is the seed of its training. Tables
    and figures then show the mean over the seeds."""


class Perplexities(Files):
    """Perplexities of models that authors have released."""

    model: Column
    """Column with the model's name, as in the released decisions."""
    perplexity: Column


def _rule_for_predictions(entry: entries.LabelledFiles) -> str:
    # Layouts without predictions count as "all"; in them, the key ``right`` may name a column.
    return entry.right if isinstance(entry, entries.Predictions) else "all"


class Declaration(Strict):
    """Declaration of a benchmark, which needs no code."""

    label: DrawnLabel = Field(min_length=1)
    """Name in tables and figures."""
    title: Label = Field(min_length=1)
    """Title of the paper or of the data set."""
    authors: Label = Field(min_length=1)
    """Authors with the year."""
    address: str = Field("", pattern=r"^(https?://[^\s\"'<>]+)?$")
    licence: Label = ""
    """Licence of the items: an SPDX identifier, such as CC-BY-4.0, or another text."""
    bibtex: str = Field("", pattern=r"^(\s*@\w+\s*\{[^\x00-\x08\x7f]*\}\s*)?$")
    """Citation, as an entry of BibTeX."""
    contact: Label = ""
    """E-mail address or web page of the contact."""
    languages: Annotated[
        tuple[Code, ...] | Mapping[Code, Label], Field(min_length=1), BeforeValidator(as_list)
    ]
    """ISO 639-3 codes, with names if config/languages.tsv lacks a language."""
    data: Annotated[tuple[entries.Data, ...], Field(min_length=1)]
    items: Positive | Mapping[Code, Positive] | None = None
    """Expected number of items: the same in each language, or a number for each; null: no check."""
    phenomena: Mapping[str, tuple[str, ...]] = Field(default={})
    """Patterns of the paradigms of each phenomenon (``*`` is any text), in the order of tables."""
    methods: Methods | None = None
    """Methods of judgement; exhibits show the first. null: the defaults of the unit."""
    ties: TiePolicy = "wrong"
    """Value of a tie in the variant "published"; in "corrected" it is half."""
    unknown_words: Literal["any", "critical", "score"] = "score"
    """Items to leave out for models with a vocabulary of words. ``any``: items with an unknown
    word; ``critical``: items with an unknown word in the critical region; ``score``: none."""
    tokens: Annotated[float, Field(gt=0)] = 20.0
    """Estimated number of tokens of a sentence, for plans."""
    people: tuple[People, ...] = ()
    released: tuple[Released, ...] = ()
    perplexities: tuple[Perplexities, ...] = ()
    _folder: Path = PrivateAttr(Path())

    @model_validator(mode="after")
    def _check_entries(self) -> "Declaration":
        units = {entry.unit for entry in self.data}
        if len(units) > 1:
            raise ValueError(
                f"data has items of several kinds ({', '.join(sorted(units))}), which are judged "
                "in different ways: declare a benchmark for each"
            )
        if len({*map(_rule_for_predictions, self.data)}) > 1:
            raise ValueError("right must be the same, all or mean, in all entries of data")
        if isinstance(self.items, Mapping) and {*self.items} != {*self.languages}:
            raise ValueError("items must name the languages of the benchmark")
        return self

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a declaration. Raises UserError for wrong keys, with a sentence on each."""
        declaration = parse_yaml(cls, path, "declaration of a benchmark")
        declaration._folder = path.parent
        return declaration

    @property
    def unit(self) -> str:
        """Unit that is judged: pair, sentence, or item (of several conditions)."""
        return self.data[0].unit

    @property
    def right(self) -> str:
        """``all`` if an item is right or wrong, ``mean`` if its share of predictions counts."""
        return _rule_for_predictions(self.data[0])

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def path(self) -> Path:
        return declaration_in(self._folder)

    @property
    def only_language(self) -> str | None:
        """Language of the benchmark; None if there are several."""
        return next(iter(self.languages)) if len(self.languages) == 1 else None

    def declared_number(self, lang: str) -> int | None:
        """Return the declared number of items of a language; None if none is declared."""
        return self.items.get(lang) if isinstance(self.items, Mapping) else self.items

    def check_number(self, lang: str, count: int) -> None:
        """Raise UserError if a language has no items, or not the declared number of items."""
        expected = self.declared_number(lang)
        if count == 0:
            raise UserError(f"{self.path}: no item is of language {lang!r}; correct 'lang'.")
        if expected is not None and count != expected:
            raise UserError(
                f"{self.path}: the files have {count:,} items of {lang!r}, and 'items' says "
                f"{expected:,}; retrieve the files again, or correct 'items'."
            )

    @cached_property
    def phenomenon_of(self) -> Callable[[str], str | None]:
        """``_find_phenomenon`` with a cache, since it is called for each row of the files."""
        return cache(self._find_phenomenon)

    def _find_phenomenon(self, paradigm: str) -> str | None:
        """Return a paradigm's phenomenon, None if none are declared. UserError if none fits."""
        for phenomenon, patterns in self.phenomena.items():
            if any(fnmatchcase(paradigm, pattern) for pattern in patterns):
                return phenomenon
        if self.phenomena:
            raise UserError(
                f"paradigm {paradigm!r} is of no phenomenon of {self.label}; add it to one of "
                f"'phenomena' ({', '.join(self.phenomena)})."
            )
        return None

    def check_phenomena(self, paradigms: Collection[str]) -> None:
        """Raise UserError for a pattern of ``phenomena`` that fits none of the ``paradigms``."""
        # A paradigm belongs to the first pattern that it fits.
        unmatched = {*paradigms}
        for phenomenon, patterns in self.phenomena.items():
            for pattern in patterns:
                fitting = {paradigm for paradigm in unmatched if fnmatchcase(paradigm, pattern)}
                if not fitting:
                    raise UserError(
                        f"{self.path}: key phenomena.{phenomenon}: {pattern!r} fits no paradigm, "
                        "or only paradigms that patterns before it fit; the files have "
                        f"{', '.join(sorted(paradigms)[:6])}. Correct the pattern."
                    )
                unmatched -= fitting


def declaration_in(folder: Path) -> Path:
    """Return the path of a folder's declaration."""
    return folder / "benchmark.yaml"
