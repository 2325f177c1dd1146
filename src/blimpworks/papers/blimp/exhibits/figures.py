"""Draw Figures 1, 3, 4 and 6 of BLiMP.

Figure 1: correlations; 3: adjectives and attractors; 4: irregular nouns; 6: sentences and prefixes.
Source: Warstadt et al. (2020), sections 5.3, 6.1, 6.2 and 6.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, permutations

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from blimpworks.exhibits import style
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.blimp.exhibits import accuracies as acc
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.formulas import ADJECTIVE, ATTRACTOR, PEARSON, SPREAD, common
from blimpworks.papers.blimp.paradigms import HUMAN, NAMES, ONE_PREFIX, PARADIGMS, TWO_PREFIX
from blimpworks.papers.blimp.released_results import METHODS

COLOURS = (style.BLUE, style.SKY, style.ORANGE, style.VERMILION)
HATCHES = ("", "////", "....", "xxxx")
CHANCE = 50
LETTER_INCHES, BESIDE_INCHES = 0.062, 0.5
"""Room of a letter of a name, and left of the axes."""
SQUARE_INCHES = 0.42
"""Room of a number of the matrix."""
MATRIX_ROOM = 32
"""Letters that fit in a line of names below the matrix."""
Series = Mapping[str, Sequence[Cell]]
"""Cells of each bar, one for each group that has it."""
Panel = Mapping[str, tuple[str, ...]]
"""Paradigms of each bar."""


def name_groups(axes: Axes, names: Sequence[str], room: float | None = None, at: float = 0) -> None:
    """Write names below the axes, aslant where they are too long for their room.

    Brackets at their end go to a second line. ``room`` is the letters that fit in a line; by
    default the axes decide. The first group is at ``at``.
    """
    if room is None:
        spec, figure = axes.get_subplotspec(), axes.get_figure(root=True)
        room = 0
        if spec is not None and figure is not None:
            share = len(spec.colspan) / spec.get_gridspec().ncols
            room = float((share * figure.get_size_inches()[0] - BESIDE_INCHES) / LETTER_INCHES)
    lines = [name.replace(" (", "\n(") for name in names]
    longest = max((len(text_line) for line in lines for text_line in line.split("\n")), default=0)
    aslant = len(names) * longest > room
    axes.set_xticks([at + i for i in range(len(names))], names if aslant else lines)
    if aslant:
        for label in axes.get_xticklabels():
            label.set(rotation=35, ha="right", rotation_mode="anchor")


def draw_groups(axes: Axes, groups: Sequence[str], series: Series) -> None:
    """Draw percentages with intervals: bars for each of ``groups``, a colour for each series."""
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
    name_groups(axes, groups)
    axes.set(xlabel=None, ylim=(0, 105), yticks=range(0, 101, 25), ylabel="accuracy (%)")
    axes.grid(axis="x", visible=False)


def _bar_cells(
    bars: Mapping[str, pd.DataFrame], names: Mapping[str, str], title: str
) -> dict[str, list[Cell]]:
    """Mean accuracies of each bar of a panel, one for each model that has any."""
    return {
        bar: [
            acc.mean_cell(rows[rows["model"] == model], (name, f"{title}: {bar}"))
            for model, name in names.items()
            if model in {*rows["model"]}
        ]
        for bar, rows in bars.items()
    }


# Figure 1


def fig1(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 1: correlations of accuracies over paradigms between models and humans."""
    rows = acc.read_all(tables, labels)
    names = acc.model_names(rows, labels)
    names = {m: n for m, n in names.items() if m == HUMAN} | names
    cells = []
    for first, second in permutations(names, 2):
        both = rows[rows["model"].isin([first, second])]
        if common(both) >= acc.ENOUGH:
            cells.append(acc.pearson_cell(both, (names[first], names[second]), PEARSON, "model"))
    width = max(style.COLUMN_INCHES, 1.6 + SQUARE_INCHES * len(names))
    if cells:
        figure = style.new_figure(width, 0.8 * width)
        axes, order = figure.subplots(), [*names.values()]
        frame = style.frame_of(cells)
        values, texts = (
            frame.pivot(index="row", columns="column", values=field).reindex(
                index=order, columns=order
            )
            for field in ("value", "text")
        )
        # Light to dark in one hue, so that it reads in grey, too.
        sns.heatmap(
            values, ax=axes, annot=texts, fmt="", cmap="Blues", vmax=1, square=True,
            vmin=min(0, *(cell.value for cell in cells)),
            cbar_kws={"shrink": 0.8, "label": "Pearson's r"},
        )  # fmt: skip
        name_groups(axes, order, MATRIX_ROOM, at=0.5)
        axes.set(xlabel=None, ylabel=None)
        axes.tick_params(length=0, axis="both")
        axes.tick_params(rotation=0, axis="y")
        axes.grid(visible=False)
    else:
        figure = style.empty_figure("nothing to correlate: a single model", width, 0.8 * width)
    description = describe("fig1", models=acc.models_sentences(tables, labels))
    return Exhibit(**description, cells=cells, figure=figure)


# Figures 3 and 4


def _by_regularity(phenomenon: str) -> Panel:
    uids = [uid for uid in PARADIGMS[phenomenon] if not uid.startswith("distractor")]
    return {
        "regular": tuple(uid for uid in uids if "irregular" not in uid),
        "irregular": tuple(uid for uid in uids if "irregular" in uid),
    }


