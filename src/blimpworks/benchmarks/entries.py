"""Entries of a declaration's ``data``: which files, how they are read, and what their rows are.

A cell of a row is named by its column, by a name in braces of the pattern of files, by a dotted
path into JSON (``meta.id``), or by a template of those in braces (``{context} {ending}``).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from blimpworks.campaign.settings.base import Positive
from blimpworks.files import relative
from blimpworks.strict import Strict

Format = Literal["csv", "tsv", "jsonl", "json", "parquet", "xlsx"]
Column = Annotated[str, Field(min_length=1)]
"""A column, or a template with columns in braces."""
Value = str | int | float | bool


def as_list(value: Any) -> Any:
    """A single value as a list of it."""
    return [value] if isinstance(value, str | int | float | bool) else value


def _three_letters(code: str) -> str:
    if not re.fullmatch(r"[a-z]{3}", code):
        raise ValueError("expected an ISO 639-3 code of three lower-case letters, such as zho")
    return code


Values = Annotated[tuple[Value, ...], Field(min_length=1), BeforeValidator(as_list)]
Code = Annotated[str, AfterValidator(_three_letters)]


def _inside_folder(pattern: str) -> str:
    relative(re.sub(r"\{\w+\}", "*", pattern))
    return pattern


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_inside_folder)]
"""Names of files: ``*`` is any text without a slash, ``{paradigm}`` too and a column of that
name."""


def _with_reason(lines: Mapping[str, tuple[int, ...] | str]) -> Mapping[str, tuple[int, ...] | str]:
    """Lines by file, if a reason stands with them and nothing else is text."""
    texts = {name for name, value in lines.items() if isinstance(value, str)}
    if lines and texts != {"reason"}:
        raise ValueError("expected lists of lines by file, and why they are left out as 'reason'")
    return lines


class Files(Strict):
    """Which files, and how they are read."""

    files: Pattern | tuple[Pattern, ...]
    """Names of sources, or of files in the benchmark's folder; the first pattern that fits a
    name counts."""
    format: Format | None = None
    """null: by the file's suffix, without .xz, .gz, .bz2, .zip or .tar."""
    members: Pattern | None = None
    """Files to read inside a zip or tar archive, also a pattern with columns; null for all."""
    encoding: str | None = None
    """null: UTF-8, or what a byte order mark says."""
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    """Between the cells of a csv file; null: the one of comma, semicolon, tab and bar that the
    headings have most of."""
    quotes: Literal["csv", "none"] | None = None
    """Quotation marks of csv and tsv files: ``csv`` where they enclose cells, which then may hold
    line breaks; ``none`` where they are text. null: they enclose cells of one line in csv, and
    are text in tsv."""
    columns: tuple[Column, ...] | None = None
    """Names of the columns of a table without headings."""
    header_row: Positive = 1
    """Row with the headings; those above it are passed over."""
    sheet: str | None = None
    """Sheet of an xlsx file; null for the first."""
    records: str | None = None
    """Dotted path to the list of records in a json file; null: the file is a list."""
    where: Mapping[str, Value | Values] = Field(default={})
    """Rows to read: those that have this value, or one of these, in a column."""
    constants: Mapping[str, str] = Field(default={})
    """Columns with the same value in every row."""
    rename: Mapping[str, Mapping[str, str] | Pattern] = Field(default={})
    """New values by column and old value; others stay. A mapping, or the name of a tab-separated
    table in the benchmark's folder with the old and the new value in each row, without
    headings."""

    skip_lines: Annotated[
        Mapping[str, tuple[Positive, ...] | str], AfterValidator(_with_reason)
    ] = Field(default={})
    """Lines (or records) of files that are broken upstream, by the file's name, and under
    ``reason`` why they are left out."""

    def skipped(self, name: str) -> Sequence[int]:
        """Lines of a file to leave out."""
        lines = self.skip_lines.get(name, ())
        return () if isinstance(lines, str) else lines

    @property
    def patterns(self) -> tuple[str, ...]:
        """Patterns of names."""
        return (self.files,) if isinstance(self.files, str) else self.files


class Labels(Files):
    """Files of items, and what their rows say beside sentences."""

    paradigm: Column | None = None
    """null: ``paradigm`` where rows have it, else the file's name."""
    phenomenon: Column | None = None
    """null: what ``phenomena`` has for the paradigm, else ``phenomenon`` where rows have it, else
    the paradigm."""
    lang: Column | None = None
    """ISO 639-3 code of a row; null: ``lang`` where rows have it, else the only language."""
    id: Column | None = None
    """Name of an item for people; null: the number of its line."""
    keep: tuple[Column, ...] = ()
    """Further columns that tables of items keep."""


