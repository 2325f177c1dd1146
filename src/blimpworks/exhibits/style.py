"""The look of all figures: sizes of a two-column page, a colour-blind palette, plain axes.

What is drawn inside ``house_style`` has it, by seaborn or by matplotlib alone; figures of exhibits
are (``build``).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import seaborn as sns
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLUMN_INCHES = 3.3
PAGE_INCHES = 6.9
# Okabe and Ito's palette, which readers with any common colour blindness can tell apart.
BLUE, ORANGE = "#0072B2", "#E69F00"
VERMILION, GREEN, PINK, SKY, GREY = "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#777777"
PALETTE = (BLUE, ORANGE, GREEN, VERMILION, PINK, SKY, GREY)
SETTINGS: dict[Any, Any] = {
    **sns.axes_style("ticks"),
    "axes.prop_cycle": cycler(color=PALETTE),
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "grid.color": "#DDDDDD",
    "legend.frameon": False,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Apply the settings for the figures drawn inside the block."""
    with mpl.rc_context(SETTINGS):
        yield


def colours(count: int) -> list[Any]:
    """So many colours of the palette, which begins again after its last one."""
    return list(sns.color_palette(PALETTE, count))


def say(axes: Axes, text: str) -> None:
    """Leave ``axes`` empty but for a text that says why."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY)
    axes.set(xticks=[], yticks=[])


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of the given size in inches, without a window behind it."""
    return Figure(figsize=(width, height), layout="constrained")
