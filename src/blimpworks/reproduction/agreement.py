"""Judge whether a number or text agrees with a printed one; docs/published.md has the rule."""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import pandas as pd

from blimpworks.campaign.reference import PublishedRow

TOLERANCE = 1e-9
"""Floating-point error allowed at the border of rounding."""
ROUNDING_ERROR_COLUMN = {"accuracy": "rounding", "value": "half_unit"}
"""Column of the largest rounding errors of each column of rounded numbers."""
HOLDS: Mapping[str, Callable[[float, float], bool]] = {
    "at least": operator.ge,
    "at most": operator.le,
    "above": operator.gt,
    "below": operator.lt,
}
"""Test by printed bound."""
Agreement = Literal["exact", "rounding", ""]


def rounded(value: float, decimals: int) -> float:
    """Round to some decimals, halves (also just below, by floating point) away from zero."""
    unit = 10.0**decimals
    return math.copysign(math.floor(abs(value) * unit + 0.5 + TOLERANCE) / unit, value)


def agreement(value: float, row: PublishedRow, reach: float = 0.0) -> Agreement:
    """Return whether a computed value agrees with a printed number or bound.

    ``exact``: it rounds to the number, halves away from zero (counts have to be equal), or keeps
    the bound.
    ``rounding``: it differs by no more than half a unit of the last digit plus ``reach``, the
    rounding error of its inputs. It may also keep the bound once rounded or moved by ``reach``.
    Empty: it does not agree.
    """
    assert row.value is not None
    if math.isnan(value):
        return ""
    difference = abs(value - row.value)
    if row.bound:
        holds = HOLDS[row.bound]
        # A bound that leaves out the number itself is not kept by what is the same number.
        if holds(row.value if difference <= TOLERANCE else value, row.value):
            return "exact"
        alternatives = (rounded(value, row.decimals), value - reach, value + reach)
        return "rounding" if any(holds(bound, row.value) for bound in alternatives) else ""
    if difference <= TOLERANCE:
        return "exact"
    if row.half_unit and abs(rounded(value, row.decimals) - row.value) <= TOLERANCE:
        return "exact"
    return "rounding" if difference <= row.half_unit + reach + TOLERANCE else ""


def slack(formula: Callable[[pd.DataFrame], float], rows: pd.DataFrame) -> float:
    """Return the largest change of the formula's value that rounding of the ``rows`` allows.

    To first order; exact for sums, means and differences.
    """
    total, before = 0.0, formula(rows)
    for column, error_column in ROUNDING_ERROR_COLUMN.items():
        if column in rows and error_column in rows:
            steps = rows[error_column].fillna(0).to_numpy(float)
            for at in np.flatnonzero(steps > 0):
                effects = []
                for step in (steps[at], -steps[at]):
                    values = rows[column].to_numpy(float, copy=True)
                    values[at] += step
                    effects.append(abs(formula(rows.assign(**{column: values})) - before))
                total += max(effects)
    return total


TYPESET = str.maketrans("“”„«»‘’‚", '"""""\'\'\'')
"""Typeset quotation marks and apostrophes to typed ones."""


def as_typed(text: str) -> str:
    """Replace typeset quotation marks and apostrophes by typed ones, as in files of prompts."""
    return text.translate(TYPESET)


def same_wording(text: str, other: str) -> bool:
    """Return whether two texts are equal apart from typeset quotation marks."""
    return as_typed(text) == as_typed(other)
