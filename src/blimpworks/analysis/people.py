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
"""Number of ages and of checkpoints that a curve needs, and of words that a correlation needs."""
PARAMETERS = 4
"""Number of a sigmoid's parameters: an unbounded fit needs at least as many points."""
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

    The word's surprisal is then midway between ``chance`` and its smallest value. ``training`` [n]
    are the numbers in checkpoints' names, never falling; ``surprisals`` [n] are in nats. None if no
    curve can be fitted, or it does not reach the middle between the first and last checkpoint.
    """
    if len(surprisals) < PARAMETERS:
        return None
    steps = np.log10(training + 1)
    # Surprisals are negated, because ``_crossing`` needs a rising curve.
    start = [np.ptp(surprisals), 1.0, steps.mean(), -surprisals.max()]
    return _crossing(steps, -surprisals, -(chance + surprisals.min()) / 2, p0=start)


DRAWS = 1000
"""Bootstrap samples for an interval."""


def _unexplained(products: Floats, terms: int) -> Floats:
    """Return the sum of squared residuals [samples] of regressions by least squares.

    ``products`` [samples, columns, columns] are X'X of tables X [rows, columns], which least
    squares need in place of X. The last column is predicted from the first ``terms`` columns.
    """
    inputs, with_outcome = products[:, :terms, :terms], products[:, :terms, -1]
    weights = np.linalg.pinv(inputs, rcond=1e-10, hermitian=True) @ with_outcome[..., None]
    return np.asarray(products[:, -1, -1] - (with_outcome * weights[..., 0]).sum(-1))


def explained_variance(
    outcomes: pd.DataFrame, controls: pd.DataFrame, predictor: pd.Series, groups: pd.Series
) -> dict[str, float]:
    """Return the share of the unexplained variance that a predictor explains, with 95 % interval.

    ``outcomes`` are k columns of times [n, k]; the share is the mean over the columns. The first
    regression has ``controls`` [n, c] and the products of each two controls (R²₀). The second also
    has ``predictor`` [n] (R²). The share is (R² - R²₀) / (1 - R²₀), NaN if R²₀ is 1. The interval
    is by bootstrap over ``groups`` [n] of dependent rows, such as sentences. No cell may be empty.
    """
    pairs = [controls[a] * controls[b] for a, b in combinations(controls, 2)]
    terms = pd.concat([controls, *pairs, predictor, outcomes], axis=1).to_numpy(float)
    # Standardised columns give the same shares, and no large numbers.
    spread = terms.std(axis=0)
    terms = (terms - terms.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    inputs, results = np.split(terms, [terms.shape[1] - outcomes.shape[1]], axis=1)
    inputs = np.column_stack([np.ones(len(inputs)), inputs])  # with the intercept

    # Weights [samples, groups]: how often a sample has a group. The first sample are the data, the
    # others are drawn from its groups with replacement.
    group_of_row, names = pd.factorize(groups)
    uniform = np.full(len(names), 1 / len(names))
    draws = np.random.default_rng(0).multinomial(len(names), uniform, size=DRAWS)
    weights = np.vstack([np.ones(len(names)), draws])

    shares = []  # [outcomes, samples]
    for column in results.T:
        # The X'X of a sample is the weighted sum of X'X of the groups, which are computed once.
        table = np.column_stack([inputs, column])
        products_by_group = np.zeros((len(names), table.shape[1], table.shape[1]))
        np.add.at(products_by_group, group_of_row, table[:, :, None] * table[:, None, :])
        products = np.tensordot(weights, products_by_group, axes=1)
        width = inputs.shape[1]  # the last term is the predictor
        # If a sample of few groups leaves nothing to explain, the share is NaN.
        with np.errstate(divide="ignore", invalid="ignore"):
            share = 1 - _unexplained(products, width) / _unexplained(products, width - 1)
        shares.append(np.clip(share, 0, 1))

    share_of_data, *shares_of_draws = np.mean(shares, axis=0)
    if np.isnan(share_of_data):
        return dict.fromkeys(("value", "low", "high"), np.nan)
    low, high = np.nanquantile(shares_of_draws, [0.025, 0.975])
    return {"value": float(share_of_data), "low": float(low), "high": float(high)}
