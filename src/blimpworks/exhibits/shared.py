"""Read tables and printed numbers, and make cells, for exhibits of all papers.

An exhibit is a table or figure. A cell is one of its numbers: row, column, value, and the formula
and filter by which the value is computed from a table. Numbers that the paper prints are in tables
too (``PublishedRow``), so that an exhibit can also be built from these.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from blimpworks.analysis.accuracy import mean_interval, wilson
from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import ROW_TEXT, UNWEIGHTED, Formula, of_row, select_rows
from blimpworks.tables import ACCURACIES, TableSchema, read_table

Tables = Mapping[str, Sequence[Path]]
"""Paths of the tables that an exhibit needs, by name of the need."""
Place = tuple[str, str]
"""Row and column of a cell or printed number."""
PRINTED_KEYS = ("exhibit", "row", "column")
"""Columns that identify a printed number."""


def read_plain(
    schema: TableSchema, paths: Path | Sequence[Path] | None, columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Read all rows of tables of one schema, with labels as plain strings."""
    paths = [paths] if isinstance(paths, Path) else paths
    if not paths:
        return pd.DataFrame(columns=[*(columns or schema.names)])
    frames = [read_table(schema, path, columns).to_pandas() for path in paths]
    rows: pd.DataFrame = pd.concat(frames, ignore_index=True)
    return rows.astype(dict.fromkeys(rows.select_dtypes("category"), object))


@cache
def _printed(path: Path, _changed: int) -> list[dict[str, Any]]:
    return [row.model_dump() for row in read_rows(PublishedRow, path)]


def read_printed(tables: Tables, **where: Any) -> pd.DataFrame:
    """Read the paper's printed numbers that ``where`` selects, with columns as ``PublishedRow``."""
    rows = [row for path in tables["printed"] for row in _printed(path, path.stat().st_mtime_ns)]
    return select_rows(pd.DataFrame(rows, columns=list(PublishedRow.model_fields)), where)


def by_place(printed: pd.DataFrame) -> dict[Place, pd.Series]:
    """Return the printed numbers that have a value, keyed by (row, column)."""
    rows = printed[printed["value"].notna()].iterrows()
    return {(row["row"], row["column"]): row for _, row in rows}


def formula_cell(
    rows: pd.DataFrame,
    position: Place,
    formula: Formula,
    source: str,
    where: Mapping[str, Any],
    form: str = ",",
    **more: Any,
) -> Cell:
    """Make a cell at ``position`` with the value of a formula on the rows that ``where`` selects.

    ``source`` is the name of the table of ``rows``. ``form`` is the format of the number, which is
    cut to an integer unless ``form`` ends with "f". ``more`` are other fields of the cell.
    """
    value = formula(select_rows(rows, where))
    number = value if form.endswith("f") else int(value)
    return Cell(*position, number, f"{number:{form}}", formula, source, where, **more)


def row_cell(
    source: str, row: pd.Series, keys: Sequence[str], column: str, position: Place, text: str
) -> Cell:
    """Make a cell of a row's value in a ``column``; the columns ``keys`` identify the row."""
    where = {key: row[key] for key in keys}
    return Cell(*position, float(row[column]), text, of_row(column), source, where)


def printed_cell(row: pd.Series, position: Place) -> Cell:
    """Make a cell that shows a printed number."""
    cell = row_cell("published", row, PRINTED_KEYS, "value", position, row["text"])
    return replace(cell, stands_for=(row["row"], row["column"]))


