"""Find the tokens of a stretch of characters."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64] | NDArray[np.int32]


def overlaps(
    starts: Integers, ends: Integers, first: int | Integers, after: int | Integers
) -> NDArray[np.bool_]:
    """Tell for each token [tokens] whether it overlaps characters ``first`` to ``after``.

    ``after`` is exclusive. A token without a character (the first bytes of one, ``</s>``) counts at
    its place. An empty stretch, or one with a negative ``first``, has no token.
    """
    inside = (ends > first) | ((ends == starts) & (starts == first))
    real = (np.asarray(first) >= 0) & (np.asarray(first) < after)
    overlapping: NDArray[np.bool_] = real & (starts < after) & inside
    return overlapping


def token_starts(ends: Integers) -> Integers:
    """Return the start of each token of one text, which is the end of the one before."""
    return np.concatenate([np.zeros(min(1, len(ends)), ends.dtype), ends[:-1]])


def joint(text: str, first: int) -> int:
    """Return the start of the white space before character ``first``."""
    return len(text[:first].rstrip()) if first > 0 else first


def joined(
    starts: Integers,
    ends: Integers,
    joint: int | Integers,
    first: int | Integers,
    after: int | Integers,
) -> NDArray[np.bool_]:
    """Extend ``overlaps`` by tokens that hold only the white space from ``joint`` to ``first``.

    Some words share a token with the space before them. Only together with it are all words'
    probabilities those of continuations of the same prefix.
    """
    space = (starts >= joint) & (ends <= first) & (ends > starts) & (np.asarray(first) >= 0)
    tokens: NDArray[np.bool_] = overlaps(starts, ends, first, after) | space
    return tokens
