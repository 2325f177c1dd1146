"""Define the common look of all figures (``house_style``), and prepare cells for seaborn.

A cell is one number of a figure, with the ends ``low`` and ``high`` of its interval. Seaborn
computes intervals from observations, but figures must show the intervals of the cells. Therefore
``with_ends`` makes three rows of each cell, and the functions in ``INTERVALS`` return its value and
interval from them. The cell (deu, 90, low 88, high 91) becomes (deu, 90), (deu, 88), (deu, 91).
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import LogFormatter

from blimpworks.exhibits.exhibit import Cell
from blimpworks.yaml_files import read_yaml

COLUMN_INCHES, PAGE_INCHES = 3.3, 6.9
"""Widths of figures: of one column of a page with two columns, and of the page."""
# Okabe and Ito's palette, which readers with any common colour blindness can tell apart.
BLUE, ORANGE = "#0072B2", "#E69F00"
VERMILION, GREEN, PINK, SKY, GREY = "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#777777"
PALETTE = (BLUE, ORANGE, GREEN, VERMILION, PINK, SKY, GREY)
MARKERS = "osD^vP*X<"
"""Shapes of points, in matplotlib's letters."""
_HUB_FAMILIES = ("Llama3", "Gemma3", "Qwen3", "OLMo2", "EuroLLM", "Aya", "Goldfish", "Tülu3")
FAMILIES = (*_HUB_FAMILIES, "Llama (ours)", "n-gram", "LSTM", "BERT")
"""Families of models with a fixed colour and marker in all figures."""
SMALL = 6
"""Font size of notes in a figure, in points."""
SETTINGS: dict[Any, Any] = {
    **read_yaml(Path(__file__).with_name("house.yaml"), "settings of matplotlib"),
    "axes.prop_cycle": cycler(color=PALETTE),
}


def house_style() -> AbstractContextManager[None]:
    """Apply the common settings of matplotlib (``SETTINGS``) to figures drawn inside the block."""
    return mpl.rc_context(SETTINGS)


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, which opens no window."""
    return Figure(figsize=(width, height), layout="constrained")


def say(axes: Axes, text: str) -> None:
    """Write a text in the middle of empty ``axes``, and remove their ticks."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY)
    axes.set(xticks=[], yticks=[])


def empty_figure(
    reason: str, width: float = PAGE_INCHES, height: float = 1.0, framed: bool = True
) -> Figure:
    """Return a figure, of a size in inches, whose only text is the ``reason`` why it is empty."""
    figure = new_figure(width, height)
    axes = figure.subplots()
    say(axes, reason)
    if not framed:
        axes.set_axis_off()
    return figure


def colours(count: int) -> list[str]:
    """Return ``count`` colours of the palette, repeated as needed."""
    return [PALETTE[number % len(PALETTE)] for number in range(count)]


def family_looks(families: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return {family of models: (colour, marker)}, first for ``FAMILIES``, then for ``families``.

    Seven families have the first marker in seven colours, the next seven the second marker, ….
    """
    looks = {}
    for number, family in enumerate(dict.fromkeys([*FAMILIES, *families])):
        marker_number, colour_number = divmod(number, len(PALETTE))
        looks[family] = (PALETTE[colour_number], MARKERS[marker_number % len(MARKERS)])
    return looks


def mark_chance(axes: Axes, at: float, upright: bool = False) -> None:
    """Draw a dashed line with the label "chance" at a value, horizontal or ``upright``."""
    draw_line = axes.axvline if upright else axes.axhline
    draw_line(at, color=GREY, lw=0.8, ls="--", zorder=2.5)
    label: dict[str, Any] = {"textcoords": "offset points", "size": SMALL, "color": GREY}
    if upright:
        label |= {"xy": (at, 1), "xycoords": ("data", "axes fraction"), "xytext": (0, 2)}
        label |= {"ha": "center", "va": "bottom"}
    else:
        label |= {"xy": (1, at), "xycoords": ("axes fraction", "data"), "xytext": (2, 0)}
        label |= {"va": "center"}
    axes.annotate("chance", **label)


def label_ends(axes: Axes, ends: Mapping[str, tuple[float, str]], gap: float) -> None:
    """Write the names of lines at their right ends, beside the axes.

    ``ends`` are {name of a line: (height of its end, colour)}; ``gap`` is the least distance of two
    names. Heights and gap are in units of the y axis.
    """
    # From the lowest to the highest name, move a name up if the name below it is too near.
    names = sorted(ends, key=lambda name: ends[name][0])
    heights: list[float] = []
    for name in names:
        height, _ = ends[name]
        heights.append(max(height, heights[-1] + gap) if heights else height)
    # If the highest name is now above the axes, move all names down.
    excess = max(heights[-1] - axes.get_ylim()[1], 0) if heights else 0
    for name, height in zip(names, heights, strict=True):
        axes.annotate(
            name, (1, height - excess), (3, 0), xycoords=("axes fraction", "data"), va="center",
            textcoords="offset points", size=SMALL, color=ends[name][1],
        )  # fmt: skip


def frame_of(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return a data frame with a row per cell: row, column, value, text, low, high (or NaN)."""
    names = ["row", "column", "value", "text", "low", "high"]
    rows = [[getattr(cell, name) for name in names] for cell in cells]
    return pd.DataFrame(rows, columns=names).astype({"low": float, "high": float})


def with_ends(rows: pd.DataFrame, value: str = "value") -> pd.DataFrame:
    """Return all rows, then again with ``low`` as the value, then again with ``high``."""
    ends = [rows.assign(**{value: rows[end]}) for end in ("low", "high")]
    return pd.concat([rows, *ends], ignore_index=True).drop(columns=["low", "high"])


INTERVALS: dict[str, Any] = {
    "estimator": lambda observations: float(observations.iloc[0]),
    "errorbar": lambda observations: (float(observations.iloc[1]), float(observations.iloc[2])),
}
"""Options of seaborn for the three rows of a cell from ``with_ends``: value, low and high."""
BARS = INTERVALS | {"saturation": 1, "linewidth": 0.4}
BARS |= {"err_kws": {"color": "black", "linewidth": 0.8}}
"""Options of ``seaborn.barplot``."""
POINTS = INTERVALS | {"linestyle": "none", "markersize": 4.5, "markeredgewidth": 0}
POINTS |= {"err_kws": {"linewidth": 1}}
"""Options of ``seaborn.pointplot``."""

MOST_TICKS = 100
"""Ticks of a logarithmic axis that are created before drawing: more than any figure shows."""


def take_literally(figure: Figure) -> None:
    """Let matplotlib show all texts of a figure literally: "$x$" with its signs, not as a formula.

    Numbers on logarithmic axes are excepted, because matplotlib writes powers as formulas. Their
    labels exist only after ``get_major_ticks`` and ``get_minor_ticks`` have created them.
    """
    for text in figure.findobj(Text):
        text.set_parse_math(False)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_formatter(), LogFormatter):
                for tick in axis.get_major_ticks(MOST_TICKS) + axis.get_minor_ticks(MOST_TICKS):
                    tick.label1.set_parse_math(True)
                    tick.label2.set_parse_math(True)
