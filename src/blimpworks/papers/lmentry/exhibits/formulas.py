"""Define the formulas of Multi-LMentry's cells: robustness, scores, ranks, verdicts.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3, appendix A.2 and Table 8.

Formulas of robustness and scores take accuracies of one model in one language. ``phenomenon``: a
task or subset, named as in Tables 34 to 51; ``paradigm``: ``all``, ``template=2``, ``answer=1``
(the first of two arguments is right), or both, ``template=2/answer=1``.

The release rounds intermediate percentages: accuracies of tasks and answers to a hundredth, those
of templates to a tenth, robustness to a tenth before multiplication. This rounding changes printed
digits. With it, the mean of tasks times Table 5's robustness is Table 4's score in all 157 cases
that have all tasks. Without it, 66 of these scores could differ in the last digit.
"""

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd

from blimpworks.campaign.variants import PUBLISHED
from blimpworks.exhibits.formulas import PHRASE, Formula, choice, formula, mean_of
from blimpworks.papers.lmentry.tasks import ADJACENT, ORDERED, SUBSETS, TASKS, WHOLE

OF_TEMPLATES, OF_TASKS = 1, 2
"""Decimals that the release keeps of intermediate percentages."""


def _evenness(accuracies: Sequence[float], decimals: int | None = None) -> float:
    if len(accuracies) < 2:
        return 100.0
    points = [100 * accuracy for accuracy in accuracies]
    if decimals is not None:
        points = [round(point, decimals) for point in points]
    return 100 - (max(points) - min(points))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _between_cases(
    rows: pd.DataFrame, condition: str, tasks: Sequence[str], decimals: int | None
) -> list[float]:
    """Return 100 less the largest difference of accuracies between the cases of each task.

    The cases are the values of ``condition``, ``template`` or ``answer`` (position), in paradigms:
    "template=2/answer=1" is of template 2.
    """
    case = rows["paradigm"].astype(str).str.extract(rf"(?:^|/){condition}=([^/]+)", expand=False)
    rows_with_case = rows[case.notna() & rows["phenomenon"].isin(tasks)]
    keys = [rows_with_case["phenomenon"].astype(str), case[rows_with_case.index]]
    hits = rows_with_case["accuracy"] * rows_with_case["n"]
    sums = rows_with_case[["n"]].astype(float).assign(hits=hits).groupby(keys).sum()
    if condition == "template" and "method" in rows:
        # In tasks with two arguments the release divides by the number of prompts in its settings,
        # but rows of templates divide by judged prompts. The settings' number is equal for all
        # templates: hits of all templates ÷ accuracy of the full task ÷ number of templates.
        published = rows[(rows["method"] == PUBLISHED) & (rows["paradigm"] == WHOLE)]
        full = published[published["phenomenon"].isin(ORDERED)]
        for task, accuracy in zip(full["phenomenon"].astype(str), full["accuracy"], strict=True):
            if accuracy > 0 and task in sums.index:
                of_task = sums["hits"][task]
                sums.loc[task, "n"] = float(of_task.sum() / accuracy / len(of_task))
    pooled = sums["hits"] / sums["n"]
    return [_evenness([*accuracies], decimals) for _, accuracies in pooled.groupby(level=0)]


def aspects(rows: pd.DataFrame, *, rounded: bool = False) -> dict[str, float]:
    """Return the four aspects of robustness in percent, of one model and language.

    Each is 100 less the largest difference of accuracies between some cases, as a mean over tasks
    (or pairs of tasks); NaN without data. The cases of ``order`` are the positions of the answer.
    Those of ``template`` are templates, those of ``content`` subsets of arguments (100 with fewer
    than two), and those of ``adjacent`` the tasks of a pair. By the method ``published``,
    accuracies of templates are shares of the settings' numbers. ``rounded``: round accuracies
    first, as the release does.
    """
    of_templates, of_tasks = (OF_TEMPLATES, OF_TASKS) if rounded else (None, None)
    rows = rows.reset_index(drop=True)
    task_accuracies = rows[rows["paradigm"] == WHOLE].set_index("phenomenon")["accuracy"].to_dict()
    content = [
        [task_accuracies[f"{task}_{name}"] for name in names if f"{task}_{name}" in task_accuracies]
        for task, names in SUBSETS.items()
    ]
    present = [pair for pair in ADJACENT if {*pair} <= task_accuracies.keys()]
    adjacent = [[task_accuracies[a], task_accuracies[b]] for a, b in present]
    return {
        "order": _mean(_between_cases(rows, "answer", ORDERED, of_tasks)),
        "content": _mean([_evenness(accuracies, of_tasks) for accuracies in content]),
        "template": _mean(_between_cases(rows, "template", TASKS, of_templates)),
        "adjacent": _mean([_evenness(pair, of_tasks) for pair in adjacent]),
    }


