"""Bars of accuracies in groups, one group per model, for BLiMP's figures."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.style import BLUE, GREY, ORANGE, SKY, VERMILION

COLOURS = (BLUE, SKY, ORANGE, VERMILION)
HATCHES = ("", "////", "....", "xxxx")
CHANCE = 50
Errors = tuple[Sequence[float], Sequence[float]]
LETTER_INCHES, BESIDE_INCHES = 0.062, 0.5
"""Room that a letter of a name takes, and what stands left of the axes."""


def room_of(axes: Axes) -> float:
    """How many letters a line below the axes has room for."""
    place, figure = axes.get_subplotspec(), axes.get_figure(root=True)
    if place is None or figure is None:
        return 0
    share = len(place.colspan) / place.get_gridspec().ncols
    return float((share * figure.get_size_inches()[0] - BESIDE_INCHES) / LETTER_INCHES)


def name_groups(axes: Axes, names: Sequence[str], room: float | None = None) -> None:
    """Write names below the axes, aslant where they would not fit beside each other.

    What is in brackets at their end stands in a second line. ``room`` is how many letters a
    line has room for; by default what the axes have.
    """
    lines = [name.replace(" (", "\n(") for name in names]
    longest = max((len(part) for line in lines for part in line.split("\n")), default=0)
    aslant = len(names) * longest > (room_of(axes) if room is None else room)
    axes.set_xticks(range(len(names)), names if aslant else lines)
    if aslant:
        for label in axes.get_xticklabels():
            label.set(rotation=35, ha="right", rotation_mode="anchor")


def intervals(cells: Sequence[Cell | None]) -> Errors:
    """How far the interval of each percentage goes below and above it; NaN without one."""
    found = [
        (np.nan, np.nan)
        if cell is None or cell.low is None or cell.high is None
        else (cell.value - cell.low, cell.high - cell.value)
        for cell in cells
    ]
    return [below for below, _ in found], [above for _, above in found]


def draw_groups(
    axes: Axes,
    groups: Sequence[str],
    series: Mapping[str, Sequence[Cell | None]],
    errors: Mapping[str, Errors] | None = None,
) -> None:
    """Draw percentages: a group of bars for each of ``groups``, a colour for each series.

    ``errors`` are how far the error bars go below and above, in points. Told apart in black and
    white by their hatching; a broken line is at chance.
    """
    width = 0.8 / max(len(series), 1)
    for number, (label, cells) in enumerate(series.items()):
        at = np.arange(len(groups)) + width * (number - (len(series) - 1) / 2)
        axes.bar(
            at,
            [np.nan if cell is None else cell.value for cell in cells],
            width,
            label=label,
            color=COLOURS[number],
            hatch=HATCHES[number],
            edgecolor="white",
            linewidth=0.4,
            yerr=(errors or {}).get(label),
            error_kw={"elinewidth": 0.7, "ecolor": "black", "capsize": 1.5},
        )
    axes.axhline(CHANCE, color=GREY, lw=0.8, ls="--")
    name_groups(axes, groups)
    axes.set(ylim=(0, 105), yticks=range(0, 101, 25), ylabel="accuracy (%)")
    axes.grid(axis="x", visible=False)
