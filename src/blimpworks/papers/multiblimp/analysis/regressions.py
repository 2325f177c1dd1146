"""Fit accuracy on a model's size and tuning, and on a language's frequency.

Source: MultiBLiMP, section 7.2 (ordinary least squares over models) and Figure 1 (a logistic curve
over languages).

The paper gives no unit for the effect of size, β = 4.30 (t = 15.88). The ratio of its error to that
of the effect of tuning (−3.29, t = −6.47) depends on the predictors alone: 0.5325. Over the 39
models that section 6.2 names it is 0.530 for the standardised logarithm of the number of parameters
and 0.523 for the standardised number; 0.994 for the decimal logarithm, 0.431 for the natural one,
0.299 for the binary one, 0.032 for billions. With Goldfish as a fortieth the two standardised ones
give 0.588 and 0.520. Neither is exact, and the paper doesn't list its 42 models. The paper has
Llama3's 8B and 70B 3.3 points apart. Between them, 4.30 per standard deviation makes 7.6 points of
the logarithm and 16.4 of the number. So size is here the standardised logarithm: the best of these
candidates, no more.
"""

import logging
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.analysis.linear import (
    NAMES,
    estimable,
    ordinary_least_squares,
    standardise,
    varying,
)
from blimpworks.papers.multiblimp.analysis.frequencies import RANKED_BY
from blimpworks.papers.multiblimp.tables import FREQUENCIES
from blimpworks.tables import ACCURACIES, REGRESSIONS, RESIDUALS, read_table, write_rows

log = logging.getLogger(__name__)

SIZE, FREQUENCY = "size", "frequency"
"""The two analyses, and the term of each that is of interest."""
CHAT = "post-training"
# A curve of two parameters through fewer languages than this says nothing.
ENOUGH_LANGUAGES = 4
Rows = list[dict[str, Any]]
Facts = Mapping[str, Mapping[str, Any]]


