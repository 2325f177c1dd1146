"""Exhibits: their cells, and tables as printed."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from blimpworks.errors import UserError
from blimpworks.exhibits.formulas import Formula
from blimpworks.tables import CELLS

if TYPE_CHECKING:  # slow to import, and tables need none of it
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of an exhibit, its formula, and the filter of the rows behind it.

    ``source`` is the kind of table (judgements, items, …); ``where`` maps its columns to the value,
    or list of values, of these rows. ``text`` is the number as printed.
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
    """False for a number that print shows only in another cell's text."""
    stands_for: tuple[str, str] | None = None
    """Row and column of the printed number, where they differ from this cell's."""
    ties: int | None = None
    """Ties among the ``n`` judged pairs of an accuracy."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Printed names of rows and columns, in print order, and the method shown.

    ``models`` and ``method`` are empty for exhibits without models. ``facts`` are the values of the
    campaign that the exhibit's spec requests, by name. ``left_out`` are models of the campaign that
    the exhibit does not show. ``items`` is the origin of the items, where several are possible.
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
    """Rows of a table under a title; ``rows`` maps keys to names, ``columns`` are keys."""

    title: str
    rows: Mapping[str, str]
    columns: Sequence[str]


@dataclass(slots=True)
class Exhibit:
    """A finished exhibit: cells, caption, and the layout of a table or the plot of a figure.

    ``stub`` are columns before the cells (such as ISO code and n), by row; ``remarks`` are columns
    after them. ``bold`` has the (row, column) of cells in bold. ``heads`` splits a column's heading
    into two lines. ``widths`` is the share of the line of a column of running text.
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
    """False where the stub says all, and print shows no keys of rows."""
    textual: bool = False
    """True where the cells are texts, in the CSV file too."""
    written_in: dict[tuple[str, str], str] = field(default_factory=dict)
    """Languages (BCP 47) of texts by row and column, remarks and stub included."""

    def table(self) -> pa.Table:
        """Return the cells as a ``cells`` table."""
        names = ("row", "column", "value", "low", "high", "text", "n", "source")
        columns = {name: [getattr(cell, name) for cell in self.cells] for name in names}
        for axis, name in enumerate(("printed_row", "printed_column")):
            columns[name] = [(c.stands_for or (c.row, c.column))[axis] for c in self.cells]
        columns["formula"] = [cell.formula.sentence for cell in self.cells]
        columns["filter"] = [
            json.dumps(dict(c.where), ensure_ascii=False, sort_keys=True) for c in self.cells
        ]
        return pa.table(columns, schema=CELLS.arrow())

    def layout(self, attribute: str = "text") -> pd.DataFrame:
        """Return cells as rows by columns, in order of appearance, stub columns first.

        ``attribute`` is "text", for printed cells, or "value", for all. Raises UserError where a
        column has the name of the rows' labels.
        """
        cells = [cell for cell in self.cells if cell.printed or attribute != "text"]
        rows = list(dict.fromkeys(cell.row for cell in cells))
        columns = list(dict.fromkeys(cell.column for cell in cells))
        # Set one by one in a table, they would take most of the time of making an exhibit.
        values = {(cell.row, cell.column): getattr(cell, attribute) for cell in cells}
        filled = [[values.get((row, column), np.nan) for column in columns] for row in rows]
        frame = pd.DataFrame(filled, index=rows, columns=columns, dtype=object)
        stub, remarks = (
            pd.DataFrame.from_dict(texts, orient="index").reindex(rows)
            for texts in (self.stub, self.remarks)
        )
        joined = pd.concat([stub, frame, remarks], axis=1)
        if self.row_title in joined.columns:
            raise UserError(
                f"a column is called {self.row_title!r}, as that of the rows' labels; give the "
                "model, language or phenomenon another label"
            )
        joined.index.name = self.row_title
        return joined.reset_index()


ABSENT = "–"
Style = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a sheet: two-line heading, alignment, and share of the line."""

    upper: str
    lower: str
    right: bool
    width: float | None

    @property
    def heading(self) -> str:
        """Both lines of the heading as one."""
        return f"{self.upper} {self.lower}".strip()


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows under their headings; ``headed`` is False when the headings before still hold.

    ``places`` has the (row, column) of the cell for each text of ``body``, None for names of rows.
    """

    columns: tuple[Column, ...]
    body: list[list[str]]
    headed: bool = True
    places: list[list[tuple[str, str] | None]] = field(default_factory=list)


def sheets(exhibit: Exhibit, escape: Style, bold: Style) -> Iterator[Sheet]:
    """Yield the exhibit's sections (or all of it as one) as escaped text, bold where marked."""
    frame = exhibit.layout()
    frame = frame.set_index(frame.columns[0])
    whole = Section(exhibit.row_title, {row: row for row in frame.index}, list(frame.columns))
    # What stands beside the cells is aligned as they are where it is numbers alone.
    texts: dict[str, list[str]] = {}
    for row_texts in (*exhibit.stub.values(), *exhibit.remarks.values()):
        for name, text in row_texts.items():
            texts.setdefault(name, []).extend([text] if text else [])
    numbers = {
        name: bool(beside) and all(map(str.isdecimal, beside)) for name, beside in texts.items()
    }
    before: Sequence[str] | None = None
    for section in exhibit.sections or [whole]:
        columns = []
        if exhibit.named:
            columns.append(Column("", escape(section.title), right=False, width=None))
        for name in section.columns:
            upper, lower = exhibit.heads.get(name, ("", name))
            width = exhibit.widths.get(name)
            right = width is None and numbers.get(name, not exhibit.textual)
            columns.append(Column(escape(upper), escape(lower), right, width))
        body: list[list[str]] = []
        places: list[list[tuple[str, str] | None]] = []
        for row, printed in section.rows.items():
            body.append([escape(printed)] if exhibit.named else [])
            places.append([None] if exhibit.named else [])
            absent = ABSENT if row in frame.index else ""
            for column in section.columns:
                value = frame[column].get(row) if column in frame else None
                shown = escape(value if isinstance(value, str) else absent)
                body[-1].append(bold(shown) if (row, column) in exhibit.bold else shown)
                places[-1].append((row, column))
        yield Sheet(tuple(columns), body, list(section.columns) != before, places)
        before = list(section.columns)
