"""Find denominators that rounded percentages allow."""

import numpy as np
from numpy.typing import ArrayLike

TOLERANCE = 1e-9
LARGEST = 10_000


def implied_denominator(
    shares: ArrayLike, rounding: ArrayLike, largest: int = LARGEST
) -> int | None:
    """Return the smallest n of which ``shares`` can be shares; None if it is above ``largest``.

    Shares [k] are from 0 to 1, and off by ``rounding`` [k] at most. True denominators may be
    multiples of it.
    """
    values, largest_error = np.asarray(shares, float), np.asarray(rounding, float) + TOLERANCE
    for n in range(1, largest + 1):
        if np.all(np.abs(np.round(values * n) / n - values) <= largest_error):
            return n
    return None
