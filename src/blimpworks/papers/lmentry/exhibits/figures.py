"""Draw Figures 1 to 3 (Moroni and others 2025, sections 5.2 to 5.4).

- ``fig1``: mean LMentry score by size class of models (x axis), a line for each language
- ``fig2``: LMentry score of multilingual models (bars), a panel for each of two languages
- ``fig3``: mean accuracy over models on each English task (bars)

The LMentry score of a model in a language is accuracy times robustness, in percent. Input is the
table of accuracies; the published forms of Figures 1 and 2 take the scores that Table 4 prints.
"""

from collections.abc import Sequence
from math import inf
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from blimpworks.exhibits import style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import MEAN, UNWEIGHTED, of_row, select_rows
from blimpworks.exhibits.shared import Tables, formula_cell, read_printed
from blimpworks.items import ALL
from blimpworks.papers.lmentry.exhibits import common, describe
from blimpworks.papers.lmentry.exhibits.formulas import SCORE, as_released, mean_over_models
from blimpworks.papers.lmentry.tasks import DATA, LANGUAGES, MODELS, WEIGHT, task_name

SIZES = {"XS": (0, 2, "< 2"), "S": (2, 7, "2–7"), "M": (7, 14, "7–14"), "L": (14, inf, "≥ 14")}
"""Size classes of models: least billions of parameters, first number above, and range in print."""
MOST_NAMED = 5  # most languages that a panel's title names
# Languages of the two panels of Figure 1, and of the two panels of Figure 2.
PANELS = (("eng", "deu", "spa", "ita"), ("kor", "cat", "glg", "eus", "por"))
COMPARED = ("eng", "por")
BAR_GROUPS = {WEIGHT: ("open-weight", "#4D4D4D"), DATA: ("open-data", "#B3B3B3")}
"""Name in Figure 2, and shade of grey, of groups of models by their heading in Table 3."""
LINE_COLOURS = (*style.PALETTE, "#000000", "#8C510A")
FEWEST_BARS = 6  # bars that the x axis of Figure 2 has room for, so that a few bars are not wide
GROUP_GAP = 1.6  # between groups of bars in Figure 2; a bar and the space beside it are 1


class Scores:
    """LMentry scores: measured ones from accuracies, published ones from Table 4."""

    def __init__(self, tables: Tables, labels: Labels) -> None:
        self.labels, self.measured = labels, labels.source == "measured"
        rows = common.read_accuracies(tables, labels) if self.measured else read_printed(tables)
        self.rows = rows
        self.languages = common.languages_of(rows) if self.measured else [*LANGUAGES]

    def models(self, lang: str) -> list[str]:
        """Return the models with a score in a language."""
        if not self.measured:
            return [*MODELS]
        in_language = self.rows[self.rows["lang"] == lang]
        models = common.models_of(in_language)
        return [m for m in models if pd.notna(SCORE(in_language[in_language["model"] == m]))]

    def cells(self, cell_key: tuple[str, str], lang: str, models: Sequence[str]) -> list[Cell]:
        """Return the cell of the models' mean score, as a list: empty without ``models``.

        ``cell_key`` has the cell's row and column.
        """
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
        n = len(models)
        return [formula_cell(self.rows, cell_key, formula, source, where, ".1f", n=n)]


