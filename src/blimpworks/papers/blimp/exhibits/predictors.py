"""Figure 2 of BLiMP: accuracy by length, perplexity, probability and confidence.

Source: Warstadt et al. (2020), section 5.2.
"""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables, read_plain, row_cell
from blimpworks.exhibits.style import GREY, PAGE_INCHES, PALETTE, new_figure
from blimpworks.papers.blimp.analysis.bins import CONFIDENCE, LENGTH, PERPLEXITY, PROBABILITY
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.accuracies import (
    model_names,
    pairs_sentence,
    row_accuracy_cell,
    training_sentence,
)
from blimpworks.papers.blimp.exhibits.figures import CHANCE, empty_figure
from blimpworks.papers.blimp.paradigms import LANG
from blimpworks.papers.blimp.tables import BINS

BINNED = "bins"
"""Name of the table that cells are computed from."""
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


def _rows(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Bins of the models that have a label, by model, factor and number.

    Raises UserError when there are none.
    """
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
    return rows.sort_values(["model", "factor", "bin"]).astype(dict.fromkeys(orders, object))


def _cells(row: pd.Series, name: str) -> tuple[Cell, Cell]:
    """Accuracy of a bin with its interval, and the mean of the factor there."""
    place = (f"{name}: {AXES[row['factor']]}", f"bin {row['bin'] + 1}")
    accuracy = row_accuracy_cell(row, place, BINNED, KEYS)
    place = (place[0], f"{place[1]}, mean")
    mean = row_cell(BINNED, row, KEYS, "mean", place, f"{row['mean']:.4g}")
    # Here halves are rounded to even digits, unlike in tables that repeat printed ones.
    return replace(accuracy, text=f"{accuracy.value:.1f}"), replace(mean, n=accuracy.n)


def _draw(axes: Axes, factor: str, rows: pd.DataFrame, names: Mapping[str, str]) -> None:
    """One panel: a line with a band for each model."""
    for number, (model, name) in enumerate(names.items()):
        line = rows[(rows["model"] == model) & (rows["factor"] == factor)]
        colour, at = PALETTE[number % len(PALETTE)], line["mean"]
        axes.fill_between(at, 100 * line["low"], 100 * line["high"], color=colour, alpha=0.2, lw=0)
        marker = MARKERS[number % len(MARKERS)]
        axes.plot(at, 100 * line["accuracy"], color=colour, marker=marker, ms=3, lw=1, label=name)
    axes.axhline(CHANCE, color=GREY, lw=0.8, ls="--")
    values = rows["mean"][rows["factor"] == factor]
    if factor == PERPLEXITY and values.max() > SPREAD * values.min():
        axes.set_xscale("log")
    axes.set(xlabel=AXES[factor], ylim=(0, 100), yticks=range(0, 101, 25))


def _figure(rows: pd.DataFrame, names: Mapping[str, str]) -> Figure:
    figure = new_figure(PAGE_INCHES, 4.4)
    grid = figure.subplots(2, 2, sharey=True)
    for axes, factor in zip(grid.flat, AXES, strict=True):
        _draw(axes, factor, rows, names)
    for axes in grid[:, 0]:
        axes.set_ylabel("accuracy (%)")
    handles, texts = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=min(len(texts), 4))
    return figure


def _models_sentences(rows: pd.DataFrame, names: Mapping[str, str], labels: Labels) -> str:
    """The caption's sentences on the models: how many pairs each judged, and training."""
    n = rows[rows["factor"] == LENGTH].groupby("model")["n"].sum()
    sizes = {name: int(n[model]) for model, name in names.items()}
    return pairs_sentence(sizes) + training_sentence(labels)


def _unprinted() -> Exhibit:
    """The published form: the paper prints none of the figure's numbers."""
    return Exhibit(
        **describe("fig2_published"),
        cells=[],
        figure=empty_figure("not printed: it needs the scores of single sentences"),
    )


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 2: accuracy by sentence length, perplexity, probability and confidence, in bins.

    The paper prints no number of it, nor is a sentence's score released: the published form
    says so.
    """
    if labels.source == "published":
        return _unprinted()
    rows = _rows(tables, labels)
    names = model_names(rows, labels)
    figure = _figure(rows, names)
    bins = int(rows["bin"].max()) + 1
    return Exhibit(
        **describe("fig2", bins=bins, models=_models_sentences(rows, names, labels)),
        cells=[cell for _, row in rows.iterrows() for cell in _cells(row, names[row["model"]])],
        figure=figure,
    )
