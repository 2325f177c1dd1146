"""Formulas of Multi-LMentry's cells: scores over tasks and models, and ranks."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from blimpworks.campaign.variants import PUBLISHED
from blimpworks.papers.lmentry.analysis.robustness import lmentry_score, mean_accuracy, robustness
from blimpworks.papers.lmentry.exhibits.names import LANGUAGES
from blimpworks.papers.lmentry.tasks import TASKS

Formula = Callable[[pd.DataFrame], float]
MEAN = "mean of value"
PRODUCT = "first value × second value ÷ 100"
LARGEST, SMALLEST = "largest value", "smallest value"
LEAD = "largest value − second largest value"
FIVE = "5 × number of rows"
ROBUSTNESS = "mean of the four aspects of robustness"
SCORE = "mean accuracy × robustness"
ON_THE_WAY = ", rounded on the way as in the release"
ROBUSTNESS_ROUNDED, SCORE_ROUNDED = ROBUSTNESS + ON_THE_WAY, SCORE + ON_THE_WAY
OF_MODELS = "mean over models of "
NOMINAL = "100 × sum of correct ÷ nominal prompts of the templates"
KAPPA = "mean of kappa"
OF_TASKS = "mean over models and tasks of "
BY_PUBLISHED = f"{OF_TASKS}100 × published ÷ nominal"
BY_CORRECTED = f"{OF_TASKS}100 × corrected ÷ n"
CHANGE = f"{OF_TASKS}100 × corrected ÷ n − 100 × published ÷ nominal"
SHARE_OF_CHANGE = f"{OF_TASKS}100 × (corrected − published) ÷ nominal"
DENOMINATORS = f"{OF_TASKS}100 × corrected × (1 ÷ n − 1 ÷ nominal)"
CHANGED = "sum of published and of corrected"
MEAN_ACCURACY = "mean accuracy"


def rank_of_task(task: str) -> str:
    """Formula: a task's rank, by its mean accuracy among those of all tasks; 1 is the best."""
    return f"rank of {task} by mean(accuracy)"


def rank_of_column(column: str) -> str:
    """Formula: a column's rank by its value; 1 is the largest."""
    return f"rank of {column} by value"


def as_released(formula: str, method: str) -> str:
    """The formula of a score by a method: the published one rounds on the way."""
    rounded = {ROBUSTNESS: ROBUSTNESS_ROUNDED, SCORE: SCORE_ROUNDED}
    return rounded.get(formula, formula) if method == PUBLISHED else formula


def _rank(rows: pd.DataFrame, key: str, name: str, by: str) -> float:
    means = rows.groupby(key, observed=True)[by].mean()
    return float(means.rank(ascending=False, method="min")[name])


def _lead(rows: pd.DataFrame) -> float:
    first, second = rows["value"].astype(float).nlargest(2)
    return float(first - second)


def mean_over_models(rows: pd.DataFrame, formula: Formula) -> float:
    """Mean of what a formula makes of each model's rows."""
    found = [formula(part) for _, part in rows.groupby("model", observed=True)]
    return float(sum(found) / len(found))


def _nominal(rows: pd.DataFrame) -> float:
    """Accuracy as the release divides: by the prompts that its settings say a template has."""
    template = rows["paradigm"].astype(str).str.extract(r"template=(\d+)", expand=False)
    keys = ["model", "lang", "phenomenon"]
    groups = [rows[key].astype(str) for key in keys if key in rows]
    prompts = rows["nominal"].groupby([*groups, template]).first().sum()
    return float(100 * rows["correct"].sum() / prompts)


def _published(rows: pd.DataFrame) -> pd.Series:
    return 100 * rows["published"] / rows["nominal"]


def _corrected(rows: pd.DataFrame) -> pd.Series:
    return 100 * rows["corrected"] / rows["n"]


def _share(rows: pd.DataFrame) -> pd.Series:
    return 100 * (rows["corrected"] - rows["published"]) / rows["nominal"]


def _denominators(rows: pd.DataFrame) -> pd.Series:
    return _corrected(rows) - 100 * rows["corrected"] / rows["nominal"]


def _over_tasks(rows: pd.DataFrame, each: Callable[[pd.DataFrame], pd.Series]) -> float:
    """Mean over models of the means over their tasks, of what is made of each row."""
    return float(each(rows).groupby(rows["model"].astype(str)).mean().mean())


_OF_VERDICTS: dict[str, Callable[[pd.DataFrame], pd.Series]] = {
    BY_PUBLISHED: _published,
    BY_CORRECTED: _corrected,
    CHANGE: lambda rows: _corrected(rows) - _published(rows),
    SHARE_OF_CHANGE: _share,
    DENOMINATORS: _denominators,
}
_OF_A_MODEL: dict[str, Formula] = {
    MEAN_ACCURACY: mean_accuracy,
    ROBUSTNESS: robustness,
    SCORE: lmentry_score,
    ROBUSTNESS_ROUNDED: partial(robustness, rounded=True),
    SCORE_ROUNDED: partial(lmentry_score, rounded=True),
}
LMENTRY: dict[str, Formula] = {
    PRODUCT: lambda rows: float(rows["value"].iloc[0] * rows["value"].iloc[1] / 100),
    LARGEST: lambda rows: float(rows["value"].max()),
    SMALLEST: lambda rows: float(rows["value"].min()),
    LEAD: _lead,
    FIVE: lambda rows: 5.0 * len(rows),
    NOMINAL: _nominal,
    KAPPA: lambda rows: float(rows["kappa"].mean()),
    CHANGED: lambda rows: float(rows["published"].sum() + rows["corrected"].sum()),
    **{name: partial(_over_tasks, each=each) for name, each in _OF_VERDICTS.items()},
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