def _leave_empty(axes: Axes, note: str) -> None:
    # Unlike ``style.say``, keep the y ticks, which panels share.
    axes.text(0.5, 0.5, note, transform=axes.transAxes, ha="center", va="center", color=style.GREY)
    axes.set_xticks([])
    axes.grid(visible=False)


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 1: mean LMentry score of the models of each size class, by language."""
    scores, sizes = Scores(tables, labels), labels.facts["lmentry_sizes"]
    cells: list[Cell] = []
    without_size: dict[str, None] = {}  # names of models, which are in no class
    for lang in scores.languages:
        models_of_class: dict[str, list[str]] = {name: [] for name in SIZES}
        for model in scores.models(lang):
            if sizes.get(model) is None:
                without_size[common.model_name(model, labels)] = None
                continue
            for name, (least, limit, _) in SIZES.items():
                if least <= sizes[model] < limit:
                    models_of_class[name].append(model)
        for name, models in models_of_class.items():
            cells += scores.cells((common.language_name(lang, labels), name), lang, models)
    figure = style.new_figure(style.PAGE_INCHES, 2.6)
    panels = figure.subplots(1, 2, sharey=True)
    # Languages that the paper does not have are added to the panels in turn.
    further = tuple(lang for lang in scores.languages if lang not in LANGUAGES)
    langs_of_panels = (PANELS[0] + further[::2], PANELS[1] + further[1::2])
    # The second panel goes on with the colours and markers after those of the first.
    first_styles = (0, len(langs_of_panels[0]))
    for axes, langs, first_style in zip(panels, langs_of_panels, first_styles, strict=True):
        names = [common.language_name(lang, labels) for lang in langs]
        points = {name: [cell for cell in cells if cell.row == name] for name in names}
        _draw_lines(axes, {name: line for name, line in points.items() if line}, first_style)
    panels[0].set_ylabel("mean LMentry score (%)")
    description = describe("fig1", rules=common.rules_of(labels), without_size=sorted(without_size))
    return Exhibit(**description, cells=cells, figure=figure)


def _draw_lines(axes: Axes, points: dict[str, list[Cell]], first_style: int) -> None:
    """Draw a line over the size classes for each language: {language: cells of the classes}."""
    if not points:
        _leave_empty(axes, "no score in these languages")
        return
    order = [*SIZES]
    ends: dict[str, tuple[float, str]] = {}  # y of the last point, and colour, by language
    for number, (name, cells) in enumerate(points.items()):
        style_number = (first_style + number) % len(LINE_COLOURS)
        colour, marker = LINE_COLOURS[style_number], style.MARKERS[style_number]
        # Languages are shifted a little, so that no marker hides another.
        shift = 0.05 * (number - (len(points) - 1) / 2)
        x = [order.index(cell.column) + shift for cell in cells]
        y = [cell.value for cell in cells]
        line = axes.plot(x, y, color=colour, linewidth=1, clip_on=False)[0]
        line.set(marker=marker, markersize=4)
        ends[name] = (y[-1], colour)
    ticks = [f"{size_class}\n{text}" for size_class, (_, _, text) in SIZES.items()]
    axes.set_xticks(range(len(order)), ticks)
    axes.set(xlim=(-0.3, len(order) - 0.7), ylim=(0, 100))
    axes.set_xlabel("size class (billions of parameters)")
    style.label_ends(axes, ends, 5)
    named = ", ".join(points) if len(points) <= MOST_NAMED else f"{len(points)} languages"
    axes.set_title(named, size=7)


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 2: LMentry scores of open-weight and open-data models, in two languages."""
    scores = Scores(tables, labels)
    # The campaign's first languages take the place of missing ones.
    preferred = dict.fromkeys([*COMPARED, *scores.languages])
    langs = [lang for lang in preferred if lang in scores.languages][: len(COMPARED)]
    figure = style.new_figure(style.PAGE_INCHES, 2.9)
    panels = figure.subplots(1, len(langs), sharey=True, squeeze=False)[0]
    all_cells: list[Cell] = []
    for axes, lang in zip(panels, langs, strict=True):
        column, models = common.language_code(lang, labels), scores.models(lang)
        bars: dict[str, list[Cell]] = {}  # cells of single models, by their heading in Table 3
        means: dict[str, list[Cell]] = {}  # the cell of their mean, or none
        for heading, (name, _) in BAR_GROUPS.items():
            members = [model for model in models if common.group_of(model) == heading]
            bars[heading] = []
            for model in members:
                cell_key = (common.model_name(model, labels), column)
                bars[heading] += scores.cells(cell_key, lang, [model])
            means[heading] = scores.cells((f"mean, {name}", column), lang, members)
        for cells in (*bars.values(), *means.values()):
            all_cells += cells
        axes.set_title(common.language_name(lang, labels))
        if not any(bars.values()):
            _leave_empty(axes, "no score of a multilingual model of Table 3")
            continue
        next_x, ticks = 0.0, []  # x of the next bar; x and model of each bar
        for heading, (name, colour) in BAR_GROUPS.items():
            n = len(bars[heading])
            positions = [next_x + i for i in range(n)]
            values = [cell.value for cell in bars[heading]]
            axes.bar(positions, values, color=colour, width=0.75, label=name)
            ticks += [(x, cell.row) for x, cell in zip(positions, bars[heading], strict=True)]
            for mean in means[heading]:
                span = (next_x - 0.5, next_x + n - 0.5)
                axes.plot(span, [mean.value] * 2, color="black", linestyle="--", linewidth=1)
                axes.annotate(
                    mean.text, (span[1], mean.value), (2, 0), textcoords="offset points",
                    va="center", size=style.SMALL,
                )  # fmt: skip
            next_x += n + GROUP_GAP
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
    description = describe("fig2", rules=common.rules_of(labels))
    return Exhibit(**description, cells=all_cells, figure=figure)


def fig3(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 3: mean accuracy over all models on each task in English, in falling order."""
    lang = "eng"
    rows = common.read_accuracies(tables, labels)
    rows = rows[(rows["lang"] == lang) & (rows["paradigm"] == ALL)]
    models = common.models_of(rows)
    cells = []
    for task in common.tasks_of(rows).get(lang, []):
        where = common.filter_for(lang, models, labels, phenomenon=task, paradigm=ALL)
        cell_key, n = (task_name(task), "Accuracy"), len(select_rows(rows, where))
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
