"""Define formulas of Multi-LMentry's cells: scores over tasks and models, and ranks."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from blimpworks.campaign.variants import PUBLISHED
from blimpworks.exhibits.formulas import PHRASE, Formula, choice, formula, mean_of
from blimpworks.papers.lmentry.analysis.robustness import lmentry_score, mean_accuracy, robustness

TASKS_BY_ACCURACY, COLUMNS_BY_VALUE = ("phenomenon", "accuracy"), ("column", "value")
"""Column of the ranked names, and column of their values."""
RANKED = {"mean(accuracy)": TASKS_BY_ACCURACY, "value": COLUMNS_BY_VALUE}


@formula("rank of {name} by {by}", name=PHRASE, by=choice(RANKED))
def rank_of(rows: pd.DataFrame, name: str, by: tuple[str, str]) -> float:
    """Rank a task or column by its mean; 1 is the best."""
    name_column, value_column = by
    means = rows.groupby(name_column, observed=True)[value_column].mean()
    return float(means.rank(ascending=False, method="min")[name])


@formula("mean over models of {formula}")
def mean_over_models(rows: pd.DataFrame, formula: Formula) -> float:
    """Average a formula's values for the rows of each model."""
    values = [formula(model_rows) for _, model_rows in rows.groupby("model", observed=True)]
    return float(sum(values) / len(values))


def _nominal(rows: pd.DataFrame) -> float:
    """Compute accuracy as the release does: of the settings' numbers of prompts (``nominal``)."""
    template = rows["paradigm"].astype(str).str.extract(r"template=(\d+)", expand=False)
    groups = [rows[key].astype(str) for key in ("model", "lang", "phenomenon") if key in rows]
    prompts = rows["nominal"].groupby([*groups, template]).first().sum()
    return float(100 * rows["correct"].sum() / prompts)


def _mean_over_tasks(text: str, value: Callable[[pd.DataFrame], pd.Series]) -> Formula:
    return Formula(
        f"mean over models and tasks of {text}",
        lambda rows: float(value(rows).groupby(rows["model"].astype(str)).mean().mean()),
    )


PRODUCT = Formula(
    "first value × second value ÷ 100",
    lambda rows: rows["value"].iloc[0] * rows["value"].iloc[1] / 100,
)
SMALLEST = Formula("smallest value", lambda rows: rows["value"].min())
LEAD = Formula(
    "largest value − second largest value",
    lambda rows: -float(rows["value"].astype(float).nlargest(2).diff().iloc[1]),
)
FIVE = Formula("5 × number of rows", lambda rows: 5 * len(rows))
"""Number of examples, five for a task."""
NOMINAL = Formula("100 × sum of correct ÷ nominal prompts of the templates", _nominal)
KAPPA = mean_of("kappa")
CHANGED = Formula(
    "sum of published and of corrected",
    lambda rows: rows["published"].sum() + rows["corrected"].sum(),
)
"""Number of verdicts that differ: right by one method alone."""
BY_PUBLISHED = _mean_over_tasks(
    "100 × published ÷ nominal", lambda rows: 100 * rows["published"] / rows["nominal"]
)
BY_CORRECTED = _mean_over_tasks(
    "100 × corrected ÷ n", lambda rows: 100 * rows["corrected"] / rows["n"]
)
CHANGE = _mean_over_tasks(
    "100 × corrected ÷ n − 100 × published ÷ nominal",
    lambda rows: 100 * rows["corrected"] / rows["n"] - 100 * rows["published"] / rows["nominal"],
)
"""Corrected less published accuracy, in points: of ``n`` (judged), of ``nominal`` prompts."""
SHARE_OF_CHANGE = _mean_over_tasks(
    "100 × (corrected − published) ÷ nominal",
    lambda rows: 100 * (rows["corrected"] - rows["published"]) / rows["nominal"],
)
"""Part of ``CHANGE`` that comes from verdicts."""
DENOMINATORS = _mean_over_tasks(
    "100 × corrected × (1 ÷ n − 1 ÷ nominal)",
    lambda rows: 100 * rows["corrected"] / rows["n"] - 100 * rows["corrected"] / rows["nominal"],
)
"""Part of ``CHANGE`` that comes from the denominators."""
ON_THE_WAY = ", rounded on the way as in the release"
MEAN_ACCURACY = Formula("mean accuracy", mean_accuracy)
ROBUSTNESS = Formula("mean of the four aspects of robustness", robustness)
SCORE = Formula("mean accuracy × robustness", lmentry_score)
ROBUSTNESS_ROUNDED = Formula(ROBUSTNESS.sentence + ON_THE_WAY, partial(robustness, rounded=True))
SCORE_ROUNDED = Formula(SCORE.sentence + ON_THE_WAY, partial(lmentry_score, rounded=True))


def as_released(formula: Formula, method: str) -> Formula:
    """Return a score's formula by a method: the published one rounds on the way."""
    rounded = {ROBUSTNESS: ROBUSTNESS_ROUNDED, SCORE: SCORE_ROUNDED}
    return rounded.get(formula, formula) if method == PUBLISHED else formula
