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

from blimpworks.errors import UserError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNIT = 2.0**-24
"""Largest relative error of one float32 operation (its unit roundoff)."""
GRID = 2.0**32
"""Steps per nat of the grid for addends, finer than float32 above 2^-9.

Sums of its multiples are exact in float64 up to 2 million nats.
"""

ROUNDINGS: dict[str, int] = {
    # An n-gram's probability and up to five back-off weights (KenLM's highest order is 6)
    # are added in float32, and the sum is turned into nats.
    "kenlm": 6,
    # Log-softmax in float32, whatever the format of weights and logits: difference to the
    # largest logit, sum of exponentials, its logarithm, and the difference of the two.
    "lstm": 4,
    "transformers": 4,
    "vllm": 4,
    "vllm-cpu": 4,
}
"""Float32 operations behind a token's log-probability, by engine."""


def rounding_of(engine_key: str) -> float:
    """Return the largest relative error of a token's log-probability by an engine.

    ``engine_key``, the key of its scores, begins with its name. Raises UserError for an unknown
    engine.
    """
    name = engine_key.partition(" ")[0]
    if name not in ROUNDINGS:
        raise UserError(
            f"scores were made by the engine {name!r}, whose rounding is unknown; expected one of "
            f"{', '.join(ROUNDINGS)}. Score again with this version of blimpworks."
        )
    return ROUNDINGS[name] * UNIT


def exact_sums(row: Integers, values: Floats, count: int) -> Floats:
    """Sum ``values`` [t] by ``row`` [t], for ``count`` rows, independent of order.

    Each value is first rounded to a multiple of 2^-32; sums of such multiples are exact.
    """
    addends = np.rint(values * GRID) / GRID
    return np.asarray(np.bincount(row, weights=addends, minlength=count), dtype=np.float64)


def rounding_errors(values: Floats, rounding: Floats) -> Floats:
    """Return the largest error of each token's log-probability [t], in nats.

    ``rounding`` [t] is the relative error. For |v| < 1 it is an absolute error: v is a
    difference of larger numbers, and their rounding remains.
    """
    errors: Floats = rounding * np.maximum(1.0, np.abs(values))
    return errors
