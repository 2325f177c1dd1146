"""People's agreement on pairs: three kappas with different agreement by chance.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3, has a Fleiss' kappa of 0.89 without
its categories; docs/urblimp.md says why they can only be the sentences, and not right and wrong.
"""

import math
from hashlib import blake2b

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm
from statsmodels.stats.inter_rater import fleiss_kappa

Z = float(norm.ppf(0.975))
Counts = NDArray[np.int64]
"""Judgements [pair, category], as many of each pair."""


def complete(ratings: pd.DataFrame, per_pair: int) -> pd.DataFrame:
    """Count right choices by item_id (sorted), of pairs with just ``per_pair`` judgements."""
    pairs = ratings.groupby("item_id")["chose_good"].agg(["sum", "count"])
    return pairs[pairs["count"] == per_pair]


KAPPAS = {
    # Fleiss' kappa of the sentences chosen: with these categories .89 goes with 96 % right.
    "published": ("sentences", "fleiss"),
    # Of right and wrong, categories that mean the same of every pair. It is how far the errors
    # fall on the same pairs: 0 where they are spread by chance, however few.
    "corrected": ("outcomes", "fleiss"),
    # Randolph's free-marginal kappa: chance is one half, whatever the categories.
    "free": ("outcomes", "randolph"),
}
"""Categories and method of each kappa."""


def counts_of(name: str, ratings: pd.DataFrame, per_pair: int) -> Counts:
    """Count judgements in the two categories of a kappa.

    Outcomes are right and wrong. Sentences are the first and second of a pair in a random order,
    whose first is grammatical in half of the pairs; the order that participants saw does not
    matter.
    """
    pairs = complete(ratings, per_pair)
    counts = np.column_stack([pairs["sum"], per_pair - pairs["sum"]]).astype(np.int64)
    if KAPPAS[name][0] == "sentences":
        hashes = [blake2b(str(item).encode(), digest_size=8).digest() for item in pairs.index]
        turned = sorted(range(len(hashes)), key=hashes.__getitem__)[1::2]
        counts[turned] = counts[turned, ::-1]
    return counts


def _kappa(counts: Counts, method: str) -> float:
    """Compute a kappa; NaN without two judgements of a pair, or if it is 0 ÷ 0."""
    if not len(counts) or counts[0].sum() < 2:
        return math.nan
    if method == "fleiss" and (counts.sum(axis=0) == 0).any():
        return math.nan
    return float(fleiss_kappa(counts, method=method))


def kappa(name: str, ratings: pd.DataFrame, per_pair: int) -> float:
    """Compute a kappa over the pairs with just ``per_pair`` judgements; NaN if undefined."""
    return _kappa(counts_of(name, ratings, per_pair), KAPPAS[name][1])


def kappa_interval(name: str, ratings: pd.DataFrame, per_pair: int) -> tuple[float, float]:
    """Return a kappa's 95 % interval by the jackknife over pairs; NaN if undefined.

    It is symmetric about the estimate, but ends at 1.
    """
    method = KAPPAS[name][1]
    counts = counts_of(name, ratings, per_pair)
    value, n = _kappa(counts, method), len(counts)
    if math.isnan(value) or n < 2:
        return math.nan, math.nan
    _, places, many = np.unique(counts, axis=0, return_index=True, return_counts=True)
    left = np.array([_kappa(np.delete(counts, place, axis=0), method) for place in places])
    mean = float(np.average(left, weights=many))
    error = math.sqrt((n - 1) / n * float(many @ (left - mean) ** 2))
    return value - Z * error, min(1.0, value + Z * error)


def agreements(ratings: pd.DataFrame, per_pair: int) -> pd.Series:
    """Return the share (0 to 1) of each complete pair's couples of judgements that agree."""
    pairs = complete(ratings, per_pair)
    right = pairs["sum"]
    agreeing = right * (right - 1) + (per_pair - right) * (per_pair - right - 1)
    shares: pd.Series = agreeing / (per_pair * (per_pair - 1))
    return shares
