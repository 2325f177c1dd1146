"""Make rows of the regressions table by ordinary least squares."""

import numpy as np
import pandas as pd

INTERCEPT, CONSTANT = "intercept", "const"
NAMES = ("coefficient", "standard_error", "t", "p", "low", "high")


def standardise(values: pd.Series) -> pd.Series:
    """Express ``values`` as standard deviations (of the sample) from their mean."""
    return (values - values.mean()) / values.std()


def varying(predictors: pd.DataFrame) -> pd.DataFrame:
    """Select the columns that are not the same in all rows."""
    return predictors.loc[:, predictors.nunique() > 1]


def _design(predictors: pd.DataFrame) -> pd.DataFrame:
    design = predictors.astype(float)
    design.insert(0, CONSTANT, 1.0)
    return design


def enough(predictors: pd.DataFrame) -> bool:
    """Tell whether there are more observations than terms, with the intercept."""
    return len(predictors) > predictors.shape[1] + 1


def estimable(predictors: pd.DataFrame) -> bool:
    """Tell whether there are enough observations, and no collinear predictors."""
    design = _design(predictors)
    return enough(predictors) and int(np.linalg.matrix_rank(design)) == design.shape[1]


def ordinary_least_squares(
    response: pd.Series, predictors: pd.DataFrame
) -> list[dict[str, float | str]]:
    """Return a row per term, the intercept first: coefficient, its error, t, p, 95 % interval.

    ``response`` is [n], ``predictors`` [n, terms]; n and R² are repeated in each row. No row if
    the predictors are not ``estimable``.
    """
    if not estimable(predictors):
        return []
    # It takes a second, and figures that need this module's names fit nothing.
    import statsmodels.api as sm

    design = _design(predictors)
    fit = sm.OLS(response.astype(float), design).fit()
    bounds = fit.conf_int()
    columns = (fit.params, fit.bse, fit.tvalues, fit.pvalues, bounds[0], bounds[1])
    return [
        {"term": INTERCEPT if term == CONSTANT else str(term)}
        | {name: float(column[term]) for name, column in zip(NAMES, columns, strict=True)}
        | {"n": int(fit.nobs), "r2": float(fit.rsquared)}
        for term in design
    ]