NOUNS, VERBS = "Determiner-noun agreement", "Subject-verb agreement"
DISTANCE: Mapping[str, Panel] = {
    NOUNS: {"no adjective": ADJECTIVE.higher, "adjective": ADJECTIVE.lower},
    VERBS: {
        "no attractor": ATTRACTOR.higher,
        "relational noun": tuple(uid for uid in ATTRACTOR.lower if "relational" in uid),
        "relative clause": tuple(uid for uid in ATTRACTOR.lower if "relative" in uid),
    },
}
"""Panels of Figure 3."""
REGULARITY: Mapping[str, Panel] = {
    NOUNS: _by_regularity("determiner_noun_agreement"),
    VERBS: _by_regularity("subject_verb_agreement"),
}
"""Panels of Figure 4."""


def _panels(key: str, panels: Mapping[str, Panel], tables: Tables, labels: Labels) -> Exhibit:
    rows = acc.read_all(tables, labels)
    names = acc.model_names(rows, labels)
    cells: list[Cell] = []
    figure = style.new_figure(style.COLUMN_INCHES, 1.9 * len(panels))
    grid = figure.subplots(len(panels), 1, squeeze=False)
    for axes, (title, panel) in zip(grid.flat, panels.items(), strict=True):
        bars = {bar: rows[rows["paradigm"].isin(uids)] for bar, uids in panel.items()}
        series = _bar_cells(bars, names, title)
        draw_groups(axes, [*names.values()], series)
        axes.set_title(title, loc="left", pad=16)
        axes.legend(
            loc="lower left", bbox_to_anchor=(-0.03, 0.98), ncols=len(panel),
            columnspacing=0.9, handlelength=1.3, handletextpad=0.4,
        )  # fmt: skip
        cells += chain.from_iterable(series.values())
    uids = [uid for panel in panels.values() for uid in chain.from_iterable(panel.values())]
    models = acc.models_sentences(tables, labels, uids)
    # The paper does not print how many judgements are behind some accuracies.
    unbounded = {cell.row: None for cell in cells if cell.low is None}
    without = ""
    if unbounded:
        every = len(unbounded) == len({cell.row for cell in cells})
        whose = "none" if every else f"none for {', '.join(unbounded)}"
        without = f" ({whose}: the paper does not print how many judgements are behind it)"
    description = describe(key, models=models, without=without)
    return Exhibit(**description, cells=cells, figure=figure)


def fig3(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 3: agreement with and without an adjective, or an attractor, in between."""
    return _panels("fig3", DISTANCE, tables, labels)


def fig4(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 4: agreement of nouns with regular and irregular plurals."""
    return _panels("fig4", REGULARITY, tables, labels)


# Figure 6

PANELS = ("binding", "determiner_noun_agreement", "subject_verb_agreement")
"""Phenomena that the paper shows singly: each has paradigms for either method."""
ALL_PHENOMENA = "All phenomena"
ALLOWING = {"1-prefix": ONE_PREFIX, "2-prefix": TWO_PREFIX}
"""Paradigms that allow a prefix method, by its name."""


def _around(mean: Cell, deviation: Cell | None = None) -> Cell:
    if deviation is None:
        return replace(mean, low=None, high=None)
    return replace(mean, low=mean.value - deviation.value, high=mean.value + deviation.value)


def fig6(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Figure 6: accuracy by whole sentences, and by prefixes where a paradigm allows it."""
    models = acc.models_sentences(tables, labels, [*ONE_PREFIX, *TWO_PREFIX])
    description = describe("fig6", models=models)
    if labels.source == "published":
        sentence, *prefixes = METHODS.values()
        rows = acc.read_released(tables, [sentence, *prefixes])
    else:
        sentence, *prefixes = labels.method, "one_prefix", "two_prefix"
        rows = acc.read_own(tables, labels, [sentence, *prefixes])
    if rows.empty:
        figure = style.empty_figure("not printed: it needs the released results")
        return Exhibit(**description, cells=[], figure=figure)
    names = acc.model_names(rows, labels)
    groups = [*names.values()]
    bars: dict[str, pd.DataFrame] = {}
    for (name, uids), method in zip(ALLOWING.items(), prefixes, strict=True):
        inside = rows[rows["paradigm"].isin(uids)]
        bars[f"sentence ({name} paradigms)"] = inside[inside["method"] == sentence]
        bars[name] = inside[inside["method"] == method]
    # Three panels of phenomena above, and one of all below with standard deviations.
    figure = style.new_figure(style.PAGE_INCHES, 4.2)
    grid = figure.subplot_mosaic([[*PANELS], [ALL_PHENOMENA] * len(PANELS)])
    cells: list[Cell] = []
    for phenomenon in PANELS:
        title, uids = NAMES[phenomenon], PARADIGMS[phenomenon]
        inside_bars = {bar: of_bar[of_bar["paradigm"].isin(uids)] for bar, of_bar in bars.items()}
        series = _bar_cells(inside_bars, names, title)
        draw_groups(grid[phenomenon], groups, {b: [*map(_around, c)] for b, c in series.items()})
        grid[phenomenon].set_title(title, loc="left")
        cells += chain.from_iterable(series.values())
    means = _bar_cells(bars, names, ALL_PHENOMENA)
    deviations = {
        bar: [
            acc.computed_cell(select_rows(bars[bar], m.where), (m.row, f"{m.column}, SD"), SPREAD)
            for m in of_bar
        ]
        for bar, of_bar in means.items()
    }
    drawn = {bar: [*map(_around, of_bar, deviations[bar])] for bar, of_bar in means.items()}
    draw_groups(grid[ALL_PHENOMENA], groups, drawn)
    grid[ALL_PHENOMENA].set_title(f"{ALL_PHENOMENA}, with standard deviations", loc="left")
    cells += chain.from_iterable([*means.values(), *deviations.values()])
    handles, texts = grid[PANELS[0]].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=len(texts))
    return Exhibit(**description, cells=cells, figure=figure)
