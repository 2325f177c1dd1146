"""Bound how far two sums of token log-probabilities must differ to differ at all.

Engines return float32 numbers. A token's log-probability v is known to within ``roundings`` x 2^-24
x max(1, |v|) nats, where ``roundings`` counts the engine's float32 operations behind v. These
errors add up at worst. Two sentences whose sums differ by no more than the sum of their errors are
a tie. A 5-gram model, for example, gives reordered words the same probability, and only rounding
makes one larger.

Sums are exact, and so do not depend on the tokens' order. docs/scoring.md derives the bound and
tells how it was tested.
"""

import numpy as np
from numpy.typing import NDArray

from blimpworks.campaign.engines import engines
from blimpworks.errors import UserError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNIT = 2.0**-24
"""Largest relative error of one float32 operation (its unit roundoff)."""
GRID = 2.0**32
"""Steps per nat of the grid for addends, finer than float32 above 2^-9.

Sums of its multiples are exact in float64 up to 2 million nats.
"""


def rounding_of(engine_key: str) -> float:
    """Return the relative error by an engine's key. Raises UserError for an unknown engine."""
    name = engine_key.partition(" ")[0]
    roundings = {key: e.roundings for e in engines().values() for key in (e.name, *e.keys)}
    if name not in roundings:
        raise UserError(
            f"scores were made by the engine {name!r}, whose rounding is unknown; expected one of "
            f"{', '.join(roundings)}. Score again with this version of blimpworks."
        )
    return roundings[name] * UNIT


def exact_sums(row: Integers, values: Floats, count: int) -> Floats:
    """Sum ``values`` [t] by ``row`` [t] exactly on a grid of 2^-32, for ``count`` rows."""
    addends = np.rint(values * GRID) / GRID
    return np.asarray(np.bincount(row, weights=addends, minlength=count), dtype=np.float64)


def rounding_errors(values: Floats, rounding: Floats) -> Floats:
    """Return each log-probability's largest error [nats]: ``rounding`` x max(1, |v|) [t]."""
    errors: Floats = rounding * np.maximum(1.0, np.abs(values))
    return errors
