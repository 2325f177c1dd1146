"""Look of all figures, and cells in seaborn's form.

Seaborn estimates intervals from observations, but pictures must show those of the cells. Hence
``with_ends`` gives it each value and both ends of its interval as three observations, which
``INTERVALS`` reads back.
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

from blimpworks.exhibits.exhibit import Cell
from blimpworks.yaml_files import read_yaml

COLUMN_INCHES = 3.3
PAGE_INCHES = 6.9
# Okabe and Ito's palette, which readers with any common colour blindness can tell apart.
BLUE, ORANGE = "#0072B2", "#E69F00"
VERMILION, GREEN, PINK, SKY, GREY = "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#777777"
PALETTE = (BLUE, ORANGE, GREEN, VERMILION, PINK, SKY, GREY)
MARKERS = "osD^vP*X<"
FAMILIES = (
    "Llama3",
    "Gemma3",
    "Qwen3",
    "OLMo2",
    "EuroLLM",
    "Aya",
    "Goldfish",
    "Tülu3",
    "Llama (ours)",
    "n-gram",
    "LSTM",
    "BERT",
)
"""Families of models with a fixed colour and marker in all figures."""
SMALL = 6
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
    """Draw a broken line at chance, level or upright, named at its end."""
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
    """Write names of lines beside the axes, by height and colour, at least ``gap`` apart."""
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
    """Draw a figure, in inches, that says why there is nothing to draw."""
    figure = new_figure(width, height)
    axes = figure.subplots()
    say(axes, reason)
    if not framed:
        axes.set_axis_off()
    return figure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, without a window."""
    return Figure(figsize=(width, height), layout="constrained")


def frame_of(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return cells as rows of their main fields; absent ``low`` and ``high`` are NaN."""
    names = ("row", "column", "value", "text", "low", "high")
    return pd.DataFrame(
        [[getattr(cell, name) for name in names] for cell in cells], columns=[*names]
    ).astype({"low": float, "high": float})


def with_ends(rows: pd.DataFrame, value: str = "value") -> pd.DataFrame:
    """Triple the rows: ``value``, ``low`` and ``high`` (or NaN) in the value's column."""
    ends = [rows.assign(**{value: rows[end]}) for end in ("low", "high")]
    return pd.concat([rows, *ends], ignore_index=True).drop(columns=["low", "high"])


INTERVALS: dict[str, Any] = {
    "estimator": lambda observations: float(observations.iloc[0]),
    "errorbar": lambda observations: (float(observations.iloc[1]), float(observations.iloc[2])),
}
"""Settings of seaborn for rows from ``with_ends``, and for rows without ends."""
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
