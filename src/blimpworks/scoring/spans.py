"""Which tokens belong to a stretch of characters."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64] | NDArray[np.int32]


def overlaps(
    starts: Integers, ends: Integers, first: int | Integers, after: int | Integers
) -> NDArray[np.bool_]:
    """Whether each token [tokens] overlaps characters ``first`` to ``after`` (exclusive).

    A token without a character of its own (the first bytes of a character, ``</s>``) counts
    where it stands. A negative ``first`` is no stretch: no token is in it.
    """
    inside = (ends > first) | ((ends == starts) & (starts == first))
    found: NDArray[np.bool_] = (np.asarray(first) >= 0) & (starts < after) & inside
    return found


def token_starts(ends: Integers) -> Integers:
    """Where each token of one text starts: where the one before it ends."""
    return np.concatenate([np.zeros(min(1, len(ends)), ends.dtype), ends[:-1]])
