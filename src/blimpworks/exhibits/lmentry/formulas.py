"""Formulas of Multi-LMentry's cells: scores over tasks and models, and ranks."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from blimpworks.analysis.robustness import lmentry_score, mean_accuracy, robustness
from blimpworks.exhibits.lmentry.names import LANGUAGES
from blimpworks.lmentry.tasks import TASKS

Formula = Callable[[pd.DataFrame], float]
MEAN = "mean of value"
PRODUCT = "first value × second value ÷ 100"
LARGEST, SMALLEST = "largest value", "smallest value"
LEAD = "largest value − second largest value"
FIVE = "5 × number of rows"
ROBUSTNESS = "mean of the four aspects of robustness"
SCORE = "mean accuracy × robustness"
OF_MODELS = "mean over models of "
MEAN_ACCURACY = "mean accuracy"


def rank_of_task(task: str) -> str:
    """Formula: a task's rank, by its mean accuracy among those of all tasks; 1 is the best."""
    return f"rank of {task} by mean(accuracy)"


def rank_of_column(column: str) -> str:
    """Formula: a column's rank by its value; 1 is the largest."""
    return f"rank of {column} by value"


def _rank(rows: pd.DataFrame, key: str, name: str, by: str) -> float:
    means = rows.groupby(key, observed=True)[by].mean()
    return float(means.rank(ascending=False, method="min")[name])


def _lead(rows: pd.DataFrame) -> float:
    first, second = rows["value"].nlargest(2)
    return float(first - second)


def mean_over_models(rows: pd.DataFrame, formula: Formula) -> float:
    """Mean of what a formula makes of each model's rows."""
    found = [formula(part) for _, part in rows.groupby("model", observed=True)]
    return float(sum(found) / len(found))


_OF_A_MODEL: dict[str, Formula] = {
    MEAN_ACCURACY: mean_accuracy,
    ROBUSTNESS: robustness,
    SCORE: lmentry_score,
}
LMENTRY: dict[str, Formula] = {
    PRODUCT: lambda rows: float(rows["value"].iloc[0] * rows["value"].iloc[1] / 100),
    LARGEST: lambda rows: float(rows["value"].max()),
    SMALLEST: lambda rows: float(rows["value"].min()),
    LEAD: _lead,
    FIVE: lambda rows: 5.0 * len(rows),
    **_OF_A_MODEL,
    **{
        OF_MODELS + name: partial(mean_over_models, formula=formula)
        for name, formula in _OF_A_MODEL.items()
    },
    **{
        rank_of_task(task): partial(_rank, key="phenomenon", name=task, by="accuracy")
        for task in TASKS
    },
    **{
        rank_of_column(f"{lang} lms"): partial(_rank, key="column", name=f"{lang} lms", by="value")
        for lang in LANGUAGES
    },
}