def robustness(rows: pd.DataFrame, *, rounded: bool = False) -> float:
    """Return the mean of the aspects in percent, NaN if one is NaN; ``rounded`` to a tenth."""
    mean = sum(aspects(rows, rounded=rounded).values()) / 4
    return round(mean, 1) if rounded else mean


def mean_accuracy(rows: pd.DataFrame) -> float:
    """Return the unweighted mean over the language's tasks, in percent."""
    whole_tasks = rows[(rows["paradigm"] == WHOLE) & rows["phenomenon"].isin(TASKS)]
    return float(100 * whole_tasks["accuracy"].mean())


def lmentry_score(rows: pd.DataFrame, *, rounded: bool = False) -> float:
    """Return mean accuracy times robustness, in percent; ``rounded`` rounds robustness first."""
    return mean_accuracy(rows) * robustness(rows, rounded=rounded) / 100


TASKS_BY_ACCURACY, COLUMNS_BY_VALUE = ("phenomenon", "accuracy"), ("column", "value")
"""Column of names and column of values, for each way to rank."""
RANKED = {"mean(accuracy)": TASKS_BY_ACCURACY, "value": COLUMNS_BY_VALUE}


@formula("rank of {name} by {by}", name=PHRASE, by=choice(RANKED))
def rank_of(rows: pd.DataFrame, name: str, by: tuple[str, str]) -> float:
    """Return the rank of a task or column among all by its mean value; 1 is the highest."""
    name_column, value_column = by
    means = rows.groupby(name_column, observed=True)[value_column].mean()
    return float(means.rank(ascending=False, method="min")[name])


@formula("mean over models of {formula}")
def mean_over_models(rows: pd.DataFrame, formula: Formula) -> float:
    """Return the mean of a formula's values for the rows of each model."""
    values = [formula(model_rows) for _, model_rows in rows.groupby("model", observed=True)]
    return float(sum(values) / len(values))


def _nominal(rows: pd.DataFrame) -> float:
    """Return accuracy in percent, of the number of prompts by the settings (``nominal``)."""
    template = rows["paradigm"].astype(str).str.extract(r"template=(\d+)", expand=False)
    groups = [rows[key].astype(str) for key in ("model", "lang", "phenomenon") if key in rows]
    prompts = rows["nominal"].groupby([*groups, template]).first().sum()
    return float(100 * rows["correct"].sum() / prompts)


def _mean_over_tasks(text: str, value: Callable[[pd.DataFrame], pd.Series]) -> Formula:
    # Rows are tasks of models; every model counts the same.
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
"""Number of verdicts that differ: right by one method only."""
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
"""Corrected minus published accuracy in points; of ``n`` (judged) and of ``nominal`` prompts."""
SHARE_OF_CHANGE = _mean_over_tasks(
    "100 × (corrected − published) ÷ nominal",
    lambda rows: 100 * (rows["corrected"] - rows["published"]) / rows["nominal"],
)
"""Part of ``CHANGE`` that is due to verdicts."""
DENOMINATORS = _mean_over_tasks(
    "100 × corrected × (1 ÷ n − 1 ÷ nominal)",
    lambda rows: 100 * rows["corrected"] / rows["n"] - 100 * rows["corrected"] / rows["nominal"],
)
"""Part of ``CHANGE`` that is due to the denominators."""
ON_THE_WAY = ", rounded on the way as in the release"
MEAN_ACCURACY = Formula("mean accuracy", mean_accuracy)
ROBUSTNESS = Formula("mean of the four aspects of robustness", robustness)
SCORE = Formula("mean accuracy × robustness", lmentry_score)
ROBUSTNESS_ROUNDED = Formula(ROBUSTNESS.sentence + ON_THE_WAY, partial(robustness, rounded=True))
SCORE_ROUNDED = Formula(SCORE.sentence + ON_THE_WAY, partial(lmentry_score, rounded=True))


def as_released(formula: Formula, method: str) -> Formula:
    """Return a score's formula; for the method ``published`` it rounds intermediate numbers."""
    rounded = {ROBUSTNESS: ROBUSTNESS_ROUNDED, SCORE: SCORE_ROUNDED}
    return rounded.get(formula, formula) if method == PUBLISHED else formula
