"""How far a computed number may be off because what it is computed from was rounded."""

from collections.abc import Callable

import numpy as np
import pandas as pd

TOLERANCE = 1e-9
"""Floating point: what is meant to lie on the border of rounding may lie this far beyond."""
SIGNS = (1, -1)
ROUNDED = {"accuracy": "rounding", "value": "half_unit"}
"""Columns that hold rounded numbers, and those that say how far they may be off."""


def slack(formula: Callable[[pd.DataFrame], float], rows: pd.DataFrame) -> float:
    """The most that rounding of the ``rows`` can move what the formula makes of them.

    To first order: the effects of moving each rounded number by all that rounding allows, up
    or down, added up. Exact for sums, means and differences.
    """
    total, before = 0.0, formula(rows)
    for column, reach in ROUNDED.items():
        if column in rows and reach in rows:
            steps = rows[reach].fillna(0).to_numpy(float)
            for at in np.flatnonzero(steps > 0):
                moved = (_moved(rows, column, int(at), sign * steps[at]) for sign in SIGNS)
                total += max(abs(formula(other) - before) for other in moved)
    return total


def _moved(rows: pd.DataFrame, column: str, at: int, by: float) -> pd.DataFrame:
    """The rows with one number changed."""
    values = rows[column].to_numpy(float, copy=True)
    values[at] += by
    return rows.assign(**{column: values})
