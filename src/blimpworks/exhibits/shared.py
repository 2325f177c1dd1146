"""Read tables and printed numbers, and make cells, for exhibits of all papers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import TEXT, Formula, of_row, select_rows
from blimpworks.tables import TableSchema, read_table

Tables = Mapping[str, Sequence[Path]]
"""Paths of the tables that an exhibit needs, by kind."""


def read_plain(
    schema: TableSchema, paths: Path | Sequence[Path] | None, columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Read all rows of some tables, labels as plain strings; raise UserError for another table."""
    path_list = [paths] if isinstance(paths, Path) else [*(paths or ())]
    if not path_list:
        return pd.DataFrame(columns=[*(columns or schema.names)])
    frames = [read_table(schema, path, columns).to_pandas() for path in path_list]
    rows: pd.DataFrame = pd.concat(frames, ignore_index=True)
    return rows.astype(dict.fromkeys(rows.select_dtypes("category"), object))


@cache
def _printed(path: Path, _changed: int) -> list[dict[str, Any]]:
    return [row.model_dump() for row in read_rows(PublishedRow, path)]


def read_printed(tables: Tables, **where: Any) -> pd.DataFrame:
    """Read the paper's printed numbers that ``where`` selects, as rows of ``PublishedRow``."""
    rows = [row for path in tables["printed"] for row in _printed(path, path.stat().st_mtime_ns)]
    return select_rows(pd.DataFrame(rows, columns=list(PublishedRow.model_fields)), where)


def by_place(printed: pd.DataFrame) -> dict[tuple[str, str], pd.Series]:
    """Return the printed numbers that have a value, by row and column."""
    rows = printed[printed["value"].notna()].iterrows()
    return {(row["row"], row["column"]): row for _, row in rows}


def formula_cell(
    rows: pd.DataFrame,
    place: tuple[str, str],
    formula: Formula,
    source: str,
    where: Mapping[str, Any],
    form: str = ",",
    **more: Any,
) -> Cell:
    """Make a cell whose value a formula computes from the ``rows`` that ``where`` selects.

    ``form`` is the format of the number, a whole one unless it ends with "f". ``more`` are further
    fields of the cell.
    """
    value = formula(select_rows(rows, where))
    number = value if form.endswith("f") else int(value)
    return Cell(*place, number, f"{number:{form}}", formula, source, where, **more)


def row_cell(
    source: str, row: pd.Series, keys: Sequence[str], column: str, place: tuple[str, str], text: str
) -> Cell:
    """Make a cell of one row's value in a ``column``; ``keys`` identify the row."""
    where = {key: row[key] for key in keys}
    return Cell(*place, float(row[column]), text, of_row(column), source, where)


def printed_cell(row: pd.Series, place: tuple[str, str]) -> Cell:
    """Make a cell that shows a printed number."""
    keys = ("exhibit", "row", "column")
    cell = row_cell("published", row, keys, "value", place, row["text"])
    return replace(cell, stands_for=(row["row"], row["column"]))


def printed_cells(
    printed: pd.DataFrame, rows: Mapping[str, str], columns: Mapping[str, str]
) -> list[Cell]:
    """List the printed numbers of an exhibit in rows and columns, which map keys to names.

    Raises UserError for a number of another row or column: select those that are meant before.
    """
    for axis, names in (("row", rows), ("column", columns)):
        unknown = printed[~printed[axis].isin([*names])]
        if len(unknown):
            number = unknown.iloc[0]
            raise UserError(
                f"the printed numbers of {number['exhibit']} have one of {axis} "
                f"{number[axis]!r}, which it does not have; its {axis}s are {', '.join(names)}. "
                f"Correct the {axis} of that number."
            )
    numbers = by_place(printed)
    keys = product(rows.items(), columns.items())
    named = {(row, column): (name, heading) for (row, name), (column, heading) in keys}
    return [printed_cell(numbers[key], named[key]) for key in named if key in numbers]


def printed_text_cell(row: pd.Series, place: tuple[str, str]) -> Cell:
    """Make a cell that shows a printed text."""
    where = {key: row[key] for key in ("exhibit", "row", "column")}
    stands_for = (row["row"], row["column"])
    return Cell(*place, 1, row["text"], TEXT, "published", where, stands_for=stands_for)


def printed_bold(printed: pd.DataFrame, exhibit: str) -> set[tuple[str, str]]:
    """Return (row, column) of the bold numbers of a printed exhibit."""
    bold = printed[(printed["exhibit"] == exhibit) & (printed["bold"] == "yes")]
    return set(zip(bold["row"], bold["column"], strict=True))


def best_of_each(
    cells: Sequence[Cell], among: set[str], by: str = "row", digits: int = 1
) -> set[tuple[str, str]]:
    """Return the best printed cells of each row (or ``by`` column), all of them when they tie.

    ``among`` names the columns (or rows) that compete, ``digits`` the printed decimals.
    """
    other_axis = "column" if by == "row" else "row"
    top: dict[str, float] = {}
    taking = [cell for cell in cells if cell.printed and getattr(cell, other_axis) in among]
    for cell in taking:
        key = getattr(cell, by)
        top[key] = max(top.get(key, 0.0), round(cell.value, digits))
    return {
        (cell.row, cell.column)
        for cell in taking
        if round(cell.value, digits) == top[getattr(cell, by)]
    }


def counted(n: int, noun: str, form: str = "") -> str:
    """Return a number of things, in a format: "1 model", "2 models"."""
    return f"{n:{form}} {noun}{'' if n == 1 else 's'}"


def size_text(billions: float) -> str:
    """Return a number of parameters: "7B"; below 0.1 billion in millions, "42M"."""
    return f"{billions:g}B" if billions >= 0.1 else f"{1000 * billions:.3g}M"


def marked(item: Mapping[str, Any]) -> str:
    """Return the sentence with "[right/*wrong]" in place of the agreeing word."""
    good = item["good"]
    right = good[item["good_start"] : item["good_end"]]
    wrong = item["bad"][item["bad_start"] : item["bad_end"]]
    return f"{good[: item['good_start']]}[{right}/*{wrong}]{good[item['good_end'] :]}"
