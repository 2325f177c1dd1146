"""Define exhibits (the tables and figures of papers) as data, and arrange them as rows of texts.

A function of a paper computes the numbers (``Cell``) and returns an ``Exhibit``. ``sheets`` turns
it into rows of texts under headings, which ``render`` writes as LaTeX, HTML and other formats. The
stub of a table is its columns of texts before the numbers:

    Exhibit   cells: (gpt2, English, 81.5), (gpt2, German, 79.0), …    stub: {gpt2: {Size: 124M}}
    Sheet     columns: Model | Size | English | German                 body: gpt2 | 124M | 81.5 | …
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import TypeAdapter

from blimpworks.errors import UserError, reading
from blimpworks.exhibits.formulas import Formula
from blimpworks.tables import CELLS

if TYPE_CHECKING:  # slow to import, and tables need none of it
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of an exhibit, and the formula and rows of a table that it is computed from.

    ``text`` is the number as printed. ``source`` names the input table (judgements, items, …).
    ``where`` selects the table's rows: {column: value or list of values}. ``low`` and ``high`` are
    the ends of the 95 % interval. ``n`` is the number of judged items.
    """

    row: str
    column: str
    value: float
    text: str
    formula: Formula
    source: str
    where: Mapping[str, Any]
    n: int | None = None
    low: float | None = None
    high: float | None = None
    printed: bool = True
    """False for a number that appears only in the text of another cell."""
    stands_for: tuple[str, str] | None = None
    """Row and column of the number in print; None if they are ``row`` and ``column``."""
    ties: int | None = None
    """Ties among the ``n`` judged pairs of an accuracy."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Names that an exhibit prints, and facts on the campaign that it needs.

    ``languages`` are {code: printed name}, and ``models`` {model: printed name}, in print order.
    ``models`` and the judging ``method`` are empty for exhibits without models. ``facts`` are the
    values that the exhibit's spec requests, by name. ``left_out`` are models of the campaign that
    the exhibit does not show. ``items`` is a phrase on the origin of the items; it may be empty.
    """

    languages: Mapping[str, str]
    models: Mapping[str, str] = field(default_factory=dict)
    method: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    source: Literal["measured", "published"] = "measured"
    left_out: Sequence[str] = ()
    items: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of a table under a title: {row of cells: printed name}, and columns to show."""

    title: str
    rows: Mapping[str, str]
    columns: Sequence[str]


@dataclass(slots=True)
class Exhibit:
    """A finished exhibit: cells, caption, and the layout of a table or the plot of a figure.

    ``row_title`` is the heading of the row names. ``stub`` has columns of texts before the numbers
    (such as ISO code and n), and ``remarks`` has columns of texts after the numbers: {row: {column:
    text}}. ``bold`` has the (row, column) of cells in bold. ``heads`` maps a column to the upper
    and the lower line of its heading. ``widths`` maps a column of running text to its width, as a
    share of the line. Raises UserError when two cells have the same row and column.
    """

    title: str
    caption: str
    cells: list[Cell]
    row_title: str = ""
    stub: dict[str, dict[str, str]] = field(default_factory=dict)
    bold: set[tuple[str, str]] = field(default_factory=set)
    figure: "Figure | None" = None
    remarks: dict[str, dict[str, str]] = field(default_factory=dict)
    heads: dict[str, tuple[str, str]] = field(default_factory=dict)
    widths: dict[str, float] = field(default_factory=dict)
    sections: Sequence[Section] = ()
    named: bool = True
    """Whether row names are printed; False if the stub tells rows apart."""
    textual: bool = False
    """True if the cells are texts, so that the CSV file has texts in place of numbers."""
    written_in: dict[tuple[str, str], str] = field(default_factory=dict)
    """{(row, column) of a text in cells, stub or remarks: its language (BCP 47)}."""

    def __post_init__(self) -> None:
        counts = Counter((cell.row, cell.column) for cell in self.cells)
        if len(counts) < len(self.cells):
            [((row, column), count)] = counts.most_common(1)
            raise UserError(
                f"row {row!r} has {count} numbers in column {column!r}; expected one. Give the "
                "model, language or phenomenon another label."
            )

    def table(self) -> pa.Table:
        """Return the cells as a table of the schema ``CELLS``."""
        names = ("row", "column", "value", "low", "high", "text", "n", "source")
        columns = {name: [getattr(cell, name) for cell in self.cells] for name in names}
        printed = [cell.stands_for or (cell.row, cell.column) for cell in self.cells]
        columns["printed_row"] = [row for row, _ in printed]
        columns["printed_column"] = [column for _, column in printed]
        columns["formula"] = [cell.formula.sentence for cell in self.cells]
        columns["filter"] = [
            json.dumps(dict(c.where), ensure_ascii=False, sort_keys=True) for c in self.cells
        ]
        return pa.table(columns, schema=CELLS.arrow())

    def layout(self, attribute: str = "text") -> pd.DataFrame:
        """Return a data frame with row names, stub, cells, and remarks, in this order of columns.

        ``attribute``: "text" of printed cells, or "value" of all. Raises UserError for equal names.
        """
        cells = [cell for cell in self.cells if cell.printed or attribute != "text"]
        rows = list(dict.fromkeys(cell.row for cell in cells))
        columns = list(dict.fromkeys(cell.column for cell in cells))
        # Setting values one by one in a data frame would take most of the time of an exhibit.
        values = {(cell.row, cell.column): getattr(cell, attribute) for cell in cells}
        entries = [[values.get((row, column), np.nan) for column in columns] for row in rows]
        frame = pd.DataFrame(entries, index=rows, columns=columns, dtype=object)
        stub = pd.DataFrame.from_dict(self.stub, orient="index").reindex(rows)
        remarks = pd.DataFrame.from_dict(self.remarks, orient="index").reindex(rows)
        joined = pd.concat([stub, frame, remarks], axis=1)
        joined.insert(0, self.row_title, rows, allow_duplicates=True)
        duplicates = joined.columns[joined.columns.duplicated()]
        if len(duplicates):
            raise UserError(
                f"two columns are called {duplicates[0]!r}; expected one. Give the model, language "
                "or phenomenon another label."
            )
        return joined.reset_index(drop=True)


# Tables as rows of texts

ABSENT_CELL = "–"


@dataclass(frozen=True, slots=True)
class Entry:
    """One text of a sheet. ``cell`` is an index of ``Exhibit.cells``, None for texts of no cell."""

    text: str
    cell: int | None = None
    bold: bool = False
    lang: str | None = None
    """Language (BCP 47) of a text."""


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column of a sheet: two lines of heading, right alignment, and share of the line width."""

    upper: str
    lower: str
    right: bool = False
    width: float | None = None
    names: bool = False
    """True for the column of row names."""

    @property
    def heading(self) -> str:
        return f"{self.upper} {self.lower}".strip()


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of texts under headings."""

    columns: tuple[SheetColumn, ...]
    body: list[list[Entry]]
    headed: bool = True
    """False if the columns are those of the sheet above, so that no headings are printed."""


def sheets(exhibit: Exhibit) -> list[Sheet]:
    """Return a sheet for each section, or one for all rows; [] for a figure without numbers."""
    if exhibit.figure is not None and not exhibit.cells:
        return []
    frame = exhibit.layout()
    frame = frame.set_index(frame.columns[0])  # the row names
    whole_table = Section(exhibit.row_title, {r: r for r in frame.index}, list(frame.columns))
    indices = {(cell.row, cell.column): index for index, cell in enumerate(exhibit.cells)}

    # Columns of stub and remarks that hold only numbers are aligned as numbers.
    texts_by_column: dict[str, str] = {}  # all texts of a column, joined
    for row_texts in (*exhibit.stub.values(), *exhibit.remarks.values()):
        for name, text in row_texts.items():
            texts_by_column[name] = texts_by_column.get(name, "") + text
    is_numeric = {name: text.isdecimal() for name, text in texts_by_column.items()}
    section_sheets: list[Sheet] = []
    columns_above: Sequence[str] | None = None  # of the sheet above
    for section in exhibit.sections or [whole_table]:
        columns = [SheetColumn("", section.title, names=True)] if exhibit.named else []
        for name in section.columns:
            upper, lower = exhibit.heads.get(name, ("", name))
            width = exhibit.widths.get(name)
            right = width is None and is_numeric.get(name, not exhibit.textual)
            columns.append(SheetColumn(upper, lower, right, width))
        body = []
        for row, row_name in section.rows.items():
            entries = [Entry(row_name)] if exhibit.named else []
            # A row without any cell is a heading inside a section: it has no dashes.
            absent = ABSENT_CELL if row in frame.index else ""
            for name in section.columns:
                key = (row, name)
                value = frame[name].get(row) if name in frame else None
                text = value if isinstance(value, str) else absent
                is_bold, lang = key in exhibit.bold, exhibit.written_in.get(key)
                entries.append(Entry(text, indices.get(key), is_bold, lang))
            body.append(entries)
        headed = list(section.columns) != columns_above
        section_sheets.append(Sheet(tuple(columns), body, headed))
        columns_above = list(section.columns)
    return section_sheets


def in_notation(
    printed_sheets: Sequence[Sheet], escape: Callable[[str], str], bold: Callable[[str], str]
) -> list[Sheet]:
    """Return sheets in the notation of a file format: escape texts, and mark bold ones."""

    def in_format(entry: Entry) -> Entry:
        text = escape(entry.text)
        return replace(entry, text=bold(text) if entry.bold else text)

    sheets_in_format = []
    for sheet in printed_sheets:
        heads = (replace(c, upper=escape(c.upper), lower=escape(c.lower)) for c in sheet.columns)
        body = [[*map(in_format, entries)] for entries in sheet.body]
        sheets_in_format.append(replace(sheet, columns=tuple(heads), body=body))
    return sheets_in_format


@dataclass(frozen=True, slots=True)
class Document:
    """The content of an exhibit's JSON file, beside its table of cells."""

    title: str
    caption: str
    sheets: list[Sheet]


