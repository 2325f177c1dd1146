"""Define the entries of a declaration: which files to read, and what their columns contain.

An entry is an item of the list ``data`` in ``benchmark.yaml``. Its ``layout`` chooses the class
(``Data``, at the end, lists them)::

    - {layout: pairs, files: "pairs_{paradigm}.csv", good: correct, bad: "{start} {wrong_end}"}

The value of ``good`` is a ``Column``: a column of the file, a name in braces in the pattern of the
files (``paradigm``), or a dotted path into JSON (``meta.id``). It may also be a template with such
names in braces (templates.py), like the value of ``bad``.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from blimpworks.campaign.settings.base import Positive
from blimpworks.files import relative
from blimpworks.strict import Strict

Format = Literal["csv", "tsv", "jsonl", "json", "parquet", "xlsx", "txt"]
Column = Annotated[str, Field(min_length=1)]
"""A column, or a template with names of columns in braces."""
Value = str | int | float | bool


def as_list(value: Any) -> Any:
    """Wrap a single value in a list."""
    return [value] if isinstance(value, str | int | float | bool) else value


def _check_code(code: str) -> str:
    if not re.fullmatch(r"[a-z]{3}", code):
        raise ValueError("expected an ISO 639-3 code of three lower-case letters, such as zho")
    return code


Values = Annotated[tuple[Value, ...], Field(min_length=1), BeforeValidator(as_list)]
"""Values of cells with one meaning, such as ``[1, yes]``; a single value needs no list."""
Code = Annotated[str, AfterValidator(_check_code)]


def _check_pattern(pattern: str) -> str:
    # A valid file name must remain if a name replaces the columns in braces.
    relative(re.sub(r"\{\w+\}", "*", pattern))
    return pattern


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_check_pattern)]
"""Pattern of file names: ``*`` and ``{paradigm}`` match text without a slash; the latter becomes a
column of that name."""


def _check_skips(lines: Mapping[str, tuple[int, ...] | str]) -> Mapping[str, tuple[int, ...] | str]:
    text_keys = {key for key, value in lines.items() if isinstance(value, str)}
    if lines and text_keys != {"reason"}:
        raise ValueError("expected lists of lines by file, and why they are left out as 'reason'")
    return lines


class Lookup(Strict):
    """A table that adds columns to rows."""

    table: Pattern
    """Name of a table with headings in the benchmark's folder: .csv, else tab-separated."""
    by: Annotated[tuple[Column, ...], Field(min_length=1), BeforeValidator(as_list)]
    """Columns that rows and the table share; the table's other columns are added to rows."""
    partial: bool = False
    """Whether the columns ``by`` of table and rows may differ.

    A row without a line in the table then gets empty cells. A line without a row is ignored, and so
    is a line with the same columns ``by`` as an earlier line."""


class PlainFiles(Strict):
    """Files, and how to read them."""

    files: Pattern | tuple[Pattern, ...]
    """Names of sources, or of files in the benchmark's folder. If several patterns fit a name, the
    first is used."""
    format: Format | None = None
    """Format of the files; null: by the suffix, without .xz, .gz, .bz2, .zip or .tar."""
    members: Pattern | None = None
    """Pattern of the files to read in a zip or tar archive, perhaps with columns; null: all."""
    encoding: str | None = None
    """Encoding of the files; null: by the byte order mark, else UTF-8."""
    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    """Separator of cells in a csv file; null: the most frequent one of comma, semicolon, tab and
    bar in the headings."""
    quotes: Literal["csv", "none"] | None = None
    """Meaning of quotation marks in csv and tsv files.

    ``csv``: they enclose cells, which may contain line breaks. ``none``: they are text. null: they
    enclose cells without line breaks in csv, and are text in tsv."""
    columns: tuple[Column, ...] | None = None
    """Names of the columns of a table without headings."""
    header_row: Positive = 1
    """Number of the row with the headings; rows above it are ignored."""
    sheet: str | None = None
    """Sheet of an xlsx file; null: the first."""
    records: str | None = None
    """Dotted path to the list of records in a json file; null: the file is a list."""
    keys_as: Column | None = None
    """Column for the keys of a json file that is a mapping to lists of records."""
    constants: Mapping[str, str] = Field(default={})
    """Columns with the same value in every row."""
    rename: Mapping[str, Mapping[str, str] | Pattern] = Field(default={})
    """Mapping from old to new values for each column; other values stay.

    Instead of a mapping, a column can name a tab-separated table in the benchmark's folder. Each
    row has an old and a new value; there are no headings."""
    split: Mapping[str, Annotated[str, Field(min_length=1)]] = Field(default={})
    """Separator of the texts in a column; ``{sentences: "|"}`` adds columns ``sentences.0``,
    ``sentences.1`` and so on."""
    allow_empty: tuple[Column, ...] = ()
    """Columns that may be empty although a template names them."""
    skip_lines: Annotated[
        Mapping[str, tuple[Positive, ...] | str], AfterValidator(_check_skips)
    ] = Field(default={})
    """Numbers of lines (or records) to leave out of each file, because they are broken in the
    release; and the ``reason``."""

    def skipped(self, name: str) -> Sequence[int]:
        lines = self.skip_lines.get(name, ())
        return () if isinstance(lines, str) else lines

    @model_validator(mode="after")
    def _check_headings(self) -> Self:
        if self.columns and "header_row" in self.model_fields_set:
            raise ValueError("columns is for a table without headings, and header_row for others")
        return self

    @property
    def patterns(self) -> tuple[str, ...]:
        return (self.files,) if isinstance(self.files, str) else self.files


