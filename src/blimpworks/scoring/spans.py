"""Which tokens belong to a stretch of characters."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64] | NDArray[np.int32]


def overlaps(
    starts: Integers, ends: Integers, first: int | Integers, after: int | Integers
) -> NDArray[np.bool_]:
    """Whether each token [tokens] overlaps characters ``first`` to ``after`` (exclusive).

    A token without a character of its own (the first bytes of a character, ``</s>``) counts
    where it stands. No token is in a stretch that is empty or has a negative ``first``.
    """
    inside = (ends > first) | ((ends == starts) & (starts == first))
    real = (np.asarray(first) >= 0) & (np.asarray(first) < after)
    overlapping: NDArray[np.bool_] = real & (starts < after) & inside
    return overlapping


def token_starts(ends: Integers) -> Integers:
    """Where each token of one text starts: where the one before it ends."""
    return np.concatenate([np.zeros(min(1, len(ends)), ends.dtype), ends[:-1]])


def joint(text: str, first: int) -> int:
    """Where the white space before character ``first`` of ``text`` starts."""
    return len(text[:first].rstrip()) if first > 0 else first


def joined(
    starts: Integers,
    ends: Integers,
    joint: int | Integers,
    first: int | Integers,
    after: int | Integers,
) -> NDArray[np.bool_]:
    """``overlaps``, and tokens that hold nothing but the white space from ``joint`` to ``first``.

    Some words share a token with the space before them and others don't. Only together with
    it are their probabilities those of continuations of one and the same prefix.
    """
    space = (starts >= joint) & (ends <= first) & (ends > starts) & (np.asarray(first) >= 0)
    tokens: NDArray[np.bool_] = overlaps(starts, ends, first, after) | space
    return tokens
