"""Figure 6 of BLiMP: whole sentences against one prefix or two.

Source: Warstadt et al. (2020), section 6.4.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import PAGE_INCHES, new_figure
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.accuracies import (
    OWN,
    RELEASED,
    computed_cell,
    model_names,
    models_sentences,
    read_own,
    read_released,
)
from blimpworks.papers.blimp.exhibits.bars import Series, bar_cells, draw_groups, empty_figure
from blimpworks.papers.blimp.exhibits.formulas import SPREAD
from blimpworks.papers.blimp.paradigms import NAMES, ONE_PREFIX, PARADIGMS, TWO_PREFIX
from blimpworks.papers.blimp.released_results import METHODS

PANELS = ("binding", "determiner_noun_agreement", "subject_verb_agreement")
"""The phenomena that the paper shows one by one: each has paradigms for either method."""
ALL_PHENOMENA = "All phenomena"
ALLOWING = {"1-prefix": ONE_PREFIX, "2-prefix": TWO_PREFIX}
"""Paradigms that allow a prefix method, by its name."""


def _methods(labels: Labels) -> tuple[str, ...]:
    """Methods of the accuracies: of whole sentences, of one prefix, and of two prefixes."""
    if labels.source == "published":
        return tuple(METHODS.values())
    return labels.method, "one_prefix", "two_prefix"


def _bars(rows: pd.DataFrame, methods: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each bar of a group and the rows behind it; each prefix method beside the sentence."""
    sentence, *prefixes = methods
    for (name, uids), method in zip(ALLOWING.items(), prefixes, strict=True):
        inside = rows[rows["paradigm"].isin(uids)]
        yield f"sentence ({name} paradigms)", inside[inside["method"] == sentence]
        yield name, inside[inside["method"] == method]


def _spread(mean: Cell | None, rows: pd.DataFrame, source: str) -> Cell | None:
    """The standard deviation over the paradigms behind a mean."""
    if mean is None:
        return None
    place = (mean.row, f"{mean.column}, SD")
    return computed_cell(select_rows(rows, mean.where), place, SPREAD, source)


def _around(mean: Cell | None, spread: Cell | None) -> Cell | None:
    """A mean with its standard deviation as the interval that is drawn, or without any."""
    if mean is None or spread is None:
        return mean and replace(mean, low=None, high=None)
    return replace(mean, low=mean.value - spread.value, high=mean.value + spread.value)


def _draw(
    axes: Axes, title: str, series: Series, names: Sequence[str], spreads: Series | None = None
) -> None:
    """Draw one panel; ``spreads`` are the standard deviations of the series, if shown."""
    spreads = spreads or {bar: [None] * len(names) for bar in series}
    around = {bar: [*map(_around, means, spreads[bar])] for bar, means in series.items()}
    draw_groups(axes, names, around)
    axes.set_title(title, loc="left")


def _figure(rows: pd.DataFrame, source: str, labels: Labels) -> tuple[Figure, list[Cell]]:
    """Three panels of phenomena above, and one of all below with standard deviations."""
    names, bars = model_names(rows, labels), dict(_bars(rows, _methods(labels)))
    groups = [*names.values()]
    figure = new_figure(PAGE_INCHES, 4.2)
    grid = figure.subplot_mosaic([[*PANELS], [ALL_PHENOMENA] * len(PANELS)])
    drawn: list[Series] = []
    for phenomenon in PANELS:
        uids = PARADIGMS[phenomenon]
        inside = {bar: each[each["paradigm"].isin(uids)] for bar, each in bars.items()}
        drawn.append(bar_cells(inside, names, NAMES[phenomenon], source))
        _draw(grid[phenomenon], NAMES[phenomenon], drawn[-1], groups)
    series = bar_cells(bars, names, ALL_PHENOMENA, source)
    spreads = {bar: [_spread(c, bars[bar], source) for c in series[bar]] for bar in series}
    title = f"{ALL_PHENOMENA}, with standard deviations"
    _draw(grid[ALL_PHENOMENA], title, series, groups, spreads)
    handles, texts = grid[PANELS[0]].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=len(texts))
    lists = [cells for each in (*drawn, series, spreads) for cells in each.values()]
    return figure, [cell for cells in lists for cell in cells if cell]


def fig6(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 6: accuracy by whole sentences, one prefix and two, on paradigms that allow it.

    The paper prints no number of it; its published form is drawn from the released results.
    """
    if labels.source == "published":
        rows, source = read_released(tables, _methods(labels)), RELEASED
    else:
        rows, source = read_own(tables, labels, _methods(labels)), OWN
    cells: list[Cell] = []
    if rows.empty:
        figure = empty_figure("not printed: it needs the released results")
    else:
        figure, cells = _figure(rows, source, labels)
    return Exhibit(
        **describe("fig6", models=models_sentences(tables, labels, [*ONE_PREFIX, *TWO_PREFIX])),
        cells=cells,
        figure=figure,
    )
