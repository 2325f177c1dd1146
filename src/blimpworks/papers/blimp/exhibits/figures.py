"""Draw Figures 1 to 4 and 6 of BLiMP, and a figure of accuracy on generated and released pairs.

Each function draws the figure of its name and returns it with its numbers as cells. ``fig2`` reads
a table of bins, the others read accuracies of paradigms. A cell is a number of the figure with its
source; a ``uid`` is the name of a paradigm.
Source: Warstadt et al. (2020), sections 5.2, 5.3, 6.1, 6.2 and 6.4.

The figure of ``generated`` pairs is ours: pairs of one paradigm by two generators test the same
knowledge with different words, so different accuracies show the influence of words.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, permutations
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from blimpworks.errors import UserError
from blimpworks.exhibits import style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import Tables, read_plain, row_accuracy_cell, row_cell
from blimpworks.items import ALL
from blimpworks.papers.blimp import analysis
from blimpworks.papers.blimp import paradigms as blimp
from blimpworks.papers.blimp.exhibits import accuracies as acc
from blimpworks.papers.blimp.exhibits import describe, formulas
from blimpworks.papers.blimp.exhibits.formulas import ADJECTIVE, ATTRACTOR, common
from blimpworks.papers.blimp.paradigms import HUMAN, LANG, NAMES, ONE_PREFIX, PARADIGMS, TWO_PREFIX
from blimpworks.papers.blimp.released_results import METHODS
from blimpworks.papers.blimp.tables import BINS
from blimpworks.tables import ACCURACIES

COLOURS = (style.BLUE, style.SKY, style.ORANGE, style.VERMILION)
HATCHES = ("", "////", "....", "xxxx")
CHANCE = 50
LETTER_INCHES, MARGIN_INCHES = 0.062, 0.5
"""Widths of a letter in a name, and of the margin left of the axes."""
SQUARE_INCHES = 0.42
MATRIX_LETTERS = 32
"""Letters that fit in a line of names below the correlation matrix."""
Series = Mapping[str, Sequence[Cell]]
"""Cells by series. A series has one bar for each model, all in one colour: "adjective"."""
Panel = Mapping[str, tuple[str, ...]]
"""Paradigms by series: {"no adjective": ("determiner_noun_agreement_1", …), "adjective": …}."""


def _name_groups(axes: Axes, names: Sequence[str], letters: float, start: float = 0) -> None:
    """Write the names of groups below the axes, sloping if they are too long to be horizontal.

    A horizontal name has its bracket on a second line. ``letters`` is the number of letters that
    fit below the axes; ``start`` is the x coordinate of the first group.
    """
    positions = [start + i for i in range(len(names))]
    split_names = [name.replace(" (", "\n(") for name in names]
    longest = max(map(len, "\n".join(split_names).split("\n")))
    if len(names) * longest <= letters:
        axes.set_xticks(positions, split_names)
    else:
        axes.set_xticks(positions, names, rotation=35, ha="right", rotation_mode="anchor")


def draw_groups(axes: Axes, groups: Sequence[str], series: Series, width: float) -> None:
    """Draw percentages with intervals as bars: a group of bars per model, a colour per series.

    ``width`` is the panel's width in inches, with the margin at the side of the axes.
    """
    frames = [style.frame_of(cells).assign(series=label) for label, cells in series.items()]
    sns.barplot(
        style.with_ends(pd.concat(frames)), x="row", y="value", hue="series", order=groups,
        hue_order=series, legend=False, palette=COLOURS[: len(series)], capsize=0.1, ax=axes,
        **style.BARS,
    )  # fmt: skip
    for bars, label, hatch in zip(axes.containers, series, HATCHES, strict=False):
        bars.set_label(label)
        for bar in bars:
            bar.set_hatch(hatch)
    style.mark_chance(axes, CHANCE)
    _name_groups(axes, groups, (width - MARGIN_INCHES) / LETTER_INCHES)
    axes.set(xlabel=None, ylim=(0, 105), yticks=range(0, 101, 25), ylabel="accuracy (%)")
    axes.grid(axis="x", visible=False)


def _series_cells(
    rows_by_series: Mapping[str, pd.DataFrame], names: Mapping[str, str], title: str
) -> dict[str, list[Cell]]:
    """Make a panel's cells by series: the mean accuracy of each model that has rows of it."""
    cells: dict[str, list[Cell]] = {label: [] for label in rows_by_series}
    for label, rows in rows_by_series.items():
        for model, name in names.items():
            accuracies = rows[rows["model"] == model]
            if not accuracies.empty:
                cells[label].append(acc.mean_cell(accuracies, (name, f"{title}: {label}")))
    return cells


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 1: the matrix of correlations between models and humans, over paradigms."""
    rows = acc.read_all(tables, labels)
    # Humans are the first row and column.
    names = acc.model_names(rows[rows["model"] == HUMAN], labels) | acc.model_names(rows, labels)
    cells = []
    for first, second in permutations(names, 2):
        pair_rows = rows[rows["model"].isin([first, second])]
        if common(pair_rows) >= acc.ENOUGH:
            cell_key = (names[first], names[second])
            cells.append(acc.pearson_cell(pair_rows, cell_key, formulas.PEARSON, "model"))
    width = max(style.COLUMN_INCHES, 1.6 + SQUARE_INCHES * len(names))
    if cells:
        figure = style.new_figure(width, 0.8 * width)
        axes, order = figure.subplots(), [*names.values()]
        frame, matrices = style.frame_of(cells), {}
        for field in ("value", "text"):
            matrix = frame.pivot(index="row", columns="column", values=field)
            matrices[field] = matrix.reindex(order, columns=order)
        # Shades of one hue stay readable when printed in grey.
        sns.heatmap(
            matrices["value"], ax=axes, annot=matrices["text"], fmt="", cmap="Blues", vmax=1,
            square=True, vmin=min(0, *(cell.value for cell in cells)),
            cbar_kws={"shrink": 0.8, "label": "Pearson's r"},
        )  # fmt: skip
        _name_groups(axes, order, MATRIX_LETTERS, start=0.5)
        axes.set(xlabel=None, ylabel=None)
        axes.tick_params(length=0, axis="both")
        axes.tick_params(rotation=0, axis="y")
        axes.grid(visible=False)
    else:
        figure = style.empty_figure("nothing to correlate: a single model", width, 0.8 * width)
    description = describe("fig1", **acc.models_of(tables, labels))
    return Exhibit(**description, cells=cells, figure=figure)


# Figure 2
BINNED = "bins"
"""Name of the input table: accuracy and mean of a factor by model and bin."""
AXES = {
    analysis.LENGTH: "sentence length (words)",
    analysis.PERPLEXITY: "perplexity per token",
    analysis.PROBABILITY: "log P(good) (nats)",
    analysis.CONFIDENCE: "|log P(good) − log P(bad)| (nats)",
}
"""Labels of axes by factor, in the paper's order."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LOGARITHMIC_FROM = 25
"""Ratio of largest to smallest perplexity above which its axis is logarithmic."""
BIN_KEYS = ("model", "lang", "method", "factor", "bin")


