"""Table 1 and Figure 1 of KabLiMP."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.items import ALL
from blimpworks.tables import ACCURACIES
from kablimp.formulas import PERCENT

PARADIGMS = {"singular": "Singular", "plural": "Plural", "mean": "Mean"}
TITLE = "Accuracy by paradigm"


def _cells(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    for model in dict.fromkeys(rows["model"]):
        for paradigm, name in PARADIGMS.items():
            where = {
                "model": model,
                "method": labels.method,
                "paradigm": ["singular", "plural"] if paradigm == "mean" else paradigm,
            }
            value = PERCENT(select_rows(rows, where))
            place = (labels.models.get(model, model), name)
            stands_for = (paradigm, model)
            yield Cell(
                *place, value, f"{value:.1f}", PERCENT, "accuracies", where, stands_for=stands_for
            )


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Table 1: accuracy of each model on each paradigm, and their mean."""
    rows = read_plain(ACCURACIES, tables["accuracies"][0])
    rows = rows[(rows["phenomenon"] != ALL) & (rows["paradigm"] != ALL)]
    return Exhibit(TITLE, "Percent of pairs.", list(_cells(rows, labels)), row_title="Model")


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 1: the cells of Table 1 as bars."""
    exhibit = table1(tables, labels)
    figure = Figure(figsize=(4, 2.5), layout="constrained")
    axes = figure.subplots()
    names = [f"{cell.row}\n{cell.column}" for cell in exhibit.cells]
    axes.bar(range(len(names)), [cell.value for cell in exhibit.cells])
    axes.set_xticks(range(len(names)), names, fontsize=5)
    axes.set_ylabel("accuracy (%)")
    exhibit.figure = figure
    return exhibit