class Files(PlainFiles):
    """Files, the rows to read, and files and tables to join with these rows."""

    where: Mapping[str, Value | Values] = Field(default={})
    """Rows to read: those with a value, or one of several values, in a column."""
    words_from: Literal[0, 1] = 0
    """Index that the files give to the first word of a sentence."""
    aligned: tuple[PlainFiles, ...] = ()
    """Files with further columns, and with rows in the same order."""
    lookup: Annotated[
        tuple[Lookup, ...],
        BeforeValidator(lambda value: [value] if isinstance(value, Mapping) else value),
    ] = ()
    """Tables that add columns to rows, after ``where`` has chosen the rows."""


class Ratings(Files):
    """Rows with a sentence and one person's grade; the grades of a sentence are averaged."""

    sentence: Column
    rating: Column


class LabelledFiles(Files):
    """Files of items, and their columns besides sentences."""

    # Unit that is judged: pair, sentence, or item (of several sentences).
    unit: ClassVar[str] = "pair"
    paradigm: Column | None = None
    """Paradigm; null: the column ``paradigm`` if rows have it, else the file's name."""
    phenomenon: Column | None = None
    """Phenomenon; null: the one of the paradigm in ``phenomena``, else the column ``phenomenon`` if
    rows have it, else the paradigm."""
    lang: Column | None = None
    """ISO 639-3 code; null: the column ``lang`` if rows have it, else the only language."""
    id: Column | None = None
    """Name of an item; null: the number of its line."""
    keep: tuple[Column, ...] = ()
    """Further columns to copy to the tables of items."""
    rating: Column | Ratings | None = None
    """Column with people's grade of the item, which may be empty; or files with grades of single
    sentences. A pair with graded sentences has the good one's grade minus the bad one's."""
    before: str = ""
    """Text to add before each sentence, such as the space that some evaluation programs add."""

    @model_validator(mode="after")
    def _check_rating(self) -> "LabelledFiles":
        if self.rating is not None and getattr(self, "layout", "") in ("conditions", "suites"):
            raise ValueError("rating is not for the layouts conditions and suites")
        if self.before and self.unit == "item":
            raise ValueError("before is of pairs and sentences")
        if "rating" in self.keep:
            raise ValueError("rating is a key, not one of keep: write 'rating: rating'")
        return self


Joiner = str | Mapping[Code, str]
"""Text between parts of a sentence, or such a text by language: ``{eng: " ", zho: ""}``."""


class CriticalIndex(Strict):
    """Critical region (what some methods compare) as successive words between white space."""

    word: Column | int
    """Index of the first word."""
    words: Column | Positive = 1
    """Number of words."""


class CriticalWords(Strict):
    """Critical region of each sentence: a column with its text, or the index of its first word."""

    good: Column | CriticalIndex
    bad: Column | CriticalIndex


class CriticalOffsets(Strict):
    """Critical region of each sentence as a half-open span of characters."""

    good_start: Column
    good_end: Column
    bad_start: Column
    bad_end: Column


Critical = Column | CriticalIndex | CriticalWords | CriticalOffsets
"""Critical region: a column with its text or the index of its first word, for both sentences or
for each; or spans of characters."""


class Pairs(LabelledFiles):
    """Rows with a good and a bad sentence."""

    layout: Literal["pairs"]
    good: Column
    """Good sentence; a template such as ``{context} {ending}`` for a context with two endings."""
    bad: Column
    critical: Critical | None = None
    """Critical region; null: the words that differ."""

    @model_validator(mode="after")
    def _check_columns(self) -> "Pairs":
        if self.good == self.bad:
            raise ValueError("good and bad must be two columns")
        return self


class Right(Strict):
    """Column that says which of two sentences is the good one."""

    column: Column
    first: Values
    """Values that mean the first sentence."""
    second: Values
    """Values that mean the second sentence."""


class Choices(LabelledFiles):
    """Rows with two sentences, and a column that names the good one."""

    layout: Literal["choices"]
    first: Column
    second: Column
    right: Right
    critical: CriticalWords | CriticalIndex | Column | None = None
    """Critical region as for pairs, but ``good`` is the first and ``bad`` the second sentence."""

    @model_validator(mode="after")
    def _check_columns(self) -> "Choices":
        if self.first == self.second:
            raise ValueError("first and second must be two columns")
        return self