def fig2(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 2: accuracy by bins of length, perplexity, probability and confidence."""
    if labels.source == "published":
        figure = style.empty_figure("not printed: it needs the scores of single sentences")
        return Exhibit(**describe("fig2_published"), cells=[], figure=figure)
    path = tables[BINNED][0]
    where = {"model": [*labels.models], "lang": LANG, "method": labels.method}
    rows = select_rows(read_plain(BINS, path), where)
    if rows.empty:
        raise UserError(
            f"{path} has no bins by method {labels.method} of the campaign's models on English; "
            "bin them by that method."
        )
    # Rows in the order of the labels and of the paper's factors.
    orders = {"model": labels.models, "factor": AXES}
    for column, order in orders.items():
        rows = rows.astype({column: pd.CategoricalDtype([*order])})
    rows = rows.sort_values(["model", "factor", "bin"]).astype(dict.fromkeys(orders, object))
    names = acc.model_names(rows, labels)
    cells: list[Cell] = []
    for _, row in rows.iterrows():
        line, column = f"{names[row['model']]}: {AXES[row['factor']]}", f"bin {row['bin'] + 1}"
        where = {key: row[key] for key in BIN_KEYS}
        # Formats round halves to even digits, unlike tables beside printed numbers.
        cells.append(row_accuracy_cell(row, (line, column), where, BINNED))
        text = f"{row['mean']:.4g}"
        mean = row_cell(BINNED, row, BIN_KEYS, "mean", (line, f"{column}, mean"), text)
        cells.append(replace(mean, n=int(row["n"])))

    figure = style.new_figure(style.PAGE_INCHES, 4.4)
    grid = figure.subplots(2, 2, sharey=True)
    for axes, factor in zip(grid.flat, AXES, strict=True):
        factor_rows = rows[rows["factor"] == factor]
        for number, (model, name) in enumerate(names.items()):
            points = factor_rows[factor_rows["model"] == model]
            colour = style.PALETTE[number % len(style.PALETTE)]
            marker = MARKERS[number % len(MARKERS)]
            low, high, y = (100 * points[key] for key in ("low", "high", "accuracy"))
            axes.fill_between(points["mean"], low, high, color=colour, alpha=0.2, lw=0)
            axes.plot(points["mean"], y, color=colour, marker=marker, ms=3, lw=1, label=name)
        axes.axhline(CHANCE, color=style.GREY, lw=0.8, ls="--")
        means = factor_rows["mean"]
        if factor == analysis.PERPLEXITY and means.max() > LOGARITHMIC_FROM * means.min():
            axes.set_xscale("log")
        axes.set(xlabel=AXES[factor], ylim=(0, 100), yticks=range(0, 101, 25))
    for axes in grid[:, 0]:
        axes.set_ylabel("accuracy (%)")
    handles, texts = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=min(len(texts), 4))
    judged = rows[rows["factor"] == analysis.LENGTH].groupby("model")["n"].sum()
    models = acc.models_of(tables, labels, counts=judged)
    description = describe("fig2", bins=int(rows["bin"].max()) + 1, **models)
    return Exhibit(**description, cells=cells, figure=figure)


# Figures 3 and 4


def _regularity_panel(phenomenon: str) -> Panel:
    uids = [uid for uid in PARADIGMS[phenomenon] if not uid.startswith("distractor")]
    return {
        "regular": tuple(uid for uid in uids if "irregular" not in uid),
        "irregular": tuple(uid for uid in uids if "irregular" in uid),
    }


NOUNS, VERBS = "Determiner-noun agreement", "Subject-verb agreement"
FIG3_PANELS: Mapping[str, Panel] = {
    NOUNS: {"no adjective": ADJECTIVE.higher, "adjective": ADJECTIVE.lower},
    VERBS: {
        "no attractor": ATTRACTOR.higher,
        "relational noun": tuple(uid for uid in ATTRACTOR.lower if "relational" in uid),
        "relative clause": tuple(uid for uid in ATTRACTOR.lower if "relative" in uid),
    },
}
FIG4_PANELS: Mapping[str, Panel] = {
    NOUNS: _regularity_panel("determiner_noun_agreement"),
    VERBS: _regularity_panel("subject_verb_agreement"),
}


def _draw_panels(key: str, panels: Mapping[str, Panel], tables: Tables, labels: Labels) -> Exhibit:
    """Draw mean accuracies of models and humans in panels, with the caption of ``key``."""
    rows = acc.read_all(tables, labels)
    names = acc.model_names(rows, labels)
    cells: list[Cell] = []
    figure = style.new_figure(style.COLUMN_INCHES, 1.9 * len(panels))
    grid = figure.subplots(len(panels), 1, squeeze=False)
    for axes, (title, panel) in zip(grid.flat, panels.items(), strict=True):
        panel_rows = {label: rows[rows["paradigm"].isin(uids)] for label, uids in panel.items()}
        series = _series_cells(panel_rows, names, title)
        draw_groups(axes, [*names.values()], series, style.COLUMN_INCHES)
        axes.set_title(title, loc="left", pad=16)
        axes.legend(
            loc="lower left", bbox_to_anchor=(-0.03, 0.98), ncols=len(panel),
            columnspacing=0.9, handlelength=1.3, handletextpad=0.4,
        )  # fmt: skip
        cells += chain.from_iterable(series.values())
    uids = [uid for panel in panels.values() for uid in chain.from_iterable(panel.values())]
    models = acc.models_of(tables, labels, uids)
    unbounded = dict.fromkeys(cell.row for cell in cells if cell.low is None)
    bounded = any(cell.row not in unbounded for cell in cells)
    description = describe(key, unbounded=unbounded, bounded=bounded, **models)
    return Exhibit(**description, cells=cells, figure=figure)


fig3 = partial(_draw_panels, "fig3", FIG3_PANELS)
"""Draw Figure 3: agreement with and without an adjective, or an attractor, in between."""
fig4 = partial(_draw_panels, "fig4", FIG4_PANELS)
"""Draw Figure 4: agreement of nouns with regular and irregular plurals."""


# Figure 6
PANELS = ("binding", "determiner_noun_agreement", "subject_verb_agreement")
"""Phenomena with a panel in Figure 6: each has paradigms for both prefix methods."""
ALL_PHENOMENA = "All phenomena"
PREFIX_PARADIGMS = {"1-prefix": ONE_PREFIX, "2-prefix": TWO_PREFIX}
"""Paradigms that allow a prefix method, by the name of the method."""


def fig6(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 6: accuracy by full sentences and by prefixes, on paradigms that allow both."""
    models = acc.models_of(tables, labels, [*ONE_PREFIX, *TWO_PREFIX])
    description = describe("fig6", **models)
    if labels.source == "published":
        full_sentence, *prefix_methods = METHODS.values()
        rows = acc.read_released(tables, [full_sentence, *prefix_methods])
    else:
        full_sentence, *prefix_methods = labels.method, "one_prefix", "two_prefix"
        rows = acc.read_own(tables, labels, [full_sentence, *prefix_methods])
    if rows.empty:
        figure = style.empty_figure("not printed: it needs the released results")
        return Exhibit(**description, cells=[], figure=figure)
    names = acc.model_names(rows, labels)
    groups = [*names.values()]
    # For each prefix method two series: full sentences and prefixes, on the same paradigms.
    series_rows: dict[str, pd.DataFrame] = {}
    for (name, uids), prefix_method in zip(PREFIX_PARADIGMS.items(), prefix_methods, strict=True):
        for label, method in (f"sentence ({name} paradigms)", full_sentence), (name, prefix_method):
            series_rows[label] = rows[rows["paradigm"].isin(uids) & (rows["method"] == method)]
    # Three panels of phenomena, and below them a panel of all phenomena.
    figure = style.new_figure(style.PAGE_INCHES, 4.2)
    grid = figure.subplot_mosaic([[*PANELS], [ALL_PHENOMENA] * len(PANELS)])
    cells: list[Cell] = []
    for phenomenon in PANELS:
        title, panel_rows = NAMES[phenomenon], dict[str, pd.DataFrame]()
        for label, accuracies in series_rows.items():
            panel_rows[label] = accuracies[accuracies["paradigm"].isin(PARADIGMS[phenomenon])]
        series = _series_cells(panel_rows, names, title)
        # Only the panel of all phenomena shows intervals.
        bars: dict[str, list[Cell]] = {}
        for label, series_cells in series.items():
            bars[label] = [replace(cell, low=None, high=None) for cell in series_cells]
        draw_groups(grid[phenomenon], groups, bars, style.PAGE_INCHES / len(PANELS))
        grid[phenomenon].set_title(title, loc="left")
        cells += chain.from_iterable(series.values())
    # Intervals of all phenomena are one standard deviation over paradigms.
    means = _series_cells(series_rows, names, ALL_PHENOMENA)
    deviations: list[Cell] = []
    with_deviations: dict[str, list[Cell]] = {label: [] for label in means}
    for label, series_cells in means.items():
        for mean in series_cells:
            accuracies = select_rows(series_rows[label], mean.where)
            cell_key = (mean.row, f"{mean.column}, SD")
            deviation = acc.computed_cell(accuracies, cell_key, formulas.SPREAD)
            deviations.append(deviation)
            low, high = mean.value - deviation.value, mean.value + deviation.value
            with_deviations[label].append(replace(mean, low=low, high=high))
    draw_groups(grid[ALL_PHENOMENA], groups, with_deviations, style.PAGE_INCHES)
    grid[ALL_PHENOMENA].set_title(f"{ALL_PHENOMENA}, with standard deviations", loc="left")
    cells += [*chain.from_iterable(means.values()), *deviations]
    handles, texts = grid[PANELS[0]].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=len(texts))
    return Exhibit(**description, cells=cells, figure=figure)


