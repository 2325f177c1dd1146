"""Figure 2 of BLiMP: accuracy by length, perplexity, probability and confidence.

Source: Warstadt et al. (2020), section 5.2.
"""

from dataclasses import replace

import pandas as pd

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables, read_plain, row_cell
from blimpworks.exhibits.style import GREY, PAGE_INCHES, PALETTE, new_figure
from blimpworks.papers.blimp.analysis.bins import CONFIDENCE, LENGTH, PERPLEXITY, PROBABILITY
from blimpworks.papers.blimp.exhibits import accuracies as acc
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.figures import CHANCE, empty_figure
from blimpworks.papers.blimp.paradigms import LANG
from blimpworks.papers.blimp.tables import BINS

BINNED = "bins"
"""The table that cells are computed from."""
AXES = {
    LENGTH: "sentence length (words)",
    PERPLEXITY: "perplexity per token",
    PROBABILITY: "log P(good) (nats)",
    CONFIDENCE: "|log P(good) − log P(bad)| (nats)",
}
"""Panels by factor, and what is on their axes; their order is the paper's."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SPREAD = 25
"""Ratio of the largest to the smallest value above which an axis of perplexity is logarithmic."""
KEYS = ("model", "lang", "method", "factor", "bin")


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 2: accuracy by sentence length, perplexity, probability and confidence, in bins.

    The paper prints no number of it, nor is a sentence's score released: the published form
    says so. Raises UserError when there are no bins.
    """
    if labels.source == "published":
        figure = empty_figure("not printed: it needs the scores of single sentences")
        return Exhibit(**describe("fig2_published"), cells=[], figure=figure)
    path = tables[BINNED][0]
    rows = read_plain(BINS, path)
    rows = rows[
        rows["model"].isin([*labels.models])
        & (rows["lang"] == LANG)
        & (rows["method"] == labels.method)
    ]
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
        accuracy = acc.row_accuracy_cell(row, (line, column), BINNED, KEYS)
        # Here halves are rounded to even digits, unlike in tables that repeat printed ones.
        cells.append(replace(accuracy, text=f"{accuracy.value:.1f}"))
        text = f"{row['mean']:.4g}"
        mean = row_cell(BINNED, row, KEYS, "mean", (line, f"{column}, mean"), text)
        cells.append(replace(mean, n=accuracy.n))

    figure = new_figure(PAGE_INCHES, 4.4)
    grid = figure.subplots(2, 2, sharey=True)
    for axes, factor in zip(grid.flat, AXES, strict=True):
        of_factor = rows[rows["factor"] == factor]
        for number, (model, name) in enumerate(names.items()):
            points = of_factor[of_factor["model"] == model]
            colour, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
            low, high, accuracies = (100 * points[key] for key in ("low", "high", "accuracy"))
            axes.fill_between(points["mean"], low, high, color=colour, alpha=0.2, lw=0)
            axes.plot(
                points["mean"], accuracies, color=colour, marker=marker, ms=3, lw=1, label=name
            )
        axes.axhline(CHANCE, color=GREY, lw=0.8, ls="--")
        means = of_factor["mean"]
        if factor == PERPLEXITY and means.max() > SPREAD * means.min():
            axes.set_xscale("log")
        axes.set(xlabel=AXES[factor], ylim=(0, 100), yticks=range(0, 101, 25))
    for axes in grid[:, 0]:
        axes.set_ylabel("accuracy (%)")
    handles, texts = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=min(len(texts), 4))

    judged = rows[rows["factor"] == LENGTH].groupby("model")["n"].sum()
    sizes = {name: int(judged[model]) for model, name in names.items()}
    models = acc.pairs_sentence(sizes) + acc.training_sentence(labels)
    description = describe("fig2", bins=int(rows["bin"].max()) + 1, models=models)
    return Exhibit(**description, cells=cells, figure=figure)
