"""Figures of UrBLiMP: gender agreement by family of models, and three models by paradigm.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), Figures 1 and 2. The paper prints no numbers
in them; the published forms take those of Tables 7 and 8, and of section 4.1.
"""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import (
    BARS,
    BLUE,
    COLUMN_INCHES,
    MARKERS,
    POINTS,
    colours,
    frame_of,
    mark_chance,
    new_figure,
    say,
    with_ends,
)
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.accuracies import accuracy_cell, complete, read_paradigms
from blimpworks.papers.urblimp.exhibits.models import RIVALS, chosen, family, names_of
from blimpworks.papers.urblimp.phenomena import HUMAN, PARADIGMS

CHANCE = 50
GENDER = "subject_verb_gender"
SPREAD = 0.28
"""Rows that the models of a paradigm are apart in Figure 2."""
SHORT = {
    "Subject-verb agreement": "S-V agreement",
    "Noun-adjective": "N-Adj",
    "differential object marking": "DOM",
    "verb-object agreement": "V-O agreement",
    "masculine singular noun": "masc. sg. noun",
}
"""Parts of paradigms' names, and what stands for them in Figure 2."""


def _models(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Accuracies of models, without those of people."""
    rows = read_paradigms(tables, labels)
    return rows[rows["model"] != HUMAN]


# Figure 1


def best_of_families(rows: pd.DataFrame, labels: Labels) -> list[str]:
    """The model of each family with the highest accuracy among ``rows``, best first."""
    facts = labels.facts["urblimp_models"]
    ranked = rows.sort_values("accuracy", ascending=False, kind="stable")
    families = ranked["model"].map(lambda name: family(name, facts))
    return list(ranked["model"][~families.duplicated()])


def _draw_bars(axes: Axes, cells: Sequence[Cell]) -> None:
    """A bar for each cell, the first one on top, with its interval and its number."""
    rows = with_ends(frame_of(cells))
    sns.barplot(rows, x="value", y="row", color=BLUE, width=0.65, ax=axes, **BARS)
    for y, cell in enumerate(cells):
        end = max(cell.value, cell.high or 0)
        axes.text(end + 2, y, f"{cell.value:.1f}", va="center", fontsize=7)
    axes.grid(visible=False, axis="y")
    axes.set(xlim=(0, 112), xticks=range(0, 101, 25), xlabel="accuracy (%)", ylabel=None)
    mark_chance(axes, CHANCE, upright=True)


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 1: subject-verb agreement in gender, the best model of each family."""
    rows = _models(tables, labels)
    rows = rows[rows["paradigm"] == GENDER]
    names = names_of(labels.models)
    by_model = rows.set_index("model", drop=False)
    cells = [
        accuracy_cell(by_model.loc[[model]], (names[model], PARADIGMS[GENDER]), labels)
        for model in best_of_families(rows, labels)
    ]
    figure = new_figure(COLUMN_INCHES, 0.6 + 0.22 * max(len(cells), 3))
    axes = figure.subplots()
    if cells:
        _draw_bars(axes, cells)
    else:
        say(axes, "not judged")
    return Exhibit(**describe("fig1"), cells=cells, figure=figure)


# Figure 2


def _draw_points(axes: Axes, cells: Sequence[Cell], rows: Sequence[str]) -> None:
    """Points of each model (a column of the cells) by paradigm, the first one on top."""
    points = with_ends(frame_of(cells))
    columns = points["column"].unique()
    sns.pointplot(
        points, x="value", y="row", hue="column", order=rows, palette=colours(len(columns)),
        markers=[*MARKERS[: len(columns)]], dodge=SPREAD * (len(columns) - 1), ax=axes, **POINTS,
    )  # fmt: skip
    axes.set_yticks(range(len(rows)), [_short(row) for row in rows])
    left = min(CHANCE, *(cell.value if cell.low is None else cell.low for cell in cells)) - 2
    axes.set(xlabel="accuracy (%)", ylabel=None, ylim=(len(rows) - 0.4, -0.6), xlim=(left, 102))
    axes.grid(visible=True, axis="y")
    axes.set_xticks(range(10 * math.ceil(left / 10), 101, 10))
    mark_chance(axes, CHANCE, upright=True)


def _short(title: str) -> str:
    """A paradigm's name that leaves room for its points."""
    for long, short in SHORT.items():
        title = title.replace(long, short)
    return title


def _cells(
    rows: pd.DataFrame, models: Sequence[str], names: Mapping[str, str], labels: Labels
) -> list[Cell]:
    """Cells by paradigm and model."""
    by_place = rows[rows["model"].isin(models)].set_index(["paradigm", "model"], drop=False)
    return [
        accuracy_cell(
            by_place.loc[[(paradigm, model)]], (PARADIGMS[paradigm], names[model]), labels
        )
        for model in models
        for paradigm in PARADIGMS
        if (paradigm, model) in by_place.index
    ]


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 2: a small model against two larger ones, paradigm by paradigm."""
    rows = _models(tables, labels)
    models = chosen(RIVALS, complete(rows))
    cells = _cells(rows, models, names_of(labels.models), labels)
    titles = [title for title in PARADIGMS.values() if any(cell.row == title for cell in cells)]
    figure = new_figure(COLUMN_INCHES, 1.1 + 0.21 * max(len(titles), 3))
    axes = figure.subplots()
    if cells:
        _draw_points(axes, cells, titles)
        axes.legend().remove()  # it stands above the axes
        figure.legend(loc="outside upper center", ncols=3, handletextpad=0.1, columnspacing=0.8)
    else:
        say(axes, "no model has judged all paradigms")
    return Exhibit(**describe("fig2"), cells=cells, figure=figure)
