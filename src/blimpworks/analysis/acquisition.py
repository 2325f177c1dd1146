"""Find when children and models learn a word: fit a sigmoid curve, and find where it is midway.

For children the curve is the share who know the word, by age (``age_of_acquisition``). For a model
it is minus the word's surprisal, by training. Source: Chang and Bergen (2022), "Word Acquisition in
Neural Language Models", section 3, as in the program of the BabyLM Challenge 2026.
"""

import warnings
from typing import Any

import numpy as np
from scipy.optimize import OptimizeWarning, curve_fit

from blimpworks.scoring.tokens import Floats

FEWEST = 3
"""Number of ages and of checkpoints that a curve needs, and of words that a correlation needs."""
PARAMETERS = 4
"""Number of a sigmoid's parameters: an unbounded fit needs at least as many points."""
KNOWN_BY = 0.5
"""Share of children who know a word at its age of acquisition."""


def _sigmoid(x: Floats, height: float, steepness: float, middle: float, lowest: float) -> Floats:
    return height / (1 + np.exp(-steepness * (x - middle))) + lowest


def _crossing(x: Floats, y: Floats, threshold: float, **options: Any) -> float | None:
    """Return the x at which a sigmoid, fitted to points (x, y), reaches ``threshold``.

    ``options`` are for ``curve_fit``. None if no rising curve fits, or outside the range of ``x``.
    """
    try:
        with np.errstate(over="ignore"), warnings.catch_warnings():
            # SciPy warns that it cannot estimate the parameters' errors for a flat curve.
            warnings.simplefilter("ignore", OptimizeWarning)
            (height, steepness, middle, lowest), _ = curve_fit(
                _sigmoid, x, y, maxfev=1000, **options
            )
    except (RuntimeError, ValueError):
        return None
    if height <= 0 or steepness <= 0 or not lowest < threshold < height + lowest:
        return None
    crossing = float(middle - np.log(height / (threshold - lowest) - 1) / steepness)
    return crossing if x.min() <= crossing <= x.max() else None


def age_of_acquisition(ages: Floats, shares: Floats) -> float | None:
    """Return the age [months] at which half of the children know a word.

    ``shares`` [ages] of children know the word; NaN if unknown. None if no curve can be fitted, or
    it does not reach one half between the lowest and the highest age.
    """
    ages, shares = ages[~np.isnan(shares)], shares[~np.isnan(shares)]
    if len(ages) < FEWEST:
        return None
    # First guesses, and bounds, of height, steepness, middle and lowest value.
    start = [1.0, 0.1, ages.mean(), 0.0]
    bounds = [0.0, 0.0, ages.min(), -0.5], [2.0, 1.0, ages.max(), 0.5]
    return _crossing(ages, shares, KNOWN_BY, p0=start, bounds=bounds)


def training_of_acquisition(training: Floats, surprisals: Floats, chance: float) -> float | None:
    """Return log10(1 + amount of training) after which a model knows a word.

    The word's surprisal is then midway between ``chance`` and its smallest value. ``training`` [n]
    are the numbers in checkpoints' names, never falling; ``surprisals`` [n] are in nats. None if no
    curve can be fitted, or it does not reach the middle between the first and last checkpoint.
    """
    if len(surprisals) < PARAMETERS:
        return None
    steps = np.log10(training + 1)
    start = [np.ptp(surprisals), 1.0, steps.mean(), -surprisals.max()]
    return _crossing(steps, -surprisals, -(chance + surprisals.min()) / 2, p0=start)
