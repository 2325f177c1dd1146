"""Figure 6 of BLiMP: whole sentences against one prefix or two.

Source: Warstadt et al. (2020), section 6.4.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import PAGE_INCHES, house_style, new_figure, say
from blimpworks.papers.blimp.exhibits.accuracies import (
    OWN,
    RELEASED,
    computed_cell,
    mean_cell,
    of_model,
    read_own,
    read_released,
    shown,
    told_of_models,
)
from blimpworks.papers.blimp.exhibits.bars import draw_groups
from blimpworks.papers.blimp.exhibits.formulas import SPREAD
from blimpworks.papers.blimp.paradigms import NAMES, ONE_PREFIX, PARADIGMS, TWO_PREFIX
from blimpworks.papers.blimp.released_results import METHODS

SHOWN = ("binding", "determiner_noun_agreement", "subject_verb_agreement")
"""The phenomena that the paper shows one by one: each has paradigms for either method."""
ALL_PHENOMENA = "All phenomena"
ALLOWING = {"1-prefix": ONE_PREFIX, "2-prefix": TWO_PREFIX}
"""Paradigms that allow a prefix method, by its name."""
ORDER = ("sentence", "one-prefix", "two-prefix")


def _methods(labels: Labels) -> dict[str, str]:
    """What the table calls the three methods."""
    if labels.source == "published":
        return METHODS
    return dict(zip(ORDER, (labels.method, "one_prefix", "two_prefix"), strict=True))


def _bars(labels: Labels, within: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    """Method and paradigms of each bar of a group; each prefix method beside the sentence."""
    methods = _methods(labels)
    found = {}
    for (name, uids), method in zip(ALLOWING.items(), ORDER[1:], strict=True):
        chosen = [uid for uid in uids if uid in within]
        found[f"sentence ({name} paradigms)"] = (methods["sentence"], chosen)
        found[name] = (methods[method], chosen)
    return found


def _series(
    rows: pd.DataFrame, title: str, within: Sequence[str], source: str, labels: Labels
) -> dict[str, list[Cell | None]]:
    """Cells of a panel: for each bar of a group, one for each model that has it."""
    series: dict[str, list[Cell | None]] = {}
    for bar, (method, uids) in _bars(labels, within).items():
        by_method = rows[rows["method"] == method]
        series[bar] = []
        for model, name in shown(rows, labels).items():
            found = of_model(by_method, model, uids)
            cell = None if found.empty else mean_cell(found, (name, f"{title}: {bar}"), source)
            series[bar].append(cell)
    return series


def _spreads(
    rows: pd.DataFrame, series: Mapping[str, Sequence[Cell | None]], source: str
) -> Iterator[tuple[str, list[Cell | None]]]:
    """Standard deviations over the paradigms behind the cells of a panel."""
    for bar, cells in series.items():
        spreads: list[Cell | None] = []
        for cell in cells:
            if cell is None:
                spreads.append(None)
                continue
            found = of_model(rows, cell.where["model"], list(cell.where["paradigm"]))
            found = found[found["method"] == cell.where["method"]]
            place = (cell.row, f"{cell.column}, SD")
            spreads.append(computed_cell(found, place, SPREAD, source))
        yield bar, spreads


def _around(mean: Cell | None, spread: Cell | None) -> Cell | None:
    """A mean with what is drawn around it: its standard deviation, or nothing."""
    if mean is None or spread is None:
        return mean and replace(mean, low=None, high=None)
    return replace(mean, low=mean.value - spread.value, high=mean.value + spread.value)


def _draw(
    axes: Axes,
    title: str,
    series: Mapping[str, Sequence[Cell | None]],
    names: Sequence[str],
    spreads: Mapping[str, Sequence[Cell | None]],
) -> None:
    """One panel; ``spreads`` are the standard deviations of the series that have any."""
    none = [None] * len(names)
    around = {bar: [*map(_around, means, spreads.get(bar, none))] for bar, means in series.items()}
    draw_groups(axes, names, around)
    axes.set_title(title, loc="left")


def _figure(rows: pd.DataFrame, source: str, labels: Labels) -> tuple[Figure, list[Cell]]:
    """Three panels of phenomena above, and one of all below with standard deviations."""
    names = [*shown(rows, labels).values()]
    figure = new_figure(PAGE_INCHES, 4.2)
    grid = figure.subplot_mosaic([[*SHOWN], [ALL_PHENOMENA] * len(SHOWN)])
    cells: list[Cell | None] = []
    for phenomenon in SHOWN:
        series = _series(rows, NAMES[phenomenon], PARADIGMS[phenomenon], source, labels)
        _draw(grid[phenomenon], NAMES[phenomenon], series, names, {})
        cells += [cell for found in series.values() for cell in found]
    every = [uid for uids in ALLOWING.values() for uid in uids]
    series = _series(rows, ALL_PHENOMENA, every, source, labels)
    spreads = dict(_spreads(rows, series, source))
    _draw(grid[ALL_PHENOMENA], f"{ALL_PHENOMENA}, with standard deviations", series, names, spreads)
    handles, texts = grid[SHOWN[0]].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=len(texts))
    cells += [cell for found in (*series.values(), *spreads.values()) for cell in found]
    return figure, [cell for cell in cells if cell]


def fig6(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 6: accuracy by whole sentences, one prefix and two, on paradigms that allow it.

    The paper prints no number of it; its published form is drawn from the released results.
    """
    if labels.source == "published":
        rows, source = read_released(tables, [*METHODS.values()]), RELEASED
    else:
        rows, source = read_own(tables, labels, [*_methods(labels).values()]), OWN
    cells: list[Cell] = []
    with house_style():
        if rows.empty:
            figure = new_figure(PAGE_INCHES, 1.0)
            say(figure.subplots(), "not printed: it needs the released results")
        else:
            figure, cells = _figure(rows, source, labels)
    return Exhibit(
        "Whole sentences against prefixes",
        "Mean accuracy by the probability of the whole sentence, of the critical word after a "
        "common prefix (1-prefix), and of a common word after either prefix (2-prefix); each "
        "prefix method beside the whole sentence on the same paradigms. Error bars: standard "
        "deviation over paradigms. "
        f"{told_of_models(tables, labels, [*ONE_PREFIX, *TWO_PREFIX])}Broken line: chance.",
        cells,
        row_title="Model",
        figure=figure,
    )
