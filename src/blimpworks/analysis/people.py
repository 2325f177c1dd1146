"""Compare language models with people: when words are learned, and how long words are read.

``age_of_acquisition`` fits a sigmoid curve to the share of children who know a word, by age. It
returns the age at which the curve reaches one half. ``training_of_acquisition`` fits such a curve
to a word's negated surprisal, by a model's amount of training. Source: Chang and Bergen (2022),
"Word Acquisition in Neural Language Models", section 3, as in the program of the BabyLM Challenge
2026. ``explained_variance`` returns the share of variance in reading times that a predictor
explains beyond other predictors.
"""

import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import OptimizeWarning, curve_fit

from blimpworks.scoring.tokens import Floats

FEWEST = 3
"""Fewest points for a curve; a correlation needs as many checkpoints, and as many words."""
PARAMETERS = 4
"""Number of parameters of ``_sigmoid``: without bounds, SciPy fits no curve to fewer points."""
KNOWN_BY = 0.5
"""Share of children who know a word at its age of acquisition."""


def _sigmoid(x: Floats, height: float, steepness: float, middle: float, lowest: float) -> Floats:
    return np.asarray(height / (1 + np.exp(-steepness * (x - middle))) + lowest)


def _crossing(x: Floats, y: Floats, threshold: float, **options: Any) -> float | None:
    """Return the x at which a sigmoid, fitted to points (x, y), reaches ``threshold``.

    ``options`` are for ``curve_fit``. None if no rising curve fits, or it crosses outside of ``x``.
    """
    try:
        with np.errstate(over="ignore"), warnings.catch_warnings():
            # SciPy warns that it cannot estimate the parameters' errors for a flat curve.
            warnings.simplefilter("ignore", OptimizeWarning)
            parameters, _errors = curve_fit(_sigmoid, x, y, maxfev=1000, **options)
    except (RuntimeError, ValueError):
        return None
    height, steepness, middle, lowest = parameters
    if height <= 0 or steepness <= 0 or not lowest < threshold < height + lowest:
        return None
    # The inverse of ``_sigmoid`` at the threshold.
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

    The word's surprisal is then midway between ``chance``, the surprisal of a word by guessing, and
    its smallest value. ``surprisals`` [n] and ``chance`` are in nats. ``training`` [n] are the
    checkpoints' amounts of training, in ascending order. None if no curve can be fitted, or it
    reaches that surprisal before the first or after the last checkpoint.
    """
    if len(surprisals) < PARAMETERS:
        return None
    log_training = np.log10(training + 1)
    midway = (chance + surprisals.min()) / 2
    # Surprisals are negated, because ``_crossing`` needs a rising curve.
    start = [np.ptp(surprisals), 1.0, log_training.mean(), -surprisals.max()]
    return _crossing(log_training, -surprisals, -midway, p0=start)


DRAWS = 1000
"""Bootstrap samples for an interval."""


def _unexplained(gram: Floats, width: int) -> Floats:
    """Return the sum of squared residuals [samples] of a regression by least squares.

    The regression predicts the last column of a table X [rows, columns] from its first ``width``
    columns. It needs only ``gram`` [samples, columns, columns]: X'X of each sample.
    """
    inputs, with_outcome = gram[:, :width, :width], gram[:, :width, -1]
    coefficients = np.linalg.pinv(inputs, rcond=1e-10, hermitian=True) @ with_outcome[..., None]
    return np.asarray(gram[:, -1, -1] - (with_outcome * coefficients[..., 0]).sum(-1))


def explained_variance(
    outcomes: pd.DataFrame, controls: pd.DataFrame, predictor: pd.Series, groups: pd.Series
) -> dict[str, float]:
    """Return the share of the unexplained variance that a predictor explains, with 95 % interval.

    ``outcomes`` [n, k] are k columns of times; the share is the mean over these columns.

    - The first regression has ``controls`` [n, c] and the product of each two controls (R²₀).
    - The second regression also has ``predictor`` [n] (R²).
    - The share is (R² - R²₀) / (1 - R²₀), NaN if R²₀ is 1.
    - The interval is by bootstrap over ``groups`` [n] of dependent rows, such as sentences.

    No cell may be empty.
    """
    interactions = [controls[a] * controls[b] for a, b in combinations(controls, 2)]
    columns = pd.concat([controls, *interactions, predictor, outcomes], axis=1).to_numpy(float)
    # Standardised columns give the same shares, and no large numbers.
    spread = columns.std(axis=0)
    columns = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    inputs, results = np.split(columns, [columns.shape[1] - outcomes.shape[1]], axis=1)
    inputs = np.column_stack([np.ones(len(inputs)), inputs])  # with the intercept
    with_predictor, without_predictor = inputs.shape[1], inputs.shape[1] - 1

    # How often a sample has a group [samples, groups]. Row 0 stands for the data themselves; the
    # groups of the other samples are drawn with replacement.
    group_of_row, names = pd.factorize(groups)
    uniform = np.full(len(names), 1 / len(names))
    draws = np.random.default_rng(0).multinomial(len(names), uniform, size=DRAWS)
    times_in_sample = np.vstack([np.ones(len(names)), draws])

    shares = []  # [outcomes, samples]
    for outcome in results.T:
        # The X'X of a sample is the weighted sum of X'X of the groups, which are computed once.
        table = np.column_stack([inputs, outcome])
        gram_of_group = np.zeros((len(names), table.shape[1], table.shape[1]))
        np.add.at(gram_of_group, group_of_row, table[:, :, None] * table[:, None, :])
        gram = np.tensordot(times_in_sample, gram_of_group, axes=1)
        # (R² - R²₀) / (1 - R²₀) = 1 - (1 - R²) / (1 - R²₀), and 1 - R² is in proportion to the
        # squared residuals. If a sample of few groups leaves nothing to explain, the share is NaN.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = _unexplained(gram, with_predictor) / _unexplained(gram, without_predictor)
        shares.append(np.clip(1 - ratio, 0, 1))

    share_of_data, *shares_of_draws = np.mean(shares, axis=0)
    if np.isnan(share_of_data):
        return dict.fromkeys(("value", "low", "high"), np.nan)
    low, high = np.nanquantile(shares_of_draws, [0.025, 0.975])
    return {"value": float(share_of_data), "low": float(low), "high": float(high)}
