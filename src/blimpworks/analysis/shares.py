"""Find denominators that rounded percentages allow."""

import numpy as np
from numpy.typing import ArrayLike

TOLERANCE = 1e-9
LARGEST = 10_000


def fits(shares: ArrayLike, rounding: ArrayLike, n: int) -> bool:
    """Return whether each of ``shares`` (0 to 1) is k of ``n``, off by at most ``rounding``."""
    given = np.asarray(shares, float)
    nearest = np.round(given * n) / n
    return bool(np.all(np.abs(nearest - given) <= np.asarray(rounding, float) + TOLERANCE))


def implied_denominator(
    shares: ArrayLike, rounding: ArrayLike, largest: int = LARGEST
) -> int | None:
    """Return the smallest n that all ``shares`` [k] can be shares of; None above ``largest``."""
    return next((n for n in range(1, largest + 1) if fits(shares, rounding, n)), None)
