"""Statistics of UrBLiMP alone: signed-rank tests of models, and kappas of people's judgements.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025). Sections 4.3 and 4.4 name the two-tailed test and
Holm's correction. The p-values of Tables 5 and 6 show the rest: observations are the ten phenomena,
zero differences are dropped, and p is exact. The 19 paradigms, Pratt's zeros or the normal
approximation give other values. Section 2.3 has a Fleiss' kappa of 0.89 without its categories;
docs/urblimp.md says why they can only be the sentences, and not right and wrong.
"""

import math
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm, wilcoxon
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.multitest import multipletests

DECIMALS = 9
"""Decimals to which tied differences agree; floating point decides beyond."""


def signed_rank_p(first: ArrayLike, second: ArrayLike) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test on paired scores, each of shape [n].

    Zero differences are dropped; ties get their mean rank. Exact for up to 50 differences, or 13 if
    some are tied, and normal beyond; 1 if no scores differ.
    """
    differences = np.round(np.asarray(first, float) - np.asarray(second, float), DECIMALS)
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    # "auto" tries all signs of few tied differences; "exact" has the distribution of untied ones.
    return float(wilcoxon(differences, method="auto").pvalue)


def compare_scores(scores: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Test ``pairs`` of models by signed ranks, corrected for the number of pairs.

    ``scores`` is [observations, models]; observations that one of two models lacks are left out.
    Returns a row for each pair, in order: first, second, n (differences that are not zero), p,
    holm.
    """
    rows = []
    for first, second in pairs:
        both = scores[[first, second]].dropna()
        differ = (both[first] - both[second]).round(DECIMALS) != 0
        p = signed_rank_p(both[first], both[second])
        rows.append({"first": first, "second": second, "n": int(differ.sum()), "p": p})
    tests = pd.DataFrame(rows, columns=["first", "second", "n", "p"])
    return tests.assign(holm=multipletests(tests["p"], method="holm")[1] if rows else [])


# People's judgements

Z = float(norm.ppf(0.975))
Counts = NDArray[np.int64]
"""Judgements [pair, category], as many of each pair."""


def complete(ratings: pd.DataFrame, per_pair: int) -> pd.DataFrame:
    """Count right choices by item_id (sorted), of pairs with just ``per_pair`` judgements."""
    pairs = ratings.groupby("item_id")["chose_good"].agg(["sum", "count"])
    return pairs[pairs["count"] == per_pair]


KAPPAS = {
    # Fleiss' kappa of the sentences chosen: these categories fit .89 beside 96 % right.
    "published": ("sentences", "fleiss"),
    # Of right and wrong, categories that mean the same of every pair: how far errors gather on the
    # same pairs, and 0 if they are spread by chance, however few.
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
    _, rows, many = np.unique(counts, axis=0, return_index=True, return_counts=True)
    left = np.array([_kappa(np.delete(counts, row, axis=0), method) for row in rows])
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
