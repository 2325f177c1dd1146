"""How far two sums of token log-probabilities must differ to differ at all.

Every engine hands out float32 numbers, so a token's log-probability v is known to within
``roundings`` x 2^-24 x max(1, |v|) nats, where ``roundings`` is how many float32 operations of
the engine stand between the model's own numbers and v. Over a sentence these errors add up at
worst, so two sentences whose sums differ by no more than the errors of both are equally
probable as far as anybody can tell: a tie. A 5-gram model gives the same words in another
order the same probability, and only rounding makes one of them the larger.

Sums here are exact, and so do not depend on the order of the tokens.
docs/scoring.md derives the bound and says what it was tested against.
"""

import numpy as np
from numpy.typing import NDArray

from blimpworks.errors import UserError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNIT = 2.0**-24
"""Largest relative error of one float32 operation (its unit roundoff)."""
GRID = 2.0**32
"""Steps per nat of the grid that addends are moved to, which is finer than float32 where
numbers are larger than 2^-9. Sums of its multiples are exact in float64 up to 2 million nats."""

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
"""Float32 operations that make a token's log-probability, by name of engine."""


def rounding_of(engine_key: str) -> float:
    """Largest relative error of a token's log-probability by an engine.

    ``engine_key`` is the key that its scores were made under, which begins with its name.
    Raises UserError for an engine that nothing is known of.
    """
    name = engine_key.partition(" ")[0]
    if name not in ROUNDINGS:
        raise UserError(
            f"scores were made by the engine {name!r}, whose rounding is unknown; expected one of "
            f"{', '.join(ROUNDINGS)}. Score again with this version of blimpworks."
        )
    return ROUNDINGS[name] * UNIT


def exact_sums(row: Integers, values: Floats, count: int) -> Floats:
    """Sums of ``values`` [t] by ``row`` [t], one for each of ``count`` rows.

    They do not depend on the order of the values: each is first rounded to a multiple of
    2^-32, and sums of such multiples are exact.
    """
    addends = np.rint(values * GRID) / GRID
    return np.asarray(np.bincount(row, weights=addends, minlength=count), dtype=np.float64)


def rounding_errors(values: Floats, rounding: Floats) -> Floats:
    """Largest error of each token's log-probability [t], in nats.

    ``rounding`` [t] is its largest relative error, which below 1 nat is an absolute one:
    there the numbers that it is the difference of are larger than itself.
    """
    errors: Floats = rounding * np.maximum(1.0, np.abs(values))
    return errors
