"""Figures 1 (correlations), 3 (adjectives and attractors) and 4 (irregular nouns) of BLiMP.

Source: Warstadt et al. (2020), sections 5.3, 6.1 and 6.2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.plotting import frame_of
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import COLUMN_INCHES, house_style, new_figure, say
from blimpworks.papers.blimp.exhibits.accuracies import (
    computed_cell,
    mean_cell,
    of_model,
    read_all,
    shown,
    told_of_models,
)
from blimpworks.papers.blimp.exhibits.bars import draw_groups, name_groups
from blimpworks.papers.blimp.exhibits.formulas import (
    ADJECTIVE,
    ATTRACTOR,
    PEARSON,
    common,
    pearson_interval,
)
from blimpworks.papers.blimp.paradigms import HUMAN, PARADIGMS

SQUARE_INCHES = 0.42
"""What a number of the matrix needs."""
MATRIX_ROOM = 32
"""Letters that a line of names below the matrix has room for."""
ENOUGH = 4
"""Paradigms that an interval of a correlation needs."""
LINES = (
    "Error bars: 95 %, Wilson's, over all pairs, where their number is known. Broken line: chance."
)
Panel = Mapping[str, tuple[str, ...]]
"""Paradigms of each bar of a group, by the bar's name."""
ADJECTIVES: Panel = {"no adjective": ADJECTIVE.higher, "adjective": ADJECTIVE.lower}
ATTRACTORS: Panel = {
    "no attractor": ATTRACTOR.higher,
    **{
        name: tuple(uid for uid in ATTRACTOR.lower if kind in uid)
        for name, kind in {"relational noun": "relational", "relative clause": "relative"}.items()
    },
}


def _by_regularity(phenomenon: str) -> Panel:
    uids = [uid for uid in PARADIGMS[phenomenon] if not uid.startswith("distractor")]
    return {
        "regular": tuple(uid for uid in uids if "irregular" not in uid),
        "irregular": tuple(uid for uid in uids if "irregular" in uid),
    }


REGULARITY = {
    "Determiner-noun agreement": _by_regularity("determiner_noun_agreement"),
    "Subject-verb agreement": _by_regularity("subject_verb_agreement"),
}


# Figure 1


def _correlations(rows: pd.DataFrame, names: Mapping[str, str]) -> list[Cell]:
    """Pearson's r of every two, with its interval; both orders, like the figure."""
    cells = []
    for first, row in names.items():
        for second, column in names.items():
            both = rows[rows["model"].isin([first, second])]
            if first == second or common(both) < ENOUGH:
                continue
            cell = computed_cell(both, (row, column), PEARSON, form="{:.2f}")
            low, high = pearson_interval(both)
            cells.append(replace(cell, n=common(both), low=low, high=high))
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
    names = shown(rows, labels)
    names = {m: n for m, n in names.items() if m == HUMAN} | names
    cells = _correlations(rows, names)
    with house_style():
        width = max(COLUMN_INCHES, 1.6 + SQUARE_INCHES * len(names))
        figure = new_figure(width, 0.8 * width)
        if cells:
            _draw_matrix(figure, cells, [*names.values()])
        else:
            say(figure.subplots(), "nothing to correlate: a single model")
    return Exhibit(
        "Correlations of models and humans",
        "Pearson's r of the accuracies on the paradigms that both have. "
        f"{told_of_models(tables, labels)}The cells file has intervals (95 %, Fisher's z).",
        cells,
        row_title="Model",
        figure=figure,
    )


# Figures 3 and 4


def _panel(axes: Axes, title: str, panel: Panel, rows: pd.DataFrame, labels: Labels) -> list[Cell]:
    """Draw the bars of one panel, a group per model; their cells."""
    names = shown(rows, labels)
    series: dict[str, list[Cell | None]] = {}
    for bar, uids in panel.items():
        series[bar] = []
        for model, name in names.items():
            found = of_model(rows, model, uids)
            cell = None if found.empty else mean_cell(found, (name, f"{title}: {bar}"))
            series[bar].append(cell)
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


def _panels(
    panels: Mapping[str, Panel], tables: Tables, labels: Labels
) -> tuple[Figure, list[Cell]]:
    """A figure of panels below each other, and their cells."""
    rows = read_all(tables, labels)
    cells: list[Cell] = []
    with house_style():
        figure = new_figure(COLUMN_INCHES, 1.9 * len(panels))
        grid = figure.subplots(len(panels), 1, squeeze=False)
        for axes, (title, panel) in zip(grid.flat, panels.items(), strict=True):
            cells += _panel(axes, title, panel, rows, labels)
    return figure, cells


def _paradigms(panels: Mapping[str, Panel]) -> list[str]:
    """All paradigms of some panels."""
    return [uid for panel in panels.values() for uids in panel.values() for uid in uids]


def fig3(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 3: agreement with and without an adjective, or an attractor, in between."""
    panels = {"Determiner-noun agreement": ADJECTIVES, "Subject-verb agreement": ATTRACTORS}
    figure, cells = _panels(panels, tables, labels)
    return Exhibit(
        "Agreement at a distance",
        "Mean accuracy of the paradigms without and with an adjective between determiner and "
        "noun; accuracy on the paradigm without an attractor (regular subjects, pairs differing "
        "in the verb), with a relational noun, and with a relative clause. "
        f"{told_of_models(tables, labels, _paradigms(panels))}{LINES}",
        cells,
        row_title="Model",
        figure=figure,
    )


def fig4(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 4: agreement of nouns with regular and irregular plurals."""
    figure, cells = _panels(REGULARITY, tables, labels)
    return Exhibit(
        "Agreement of regular and irregular nouns",
        "Mean accuracy of the paradigms whose noun, or subject, has a regular or an irregular "
        "plural; those with an attractor are left out. "
        f"{told_of_models(tables, labels, _paradigms(REGULARITY))}{LINES}",
        cells,
        row_title="Model",
        figure=figure,
    )
