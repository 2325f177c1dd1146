"""Bars of accuracies, and Figures 1, 3, 4 and 6 of BLiMP.

Figure 1: correlations; 3: adjectives and attractors; 4: irregular nouns; 6: sentences and prefixes.

Source: Warstadt et al. (2020), sections 5.3, 6.1, 6.2 and 6.4.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import Tables
from blimpworks.exhibits.style import (
    BARS,
    BLUE,
    COLUMN_INCHES,
    ORANGE,
    PAGE_INCHES,
    SKY,
    VERMILION,
    frame_of,
    mark_chance,
    new_figure,
    say,
    with_ends,
)
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.accuracies import (
    ENOUGH,
    OWN,
    RELEASED,
    computed_cell,
    mean_cell,
    model_names,
    models_sentences,
    pearson_cell,
    read_all,
    read_own,
    read_released,
)
from blimpworks.papers.blimp.exhibits.formulas import ADJECTIVE, ATTRACTOR, PEARSON, SPREAD, common
from blimpworks.papers.blimp.paradigms import HUMAN, NAMES, ONE_PREFIX, PARADIGMS, TWO_PREFIX
from blimpworks.papers.blimp.released_results import METHODS

COLOURS = (BLUE, SKY, ORANGE, VERMILION)
HATCHES = ("", "////", "....", "xxxx")
CHANCE = 50
LETTER_INCHES, BESIDE_INCHES = 0.062, 0.5
"""Room that a letter of a name takes, and what stands left of the axes."""
Series = Mapping[str, Sequence[Cell | None]]
"""By the name of a bar, its cells: one for each group, None where there is no such bar."""


def empty_figure(reason: str, height: float = 1.0, width: float = PAGE_INCHES) -> Figure:
    """A figure, of some inches, that says why there is nothing to draw."""
    figure = new_figure(width, height)
    say(figure.subplots(), reason)
    return figure


def bar_cells(
    bars: Mapping[str, pd.DataFrame], names: Mapping[str, str], title: str, source: str = OWN
) -> Series:
    """Mean accuracies of the bars of one panel, by bar, one for each model in ``names``.

    ``bars`` are the accuracies behind each bar, of all models.
    """

    def cell(rows: pd.DataFrame, bar: str, name: str) -> Cell | None:
        """A model's cell, or None where it has no accuracies."""
        return None if rows.empty else mean_cell(rows, (name, f"{title}: {bar}"), source)

    return {
        bar: [cell(rows[rows["model"] == model], bar, name) for model, name in names.items()]
        for bar, rows in bars.items()
    }


def room_of(axes: Axes) -> float:
    """How many letters a line below the axes has room for."""
    place, figure = axes.get_subplotspec(), axes.get_figure(root=True)
    if place is None or figure is None:
        return 0
    share = len(place.colspan) / place.get_gridspec().ncols
    return float((share * figure.get_size_inches()[0] - BESIDE_INCHES) / LETTER_INCHES)


def name_groups(axes: Axes, names: Sequence[str], room: float | None = None, at: float = 0) -> None:
    """Write names below the axes, aslant where they would not fit beside each other.

    What is in brackets at their end stands in a second line. ``room`` is how many letters a
    line has room for; by default what the axes have. The first group stands at ``at``.
    """
    lines = [name.replace(" (", "\n(") for name in names]
    longest = max((len(part) for line in lines for part in line.split("\n")), default=0)
    aslant = len(names) * longest > (room_of(axes) if room is None else room)
    axes.set_xticks([at + i for i in range(len(names))], names if aslant else lines)
    if aslant:
        for label in axes.get_xticklabels():
            label.set(rotation=35, ha="right", rotation_mode="anchor")


def draw_groups(axes: Axes, groups: Sequence[str], series: Series) -> None:
    """Draw percentages with their intervals: bars for each of ``groups``, a colour for each series.

    A series has a cell, or None, for each group. Hatching distinguishes the series in black and
    white; a broken line is at chance.
    """
    frames = [frame_of(filter(None, cells)).assign(series=label) for label, cells in series.items()]
    places: dict[str, Any] = {"x": "row", "y": "value", "order": groups, "hue_order": series}
    sns.barplot(
        with_ends(pd.concat(frames)), hue="series", legend=False, palette=COLOURS[: len(series)],
        capsize=0.1, ax=axes, **places, **BARS,
    )  # fmt: skip
    for bars, label, hatch in zip(axes.containers, series, HATCHES, strict=False):
        bars.set_label(label)
        for bar in bars:
            bar.set_hatch(hatch)
    mark_chance(axes, CHANCE)
    name_groups(axes, groups)
    axes.set(xlabel=None, ylim=(0, 105), yticks=range(0, 101, 25), ylabel="accuracy (%)")
    axes.grid(axis="x", visible=False)


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
    without = {cell.row: None for cell in cells if cell.low is None}
    description = describe(
        key, models=models_sentences(tables, labels, uids), without=_without(without, cells)
    )
    return Exhibit(**description, cells=cells, figure=figure)


def _without(names: Collection[str], cells: Sequence[Cell]) -> str:
    """What the caption says of models, or humans, that have no intervals."""
    whole = len(names) == len({cell.row for cell in cells})
    whose = "none" if whole else f"none for {', '.join(names)}"
    return (
        f" ({whose}: the paper does not print how many judgements are behind it)" if names else ""
    )


def fig3(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 3: agreement with and without an adjective, or an attractor, in between."""
    return _panels("fig3", DISTANCE, tables, labels)


def fig4(tables: Tables, labels: Labels) -> Exhibit:
    """Figure 4: agreement of nouns with regular and irregular plurals."""
    return _panels("fig4", REGULARITY, tables, labels)


# Figure 6

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
