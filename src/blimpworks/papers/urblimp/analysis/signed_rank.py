"""Which of several models is better over phenomena: Wilcoxon's signed-rank test, Holm's correction.

Source: UrBLiMP, sections 4.3 and 4.4 and Tables 5 and 6. The text names the two-tailed test
and Holm's correction; that the observations are the ten phenomena, that zero differences are
dropped and that p is exact is what their p-values show (the 19 paradigms, Pratt's zeros or the
normal approximation give others).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

DECIMALS = 9
"""Differences that agree to so many digits are tied: beyond, floating point tells them apart."""


def signed_rank_p(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p of Wilcoxon's signed-rank test on paired scores, each of shape [n].

    Zero differences are dropped, ties get the mean of their ranks. Exact for up to 50
    differences, or 13 if some are tied, and normal beyond; 1 where no two scores differ.
    """
    differences = np.round(np.asarray(first, float) - np.asarray(second, float), DECIMALS)
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    # scipy's "auto" goes through all signs of few tied differences, where its "exact" would
    # take a distribution that holds for untied ones.
    return float(wilcoxon(differences, method="auto").pvalue)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction of some p-values, in their order; none of none."""
    return [float(value) for value in multipletests(p, method="holm")[1]] if len(p) else []


def compare_scores(scores: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Signed-rank tests of ``pairs`` of models, corrected for their number.

    ``scores`` is [observations, models]; an observation that one of two models lacks does not
    count for them. A row for each pair, in order: first, second, n (differences that are not
    zero), p, holm.
    """
    rows = []
    for first, second in pairs:
        both = scores[[first, second]].dropna()
        differ = (both[first] - both[second]).round(DECIMALS) != 0
        p = signed_rank_p(both[first], both[second])
        rows.append({"first": first, "second": second, "n": int(differ.sum()), "p": p})
    tests = pd.DataFrame(rows, columns=["first", "second", "n", "p"])
    return tests.assign(holm=holm(list(tests["p"])))
