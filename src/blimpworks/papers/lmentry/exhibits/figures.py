"""Draw Figures 1 to 3 (Moroni and others 2025, sections 5.2 to 5.4).

- ``fig1``: mean LMentry score by size class of models (x axis), a line for each language
- ``fig2``: LMentry score of multilingual models (bars), a panel for each of two languages
- ``fig3``: mean accuracy over models on each English task (bars)

The LMentry score of a model in a language is accuracy times robustness, in percent. Input is the
table of accuracies; the published forms of Figures 1 and 2 take the scores that Table 4 prints.
"""

from collections.abc import Sequence
from itertools import product
from math import inf
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from blimpworks.exhibits import style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import MEAN, UNWEIGHTED, of_row
from blimpworks.exhibits.shared import Tables, formula_cell, read_printed
from blimpworks.items import ALL
from blimpworks.papers.lmentry.exhibits import common, describe
from blimpworks.papers.lmentry.exhibits.formulas import SCORE, as_released, mean_over_models
from blimpworks.papers.lmentry.tasks import DATA, LANGUAGES, MODELS, WEIGHT, task_name

CLASSES = {"XS": (0, 2, "< 2"), "S": (2, 7, "2–7"), "M": (7, 14, "7–14"), "L": (14, inf, "≥ 14")}
"""Size classes of models: from and below which billions of parameters, and this range in print."""
MOST_NAMED = 5  # most languages that a panel's title names
# Languages of the two panels of Figure 1, and of the two panels of Figure 2.
PANELS = (("eng", "deu", "spa", "ita"), ("kor", "cat", "glg", "eus", "por"))
COMPARED = ("eng", "por")
DARK, LIGHT = "#4D4D4D", "#B3B3B3"
OPENNESS = {WEIGHT: ("open-weight", DARK), DATA: ("open-data", LIGHT)}  # name, shade of grey
LINES = (*style.PALETTE, "#000000", "#8C510A")  # colours of lines
FEWEST_BARS = 6  # for which a panel of Figure 2 has room, so that bars stay narrow


class Scores:
    """LMentry scores: measured ones from accuracies, published ones from Table 4."""

    def __init__(self, tables: Tables, labels: Labels) -> None:
        self.labels, self.measured = labels, labels.source == "measured"
        rows = common.read_accuracies(tables, labels) if self.measured else read_printed(tables)
        self.rows = rows
        self.languages = common.languages_of(rows) if self.measured else [*LANGUAGES]

    def models(self, lang: str) -> list[str]:
        """Return the models with a score in a language."""
        rows = self.rows
        return common.models_of(rows[rows["lang"] == lang]) if self.measured else [*MODELS]

    def cells(self, cell_key: tuple[str, str], lang: str, models: Sequence[str]) -> list[Cell]:
        """Return the cell of the models' mean score, as a list: empty without models or score."""
        if not models:
            return []
        chosen: Any = models[0] if len(models) == 1 else [*models]
        if self.measured:
            formula = mean_over_models(as_released(SCORE, self.labels.method))
            where, source = common.filter_for(lang, chosen, self.labels), "accuracies"
        else:
            formula = of_row("value") if len(models) == 1 else MEAN
            where = {"exhibit": "table4", "row": chosen, "column": f"{lang} lms"}
            source = "published"
        cell = formula_cell(self.rows, cell_key, formula, source, where, ".1f", n=len(models))
        return [] if pd.isna(cell.value) else [cell]


