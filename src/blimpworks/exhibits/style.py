"""The look of all figures, and cells as seaborn draws them.

Sizes of a two-column page, a colour-blind palette, plain axes: what is drawn inside
``house_style`` has them, by seaborn or by matplotlib alone; figures of exhibits are (``build``).

Seaborn estimates intervals from observations. Cells have theirs, from the tables of an analysis,
and a picture must show these and no others: ``with_ends`` gives seaborn the value and both ends
of each interval as three observations, and ``INTERVALS`` says that this is what they are.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import pandas as pd
import seaborn as sns
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blimpworks.exhibits.exhibit import Cell

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
    "text.parse_math": False,
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


def frame_of(cells: Iterable[Cell]) -> pd.DataFrame:
    """Cells as rows with some of their fields; ``low`` and ``high`` are NaN where there is none."""
    names = ("row", "column", "value", "text", "low", "high")
    return pd.DataFrame(
        [[getattr(cell, name) for name in names] for cell in cells], columns=[*names]
    ).astype({"low": float, "high": float})


def with_ends(rows: pd.DataFrame, value: str = "value") -> pd.DataFrame:
    """Rows three times: with ``value`` as it is, and with ``low`` and ``high`` in its place.

    Where an end is NaN, seaborn draws the value without an interval.
    """
    ends = [rows.assign(**{value: rows[end]}) for end in ("low", "high")]
    return pd.concat([rows, *ends], ignore_index=True).drop(columns=["low", "high"])


def _value(observations: pd.Series) -> float:
    return float(observations.iloc[0])


def _ends(observations: pd.Series) -> tuple[float, float]:
    return float(observations.iloc[1]), float(observations.iloc[2])


INTERVALS: dict[str, Any] = {"estimator": _value, "errorbar": _ends}
"""How seaborn is to draw what ``with_ends`` returns, and rows without ends too."""
BARS = INTERVALS | {
    "saturation": 1,
    "linewidth": 0.4,
    "err_kws": {"color": "black", "linewidth": 0.8},
}
POINTS = INTERVALS | {
    "linestyle": "none",
    "markersize": 4.5,
    "markeredgewidth": 0,
    "err_kws": {"linewidth": 1},
}
"""Further settings of all bars and points."""
