"""Denominators that rounded percentages allow."""

import numpy as np
from numpy.typing import ArrayLike

TOLERANCE = 1e-9
LARGEST = 10_000


def fits(shares: ArrayLike, rounding: ArrayLike, n: int) -> bool:
    """Whether each of ``shares`` (0 to 1) can be k of ``n``, if off by ``rounding`` at most."""
    given = np.asarray(shares, float)
    nearest = np.round(given * n) / n
    return bool(np.all(np.abs(nearest - given) <= np.asarray(rounding, float) + TOLERANCE))


def implied_denominator(
    shares: ArrayLike, rounding: ArrayLike, largest: int = LARGEST
) -> int | None:
    """The smallest n that all ``shares`` can be shares of; None if that is above ``largest``.

    The shares are of shape [k], from 0 to 1; ``rounding`` is how far each may be from what it
    was rounded from. True denominators may be multiples of it.
    """
    return next((n for n in range(1, largest + 1) if fits(shares, rounding, n)), None)