class CriticalWords(Strict):
    """The critical region as text of each sentence."""

    good: Column
    bad: Column


class CriticalOffsets(Strict):
    """The critical region as half-open spans of characters."""

    good_start: Column
    good_end: Column
    bad_start: Column
    bad_end: Column


Critical = Column | CriticalWords | CriticalOffsets
"""A column with the critical text of both sentences, or one for each, or spans of characters."""


class Pairs(Labels):
    """Rows with a good and a bad sentence."""

    layout: Literal["pairs"]
    good: Column
    """Also a template, such as ``{context} {ending}``: then a context with two endings."""
    bad: Column
    critical: Critical | None = None
    """null: the characters that the sentences differ in."""


class Right(Strict):
    """Which of two sentences is the good one."""

    column: Column
    first: Values
    """Values that say the first is."""
    second: Values
    """Values that say the second is."""


class Choices(Labels):
    """Rows with two sentences, and a column that says which is the good one."""

    layout: Literal["choices"]
    first: Column
    second: Column
    right: Right
    critical: CriticalWords | Column | None = None
    """As for pairs; ``good`` and ``bad`` are then of the first and the second sentence."""


class LabelledRows(Labels):
    """Rows with one sentence each, good or bad.

    Each good one makes a pair with each bad one of the same item.
    """

    layout: Literal["labelled_rows"]
    sentence: Column
    label: Column
    good: Values
    """Labels of good sentences."""
    bad: Values
    """Labels of bad sentences."""
    item: Column | None = None
    """What the rows of an item have in common; null: each two rows are one."""
    critical: Column | None = None
    """Column with the critical text of each row; null: the characters that the sentences differ
    in."""


class Sentences(Labels):
    """Rows with one sentence each, acceptable or not, judged by a threshold."""

    layout: Literal["sentences"]
    sentence: Column
    label: Column
    acceptable: Values = (1,)
    unacceptable: Values = (0,)


class Predictions(Labels):
    """Items of several conditions."""

    predictions: Mapping[str, tuple[str, ...]] | tuple[str, ...] = ()
    """Formulas that must hold of each item, such as ``(verb;%match%) < (verb;%mismatch%)``, or
    formulas by paradigm."""


class Conditions(Predictions):
    """Rows with a condition of an item each, its regions in columns of their own.

    With ``region`` and ``content``, rows with one region of a condition each.
    """

    layout: Literal["conditions"]
    item: Column
    condition: Column
    regions: tuple[Column, ...] = ()
    """Columns of the regions, in order."""
    region: Column | None = None
    """Column with the region's name or number."""
    content: Column | None = None
    """Column with the region's text."""
    joined_by: str = " "
    """Between regions: nothing in scripts without spaces."""

    @model_validator(mode="after")
    def _one_form(self) -> "Conditions":
        long = (self.region is not None, self.content is not None)
        if any(long) != all(long) or any(long) == bool(self.regions):
            raise ValueError("either regions, or region and content, must be given")
        if not self.predictions:
            raise ValueError("predictions must be given")
        return self


class Designs(Predictions):
    """Rows with a sentence for each condition, in a column of its own.

    Its region ``sentence`` is the whole of it.
    """

    layout: Literal["designs"]
    sentences: Annotated[Mapping[str, Column], Field(min_length=2)]
    """Column of each condition."""
    critical: Mapping[str, Column] = Field(default={})
    """Column with the text of the region ``critical`` in each condition."""

    @model_validator(mode="after")
    def _conditions(self) -> "Designs":
        if not {*self.critical} <= {*self.sentences}:
            raise ValueError("critical must name conditions of sentences")
        if not self.predictions:
            raise ValueError("predictions must be given")
        return self


class Suites(Predictions):
    """Test suites as SyntaxGym has them: json with region_meta, predictions and items."""

    layout: Literal["suites"]
    joined_by: str = " "


Data = Annotated[
    Pairs | Choices | LabelledRows | Sentences | Conditions | Designs | Suites,
    Field(discriminator="layout"),
]
UNITS = {"sentences": "sentence", "conditions": "item", "designs": "item", "suites": "item"}
"""What is judged, by layout; pairs in all others."""
