"""When a computed number or text agrees with a printed one, and how far rounding lets them differ.

The rule is one for all numbers of tables and of running text; docs/published.md has it in words.
"""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
import pandas as pd

from blimpworks.campaign.reference import PublishedRow

TOLERANCE = 1e-9
"""Floating point: what is meant to lie on the border of rounding may lie this far beyond."""
ROUNDED = {"accuracy": "rounding", "value": "half_unit"}
"""Columns that hold rounded numbers, and those that say how far they may be off."""


HOLDS: Mapping[str, Callable[[float, float], bool]] = {
    "at least": operator.ge,
    "at most": operator.le,
    "above": operator.gt,
    "below": operator.lt,
}
"""Whether a value keeps a printed bound."""
Agreement = Literal["exact", "rounding", ""]


def rounded(value: float, decimals: int) -> float:
    """A number rounded to some decimals, halves away from zero as people round.

    What floating point leaves just below a half counts as one.
    """
    unit = 10.0**decimals
    return math.copysign(math.floor(abs(value) * unit + 0.5 + TOLERANCE) / unit, value)


def agreement(value: float, row: PublishedRow, reach: float = 0.0) -> Agreement:
    """Whether a computed value agrees with a printed number, a bound or the value itself.

    ``exact``: it rounds to the number, halves up (counts have to be equal), or keeps the bound.
    ``rounding``: it lies on the border and was rounded the other way, keeps the bound once it is
    rounded to as many digits, or does either when it moves by ``reach``, which is how far the
    rounding of what it is computed from may have moved it. Empty: it does not agree.
    """
    assert row.value is not None
    if math.isnan(value):
        return ""
    off = abs(value - row.value)
    if row.bound:
        holds = HOLDS[row.bound]
        # A bound that leaves out the number itself is not kept by what is the same number.
        if holds(row.value if off <= TOLERANCE else value, row.value):
            return "exact"
        near = (rounded(value, row.decimals), value - reach, value + reach)
        return "rounding" if any(holds(bound, row.value) for bound in near) else ""
    if off <= TOLERANCE:
        return "exact"
    if row.half_unit and abs(rounded(value, row.decimals) - row.value) <= TOLERANCE:
        return "exact"
    return "rounding" if off <= row.half_unit + reach + TOLERANCE else ""


def slack(formula: Callable[[pd.DataFrame], float], rows: pd.DataFrame) -> float:
    """The most that rounding of the ``rows`` can move the formula's value.

    To first order: the effects of moving each rounded number by all that rounding allows, up
    or down, added up. Exact for sums, means and differences.
    """
    total, before = 0.0, formula(rows)
    for column, reach in ROUNDED.items():
        if column in rows and reach in rows:
            steps = rows[reach].fillna(0).to_numpy(float)
            for at in np.flatnonzero(steps > 0):
                effects = []
                for step in (steps[at], -steps[at]):
                    values = rows[column].to_numpy(float, copy=True)
                    values[at] += step
                    effects.append(abs(formula(rows.assign(**{column: values})) - before))
                total += max(effects)
    return total


TYPESET = str.maketrans("“”„«»‘’‚", '"""""\'\'\'')
"""Quotation marks and apostrophes as typeset, and as typed."""


def as_typed(text: str) -> str:
    """Put typed quotation marks and apostrophes, as files of prompts have them, into a text."""
    return text.translate(TYPESET)


def same_wording(text: str, other: str) -> bool:
    """Tell whether two texts are the same but for typeset quotation marks."""
    return as_typed(text) == as_typed(other)
