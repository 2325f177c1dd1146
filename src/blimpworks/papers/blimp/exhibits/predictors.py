"""Figure 2 of BLiMP: accuracy by length, perplexity, probability and confidence.

Source: Warstadt et al. (2020), section 5.2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import UNWEIGHTED, of_row
from blimpworks.exhibits.shared import Tables, read_plain, row_cell
from blimpworks.exhibits.style import GREY, PAGE_INCHES, PALETTE, house_style, new_figure, say
from blimpworks.papers.blimp.analysis.bins import CONFIDENCE, LENGTH, PERPLEXITY, PROBABILITY
from blimpworks.papers.blimp.exhibits.accuracies import pairs_told, told_of_training
from blimpworks.papers.blimp.exhibits.bars import CHANCE
from blimpworks.papers.blimp.paradigms import LANG
from blimpworks.papers.blimp.tables import BINS

TITLE = "Shallow predictors of accuracy"
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
    """Bins of the models that have a label. Raises UserError when there are none."""
    path = tables[BINNED][0]
    found = read_plain(BINS, path)
    rows = found[
        found["model"].isin([*labels.models])
        & (found["lang"] == LANG)
        & (found["method"] == labels.method)
    ]
    if rows.empty:
        raise UserError(
            f"{path} has no bins by method {labels.method} of the campaign's models on English; "
            "bin them by that method."
        )
    return rows


def _cells(row: pd.Series, name: str) -> tuple[Cell, Cell]:
    """Accuracy of a bin with its interval, and the mean of the factor there."""
    place = (f"{name}: {AXES[row['factor']]}", f"bin {row['bin'] + 1}")
    where = {key: row[key] for key in KEYS}
    value = 100 * row["accuracy"]
    accuracy = Cell(
        *place, value, f"{value:.1f}", UNWEIGHTED, BINNED, where,
        n=int(row["n"]), low=100 * row["low"], high=100 * row["high"],
    )  # fmt: skip
    place = (place[0], f"{place[1]}, mean")
    mean = row_cell(BINNED, row, KEYS, "mean", place, f"{row['mean']:.4g}")
    return accuracy, replace(mean, n=int(row["n"]), formula=of_row("mean"))


def _draw(axes: Axes, factor: str, rows: pd.DataFrame, names: Mapping[str, str]) -> None:
    """One panel: a line with a band for each model."""
    for number, (model, name) in enumerate(names.items()):
        mine = rows[(rows["model"] == model) & (rows["factor"] == factor)].sort_values("bin")
        colour, at = PALETTE[number % len(PALETTE)], mine["mean"]
        axes.fill_between(at, 100 * mine["low"], 100 * mine["high"], color=colour, alpha=0.2, lw=0)
        marker = MARKERS[number % len(MARKERS)]
        axes.plot(at, 100 * mine["accuracy"], color=colour, marker=marker, ms=3, lw=1, label=name)
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


def _told(rows: pd.DataFrame, names: Mapping[str, str], labels: Labels) -> str:
    """What the caption says of the models: pairs and training."""
    n = rows[rows["factor"] == LENGTH].groupby("model")["n"].sum()
    return pairs_told({name: int(n[model]) for model, name in names.items()}) + told_of_training(
        labels
    )


def _unprinted() -> Exhibit:
    """The published form."""
    with house_style():
        figure = new_figure(PAGE_INCHES, 1.0)
        say(figure.subplots(), "not printed: it needs the scores of single sentences")
    return Exhibit(
        TITLE,
        "A picture of accuracy by sentence length, perplexity, log-probability and "
        "confidence. Its numbers are not printed, and scores of sentences not released.",
        [],
        row_title="Model",
        figure=figure,
    )


def _ordered(rows: pd.DataFrame, names: Mapping[str, str]) -> Iterator[pd.Series]:
    """Bins by model, factor and number."""
    for model in names:
        for factor in AXES:
            mine = rows[(rows["model"] == model) & (rows["factor"] == factor)]
            for _, row in mine.sort_values("bin").iterrows():
                yield row


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 2: accuracy by sentence length, perplexity, probability and confidence, in bins.

    The paper prints no number of it, nor is a sentence's score released: the published form
    says so.
    """
    if labels.source == "published":
        return _unprinted()
    rows = _rows(tables, labels)
    names = {m: n for m, n in labels.models.items() if m in set(rows["model"])}
    with house_style():
        figure = _figure(rows, names)
    bins = int(rows["bin"].max()) + 1
    return Exhibit(
        TITLE,
        f"Share of pairs decided rightly, over all paradigms, in at most {bins} bins of equally "
        "many pairs by each model's own values (equal values share one); a point stands at its "
        "bin's mean. Length, perplexity (per token of the model, so that it does not depend on "
        "length) and log-probability are of the grammatical sentence; confidence is the absolute "
        "difference of both sentences' log-probabilities. "
        f"{_told(rows, names, labels)}Bands: 95 %, Wilson's. Broken line: chance.",
        [cell for row in _ordered(rows, names) for cell in _cells(row, names[row["model"]])],
        row_title="Model and factor",
        figure=figure,
    )
