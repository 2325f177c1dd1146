"""Draw UrBLiMP's figures: gender agreement by family of models, three models by paradigm.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), Figures 1 and 2. The paper prints no numbers in
them; the published forms take those of Tables 7 and 8, and of section 4.1.
"""

import math

import seaborn as sns

from blimpworks.exhibits import style
from blimpworks.exhibits.exhibit import Exhibit, Labels
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.accuracies import accuracy_cell, complete, read_models
from blimpworks.papers.urblimp.exhibits.models import RIVALS, chosen, family, names_of
from blimpworks.papers.urblimp.phenomena import PARADIGMS

CHANCE = 50
GENDER = "subject_verb_gender"
SPREAD = 0.28
"""Distance between the models of a paradigm in Figure 2, in rows."""
SHORT = {
    "Subject-verb agreement": "S-V agreement",
    "Noun-adjective": "N-Adj",
    "differential object marking": "DOM",
    "verb-object agreement": "V-O agreement",
    "masculine singular noun": "masc. sg. noun",
}
"""Short forms of paradigms' names in Figure 2."""


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 1: subject-verb agreement in gender, the best model of each family, best first."""
    rows = read_models(tables, labels)
    rows = rows[rows["paradigm"] == GENDER].sort_values("accuracy", ascending=False, kind="stable")
    facts, names = labels.facts["urblimp_models"], names_of(labels.models)
    families = rows["model"].map(lambda name: family(name, facts))
    cells = [
        accuracy_cell(rows.loc[[index]], (names[model], PARADIGMS[GENDER]), labels)
        for index, model in rows["model"][~families.duplicated()].items()
    ]
    figure = style.new_figure(style.COLUMN_INCHES, 0.6 + 0.22 * max(len(cells), 3))
    axes = figure.subplots()
    if cells:
        bars = style.with_ends(style.frame_of(cells))
        sns.barplot(bars, x="value", y="row", color=style.BLUE, width=0.65, ax=axes, **style.BARS)
        for y, cell in enumerate(cells):
            end = max(cell.value, cell.high or 0)
            axes.text(end + 2, y, f"{cell.value:.1f}", va="center", fontsize=7)
        axes.grid(visible=False, axis="y")
        axes.set(xlim=(0, 112), xticks=range(0, 101, 25), xlabel="accuracy (%)", ylabel=None)
        style.mark_chance(axes, CHANCE, upright=True)
    else:
        style.say(axes, "not judged")
    return Exhibit(**describe("fig1"), cells=cells, figure=figure)


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 2: a small model against two larger ones, paradigm by paradigm."""
    rows = read_models(tables, labels)
    models, names = chosen(RIVALS, complete(rows)), names_of(labels.models)
    by_paradigm = rows.set_index(["paradigm", "model"], drop=False)
    cells = [
        accuracy_cell(by_paradigm.loc[[(paradigm, model)]], (title, names[model]), labels)
        for model in models
        for paradigm, title in PARADIGMS.items()
        if (paradigm, model) in by_paradigm.index
    ]
    titles = [title for title in PARADIGMS.values() if any(cell.row == title for cell in cells)]
    figure = style.new_figure(style.COLUMN_INCHES, 1.1 + 0.21 * max(len(titles), 3))
    axes = figure.subplots()
    if not cells:
        style.say(axes, "no model has judged all paradigms")
        return Exhibit(**describe("fig2"), cells=cells, figure=figure)
    points = style.with_ends(style.frame_of(cells))
    n = points["column"].nunique()
    sns.pointplot(
        points, x="value", y="row", hue="column", order=titles, palette=style.colours(n),
        markers=[*style.MARKERS[:n]], dodge=SPREAD * (n - 1), ax=axes, **style.POINTS,
    )  # fmt: skip
    ticks = []
    for title in titles:
        tick = title
        for long, short in SHORT.items():
            tick = tick.replace(long, short)
        ticks.append(tick)
    axes.set_yticks(range(len(titles)), ticks)
    lowest = min(CHANCE, *(cell.value if cell.low is None else cell.low for cell in cells)) - 2
    axes.set(xlabel="accuracy (%)", ylabel=None, ylim=(len(titles) - 0.4, -0.6), xlim=(lowest, 102))
    axes.grid(visible=True, axis="y")
    axes.set_xticks(range(10 * math.ceil(lowest / 10), 101, 10))
    style.mark_chance(axes, CHANCE, upright=True)
    axes.legend().remove()  # it stands above the axes
    figure.legend(loc="outside upper center", ncols=3, handletextpad=0.1, columnspacing=0.8)
    return Exhibit(**describe("fig2"), cells=cells, figure=figure)