def overall(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Return pairs and accuracy in percent of each model and language, over all phenomena."""
    chosen = accuracies[(accuracies["phenomenon"] == ALL) & (accuracies["paradigm"] == ALL)]
    return chosen.assign(percent=100 * chosen["accuracy"])


def mean_accuracies(accuracies: pd.DataFrame) -> pd.Series:
    """Average each model's accuracy in percent over all pairs; models that lack a language go."""
    rows = overall(accuracies)
    languages = rows["lang"].nunique()
    weighted = rows.assign(total=rows["percent"] * rows["n"]).groupby("model", observed=True)
    means = weighted["total"].sum() / weighted["n"].sum()
    return means[weighted["lang"].nunique() == languages]


def _size_predictors(means: pd.Series, models: Facts) -> pd.DataFrame | None:
    """Return size, tuning and family of models of known size; None for fewer than two."""
    sized = [name for name in means.index if models.get(name, {}).get("parameters")]
    facts = pd.DataFrame([models[name] for name in sized], index=sized)
    if len(facts) < 2:
        return None
    predictors = pd.DataFrame(
        {
            SIZE: standardise(facts["parameters"].astype(float).map(math.log10)),
            CHAT: (facts["tuning"] == "chat").astype(float),
        }
    )
    families = pd.get_dummies(facts["family"], prefix="family", prefix_sep=" ", dtype=float)
    return varying(predictors.join(families.iloc[:, 1:]))


def fit_size(accuracies: pd.DataFrame, models: Facts) -> Rows:
    """Fit accuracy by size, family and tuning (section 7.2): rows of regressions, or none."""
    means = mean_accuracies(accuracies)
    predictors = _size_predictors(means, models)
    if predictors is None:
        return []
    rows = ordinary_least_squares(means[predictors.index], predictors)
    return [{"analysis": SIZE, "model": ALL, **row} for row in rows]


def why_no_size(accuracies: pd.DataFrame, models: Facts) -> str:
    """Say why ``fit_size`` gives no rows; "" if it does."""
    predictors = _size_predictors(mean_accuracies(accuracies), models)
    if predictors is None or len(predictors) <= predictors.shape[1] + 1:
        n = 0 if predictors is None else len(predictors)
        return f"too few models of known size and with all languages ({n or 'fewer than two'})"
    return "" if estimable(predictors) else "size, family and tuning can't be told apart"


def logistic(x: Any, intercept: float, slope: float) -> Any:
    """Return accuracy in percent that grows from 0 to 100 with ``x``."""
    from scipy.special import expit

    return 100 * expit(intercept + slope * x)


def _fit_curve(x: np.ndarray, y: np.ndarray) -> Rows:
    """Return rows of the curve's parameters (t with n − 2 degrees of freedom); none if no fit."""
    n = len(x)
    if n < ENOUGH_LANGUAGES or len({*x}) < 2 or len({*y}) < 2:
        return []
    # Slow to import, and figures that need this module's names fit nothing.
    from scipy.optimize import OptimizeWarning, curve_fit
    from scipy.stats import t as student

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", OptimizeWarning)
            parameters, covariance = curve_fit(logistic, x, y, p0=(0.0, 0.1), maxfev=10_000)
    except (RuntimeError, OptimizeWarning) as error:
        log.warning("no logistic curve fits: %s", error)
        return []
    residuals = y - logistic(x, *parameters)
    r2 = 1 - float((residuals**2).sum() / ((y - y.mean()) ** 2).sum())
    rows = []
    for i, term in enumerate(("intercept", FREQUENCY)):
        coefficient, deviation = float(parameters[i]), float(np.sqrt(covariance[i, i]))
        reach = float(student.ppf(0.975, n - 2)) * deviation
        ratio = coefficient / deviation if deviation else np.nan
        p = float(2 * student.sf(abs(ratio), n - 2))
        values = (coefficient, deviation, ratio, p, coefficient - reach, coefficient + reach)
        rows.append({"term": term, **dict(zip(NAMES, values, strict=True)), "n": n, "r2": r2})
    return rows


def fit_frequency(accuracies: pd.DataFrame, frequencies: pd.DataFrame) -> tuple[Rows, Rows]:
    """Fit each model's accuracy by the logarithm of characters (Figure 1); rows and residuals."""
    ranked = frequencies[frequencies[RANKED_BY] > 0]
    logs = pd.Series(np.log10(ranked[RANKED_BY].to_numpy(float)), index=ranked["lang"])
    terms: Rows = []
    residuals: Rows = []
    rows = overall(accuracies)
    for model, inside in rows[rows["lang"].isin(logs.index)].groupby("model", sort=False):
        x, y = logs[inside["lang"]].to_numpy(), inside["percent"].to_numpy()
        key, curve = {"analysis": FREQUENCY, "model": model}, _fit_curve(x, y)
        if not curve:
            continue
        terms += [key | term for term in curve]
        fitted = logistic(x, *(term["coefficient"] for term in curve))
        columns = zip(inside["lang"], x, y, fitted, y - fitted, strict=True)
        names = ("lang", "predictor", "observed", "fitted", "residual")
        residuals += [key | dict(zip(names, values, strict=True)) for values in columns]
    return terms, residuals


def fit_regressions(
    accuracies: Path,
    frequencies: Sequence[Path],
    models: Facts,
    method: str,
    output: Path,
    residuals: Path,
) -> int:
    """Write regressions of accuracy on size and, given a table, on frequency; return the terms."""
    rows = read_table(ACCURACIES, accuracies).to_pandas()
    plain = dict.fromkeys(rows.select_dtypes("category"), object)
    rows = rows[rows["method"] == method].astype(plain)
    terms = fit_size(rows, models)
    distances: Rows = []
    for path in frequencies:
        table = read_table(FREQUENCIES, path).to_pandas().astype({"lang": object})
        curves, distances = fit_frequency(rows, table)
        terms += curves
    write_rows(terms, REGRESSIONS, output)
    write_rows(distances, RESIDUALS, residuals)
    return len(terms)
