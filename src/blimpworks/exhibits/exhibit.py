"""Exhibits: their cells, and tables as printed."""

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
