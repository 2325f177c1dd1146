"""Bars of accuracies in groups, one group per model, and figures without data."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.plotting import BARS, frame_of, with_ends
from blimpworks.exhibits.style import (
    BLUE,
    GREY,
    ORANGE,
    PAGE_INCHES,
    SKY,
    VERMILION,
    new_figure,
    say,
)
from blimpworks.papers.blimp.exhibits.accuracies import OWN, mean_cell

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
    axes.axhline(CHANCE, color=GREY, lw=0.8, ls="--")
    name_groups(axes, groups)
    axes.set(xlabel=None, ylim=(0, 105), yticks=range(0, 101, 25), ylabel="accuracy (%)")
    axes.grid(axis="x", visible=False)
