"""Read input tables, and make cells from them, for the exhibits of all papers.

An exhibit is a table or figure. A cell is a number of an exhibit, with the formula that computes
it, and a filter (``where``: {column: value or list of values}) of the rows that the formula is
applied to. ``read_accuracies`` and ``accuracy_cell`` make cells of accuracies that a campaign
measured. ``read_printed`` and ``printed_cells`` make cells of numbers that the paper prints (rows
of ``PublishedRow``), for the same exhibit. ``formula_cell`` makes a cell from any table.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from blimpworks.analysis.accuracy import weighted_interval, wilson
from blimpworks.campaign.reference import PublishedRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import ROW_TEXT, UNWEIGHTED, Formula, of_row, select_rows
from blimpworks.tables import ACCURACIES, TableSchema, read_table

Tables = Mapping[str, Sequence[Path]]
"""{name of an input table, such as "accuracies": its paths}."""
Place = tuple[str, str]
"""Row and column of a cell or printed number."""
PRINTED_KEYS = ("exhibit", "row", "column")
"""Columns that identify a printed number."""


def read_plain(
    schema: TableSchema, paths: Path | Sequence[Path] | None, columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Read the tables ``paths`` of one schema into a data frame, with labels as plain strings."""
    paths = [paths] if isinstance(paths, Path) else paths
    if not paths:
        return pd.DataFrame(columns=[*(columns or schema.names)])
    frames = [read_table(schema, path, columns).to_pandas() for path in paths]
    rows: pd.DataFrame = pd.concat(frames, ignore_index=True)
    return rows.astype(dict.fromkeys(rows.select_dtypes("category"), object))


@cache  # The second argument makes a changed file be read again.
def _printed(path: Path, _time_of_change: int) -> list[dict[str, Any]]:
    return [row.model_dump() for row in read_rows(PublishedRow, path)]


def read_printed(tables: Tables, **where: Any) -> pd.DataFrame:
    """Read the printed numbers that ``where`` selects, with columns as in ``PublishedRow``."""
    rows = [row for path in tables["printed"] for row in _printed(path, path.stat().st_mtime_ns)]
    return select_rows(pd.DataFrame(rows, columns=list(PublishedRow.model_fields)), where)


def by_place(printed: pd.DataFrame) -> dict[Place, pd.Series]:
    """Return {(row, column): printed number} for the printed numbers that have a value."""
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

    ``source`` is the name of the table of ``rows``. ``form`` is the format of the text: "," for
    integers such as 12,000, or ".1f". ``more`` are further fields of the cell.
    """
    value = formula(select_rows(rows, where))
    number = value if form.endswith("f") else int(value)
    return Cell(*position, number, f"{number:{form}}", formula, source, where, **more)


def row_cell(
    source: str, row: pd.Series, keys: Sequence[str], column: str, position: Place, text: str
) -> Cell:
    """Make a cell of a row's value in ``column``; ``keys`` are columns that identify the row."""
    where = {key: row[key] for key in keys}
    return Cell(*position, float(row[column]), text, of_row(column), source, where)


def printed_cell(row: pd.Series, position: Place) -> Cell:
    """Make a cell that shows a printed number."""
    cell = row_cell("published", row, PRINTED_KEYS, "value", position, row["text"])
    return replace(cell, stands_for=(row["row"], row["column"]))


def printed_cells(
    printed: pd.DataFrame, rows: Mapping[str, str], columns: Mapping[str, str]
) -> list[Cell]:
    """Make cells of all ``printed`` numbers, in the order of ``rows`` and ``columns``.

    ``rows`` and ``columns`` are {key: printed name}. Raises UserError for a number of another key.
    """
    for axis, names in (("row", rows), ("column", columns)):
        unknown = printed[~printed[axis].isin([*names])]
        if len(unknown):
            number = unknown.iloc[0]
            raise UserError(
                f"the printed numbers of {number['exhibit']} have the {axis} {number[axis]!r}; "
                f"expected one of {', '.join(names)}. Correct the {axis} of that number."
            )
    numbers, cells = by_place(printed), list[Cell]()
    for (row, name), (column, heading) in product(rows.items(), columns.items()):
        if (row, column) in numbers:
            cells.append(printed_cell(numbers[row, column], (name, heading)))
    return cells


def printed_text_cell(row: pd.Series, position: Place) -> Cell:
    """Make a cell that shows a printed text; the value 1, the number of texts, stands for it."""
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
    """Return (row, column) of the highest printed cells of each row; several if they are equal.

    Only cells of the columns ``among`` are compared. If ``by`` is "column", return the highest cell
    of each column, among cells of the rows ``among``. Values are rounded to ``digits`` decimals.
    """
    other_axis = "column" if by == "row" else "row"
    # {row (or column): {(row, column) of a cell: rounded value}}
    compared: dict[str, dict[Place, float]] = {}
    for cell in cells:
        is_compared = cell.printed and getattr(cell, other_axis) in among
        if is_compared and not math.isnan(cell.value):
            values = compared.setdefault(getattr(cell, by), {})
            values[cell.row, cell.column] = round(cell.value, digits)
    best: set[Place] = set()
    for values in compared.values():
        highest = max(values.values())
        best |= {position for position, value in values.items() if value == highest}
    return best


def counted(number: int, noun: str, form: str = "") -> str:
    """Return a number with its noun, such as "1 model" and "2 models"."""
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"


