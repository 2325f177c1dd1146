"""Cells as seaborn draws them: a frame of values, and intervals that are given.

Seaborn estimates intervals from observations. Cells have theirs, from the tables of an analysis,
and a picture must show these and no others: ``with_ends`` gives seaborn the value and both ends
of each interval as three observations, and ``INTERVALS`` says that this is what they are.
"""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell


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
