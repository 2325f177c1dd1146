"""Measure how much of people's reading times a predictor explains beyond other predictors.

``explained_variance`` gets columns with a row for each word, such as reading times and a model's
surprisal. It returns a share of variance, from 0 to 1, with an interval.
"""

from itertools import combinations

import numpy as np
import pandas as pd

from blimpworks.scoring.tokens import Floats

DRAWS = 1000
"""Bootstrap samples for an interval."""


def _unexplained(products: Floats, terms: int) -> Floats:
    """Return the sum of squared residuals of the last column, predicted from the first ``terms``.

    ``products`` [..., columns, columns] is X'X of a table X, all that least squares need.
    """
    inputs, last = products[..., :terms, :terms], products[..., :terms, -1]
    weights = np.linalg.pinv(inputs, rcond=1e-10, hermitian=True) @ last[..., None]
    return np.asarray(products[..., -1, -1] - (last * weights[..., 0]).sum(-1))


def explained_variance(
    outcomes: pd.DataFrame, controls: pd.DataFrame, predictor: pd.Series, groups: pd.Series
) -> dict[str, float]:
    """Return the share of the unexplained variance that a predictor explains, with 95 % interval.

    ``outcomes`` are k columns of times [n, k]; the share is the mean over the columns. The first
    regression has ``controls`` [n, c] and the products of each two controls (R²₀). The second also
    has ``predictor`` [n] (R²). The share is (R² - R²₀) / (1 - R²₀), or NaN if R²₀ is 1. The
    interval is of a bootstrap over ``groups`` [n] of dependent rows, such as sentences. No cell may
    be empty.
    """
    pairs = [controls[a] * controls[b] for a, b in combinations(controls, 2)]
    terms = pd.concat([controls, *pairs, predictor, outcomes], axis=1).to_numpy(float)
    # Standardised columns give the same shares, and no large numbers.
    spread = terms.std(axis=0)
    terms = (terms - terms.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    inputs, results = np.split(terms, [terms.shape[1] - outcomes.shape[1]], axis=1)
    inputs = np.column_stack([np.ones(len(inputs)), inputs])

    # Weights [samples, groups]: how often a sample has a group. The first row are the data.
    group, names = pd.factorize(groups)
    draws = np.random.default_rng(0).multinomial(
        len(names), np.full(len(names), 1 / len(names)), size=DRAWS
    )
    weights = np.vstack([np.ones(len(names)), draws])

    # A sample's X'X is the weighted sum of its groups' X'X, so each row is multiplied once.
    shares = []
    for column in results.T:
        table = np.column_stack([inputs, column])
        sums = np.zeros((len(names), table.shape[1], table.shape[1]))
        np.add.at(sums, group, table[:, :, None] * table[:, None, :])
        products = np.tensordot(weights, sums, axes=1)
        width = inputs.shape[1]  # the predictor is the last of these terms
        # A sample of few groups may leave nothing to explain.
        with np.errstate(divide="ignore", invalid="ignore"):
            share = 1 - _unexplained(products, width) / _unexplained(products, width - 1)
        shares.append(np.clip(share, 0, 1))

    means = np.mean(shares, axis=0)
    if np.isnan(means[0]):
        return dict.fromkeys(("value", "low", "high"), np.nan)
    low, high = np.nanquantile(means[1:], [0.025, 0.975])
    return {"value": float(means[0]), "low": float(low), "high": float(high)}