def size_text(billions: float) -> str:
    """Return a number of parameters: "7B"; below 0.1 billion in millions, "42M"."""
    return f"{billions:g}B" if billions >= 0.1 else f"{1000 * billions:.3g}M"


SPANS = ("good_start", "good_end", "bad_start", "bad_end")
"""Columns of items with start and end, in characters, of the words that differ in a pair."""


def marked(item: Mapping[str, Any]) -> str:
    """Return a pair as one text with both forms of the words that differ: "A dog [runs/*run] ."."""
    good, start, end = item["good"], item["good_start"], item["good_end"]
    wrong = item["bad"][item["bad_start"] : item["bad_end"]]
    return f"{good[:start]}[{good[start:end]}/*{wrong}]{good[end:]}"


# Accuracies

SOURCE = "accuracies"
ACCURACY_KEYS = ("benchmark", "lang", "method", "model", "phenomenon", "paradigm")
"""Columns that identify a row of accuracies."""


def by_method(rows: pd.DataFrame, method: str, fallback: str | None = None) -> pd.DataFrame:
    """Return the rows of a method; for models without such rows, the rows of ``fallback``."""
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
    """Read the accuracies that ``where`` selects, by ``method`` or else ``fallback``.

    Raises UserError when there are none; ``models`` describes the models in its message.
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
    """Return the filter that selects these ``rows``: {column: value or list of values}."""
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
    """Make a cell of one row of accuracies: the accuracy in percent, with its 95 % interval."""
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

    If all rows have numbers of judgements and intervals, the cell has a 95 % ``interval``:
    "pooled", Wilson's over all judgements; or "mean", the interval of the mean of the rows with
    ``weights`` (equal by default), for rows of one model. With ``ties``, the cell has their count.
    ``keys`` are columns that identify rows of ``source``. ``fields`` are other fields of the cell.
    """
    value = formula(rows)
    if bool(rows[["n", "low"]].notna().all(axis=None)):
        n = int(rows["n"].sum())
        fields = {"n": n, "ties": int(rows["ties"].sum()) if ties else None, **fields}
        if interval == "pooled":
            low, high = wilson(float(rows["correct"].sum()), n)
            fields.update(low=100 * low, high=100 * high)
        elif rows["model"].nunique() == 1:
            low, high = weighted_interval(rows, weights or [1 / len(rows)] * len(rows))
            fields.update(low=100 * low, high=100 * high)
    return Cell(*position, value, text(value), formula, source, where_of(rows, keys), **fields)


# Numbers in running text, recomputed from other printed numbers

VALUE, PRINTED, AGAIN = "Value", "Printed", "Recomputed"
"""Columns of tables whose rows are numbers in a paper's running text."""


@dataclass(frozen=True, slots=True)
class Recomputation:
    """Formulas that compute numbers in running text from other printed numbers of the paper.

    The row of a printed number (``PublishedRow``) names a formula, such as "mean of value". The
    column ``of`` of this row selects the numbers that the formula is applied to, as
    EXHIBIT/ROWS/COLUMNS: ``table2/English; German/*``.
    """

    formats: Mapping[Formula, str]
    """{formula: format of its numbers}: "{:.1f}", or "{text}" for the first number's text."""
    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """{name: rows or columns} of lists that ``of`` can name in braces, such as ``{models}``."""

    def cell(self, row: pd.Series, title: str, printed: pd.DataFrame) -> Cell:
        """Make the cell of a printed number from other ones. Raises UserError for a faulty row."""
        subject = "printed number " + "/".join(row[key] for key in PRINTED_KEYS)
        formulas = {formula.sentence: formula for formula in self.formats}
        if row["formula"] not in formulas:
            raise UserError(
                f"{subject} has the formula {row['formula']!r}; expected one of "
                f"{', '.join(map(repr, formulas))}."
            )
        formula = formulas[row["formula"]]
        where: dict[str, Any] = {}
        for column, text in zip(PRINTED_KEYS, row["of"].split("/"), strict=True):
            # EXHIBIT, ROWS or COLUMNS: a key, "KEY; KEY", "{NAME OF A LIST}", or "*" for any.
            list_name = re.fullmatch(r"\{(.+)\}", text)
            keys = text.split("; ")
            if list_name:
                if list_name[1] not in self.lists:
                    names = ", ".join(self.lists) or "none"
                    raise UserError(f"{subject} is of {text}; expected a list among {names}.")
                where[column] = [*self.lists[list_name[1]]]
            elif text != "*":
                where[column] = keys if len(keys) > 1 else text
        rows = select_rows(printed, where)
        if rows.empty:
            raise UserError(f"{subject} is of {row['of']!r}, but no printed number has these keys.")
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
    """Return cells of printed and recomputed numbers in running text, and the errors of the paper.

    ``compute`` gets (row, column) and title of a number without a formula. It returns the
    recomputed cell, or None if the number cannot be recomputed. The errors are one sentence for a
    caption; empty if there are none.
    """
    cells: list[Cell] = []
    faults: list[str] = []
    for _, row in printed[(printed["exhibit"] == exhibit) & printed["value"].notna()].iterrows():
        position: Place = (row["row"], row["column"])
        title = row["title"] or ": ".join(position)
        cells.append(printed_cell(row, (title, PRINTED)))
        if row["formula"]:
            cells.append(recomputation.cell(row, title, printed))
        elif computed := compute(position, title):
            cells.append(computed)
        faults += [f"{title}: {row['note']}"] if row["fault"] else []
    return cells, f"Errata: {'; '.join(faults)}." if faults else ""