def printed_cells(
    printed: pd.DataFrame, rows: Mapping[str, str], columns: Mapping[str, str]
) -> list[Cell]:
    """Make cells of an exhibit's printed numbers; ``rows`` and ``columns`` map keys to names.

    Raises UserError when a number has another row or column, so pass only the numbers to show.
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
    numbers, cells = by_place(printed), list[Cell]()
    for (row, name), (column, heading) in product(rows.items(), columns.items()):
        if (row, column) in numbers:
            cells.append(printed_cell(numbers[row, column], (name, heading)))
    return cells


def printed_text_cell(row: pd.Series, position: Place) -> Cell:
    """Make a cell that shows a printed text."""
    where = {key: row[key] for key in PRINTED_KEYS}
    stands_for = (row["row"], row["column"])
    return Cell(*position, 1, row["text"], ROW_TEXT, "published", where, stands_for=stands_for)


def printed_bold(printed: pd.DataFrame) -> set[Place]:
    """Return (row, column) of the bold numbers of a printed exhibit."""
    bold = printed[printed["bold"] == "yes"]
    return set(zip(bold["row"], bold["column"], strict=True))


def best_of_each(
    cells: Sequence[Cell], among: set[str], by: str = "row", digits: int = 1
) -> set[Place]:
    """Return (row, column) of the best printed cell of each row, or of several that tie.

    ``among`` has the columns that compete. With ``by`` "column", return the best cell of each
    column, ``among`` the rows. Values are compared with ``digits`` decimals.
    """
    other_axis = "column" if by == "row" else "row"
    competing = [cell for cell in cells if cell.printed and getattr(cell, other_axis) in among]
    values: dict[str, list[float]] = {}
    for cell in competing:
        values.setdefault(getattr(cell, by), [0.0]).append(round(cell.value, digits))
    return {
        (cell.row, cell.column)
        for cell in competing
        if round(cell.value, digits) == max(values[getattr(cell, by)])
    }


def counted(number: int, noun: str, form: str = "") -> str:
    """Return a number with its noun, such as "1 model" and "2 models"."""
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"


def size_text(billions: float) -> str:
    """Return a number of parameters: "7B"; below 0.1 billion in millions, "42M"."""
    return f"{billions:g}B" if billions >= 0.1 else f"{1000 * billions:.3g}M"


SPANS = ("good_start", "good_end", "bad_start", "bad_end")
"""Columns of items with the ends of the words that differ in a pair, by ``marked``."""


def marked(item: Mapping[str, Any]) -> str:
    """Return the sentence with "[right/*wrong]" in place of the agreeing word."""
    good = item["good"]
    right = good[item["good_start"] : item["good_end"]]
    wrong = item["bad"][item["bad_start"] : item["bad_end"]]
    return f"{good[: item['good_start']]}[{right}/*{wrong}]{good[item['good_end'] :]}"


# Accuracies

SOURCE = "accuracies"
ACCURACY_KEYS = ("benchmark", "lang", "method", "model", "phenomenon", "paradigm")
"""Columns that identify a row of accuracies."""


def by_method(rows: pd.DataFrame, method: str, fallback: str | None = None) -> pd.DataFrame:
    """Return the rows of a method; for models without it, those of the ``fallback``."""
    has_method = rows["method"] == method
    has_fallback = rows["method"] == fallback
    return rows[has_method | (has_fallback & ~rows["model"].isin(rows["model"][has_method]))]


def read_accuracies(
    tables: Tables,
    where: Mapping[str, Any],
    method: str,
    fallback: str | None = None,
    models: str = "the campaign's models",
) -> pd.DataFrame:
    """Read the accuracies that ``where`` and ``by_method`` select.

    Raises UserError when there are none; its message calls the models ``models``.
    """
    rows = by_method(select_rows(read_plain(ACCURACIES, tables[SOURCE]), where), method, fallback)
    if rows.empty:
        raise UserError(
            f"{', '.join(map(str, tables[SOURCE]))} has no accuracies on {where['benchmark']} by "
            f"method {method!r} of {models}; judge the benchmark with that method and summarise "
            "again."
        )
    return rows


def where_of(rows: pd.DataFrame, keys: Sequence[str] = ACCURACY_KEYS) -> dict[str, Any]:
    """Return the filter that selects these ``rows`` of accuracies: a value or list by column."""
    values = {key: list(dict.fromkeys(map(str, rows[key]))) for key in keys}
    return {key: names[0] if len(names) == 1 else names for key, names in values.items()}


def row_accuracy_cell(
    row: pd.Series,
    position: Place,
    where: Mapping[str, Any],
    source: str = SOURCE,
    formula: Formula = UNWEIGHTED,
    text: Callable[[float], str] = "{:.1f}".format,
) -> Cell:
    """Make the cell of one row's accuracy in percent, with its interval."""
    value, low, high = (100 * row[name] for name in ("accuracy", "low", "high"))
    return Cell(*position, value, text(value), formula, source, where, int(row["n"]), low, high)


