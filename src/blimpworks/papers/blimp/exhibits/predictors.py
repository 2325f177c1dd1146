"""Show accuracy by properties of pairs (Figure 2 of BLiMP), and on generated pairs.

Source: Warstadt et al. (2020), section 5.2. The figure of generated pairs is not the paper's. Pairs
of one paradigm by two generators test the same knowledge with other words, so different accuracies
show the influence of words.
"""

from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.errors import UserError
from blimpworks.exhibits import style
from blimpworks.exhibits.accuracies import row_accuracy_cell
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import Tables, read_plain, row_cell
from blimpworks.papers.blimp.analysis import CONFIDENCE, LENGTH, PERPLEXITY, PROBABILITY
from blimpworks.papers.blimp.exhibits import accuracies as acc
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.figures import CHANCE
from blimpworks.papers.blimp.exhibits.formulas import SETS_PEARSON, common
from blimpworks.papers.blimp.paradigms import BENCHMARK, GENERATED, LANG, PHENOMENON_OF
from blimpworks.papers.blimp.tables import BINS
from blimpworks.tables import ACCURACIES

BINNED = "bins"
AXES = {
    LENGTH: "sentence length (words)",
    PERPLEXITY: "perplexity per token",
    PROBABILITY: "log P(good) (nats)",
    CONFIDENCE: "|log P(good) − log P(bad)| (nats)",
}
"""Labels of axes by factor; their order is the paper's."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SPREAD = 25
"""Ratio of largest to smallest perplexity above which its axis is logarithmic."""
KEYS = ("model", "lang", "method", "factor", "bin")


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 2: accuracy by bins of length, perplexity, probability and confidence."""
    if labels.source == "published":
        figure = style.empty_figure("not printed: it needs the scores of single sentences")
        return Exhibit(**describe("fig2_published"), cells=[], figure=figure)
    path = tables[BINNED][0]
    where = {"model": [*labels.models], "lang": LANG, "method": labels.method}
    rows = select_rows(read_plain(BINS, path), where)
    if rows.empty:
        raise UserError(
            f"{path} has no bins by method {labels.method} of the campaign's models on English; "
            "bin them by that method."
        )
    orders = {"model": labels.models, "factor": AXES}
    for column, order in orders.items():
        rows = rows.astype({column: pd.CategoricalDtype([*order])})
    rows = rows.sort_values(["model", "factor", "bin"]).astype(dict.fromkeys(orders, object))
    names = acc.model_names(rows, labels)

    cells: list[Cell] = []
    for _, row in rows.iterrows():
        line, column = f"{names[row['model']]}: {AXES[row['factor']]}", f"bin {row['bin'] + 1}"
        # Here halves are rounded to even digits, unlike in tables that repeat printed ones.
        where = {key: row[key] for key in KEYS}
        cells.append(row_accuracy_cell(row, (line, column), where, BINNED))
        text = f"{row['mean']:.4g}"
        mean = row_cell(BINNED, row, KEYS, "mean", (line, f"{column}, mean"), text)
        cells.append(replace(mean, n=int(row["n"])))

    figure = style.new_figure(style.PAGE_INCHES, 4.4)
    grid = figure.subplots(2, 2, sharey=True)
    for axes, factor in zip(grid.flat, AXES, strict=True):
        of_factor = rows[rows["factor"] == factor]
        for number, (model, name) in enumerate(names.items()):
            points = of_factor[of_factor["model"] == model]
            colour, marker = (
                style.PALETTE[number % len(style.PALETTE)],
                MARKERS[number % len(MARKERS)],
            )
            low, high, accuracies = (100 * points[key] for key in ("low", "high", "accuracy"))
            axes.fill_between(points["mean"], low, high, color=colour, alpha=0.2, lw=0)
            axes.plot(
                points["mean"], accuracies, color=colour, marker=marker, ms=3, lw=1, label=name
            )
        axes.axhline(CHANCE, color=style.GREY, lw=0.8, ls="--")
        means = of_factor["mean"]
        if factor == PERPLEXITY and means.max() > SPREAD * means.min():
            axes.set_xscale("log")
        axes.set(xlabel=AXES[factor], ylim=(0, 100), yticks=range(0, 101, 25))
    for axes in grid[:, 0]:
        axes.set_ylabel("accuracy (%)")
    handles, texts = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=min(len(texts), 4))

    judged = rows[rows["factor"] == LENGTH].groupby("model")["n"].sum()
    models = acc.models_sentences(tables, labels, counts=judged)
    description = describe("fig2", bins=int(rows["bin"].max()) + 1, models=models)
    return Exhibit(**description, cells=cells, figure=figure)