def _leave_empty(axes: Axes, note: str) -> None:
    axes.text(0.5, 0.5, note, transform=axes.transAxes, ha="center", va="center", color=style.GREY)
    axes.set_xticks([])
    axes.grid(visible=False)


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 1: mean LMentry score of the models of each size class, by language."""
    scores = Scores(tables, labels)
    sizes, order = labels.facts["lmentry_sizes"], [*CLASSES]
    cells = []
    for lang, (size_class, (least, limit, _)) in product(scores.languages, CLASSES.items()):
        # Models of unknown size are in no class.
        models = [m for m in scores.models(lang) if least <= (sizes.get(m) or -1) < limit]
        cells += scores.cells((common.language_name(lang, labels), size_class), lang, models)
    figure = style.new_figure(style.PAGE_INCHES, 2.6)
    panels = figure.subplots(1, 2, sharey=True)
    further = tuple(lang for lang in scores.languages if lang not in LANGUAGES)
    groups = (PANELS[0] + further[::2], PANELS[1] + further[1::2])
    for axes, langs, first in zip(panels, groups, (0, len(groups[0])), strict=True):
        rows = [common.language_name(lang, labels) for lang in langs]
        rows = [row for row in rows if any(cell.row == row for cell in cells)]
        if not rows:
            _leave_empty(axes, "no score in these languages")
            continue
        ends = {}  # y of each line's last point, and the line's colour
        for number, row in enumerate(rows):
            style_number = (first + number) % len(LINES)
            # Languages are shifted a little, so that no marker hides another.
            shift = 0.05 * (number - (len(rows) - 1) / 2)
            points = [cell for cell in cells if cell.row == row]
            x = [order.index(cell.column) + shift for cell in points]
            y = [cell.value for cell in points]
            line = axes.plot(x, y, color=LINES[style_number], linewidth=1, clip_on=False)[0]
            line.set(marker=style.MARKERS[style_number], markersize=4)
            ends[row] = (y[-1], LINES[style_number])
        ticks = [f"{size_class}\n{text}" for size_class, (_, _, text) in CLASSES.items()]
        axes.set_xticks(range(len(order)), ticks)
        axes.set(xlim=(-0.3, len(order) - 0.7), ylim=(0, 100))
        axes.set_xlabel("size class (billions of parameters)")
        style.label_ends(axes, ends, 5)
        title = ", ".join(rows) if len(rows) <= MOST_NAMED else f"{len(rows)} languages"
        axes.set_title(title, size=7)
    panels[0].set_ylabel("mean LMentry score (%)")
    return Exhibit(**describe("fig1", rules=common.rules_of(labels)), cells=cells, figure=figure)


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 2: LMentry scores of open-weight and open-data models, in two languages."""
    scores = Scores(tables, labels)
    # The campaign's first languages take the place of missing ones.
    preferred = dict.fromkeys([*COMPARED, *scores.languages])
    langs = [lang for lang in preferred if lang in scores.languages][: len(COMPARED)]
    cells_by_language: dict[str, list[Cell]] = {}
    for lang in langs:
        column, models = common.language_code(lang, labels), scores.models(lang)
        cells = cells_by_language.setdefault(lang, [])
        for model in models:
            if common.group_of(model) in OPENNESS:
                cells += scores.cells((common.model_name(model, labels), column), lang, [model])
        for group, (name, _) in OPENNESS.items():
            members = [model for model in models if common.group_of(model) == group]
            cells += scores.cells((f"mean, {name}", column), lang, members)
    figure = style.new_figure(style.PAGE_INCHES, 2.9)
    panels = figure.subplots(1, max(len(langs), 1), sharey=True, squeeze=False)[0]
    for axes, (lang, cells) in zip(panels, cells_by_language.items(), strict=False):
        axes.set_title(common.language_name(lang, labels))
        if not cells:
            _leave_empty(axes, "no score of a multilingual model of Table 3")
            continue
        groups = {common.model_name(m, labels): common.group_of(m) for m in scores.models(lang)}
        next_x, ticks = 0.0, []  # x of the next bar; x and model of each bar
        for group, (name, colour) in OPENNESS.items():
            bars = [cell for cell in cells if groups.get(cell.row) == group]
            positions = [next_x + i for i in range(len(bars))]
            axes.bar(positions, [cell.value for cell in bars], color=colour, width=0.75, label=name)
            ticks += list(zip(positions, (cell.row for cell in bars), strict=True))
            for mean in (cell for cell in cells if cell.row == f"mean, {name}"):
                span = (next_x - 0.5, next_x + len(bars) - 0.5)
                axes.plot(span, [mean.value] * 2, color="black", linestyle="--", linewidth=1)
                axes.annotate(
                    mean.text, (span[1], mean.value), (2, 0), textcoords="offset points",
                    va="center", size=style.SMALL,
                )  # fmt: skip
            next_x += len(bars) + 1.6
        axes.set_xticks([x for x, _ in ticks], [name for _, name in ticks], rotation=45, ha="right")
        for label in axes.get_xticklabels():
            label.set(rotation_mode="anchor", size=style.SMALL)
        axes.grid(axis="x", visible=False)
        axes.set(ylim=(0, 100), xlim=(-1, max(next_x, FEWEST_BARS)))
    panels[0].set_ylabel("LMentry score (%)")
    with_bars = [axes for axes in panels if axes.patches]
    if with_bars:
        handles = with_bars[-1].get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper center", ncols=2)
    all_cells = [cell for cells in cells_by_language.values() for cell in cells]
    return Exhibit(
        **describe("fig2", rules=common.rules_of(labels)), cells=all_cells, figure=figure
    )


def fig3(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 3: mean accuracy over all models on each task in English, in falling order."""
    lang = "eng"
    rows = common.read_accuracies(tables, labels)
    rows = rows[(rows["lang"] == lang) & (rows["paradigm"] == ALL)]
    models = common.models_of(rows)
    cells = []
    for task in common.tasks_of(rows).get(lang, []):
        where = common.filter_for(lang, models, labels, phenomenon=task, paradigm=ALL)
        cell_key, n = (task_name(task), "Accuracy"), len(models)
        cells.append(formula_cell(rows, cell_key, UNWEIGHTED, "accuracies", where, ".1f", n=n))
    cells.sort(key=lambda cell: -cell.value)
    figure = style.new_figure(style.COLUMN_INCHES, 3.6 if cells else 1.5)
    axes = figure.subplots()
    if cells:
        options = style.BARS | {"color": style.BLUE, "width": 0.75}
        sns.barplot(style.frame_of(cells), x="value", y="row", ax=axes, **options)
        for y, cell in enumerate(cells):
            axes.text(cell.value + 1, y, cell.text, va="center", fontsize=6, color=style.GREY)
        axes.tick_params(axis="y", labelsize=6.5)
        axes.grid(visible=False)
        axes.set(xlim=(0, 108), xticks=range(0, 101, 25), xlabel="mean accuracy (%)", ylabel=None)
    else:
        style.say(axes, "no answers in English")
    description = describe("fig3", models=len(models), rules=common.rules_of(labels))
    return Exhibit(**description, cells=cells, figure=figure)