DOCUMENT = TypeAdapter(Document)


def json_text(exhibit: Exhibit) -> str:
    """Return title, caption and sheets as JSON; an entry's ``cell`` is a row of ``table``."""
    document = Document(exhibit.title, exhibit.caption, sheets(exhibit))
    return DOCUMENT.dump_json(document, exclude_defaults=True).decode() + "\n"


def read_document(path: Path) -> Document:
    """Read an exhibit's JSON file. Raises UserError when it is missing or broken."""
    with reading(path, "an exhibit as data", f"Build the exhibit: snakemake {path}"):
        return DOCUMENT.validate_json(path.read_bytes())


# Writing direction and line breaks of texts

BREAKS = re.compile(r"\s*[\n\r\v\f\x85\u2028\u2029]\s*")


def language_tag(lang: str) -> str:
    """Return the tag for HTML (BCP 47) of a language (ISO 639-3).

    >>> language_tag("zho"), language_tag("aln")
    ('zh', 'aln')
    """
    import langcodes  # slow, and few commands need it

    return str(langcodes.standardize_tag(lang))


def is_rtl(text: str) -> bool:
    """Return whether more letters are written from right to left than from left to right."""
    directions = [unicodedata.bidirectional(letter) for letter in text]
    return directions.count("R") + directions.count("AL") > directions.count("L")


def one_line(text: str) -> str:
    """Replace each line break, with the space around it, by one space."""
    return BREAKS.sub(" ", text)


def isolated(text: str, before: str, after: str) -> str:
    """Put a text between the marks ``before`` and ``after`` if its first letter is right-to-left.

    Without such marks, Unicode gives the line around the text the direction of this letter.
    """
    directions = (unicodedata.bidirectional(c) for c in text)
    first = next((direction for direction in directions if direction in ("L", "R", "AL")), "L")
    return text if first == "L" else f"{before}{text}{after}"