# Generated pairs

SETS = {BENCHMARK: "released", GENERATED: "generated"}
OVERALL = "Overall"
ACROSS = 3
NAMED = 3
"""Paradigms numbered and named below a panel: those with the largest differences."""


def _in_both_sets(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    sets = rows.groupby(by, observed=True)["benchmark"].nunique()
    return rows[rows[by].isin(sets.index[sets == len(SETS)])]


def _cells(rows: pd.DataFrame, model: str) -> list[Cell]:
    """Make a model's cells: accuracies by paradigm and set, means over shared ones, correlation."""
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
        cell_key = (OVERALL, f"{model}: r")
        cells.append(acc.pearson_cell(both, cell_key, SETS_PEARSON, "benchmark"))
    return cells


def generated(tables: Tables, labels: Labels) -> Exhibit:
    """Draw accuracy on generated pairs against that on released ones, a panel per model."""
    rows = read_plain(ACCURACIES, tables["data_sets"]).assign(source=acc.OWN)
    rows = select_rows(rows[rows["paradigm"] != ALL], {"method": labels.method, "lang": LANG})
    rows = _in_both_sets(rows, "model")
    names = acc.model_names(rows, labels)
    method = labels.method.replace("_", " ")
    description = describe("generated", method=method, numbered=NAMED)
    if not names:
        figure = style.empty_figure("no model has judged both sets", height=2.7)
        return Exhibit(**description, cells=[], figure=figure)
    cells: list[Cell] = []
    lines = -(-len(names) // ACROSS)
    figure = style.new_figure(style.PAGE_INCHES, 0.3 + 2.4 * lines)
    grid = figure.subplots(lines, min(ACROSS, len(names)), squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for axes, (model, name) in zip(grid.flat, names.items(), strict=False):
        of_model = _cells(rows[rows["model"] == model], name)
        # A point per paradigm: the largest differences have numbers, those in one set names.
        every = pd.DataFrame(
            {"row": c.row, "set": c.column.rpartition(": ")[2], "value": c.value}
            for c in of_model
            if c.row != OVERALL
        ).pivot(index="row", columns="set", values="value")
        wide = every.dropna()
        beside: dict[str, Any] = {"textcoords": "offset points", "ha": "left", "fontsize": 4.5}
        axes.plot([0, 100], [0, 100], color=style.GREY, lw=0.8)
        axes.axhline(50, color=style.GREY, lw=0.6, ls="--")
        axes.axvline(50, color=style.GREY, lw=0.6, ls="--")
        axes.plot(
            wide["released"], wide["generated"], "o", ms=2.6, color=style.BLUE, alpha=0.8, mew=0
        )
        for uid, value in every["generated"][every["released"].isna()].items():
            axes.plot(0, value, ">", ms=4, color=style.ORANGE, mew=0, clip_on=False, zorder=3)
            axes.annotate(str(uid), (0, value), (5, -1.5), **beside)
        far = (wide["released"] - wide["generated"]).abs().nlargest(NAMED).index
        for number, uid in enumerate(far, start=1):
            point = wide["released"][uid], wide["generated"][uid]
            axes.annotate(str(number), point, (2, 1.5), **beside)
        # Below the panel, where long names have room and none hides another.
        listed = (f"{number} {uid}" for number, uid in enumerate(far, start=1))
        axes.set_xlabel("\n".join(listed), fontsize=4.5, loc="left")
        r = next((cell.text for cell in of_model if cell.column == f"{name}: r"), "")
        axes.set_title(f"{name}{r and f', r = {r}'}", loc="left")
        axes.set(xlim=(0, 100), ylim=(0, 100), xticks=range(0, 101, 25), yticks=range(0, 101, 25))
        axes.set_aspect("equal")
        cells += of_model
    figure.supxlabel("accuracy on released pairs (%)", fontsize="medium")
    figure.supylabel("accuracy on generated pairs (%)", fontsize="medium")
    return Exhibit(**description, cells=cells, figure=figure)
