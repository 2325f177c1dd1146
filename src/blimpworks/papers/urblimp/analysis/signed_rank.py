"""Compare models over phenomena by Wilcoxon's signed-rank test and Holm's correction.

Source: UrBLiMP, sections 4.3 and 4.4 and Tables 5 and 6. The text names the two-tailed test and
Holm's correction. The p-values show the rest: observations are the ten phenomena, zero differences
are dropped, and p is exact. The 19 paradigms, Pratt's zeros or the normal approximation give other
values.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import wilcoxon
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
    # scipy's "auto" goes through all signs of few tied differences, where its "exact" would
    # take a distribution that holds for untied ones.
    return float(wilcoxon(differences, method="auto").pvalue)


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's step-down correction of p-values, in their order."""
    return [float(value) for value in multipletests(p, method="holm")[1]] if len(p) else []


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
    return tests.assign(holm=holm(list(tests["p"])))
