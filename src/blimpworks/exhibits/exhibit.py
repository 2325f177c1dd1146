"""Exhibits: their cells and layout."""

import json
from collections.abc import Mapping, Sequence
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
    """One number of an exhibit, and what selects the rows it is computed from.

    ``source`` names the kind of table (judgements, items, …); ``where`` maps its columns
    to the value, or list of values, that its rows have. ``text`` is the number as printed.
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
    """Whether it has a column of its own in print (else another cell's text has it too)."""
    stands_for: tuple[str, str] | None = None
    """Row and column of the printed number that it is, where they are not called as here."""
    ties: int | None = None
    """Of an accuracy over ``n`` judged pairs, how many of them are ties."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Printed names of rows and columns, in print order, and the method shown.

    ``models`` and ``method`` are empty for exhibits that show no model; ``facts`` are further
    values of the campaign and its catalogue that the exhibit's spec requests, by name. ``source``
    says whether the numbers are the campaign's or those that the paper prints. ``left_out``
    are models of the campaign that the exhibit does not show. ``items`` says where the items come
    from that an exhibit is built from, where there are several possibilities.
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
    """A finished exhibit: cells, caption, and for a table its layout or for a figure the plot.

    ``stub`` are columns before the cells (such as ISO code and n), by row, and ``remarks``
    columns after them; ``bold`` are the (row, column) of cells to set in bold. In print,
    ``heads`` gives a column's heading in two lines, ``widths`` the share of the line that a
    column of running text takes, ``sections`` the parts of a table that has several.
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
    """Whether print shows the rows' keys; not needed where the stub says it all."""
    textual: bool = False
    """Whether the cells are texts, which stand for themselves in the CSV file too."""
    written_in: dict[tuple[str, str], str] = field(default_factory=dict)
    """Languages (BCP 47, as in HTML) of texts by row and column, also of those beside the cells."""

    def table(self) -> pa.Table:
        """The cells as a ``cells`` table."""
        names = ("row", "column", "value", "low", "high", "text", "n", "source")
        columns = {name: [getattr(cell, name) for cell in self.cells] for name in names}
        for place, name in enumerate(("printed_row", "printed_column")):
            columns[name] = [(c.stands_for or (c.row, c.column))[place] for c in self.cells]
        columns["formula"] = [cell.formula.sentence for cell in self.cells]
        columns["filter"] = [
            json.dumps(dict(c.where), ensure_ascii=False, sort_keys=True) for c in self.cells
        ]
        return pa.table(columns, schema=CELLS.arrow())

    def layout(self, attribute: str = "text") -> pd.DataFrame:
        """Cells as rows by columns, in order of appearance, stub columns first.

        ``attribute`` is "text", for the cells that are printed, or "value", for all.
        Raises UserError where a column is called as that of the rows' labels.
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
