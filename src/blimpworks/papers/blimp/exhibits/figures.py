"""Figures 1 (correlations), 3 (adjectives and attractors) and 4 (irregular nouns) of BLiMP.

Source: Warstadt et al. (2020), sections 5.3, 6.1 and 6.2.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.plotting import frame_of
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import COLUMN_INCHES, new_figure
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.accuracies import (
    ENOUGH,
    model_names,
    models_sentences,
    pearson_cell,
    read_all,
)
from blimpworks.papers.blimp.exhibits.bars import (
    bar_cells,
    draw_groups,
    empty_figure,
    name_groups,
)
from blimpworks.papers.blimp.exhibits.formulas import ADJECTIVE, ATTRACTOR, PEARSON, common
from blimpworks.papers.blimp.paradigms import HUMAN, PARADIGMS

SQUARE_INCHES = 0.42
"""What a number of the matrix needs."""
MATRIX_ROOM = 32
"""Letters that a line of names below the matrix has room for."""
Panel = Mapping[str, tuple[str, ...]]
"""Paradigms of each bar of a group, by the bar's name."""
DISTANCE: Mapping[str, Panel] = {
    "Determiner-noun agreement": {
        "no adjective": ADJECTIVE.higher,
        "adjective": ADJECTIVE.lower,
    },
    "Subject-verb agreement": {
        "no attractor": ATTRACTOR.higher,
        "relational noun": tuple(uid for uid in ATTRACTOR.lower if "relational" in uid),
        "relative clause": tuple(uid for uid in ATTRACTOR.lower if "relative" in uid),
    },
}
"""Panels of Figure 3."""


def _by_regularity(phenomenon: str) -> Panel:
    uids = [uid for uid in PARADIGMS[phenomenon] if not uid.startswith("distractor")]
    return {
        "regular": tuple(uid for uid in uids if "irregular" not in uid),
        "irregular": tuple(uid for uid in uids if "irregular" in uid),
    }


REGULARITY: Mapping[str, Panel] = {
    "Determiner-noun agreement": _by_regularity("determiner_noun_agreement"),
    "Subject-verb agreement": _by_regularity("subject_verb_agreement"),
}
"""Panels of Figure 4."""


# Figure 1


def _correlations(rows: pd.DataFrame, names: Mapping[str, str]) -> list[Cell]:
    """Pearson's r of every two models, with its interval; both orders, like the figure."""
    cells = []
    for first, second in permutations(names, 2):
        both = rows[rows["model"].isin([first, second])]
        if common(both) >= ENOUGH:
            cells.append(pearson_cell(both, (names[first], names[second]), PEARSON, "model"))
    return cells


def _draw_matrix(figure: Figure, cells: Sequence[Cell], names: Sequence[str]) -> None:
    axes = figure.subplots()
    rows, order = frame_of(cells), [*names]
    values, texts = (
        rows.pivot(index="row", columns="column", values=kind).reindex(index=order, columns=order)
        for kind in ("value", "text")
    )
    # Light to dark in one hue, so that it reads in grey, too.
    sns.heatmap(
        values, ax=axes, annot=texts, fmt="", cmap="Blues", vmax=1, square=True,
        vmin=min(0, *(cell.value for cell in cells)),
        cbar_kws={"shrink": 0.8, "label": "Pearson's r"},
    )  # fmt: skip
    for text, cell in zip(axes.texts, values.stack().dropna(), strict=True):
        text.set_color("white" if cell > 0.6 else "black")
    name_groups(axes, names, MATRIX_ROOM, at=0.5)
    axes.set(xlabel=None, ylabel=None)
    axes.tick_params(length=0, axis="both")
    axes.tick_params(rotation=0, axis="y")
    axes.grid(visible=False)


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 1: correlations of accuracies over paradigms, of every two models and humans."""
    rows = read_all(tables, labels)
    names = model_names(rows, labels)
    names = {m: n for m, n in names.items() if m == HUMAN} | names
    cells = _correlations(rows, names)
    width = max(COLUMN_INCHES, 1.6 + SQUARE_INCHES * len(names))
    if cells:
        figure = new_figure(width, 0.8 * width)
        _draw_matrix(figure, cells, [*names.values()])
    else:
        figure = empty_figure("nothing to correlate: a single model", 0.8 * width, width)
    return Exhibit(
        **describe("fig1", models=models_sentences(tables, labels)),
        cells=cells,
        figure=figure,
    )


# Figures 3 and 4


def _panel(axes: Axes, title: str, panel: Panel, rows: pd.DataFrame, labels: Labels) -> list[Cell]:
    """Draw the bars of one panel, a group per model; return their cells."""
    names = model_names(rows, labels)
    bars = {bar: rows[rows["paradigm"].isin(uids)] for bar, uids in panel.items()}
    series = bar_cells(bars, names, title)
    draw_groups(axes, [*names.values()], series)
    axes.set_title(title, loc="left", pad=16)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.03, 0.98),
        ncols=len(panel),
        columnspacing=0.9,
        handlelength=1.3,
        handletextpad=0.4,
    )
    return [cell for cells in series.values() for cell in cells if cell]


def _panels(key: str, panels: Mapping[str, Panel], tables: Tables, labels: Labels) -> Exhibit:
    """A figure of panels below each other; ``key`` is that of its description."""
    rows = read_all(tables, labels)
    cells: list[Cell] = []
    figure = new_figure(COLUMN_INCHES, 1.9 * len(panels))
    grid = figure.subplots(len(panels), 1, squeeze=False)
    for axes, (heading, panel) in zip(grid.flat, panels.items(), strict=True):
        cells += _panel(axes, heading, panel, rows, labels)
    uids = [uid for panel in panels.values() for bar in panel.values() for uid in bar]
    description = describe(key, models=models_sentences(tables, labels, uids))
    return Exhibit(**description, cells=cells, figure=figure)


def fig3(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 3: agreement with and without an adjective, or an attractor, in between."""
    return _panels("fig3", DISTANCE, tables, labels)


def fig4(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 4: agreement of nouns with regular and irregular plurals."""
    return _panels("fig4", REGULARITY, tables, labels)