class LabelledRows(LabelledFiles):
    """Rows with one sentence each; each good and each bad sentence of an item make a pair."""

    layout: Literal["labelled_rows"]
    sentence: Column
    label: Column | None = None
    good: Values = (1,)
    """Labels of good sentences."""
    bad: Values = (0,)
    """Labels of bad sentences."""
    order: Literal["good first", "bad first"] | None = None
    """Order of the two rows of an item, if there is no label."""
    item: Column | None = None
    """Column with an item's name, equal in all its rows; null: two successive rows are an item."""
    critical: Column | CriticalIndex | None = None
    """Critical region of each row; null: the words that differ."""

    @model_validator(mode="after")
    def _check_pairing(self) -> "LabelledRows":
        if (self.label is None) == (self.order is None) or (self.order and self.item):
            raise ValueError("either label, perhaps with item, or order must be given")
        return self


class Sentences(LabelledFiles):
    """Rows with one sentence each, acceptable or not, which a threshold judges."""

    unit: ClassVar[str] = "sentence"
    layout: Literal["sentences"]
    sentence: Column
    label: Column
    acceptable: Values = (1,)
    unacceptable: Values = (0,)


class Predictions(LabelledFiles):
    """Items of several conditions."""

    unit: ClassVar[str] = "item"
    predictions: Mapping[str, tuple[str, ...]] | tuple[str, ...] = ()
    """Formulas that must hold of each item, such as ``(verb;%match%) < (verb;%mismatch%)``; or a
    list of formulas for each paradigm."""
    right: Literal["all", "mean"] = "all"
    """``all``: an item counts 1 if all predictions hold, else 0. ``mean``: it counts the share of
    its predictions that hold."""
    effects: Mapping[str, str] = Field(default={})
    """Formulas of sums of surprisals by name, such as ``cost: (verb;%odd%) - (verb;%plain%)``."""


class Conditions(Predictions):
    """Rows with one condition of an item each, whose regions are columns.

    With ``region`` and ``content``, each row has one region of a condition.
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
    joined_by: Joiner = " "
    """Text between regions."""

    @model_validator(mode="after")
    def _check_regions(self) -> "Conditions":
        has_region, has_content = self.region is not None, self.content is not None
        if has_region != has_content or has_region == bool(self.regions):
            raise ValueError("either regions, or region and content, must be given")
        if not self.predictions:
            raise ValueError("predictions must be given")
        return self


class Designs(Predictions):
    """Rows with an item each, and a column for each condition's sentence.

    Formulas name the regions ``sentence``, the full sentence, and ``critical``. If a column is
    empty, and ``allow_empty`` lists it, the item lacks that condition and its effects.
    """

    layout: Literal["designs"]
    sentences: Mapping[str, Column] = Field(default={})
    """Column with the sentence of each condition."""
    apart: Mapping[str, tuple[Column, Column]] = Field(default={})
    """Columns of context and next word, by condition: ``{match: [context, right_word]}``. The word
    is the region ``critical``. Context and word are turned into tokens separately, and the word
    without a space before it."""
    critical: Mapping[str, Column | CriticalIndex] = Field(default={})
    """Region ``critical`` of each condition: a column with its text, or the index of its words."""

    @model_validator(mode="after")
    def _check_conditions(self) -> "Designs":
        if not {*self.critical} <= {*self.sentences}:
            raise ValueError("critical must name conditions of sentences")
        if {*self.apart} & {*self.sentences} or not (self.apart or self.sentences):
            raise ValueError("sentences and apart must name distinct conditions")
        if not self.predictions:
            raise ValueError("predictions must be given")
        return self


class Suites(Predictions):
    """Test suites of SyntaxGym: JSON with region_meta, predictions and items."""

    layout: Literal["suites"]
    joined_by: Joiner = " "


class Answer(Strict):
    """Column with the position or the label of the right option."""

    column: Column
    counts_from: Literal[0, 1] = 0
    """Position of the first option."""
    labels: tuple[Value, ...] | Column | None = None
    """Labels of the options, or a column with a list of labels; null: the column has positions."""


class Alternatives(LabelledFiles):
    """Rows with several options; the right option must be less surprising than each wrong option.

    Items have the conditions ``right``, ``wrong 1`` …, and a column ``alternatives``: how many.
    """

    unit: ClassVar[str] = "item"
    layout: Literal["alternatives"]
    options: Annotated[tuple[Column, ...], Field(min_length=2)] | Column
    """A column per option, or one column with a list. ``choices.*.text`` is a field of the records
    in the list ``choices``."""
    split_by: Annotated[str, Field(min_length=1)] | None = None
    """Separator of options, if the column is a text."""
    context: Column | None = None
    """Text before each option; null: options are full sentences."""
    joined_by: Joiner = " "
    """Text between context and option."""
    right: Answer | Column
    """Right option by position or label, or a column with its text."""
    compared: Literal["sentence", "option"] = "sentence"
    """Text to compare by its surprisal: the whole sentence, or the option after its context."""

    @model_validator(mode="after")
    def _check_options(self) -> "Alternatives":
        if self.split_by and not isinstance(self.options, str):
            raise ValueError("split_by needs options to be one column")
        return self


Data = Annotated[
    Pairs | Choices | LabelledRows | Sentences | Conditions | Designs | Suites | Alternatives,
    Field(discriminator="layout"),
]
