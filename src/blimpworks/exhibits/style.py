"""Style of all figures, and cells as data frames for seaborn.

Seaborn estimates intervals from observations, but figures must show the intervals of the cells.
Therefore ``with_ends`` makes three observations of each value: itself and both ends of its
interval. ``INTERVALS`` makes seaborn draw these.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import LogFormatter

from blimpworks.exhibits.exhibit import Cell
from blimpworks.yaml_files import read_yaml

COLUMN_INCHES = 3.3
PAGE_INCHES = 6.9
# Okabe and Ito's palette, which readers with any common colour blindness can tell apart.
BLUE, ORANGE = "#0072B2", "#E69F00"
VERMILION, GREEN, PINK, SKY, GREY = "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#777777"
PALETTE = (BLUE, ORANGE, GREEN, VERMILION, PINK, SKY, GREY)
MARKERS = "osD^vP*X<"
_ON_THE_HUB = ("Llama3", "Gemma3", "Qwen3", "OLMo2", "EuroLLM", "Aya", "Goldfish", "Tülu3")
FAMILIES = (*_ON_THE_HUB, "Llama (ours)", "n-gram", "LSTM", "BERT")
"""Families of models with a fixed colour and marker in all figures."""
SMALL = 6
TICKS = 100
"""Number of ticks of an axis to create before drawing."""
SETTINGS: dict[Any, Any] = {
    **read_yaml(Path(__file__).with_name("house.yaml"), "settings of matplotlib"),
    "axes.prop_cycle": cycler(color=PALETTE),
}


@contextmanager
def house_style() -> Iterator[None]:
    """Apply the settings for the figures drawn inside the block."""
    with mpl.rc_context(SETTINGS):
        yield


def colours(count: int) -> list[str]:
    """Return ``count`` colours of the palette, repeated as needed."""
    return [PALETTE[number % len(PALETTE)] for number in range(count)]


def family_looks(families: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return colour and marker of each family; those without a fixed look take unused ones."""
    family_names = dict.fromkeys([*FAMILIES, *families])
    return {
        name: (PALETTE[i % len(PALETTE)], MARKERS[i // len(PALETTE) % len(MARKERS)])
        for i, name in enumerate(family_names)
    }


def mark_chance(axes: Axes, at: float, upright: bool = False) -> None:
    """Draw a dashed line at chance, horizontal or ``upright``, with the label "chance"."""
    line = axes.axvline if upright else axes.axhline
    line(at, color=GREY, lw=0.8, ls="--", zorder=2.5)
    text_position: dict[str, Any] = (
        {"xy": (at, 1), "xycoords": ("data", "axes fraction"), "xytext": (0, 2), "ha": "center"}
        if upright
        else {"xy": (1, at), "xycoords": ("axes fraction", "data"), "xytext": (2, 0)}
    )
    side = "bottom" if upright else "center"
    axes.annotate(
        "chance", textcoords="offset points", va=side, size=SMALL, color=GREY, **text_position
    )


def label_ends(axes: Axes, ends: Mapping[str, tuple[float, str]], gap: float) -> None:
    """Write names of lines beside the axes, at least ``gap`` apart; ``ends``: height and colour."""
    names = sorted(ends, key=lambda name: ends[name][0])
    heights: list[float] = []
    for name in names:
        heights.append(max(ends[name][0], heights[-1] + gap if heights else -np.inf))
    excess = max(heights[-1] - axes.get_ylim()[1], 0) if heights else 0
    for name, height in zip(names, heights, strict=True):
        axes.annotate(
            name, (1, height - excess), (3, 0), xycoords=("axes fraction", "data"), va="center",
            textcoords="offset points", size=SMALL, color=ends[name][1],
        )  # fmt: skip


def say(axes: Axes, text: str) -> None:
    """Fill empty ``axes`` with a text."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY)
    axes.set(xticks=[], yticks=[])


def empty_figure(
    reason: str, width: float = PAGE_INCHES, height: float = 1.0, framed: bool = True
) -> Figure:
    """Return a figure, in inches, that only shows the reason why there is nothing to draw."""
    figure = new_figure(width, height)
    axes = figure.subplots()
    say(axes, reason)
    if not framed:
        axes.set_axis_off()
    return figure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches that opens no window."""
    return Figure(figsize=(width, height), layout="constrained")


def frame_of(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return cells as a data frame of their main fields; absent ``low`` and ``high`` are NaN."""
    names = ("row", "column", "value", "text", "low", "high")
    return pd.DataFrame(
        [[getattr(cell, name) for name in names] for cell in cells], columns=[*names]
    ).astype({"low": float, "high": float})


def with_ends(rows: pd.DataFrame, value: str = "value") -> pd.DataFrame:
    """Return each row three times, with ``value``, ``low`` and ``high`` (or NaN) as the value."""
    ends = [rows.assign(**{value: rows[end]}) for end in ("low", "high")]
    return pd.concat([rows, *ends], ignore_index=True).drop(columns=["low", "high"])


INTERVALS: dict[str, Any] = {
    "estimator": lambda observations: float(observations.iloc[0]),
    "errorbar": lambda observations: (float(observations.iloc[1]), float(observations.iloc[2])),
}
"""Options of seaborn for rows from ``with_ends``."""
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


def take_literally(figure: Figure) -> None:
    """Show all texts of a figure literally, so that a label with two ``$`` is no formula.

    Matplotlib writes the powers on logarithmic axes as formulas, and creates labels of ticks when
    it draws. Therefore ``TICKS`` ticks are created here, with labels that may be formulas.
    """
    for text in figure.findobj(Text):
        text.set_parse_math(False)
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        if isinstance(axis.get_major_formatter(), LogFormatter):
            for tick in (*axis.get_major_ticks(TICKS), *axis.get_minor_ticks(TICKS)):
                tick.label1.set_parse_math(True)
                tick.label2.set_parse_math(True)
