"""Test differences of models, fit linear regressions, and find denominators of percentages.

``compare_models`` reads judgements (verdicts of models on items) and writes a table with a McNemar
test for each pair of models in a language. Other functions compute numbers for exhibits, such as
``ordinary_least_squares`` and ``correlation_interval``.
"""

import logging
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from blimpworks.campaign.variants import Variant
from blimpworks.errors import UserError
from blimpworks.tables import COMPARISONS, JUDGEMENTS, read_table, write_rows

log = logging.getLogger(__name__)

EXACT_BELOW = 25
"""Fewest discordant items for which the variant ``corrected`` uses chi-squared; for fewer, it uses
the exact test. An item is discordant if just one of two models is right."""
KEY = ["item_id", "paradigm"]
"""Columns that identify an item; some items are in two paradigms."""


def mcnemar_p(only_a: int, only_b: int, exact_below: int = 0) -> float:
    """Return McNemar's two-sided p for two models, a and b.

    Model a alone is right on ``only_a`` items, and model b alone on ``only_b`` items. If these
    discordant items are fewer than ``exact_below``, the test is the exact binomial test. Otherwise
    it is chi-squared with continuity correction. Jumelet et al. (2025, section 7.1, footnote 7) do
    not say which test they use. Of the exact test and chi-squared with and without correction, only
    chi-squared with correction gives the p-values of Tables B.2 (Albanian: 0.041) and 5.
    """
    if only_a == only_b:
        return 1.0
    from statsmodels.stats.contingency_tables import mcnemar  # slow to import, and seldom needed

    table = [[0, only_a], [only_b, 0]]
    return float(mcnemar(table, exact=only_a + only_b < exact_below, correction=True).pvalue)


