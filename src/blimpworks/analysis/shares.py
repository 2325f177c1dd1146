"""Find denominators that rounded percentages allow."""

import numpy as np
from numpy.typing import ArrayLike

TOLERANCE = 1e-9
LARGEST = 10_000


def fits(shares: ArrayLike, rounding: ArrayLike, n: int) -> bool:
    """Tell whether all ``shares`` (0 to 1) can be k of ``n``, off by ``rounding`` at most."""
    values = np.asarray(shares, float)
    nearest = np.round(values * n) / n
    return bool(np.all(np.abs(nearest - values) <= np.asarray(rounding, float) + TOLERANCE))


def implied_denominator(
    shares: ArrayLike, rounding: ArrayLike, largest: int = LARGEST
) -> int | None:
    """Return the smallest n of which ``shares`` can be shares; None if it is above ``largest``.

    Shares [k] are from 0 to 1, and off by ``rounding`` [k] at most. True denominators may be
    multiples of it.
    """
    return next((n for n in range(1, largest + 1) if fits(shares, rounding, n)), None)
