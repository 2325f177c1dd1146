"""How far people agree on pairs: three kappas that differ in what agreement by chance is.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3, has a Fleiss' kappa of 0.89 without
its categories; docs/urblimp.md says why they can only be the sentences, and not right and wrong.
"""

import math
from collections.abc import Callable
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


def outcomes(ratings: pd.DataFrame, per_pair: int) -> Counts:
    """Judgements in the categories right and wrong."""
    pairs = complete(ratings, per_pair)
    return np.column_stack([pairs["sum"], per_pair - pairs["sum"]]).astype(np.int64)


def sentences(ratings: pd.DataFrame, per_pair: int) -> Counts:
    """Judgements in the categories first and second sentence of a pair.

    Whichever a participant saw first, a pair's sentences have one order, at random: of half of the
    pairs the grammatical one is first.
    """
    counts = outcomes(ratings, per_pair)
    ids = complete(ratings, per_pair).index
    hashes = [blake2b(str(name).encode(), digest_size=8).digest() for name in ids]
    turned = sorted(range(len(ids)), key=hashes.__getitem__)[1::2]
    counts[turned] = counts[turned, ::-1]
    return counts


def _kappa(counts: Counts, method: str) -> float:
    """A kappa by statsmodels; NaN without two judgements of a pair, or where it is 0 ÷ 0."""
    if not len(counts) or counts[0].sum() < 2:
        return math.nan
    if method == "fleiss" and (counts.sum(axis=0) == 0).any():
        return math.nan
    return float(fleiss_kappa(counts, method=method))


KAPPAS: dict[str, tuple[Callable[[pd.DataFrame, int], Counts], str]] = {
    # Fleiss' kappa of the sentences chosen: with these categories .89 goes with 96 % right.
    "published": (sentences, "fleiss"),
    # Of right and wrong, categories that mean the same of every pair. It is how far the errors
    # fall on the same pairs: 0 where they are spread by chance, however few.
    "corrected": (outcomes, "fleiss"),
    # Randolph's free-marginal kappa: chance is one half, whatever the categories.
    "free": (outcomes, "randolph"),
}
"""Categories and method of each kappa."""


def kappa(name: str, ratings: pd.DataFrame, per_pair: int) -> float:
    """A kappa of ``KAPPAS``, over the pairs with just so many judgements; NaN if not defined."""
    categories, method = KAPPAS[name]
    return _kappa(categories(ratings, per_pair), method)


def kappa_interval(name: str, ratings: pd.DataFrame, per_pair: int) -> tuple[float, float]:
    """95 % interval of a kappa of ``KAPPAS``, by the jackknife over pairs; NaN where there is none.

    Symmetric about the estimate, and no further than 1.
    """
    categories, method = KAPPAS[name]
    counts = categories(ratings, per_pair)
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
