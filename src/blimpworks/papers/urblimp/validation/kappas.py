"""How far people agree on pairs: three kappas that differ in what agreement by chance is.

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
"""Judgements [pair, category]; as many of each pair."""


def complete(ratings: pd.DataFrame, per_pair: int) -> pd.DataFrame:
    """Right choices of each pair (index: item_id, sorted) that has just so many judgements."""
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
    """Judgements in the two categories of a kappa of ``KAPPAS``.

    They are right and wrong, or the first and second sentence of a pair: whichever a participant
    saw first, these have one order, at random, so that of half of the pairs the grammatical one is
    first.
    """
    pairs = complete(ratings, per_pair)
    counts = np.column_stack([pairs["sum"], per_pair - pairs["sum"]]).astype(np.int64)
    if KAPPAS[name][0] == "sentences":
        hashes = [blake2b(str(item).encode(), digest_size=8).digest() for item in pairs.index]
        turned = sorted(range(len(hashes)), key=hashes.__getitem__)[1::2]
        counts[turned] = counts[turned, ::-1]
    return counts


def _kappa(counts: Counts, method: str) -> float:
    """A kappa by statsmodels; NaN without two judgements of a pair, or where it is 0 ÷ 0."""
    if not len(counts) or counts[0].sum() < 2:
        return math.nan
    if method == "fleiss" and (counts.sum(axis=0) == 0).any():
        return math.nan
    return float(fleiss_kappa(counts, method=method))


def kappa(name: str, ratings: pd.DataFrame, per_pair: int) -> float:
    """A kappa of ``KAPPAS``, over the pairs with just so many judgements; NaN if not defined."""
    return _kappa(counts_of(name, ratings, per_pair), KAPPAS[name][1])


def kappa_interval(name: str, ratings: pd.DataFrame, per_pair: int) -> tuple[float, float]:
    """95 % interval of a kappa of ``KAPPAS``, by the jackknife over pairs; NaN where there is none.

    Symmetric about the estimate, and no further than 1.
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
    """Of each complete pair the share of its couples of judgements that agree (0 to 1)."""
    pairs = complete(ratings, per_pair)
    right = pairs["sum"]
    agreeing = right * (right - 1) + (per_pair - right) * (per_pair - right - 1)
    shares: pd.Series = agreeing / (per_pair * (per_pair - 1))
    return shares
