"""Accuracies as cells, from the campaign's judgements or from the numbers that a paper prints."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL, wilson
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import ACCURACY, UNWEIGHTED
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.papers.multiblimp.exhibits.formulas import WEIGHTED
from blimpworks.papers.multiblimp.exhibits.models import BENCHMARK
from blimpworks.tables import ACCURACIES, FREQUENCIES


def read_accuracies(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Accuracies of whole phenomena, and of all together, by the method shown.

    Only of the languages and models that have a label. Raises UserError when there are none.
    """
    found = read_plain(ACCURACIES, tables["accuracies"][0])
    if found.empty:
        raise UserError(
            f"{tables['accuracies'][0]} is empty: no model has judged a pair. Probably the "
            "campaign's languages have no pairs; see the exhibit funnel, or add languages."
        )
    rows = found[
        (found["paradigm"] == ALL)
        & (found["method"] == labels.method)
        & found["lang"].isin(labels.languages)
        & found["model"].isin(labels.models)
    ]
    if rows.empty:
        raise UserError(
            f"{tables['accuracies'][0]} has no accuracies by method {labels.method!r} of the "
            "campaign's models and languages; judge with that method and summarise again."
        )
    return rows


def read_groups(tables: Tables) -> dict[str, list[str]]:
    """Languages of each resource group; empty without a frequencies table."""
    paths = tables.get("frequencies") or []
    frames = [read_plain(FREQUENCIES, path) for path in paths]
    found = pd.concat(frames) if frames else pd.DataFrame(columns=["resources", "lang"])
    return {str(name): list(rows["lang"]) for name, rows in found.groupby("resources")}


def _one_or_list(values: Sequence[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else [*values]


def accuracy_cell(
    rows: pd.DataFrame, row: str, column: str, labels: Labels, mark: str = ""
) -> Cell:
    """Accuracy in percent over all pairs of some ``rows`` of accuracies, with its interval.

    The rows are of one model and one phenomenon (or all), of one language or several. Each
    pair counts once: the measured cell is a mean over judgements. Of printed numbers the
    accuracies are weighted by their pairs. ``mark`` follows the number in print.
    """
    percent = float(100 * (rows["accuracy"] * rows["n"]).sum() / rows["n"].sum())
    low, high = (
        wilson(rows["correct"].sum(), int(rows["n"].sum()))
        if len(rows) > 1
        else (rows["low"].iloc[0], rows["high"].iloc[0])
    )
    where: dict[str, Any] = {
        "benchmark": BENCHMARK,
        "lang": _one_or_list(list(rows["lang"])),
        "model": rows["model"].iloc[0],
        "method": labels.method,
    }
    phenomenon = rows["phenomenon"].iloc[0]
    measured = labels.source == "measured"
    if phenomenon != ALL or not measured:
        where["phenomenon"] = phenomenon
    if not measured:
        where["paradigm"] = ALL
    return Cell(
        row,
        column,
        percent,
        f"{percent:.1f}{mark}",
        ACCURACY if measured else WEIGHTED,
        "judgements" if measured else "accuracies",
        where,
        n=int(rows["n"].sum()),
        low=100 * low,
        high=100 * high,
        ties=int(rows["ties"].sum()) if measured else None,
    )


def unweighted_cell(rows: pd.DataFrame, row: str, column: str, labels: Labels) -> Cell:
    """The same with each language counting once; stands in the files of values alone."""
    percent = float(100 * rows["accuracy"].mean())
    where = {
        "benchmark": BENCHMARK,
        "lang": _one_or_list(list(rows["lang"])),
        "model": rows["model"].iloc[0],
        "method": labels.method,
        "phenomenon": rows["phenomenon"].iloc[0],
        "paradigm": ALL,
    }
    text = f"{percent:.1f}"
    n = int(rows["n"].sum())
    return Cell(row, column, percent, text, UNWEIGHTED, "accuracies", where, n=n, printed=False)