def accuracy_cell(
    rows: pd.DataFrame,
    position: Place,
    formula: Formula = UNWEIGHTED,
    *,
    interval: Literal["mean", "pooled"] = "mean",
    weights: Sequence[float] | None = None,
    text: Callable[[float], str] = "{:.1f}".format,
    source: str = SOURCE,
    keys: Sequence[str] = ACCURACY_KEYS,
    ties: bool = False,
    **fields: Any,
) -> Cell:
    """Make the cell of an accuracy in percent that a formula computes from ``rows``.

    The 95 % ``interval`` is Wilson's over all judgements ("pooled"), or that of one model's mean
    with ``weights``, which are equal by default. Rows without numbers of judgements have none.
    With ``ties`` the cell has the number of ties. ``fields`` are other fields of the cell.
    """
    value = formula(rows)
    if bool(rows[["n", "low"]].notna().all(axis=None)):
        n = int(rows["n"].sum())
        fields = {"n": n, "ties": int(rows["ties"].sum()) if ties else None} | fields
        if interval == "pooled":
            low, high = wilson(float(rows["correct"].sum()), n)
            fields |= {"low": 100 * low, "high": 100 * high}
        elif rows["model"].nunique() == 1:
            low, high = mean_interval(rows, weights or [1 / len(rows)] * len(rows))
            fields |= {"low": 100 * low, "high": 100 * high}
    return Cell(*position, value, text(value), formula, source, where_of(rows, keys), **fields)


# Numbers in running text, recomputed from other printed numbers

VALUE, PRINTED, AGAIN = "Value", "Printed", "Recomputed"
"""Columns of tables of statements."""


@dataclass(frozen=True, slots=True)
class Recomputation:
    """Computes numbers in running text from other printed numbers of the paper.

    The row of a printed number (``PublishedRow``) names its formula. The column ``of`` says which
    numbers it is applied to, such as ``table2/English; German/*``.
    """

    formats: Mapping[Formula, str]
    """Format of each formula's numbers: "{:.1f}", or "{text}" for the first number's text."""
    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Rows or columns that a name in braces, such as ``{models}``, stands for."""

    def cell(self, row: pd.Series, title: str, printed: pd.DataFrame) -> Cell:
        """Make the cell of a printed number from other printed numbers.

        Raises UserError when the row's formula or ``of`` is faulty.
        """
        subject = "printed number " + "/".join(row[key] for key in PRINTED_KEYS)
        formulas = {formula.sentence: formula for formula in self.formats}
        if row["formula"] not in formulas:
            raise UserError(
                f"{subject} has the formula {row['formula']!r}; expected one of "
                f"{', '.join(map(repr, formulas))}."
            )
        formula = formulas[row["formula"]]
        # ``of`` is EXHIBIT/ROWS/COLUMNS. Each is a key, several keys with "; " between them, the
        # name of a list in braces, or "*" for any.
        where: dict[str, Any] = {}
        for key, text in zip(PRINTED_KEYS, row["of"].split("/"), strict=True):
            name = re.fullmatch(r"\{(.+)\}", text)
            if name and name[1] not in self.lists:
                names = ", ".join(self.lists) or "none"
                raise UserError(f"{subject} is of {text}, which is no list; there are: {names}.")
            keys = text.split("; ")
            if name:
                where[key] = [*self.lists[name[1]]]
            elif text != "*":
                where[key] = keys if len(keys) > 1 else text
        rows = select_rows(printed, where)
        if rows.empty:
            raise UserError(f"{subject} is of {row['of']!r}, where nothing is printed.")
        value = formula(rows)
        text = self.formats[formula].format(value, text=rows["text"].iloc[0])
        stands_for = (row["row"], row["column"])
        return Cell(title, AGAIN, value, text, formula, "published", where, stands_for=stands_for)


def printed_statements(
    printed: pd.DataFrame,
    recomputation: Recomputation,
    compute: Callable[[Place, str], Cell | None] = lambda position, title: None,
    exhibit: str = "text",
) -> tuple[list[Cell], str]:
    """Return cells of printed numbers and of recomputed ones, and a sentence on printed errors.

    ``compute`` makes the recomputed cell of a number without a formula, from its (row, column) and
    title, or returns None. Without printed errors the sentence is ".".
    """
    cells: list[Cell] = []
    faults = []
    for _, row in printed[(printed["exhibit"] == exhibit) & printed["value"].notna()].iterrows():
        position: Place = (row["row"], row["column"])
        title = row["title"] or ": ".join(position)
        cells.append(printed_cell(row, (title, PRINTED)))
        if row["formula"]:
            cells.append(recomputation.cell(row, title, printed))
        elif computed := compute(position, title):
            cells.append(computed)
        faults += [f"{title}: {row['note']}"] if row["fault"] else []
    return cells, "; ".join(faults) + "."