def compare(
    right: NDArray[np.bool_], judged: NDArray[np.bool_], exact_below: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield comparisons of every two models, in both orders, over items that both have judged.

    ``right`` and ``judged`` are [items, models]; ``exact_below`` is as for ``mcnemar_p``. In a
    comparison, ``a`` and ``b`` are the column indices of two models. Of the ``n`` items that both
    have judged, model a alone is right on ``only_a``, and model b alone on ``only_b``.
    """
    is_judged = judged.astype(np.int64)
    is_right, is_wrong = is_judged * right, is_judged * ~right
    # Numbers of items [first model, second model].
    only = is_right.T @ is_wrong  # only the first model is right
    both = is_right.T @ is_right  # both are right
    n = is_judged.T @ is_judged  # both have judged the item
    for a, b in combinations(range(right.shape[1]), 2):
        if not n[a, b]:
            continue
        p = mcnemar_p(int(only[a, b]), int(only[b, a]), exact_below)
        for first, second in ((a, b), (b, a)):
            yield {
                "a": first,
                "b": second,
                "n": n[a, b],
                "only_a": only[first, second],
                "only_b": only[second, first],
                "accuracy_a": (both[a, b] + only[first, second]) / n[a, b],
                "accuracy_b": (both[a, b] + only[second, first]) / n[a, b],
                "p": p,
            }


def compare_models(
    judgements: Sequence[tuple[str, str, Path]],
    benchmark: str,
    method: str,
    output: Path,
    mcnemar: Variant = "published",
) -> int:
    """Write a table with a McNemar test for each two models; return the number of its rows.

    ``judgements``: (model, language, table of judgements); only judgements by ``method`` are used.
    ``mcnemar``: ``published`` (chi-squared for any number of items) or ``corrected`` (exact below
    ``EXACT_BELOW``). A tie, which counts ½ in judgements, counts as wrong here. Raises UserError if
    there are no tables, or a table is missing or malformed.
    """
    if not judgements:
        raise UserError(f"{output}: no judgements of {benchmark} are given; name at least one.")
    # {language: {model: verdicts, indexed by item}}
    languages: dict[str, dict[str, pd.Series]] = {}
    for model, lang, path in judgements:
        frame = read_table(JUDGEMENTS, path, [*KEY, "method", "correct"]).to_pandas()
        chosen = frame[frame["method"] == method].astype({"paradigm": object})
        # An item can have several rows: the nth row of one model is compared with the nth of
        # another, if both have it.
        occurrence = chosen.groupby(KEY, observed=True).cumcount()
        languages.setdefault(lang, {})[model] = chosen.set_index([*KEY, occurrence])["correct"]
    exact_below = EXACT_BELOW if mcnemar == "corrected" else 0
    rows = []
    for lang, models in languages.items():
        verdicts, names = pd.DataFrame(models), [*models]
        right, judged = (verdicts == 1).to_numpy(), verdicts.notna().to_numpy()
        for row in compare(right, judged, exact_below):
            first, second = names[row.pop("a")], names[row.pop("b")]
            row |= {"model_a": first, "model_b": second, "lang": lang}
            rows.append({**row, "benchmark": benchmark, "method": method})
    log.info("%d comparisons in %d languages", len(rows), len(languages))
    write_rows(rows, COMPARISONS, output)
    return len(rows)


# Linear regression: ``predictors`` are a data frame with a row for each observation.

INTERCEPT, CONSTANT = "intercept", "const"
"""Names of the constant term in results, and in statsmodels."""
ESTIMATES = ("coefficient", "standard_error", "t", "p", "low", "high")


def standardise(values: pd.Series) -> pd.Series:
    """Express ``values`` as standard deviations (of the sample) from their mean."""
    return (values - values.mean()) / values.std()


def varying_columns(predictors: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of ``predictors`` that have more than one value."""
    return predictors.loc[:, predictors.nunique() > 1]


def _with_constant(predictors: pd.DataFrame) -> pd.DataFrame:
    design = predictors.astype(float)
    design.insert(0, CONSTANT, 1.0)
    return design


def has_enough_rows(predictors: pd.DataFrame) -> bool:
    """Return whether there are more observations than terms, the intercept included."""
    return len(predictors) > predictors.shape[1] + 1


def is_estimable(predictors: pd.DataFrame) -> bool:
    """Return whether there are enough observations and the predictors are not collinear."""
    design = _with_constant(predictors)
    return has_enough_rows(predictors) and int(np.linalg.matrix_rank(design)) == design.shape[1]


def is_constant(values: pd.Series) -> bool:
    """Return whether all values are equal, except for rounding errors of sums."""
    return bool(np.ptp(values) <= 1e-12 * np.abs(values).max())


def ordinary_least_squares(
    response: pd.Series, predictors: pd.DataFrame
) -> list[dict[str, float | str]]:
    """Fit a linear regression; return a row per term with ``ESTIMATES``, n and R².

    ``response`` is [n], ``predictors`` [n, terms]; ``low`` and ``high`` are a 95 % interval. The
    intercept is the first row. Without ``is_estimable``, or for a constant response, return [].
    """
    if not is_estimable(predictors) or is_constant(response):
        return []
    # The import takes a second, and some users of this module fit nothing.
    import statsmodels.api as sm

    design = _with_constant(predictors)
    fit = sm.OLS(response.astype(float), design).fit()
    bounds = fit.conf_int()
    columns = (fit.params, fit.bse, fit.tvalues, fit.pvalues, bounds[0], bounds[1])
    rows: list[dict[str, float | str]] = []
    for term in design:
        name = INTERCEPT if term == CONSTANT else str(term)
        row: dict[str, float | str] = {"term": name}
        for estimate, column in zip(ESTIMATES, columns, strict=True):
            row[estimate] = float(column[term])
        rows.append({**row, "n": int(fit.nobs), "r2": float(fit.rsquared)})
    return rows


TOLERANCE = 1e-9
"""Error of floating-point quotients."""
LARGEST_DENOMINATOR = 10_000


def implied_denominator(shares: ArrayLike, rounding: ArrayLike) -> int | None:
    """Return the smallest n of which all ``shares`` [k] can be fractions; None above 10,000.

    The shares 0.33 and 0.67 give 3, as they can be rounded ⅓ and ⅔. Shares are from 0 to 1, each
    rounded by at most ``rounding`` [k], here 0.005. The true denominator may be a multiple of n.
    """
    values, largest_error = np.asarray(shares, float), np.asarray(rounding, float) + TOLERANCE
    for n in range(1, LARGEST_DENOMINATOR + 1):
        if np.all(np.abs(np.round(values * n) / n - values) <= largest_error):
            return n
    return None


def correlation_interval(r: float, n: int, spread: float = 1.0) -> tuple[float, float]:
    """Return the 95 % interval of a correlation ``r`` over ``n`` items, by Fisher's z.

    The standard error of z is about √(spread / (n - 3)). ``spread`` is 1 for Pearson's and
    Matthews' correlation (Fisher 1921, "On the probable error of a coefficient of correlation
    deduced from a small sample"). It is 1 + r² / 2 for Spearman's (Bonett and Wright 2000, "Sample
    size requirements for estimating Pearson, Kendall and Spearman correlations"). For at most three
    items the interval is -1 to 1; for r = ±1 it has no width.
    """
    if n <= 3:
        return -1.0, 1.0
    if abs(r) >= 1:
        return r, r
    reach = NormalDist().inv_cdf(0.975) * np.sqrt(spread / (n - 3))
    low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
    return float(low), float(high)
