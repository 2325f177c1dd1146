"""Accuracies in exhibits: rows by the shown method, filters and cells."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from blimpworks.analysis.accuracy import mean_interval, wilson
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import UNWEIGHTED, Formula, select_rows
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.tables import ACCURACIES

SOURCE = "accuracies"
KEYS = ("benchmark", "lang", "method", "model", "phenomenon", "paradigm")
Place = tuple[str, str]


def by_method(rows: pd.DataFrame, method: str, fallback: str | None = None) -> pd.DataFrame:
    """Keep the rows of a method; models without it keep those of its ``fallback``."""
    is_shown = rows["method"] == method
    instead = rows["method"] == fallback
    return rows[is_shown | (instead & ~rows["model"].isin(rows["model"][is_shown]))]


def read_accuracies(
    tables: Tables,
    where: Mapping[str, Any],
    method: str,
    fallback: str | None = None,
    whose: str = "the campaign's models",
) -> pd.DataFrame:
    """Read accuracies as in ``by_method``; raise UserError when ``whose`` are missing."""
    rows = by_method(select_rows(read_plain(ACCURACIES, tables[SOURCE]), where), method, fallback)
    if rows.empty:
        raise UserError(
            f"{', '.join(map(str, tables[SOURCE]))} has no accuracies on {where['benchmark']} by "
            f"method {method!r} of {whose}; judge the benchmark with that method and summarise "
            "again."
        )
    return rows


def where_of(rows: pd.DataFrame, keys: Sequence[str] = KEYS) -> dict[str, Any]:
    """Return the filter that selects some ``rows`` of accuracies: single values, or lists."""
    values = {key: list(dict.fromkeys(map(str, rows[key]))) for key in keys}
    return {
        key: column_values[0] if len(column_values) == 1 else column_values
        for key, column_values in values.items()
    }


def row_accuracy_cell(
    row: pd.Series,
    place: Place,
    where: Mapping[str, Any],
    source: str = SOURCE,
    formula: Formula = UNWEIGHTED,
    text: Callable[[float], str] = "{:.1f}".format,
    **fields: Any,
) -> Cell:
    """Make the cell of one row's accuracy in percent, with its interval."""
    value = 100 * row["accuracy"]
    fields |= {"n": int(row["n"]), "low": 100 * row["low"], "high": 100 * row["high"]}
    return Cell(*place, value, text(value), formula, source, where, **fields)


def accuracy_cell(
    rows: pd.DataFrame,
    place: Place,
    formula: Formula = UNWEIGHTED,
    *,
    interval: Literal["mean", "pooled"] = "mean",
    weights: Sequence[float] | None = None,
    text: Callable[[float], str] = "{:.1f}".format,
    source: str = SOURCE,
    keys: Sequence[str] = KEYS,
    ties: bool = False,
    **fields: Any,
) -> Cell:
    """Make the cell of an accuracy in percent that a formula computes from some ``rows``.

    The 95 % interval is Wilson's over all judgements if "pooled", else that of one model's mean
    with ``weights`` (default: equal). Rows without numbers of judgements give none. ``ties`` adds
    their number, ``fields`` are further fields of the cell.
    """
    value = formula(rows)
    counted = bool(rows[["n", "low"]].notna().all(axis=None))
    if counted:
        n = int(rows["n"].sum())
        fields = {"n": n, "ties": int(rows["ties"].sum()) if ties else None} | fields
        if interval == "pooled":
            low, high = wilson(float(rows["correct"].sum()), n)
            fields |= {"low": 100 * low, "high": 100 * high}
        elif rows["model"].nunique() == 1:
            low, high = mean_interval(rows, weights or [1 / len(rows)] * len(rows))
            fields |= {"low": 100 * low, "high": 100 * high}
    return Cell(*place, value, text(value), formula, source, where_of(rows, keys), **fields)
