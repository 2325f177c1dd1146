"""Accuracy on pairs that are generated here, against accuracy on the released ones.

The paper has no such figure. Pairs of one paradigm by two generators ask for the same knowledge
with other words, so accuracies that part say what a paradigm owes to its words.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.exhibits.style import BLUE, GREY, ORANGE, PAGE_INCHES, new_figure
from blimpworks.papers.blimp.exhibits import accuracies as acc
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.figures import empty_figure
from blimpworks.papers.blimp.exhibits.formulas import SETS_PEARSON, common
from blimpworks.papers.blimp.paradigms import BENCHMARK, GENERATED, LANG, PHENOMENON_OF
from blimpworks.tables import ACCURACIES

SETS = {BENCHMARK: "released", GENERATED: "generated"}
OVERALL = "Overall"
ACROSS = 3
"""Panels beside each other."""
NAMED = 3
"""Paradigms of a panel that are numbered and named below it: those that part most."""


def _in_both_sets(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Keep the models, or the paradigms, (column ``by``) that have accuracies on both sets."""
    sets = rows.groupby(by, observed=True)["benchmark"].nunique()
    return rows[rows[by].isin(sets.index[sets == len(SETS)])]


def _cells(rows: pd.DataFrame, model: str) -> list[Cell]:
    """Make a model's accuracies in either set by paradigm, and on those of both; correlation."""
    # Means over unlike paradigms could not be compared.
    cells, both = [], _in_both_sets(rows, "paradigm")
    for benchmark, name in SETS.items():
        of_set = rows[rows["benchmark"] == benchmark]
        column = f"{model}: {name}"
        present = {*of_set["paradigm"]}
        further = sorted(present - PHENOMENON_OF.keys())
        for uid in [*(uid for uid in PHENOMENON_OF if uid in present), *further]:
            cells.append(acc.mean_cell(of_set[of_set["paradigm"] == uid], (uid, column)))
        if not both.empty:
            cells.append(acc.mean_cell(both[both["benchmark"] == benchmark], (OVERALL, column)))
    if common(both, "benchmark") >= acc.ENOUGH:
        place = (OVERALL, f"{model}: r")
        cells.append(acc.pearson_cell(both, place, SETS_PEARSON, "benchmark"))
    return cells


def _draw(axes: Axes, model: str, cells: Sequence[Cell]) -> None:
    """Draw a point per paradigm; number those that part most, and name those in one set alone."""
    every = pd.DataFrame(
        {"row": c.row, "set": c.column.rpartition(": ")[2], "value": c.value}
        for c in cells
        if c.row != OVERALL
    ).pivot(index="row", columns="set", values="value")
    wide = every.dropna()
    beside: dict[str, Any] = {"textcoords": "offset points", "ha": "left", "fontsize": 4.5}
    axes.plot([0, 100], [0, 100], color=GREY, lw=0.8)
    axes.axhline(50, color=GREY, lw=0.6, ls="--")
    axes.axvline(50, color=GREY, lw=0.6, ls="--")
    axes.plot(wide["released"], wide["generated"], "o", ms=2.6, color=BLUE, alpha=0.8, mew=0)
    for uid, value in every["generated"][every["released"].isna()].items():
        axes.plot(0, value, ">", ms=4, color=ORANGE, mew=0, clip_on=False, zorder=3)
        axes.annotate(str(uid), (0, value), (5, -1.5), **beside)
    far = (wide["released"] - wide["generated"]).abs().nlargest(NAMED).index
    for number, uid in enumerate(far, start=1):
        point = wide["released"][uid], wide["generated"][uid]
        axes.annotate(str(number), point, (2, 1.5), **beside)
    # Below the panel, where long names have room and none hides another.
    listed = (f"{number} {uid}" for number, uid in enumerate(far, start=1))
    axes.set_xlabel("\n".join(listed), fontsize=4.5, loc="left")
    r = next((cell.text for cell in cells if cell.column == f"{model}: r"), "")
    axes.set_title(f"{model}{r and f', r = {r}'}", loc="left")
    axes.set(xlim=(0, 100), ylim=(0, 100), xticks=range(0, 101, 25), yticks=range(0, 101, 25))
    axes.set_aspect("equal")


def generated(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy on generated pairs against accuracy on released ones, a panel per model."""
    rows = read_plain(ACCURACIES, tables["data_sets"])
    rows = rows[
        (rows["method"] == labels.method) & (rows["lang"] == LANG) & (rows["paradigm"] != ALL)
    ]
    rows = _in_both_sets(rows, "model")
    names = acc.model_names(rows, labels)
    method = labels.method.replace("_", " ")
    description = describe("generated", method=method, numbered=NAMED)
    if not names:
        figure = empty_figure("no model has judged both sets", 2.7)
        return Exhibit(**description, cells=[], figure=figure)
    cells: list[Cell] = []
    lines = -(-len(names) // ACROSS)
    figure = new_figure(PAGE_INCHES, 0.3 + 2.4 * lines)
    grid = figure.subplots(lines, min(ACROSS, len(names)), squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for axes, (model, name) in zip(grid.flat, names.items(), strict=False):
        of_model = _cells(rows[rows["model"] == model], name)
        _draw(axes, name, of_model)
        cells += of_model
    figure.supxlabel("accuracy on released pairs (%)", fontsize="medium")
    figure.supylabel("accuracy on generated pairs (%)", fontsize="medium")
    return Exhibit(**description, cells=cells, figure=figure)