# Generated pairs
SETS = {blimp.BENCHMARK: "released", blimp.GENERATED: "generated"}
"""Names of the two sets of pairs, by benchmark."""
OVERALL = "Overall"
PANELS_IN_LINE = 3
NUMBERED = 3
"""Number of paradigms with the largest differences, which have a number and a name in a panel."""


def _in_both_sets(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Select the rows of the models or paradigms (column ``by``) that both sets of pairs have."""
    set_counts = rows.groupby(by, observed=True)["benchmark"].nunique()
    return rows[rows[by].isin(set_counts.index[set_counts == len(SETS)])]


def _generated_cells(rows: pd.DataFrame, model: str) -> list[Cell]:
    """Make a model's cells: accuracies by paradigm and set, their means, and the correlation."""
    # Means are over paradigms that both sets have, so that they can be compared.
    cells, common_rows = [], _in_both_sets(rows, "paradigm")
    for benchmark, name in SETS.items():
        set_rows = rows[rows["benchmark"] == benchmark]
        column, present = f"{model}: {name}", {*set_rows["paradigm"]}
        # The paper's paradigms in its order, then paradigms of the campaign.
        for uid in dict.fromkeys([*blimp.PHENOMENON_OF, *sorted(present)]):
            if uid in present:
                cells.append(acc.mean_cell(set_rows[set_rows["paradigm"] == uid], (uid, column)))
        if not common_rows.empty:
            common_set_rows = common_rows[common_rows["benchmark"] == benchmark]
            cells.append(acc.mean_cell(common_set_rows, (OVERALL, column)))
    if common(common_rows, "benchmark") >= acc.ENOUGH:
        cell_key = (OVERALL, f"{model}: r")
        cells.append(acc.pearson_cell(common_rows, cell_key, formulas.SETS_PEARSON, "benchmark"))
    return cells


def generated(tables: Tables, labels: Labels) -> Exhibit:
    """Draw accuracy on generated pairs (y) by accuracy on released pairs (x), a panel per model."""
    rows = read_plain(ACCURACIES, tables["data_sets"]).assign(source=acc.OWN)
    rows = select_rows(rows[rows["paradigm"] != ALL], {"method": labels.method, "lang": LANG})
    rows = _in_both_sets(rows, "model")
    names = acc.model_names(rows, labels)
    method = labels.method.replace("_", " ")
    description = describe("generated", method=method, numbered=NUMBERED)
    if not names:
        figure = style.empty_figure("no model has judged both sets", height=2.7)
        return Exhibit(**description, cells=[], figure=figure)
    cells: list[Cell] = []
    lines = math.ceil(len(names) / PANELS_IN_LINE)
    figure = style.new_figure(style.PAGE_INCHES, 0.3 + 2.4 * lines)
    grid = figure.subplots(lines, min(PANELS_IN_LINE, len(names)), squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for axes, (model, name) in zip(grid.flat, names.items(), strict=False):
        model_cells = _generated_cells(rows[rows["model"] == model], name)
        # The largest differences have numbers; paradigms without released pairs are on the y axis.
        values: dict[str, dict[str, float]] = {"released": {}, "generated": {}}  # by paradigm
        for cell in model_cells:
            if cell.row != OVERALL:
                values[cell.column.removeprefix(f"{name}: ")][cell.row] = cell.value
        accuracies = pd.DataFrame(values).sort_index()
        in_both_sets = accuracies.dropna()
        note_style: dict[str, Any] = {"textcoords": "offset points", "ha": "left", "fontsize": 4.5}
        axes.plot([0, 100], [0, 100], color=style.GREY, lw=0.8)
        axes.axhline(50, color=style.GREY, lw=0.6, ls="--")
        axes.axvline(50, color=style.GREY, lw=0.6, ls="--")
        points: dict[str, Any] = {"ms": 2.6, "color": style.BLUE, "alpha": 0.8, "mew": 0}
        axes.plot(in_both_sets["released"], in_both_sets["generated"], "o", **points)
        for uid, value in accuracies["generated"][accuracies["released"].isna()].items():
            axes.plot(0, value, ">", ms=4, color=style.ORANGE, mew=0, clip_on=False, zorder=3)
            axes.annotate(str(uid), (0, value), (5, -1.5), **note_style)
        differences = (in_both_sets["released"] - in_both_sets["generated"]).abs()
        farthest = differences.nlargest(NUMBERED).index
        for number, uid in enumerate(farthest, start=1):
            point = in_both_sets["released"][uid], in_both_sets["generated"][uid]
            axes.annotate(str(number), point, (2, 1.5), **note_style)
        # The names of numbered paradigms are below the panel, where none hides another.
        listed = (f"{number} {uid}" for number, uid in enumerate(farthest, start=1))
        axes.set_xlabel("\n".join(listed), fontsize=4.5, loc="left")
        correlations = [f", r = {cell.text}" for cell in model_cells if cell.column == f"{name}: r"]
        axes.set_title("".join([name, *correlations]), loc="left")
        axes.set(xlim=(0, 100), ylim=(0, 100), xticks=range(0, 101, 25), yticks=range(0, 101, 25))
        axes.set_aspect("equal")
        cells += model_cells
    figure.supxlabel("accuracy on released pairs (%)", fontsize="medium")
    figure.supylabel("accuracy on generated pairs (%)", fontsize="medium")
    return Exhibit(**description, cells=cells, figure=figure)
