"""Define the formulas of Multi-LMentry's cells: robustness, scores, ranks, verdicts.

Formulas of robustness and scores take accuracies of one model in one language, by one method of
judging. Three of their rows:

    phenomenon       paradigm                n   accuracy
    bigger_number    all                  3000     0.9412   prompts of a task or subset.
    bigger_number    template=2           1000     0.9630   prompts of the second template.
    bigger_number    template=2/answer=1   500     0.9840   of these, the first number is right.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3, appendix A.2 and Table 8.

The release rounds intermediate percentages: accuracies of tasks and of positions of the answer to a
hundredth, accuracies of templates to a tenth, and robustness to a tenth before multiplication. This
decides the last digit of many printed scores.
"""

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd

from blimpworks.campaign.variants import PUBLISHED
from blimpworks.exhibits.formulas import PHRASE, Formula, choice, formula, mean_of
from blimpworks.items import ALL
from blimpworks.papers.lmentry.tasks import ADJACENT, ORDERED, SUBSETS, TASKS

TEMPLATE_DECIMALS, TASK_DECIMALS = 1, 2
"""Decimals of percentages to which the release rounds the accuracies of templates and of tasks."""


def _evenness(accuracies: Sequence[float], decimals: int | None = None) -> float:
    """Return 100 less the largest difference of accuracies in percent; 100 for fewer than two.

    ``accuracies`` are shares: 0.9, 0.7 and 0.8 give 80. ``decimals``: of percentages, which are
    rounded before they are compared; None for no rounding.
    """
    if len(accuracies) < 2:
        return 100.0
    points = [100 * accuracy for accuracy in accuracies]
    if decimals is not None:
        points = [round(point, decimals) for point in points]
    return 100 - (max(points) - min(points))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _evenness_by(
    rows: pd.DataFrame, condition: str, tasks: Sequence[str], decimals: int | None
) -> list[float]:
    """Return the evenness of each task's accuracies, by template or by position of the answer.

    ``condition``: "template" or "answer", as in the paradigm "template=2/answer=1".
    """
    # The template or position of each row; NaN in rows that are not of one template or position.
    values = rows["paradigm"].astype(str).str.extract(rf"(?:^|/){condition}=([^/]+)", expand=False)
    with_value = rows[values.notna() & rows["phenomenon"].isin(tasks)]
    keys = [with_value["phenomenon"].astype(str), values[with_value.index]]
    # Right answers and judged prompts by task, then by template or position.
    hits = with_value["accuracy"] * with_value["n"]
    sums = with_value[["n"]].astype(float).assign(hits=hits).groupby(keys).sum()
    if condition == "template" and "method" in rows:
        # The release divides a template's hits by the number of prompts in its settings. Rows of
        # tasks with two arguments have judged prompts (n) instead. The settings' number, the same
        # for each template, is: hits of all templates ÷ accuracy on the task ÷ number of templates.
        published = rows[(rows["method"] == PUBLISHED) & (rows["paradigm"] == ALL)]
        on_tasks = published[published["phenomenon"].isin(ORDERED)]
        task_names = on_tasks["phenomenon"].astype(str)
        for task, accuracy in zip(task_names, on_tasks["accuracy"], strict=True):
            if accuracy > 0 and task in sums.index:
                template_hits = sums["hits"][task]
                sums.loc[task, "n"] = float(template_hits.sum() / accuracy / len(template_hits))
    by_task = (sums["hits"] / sums["n"]).groupby(level=0)
    return [_evenness([*accuracies], decimals) for _, accuracies in by_task]


def aspects(rows: pd.DataFrame, *, rounded: bool = False) -> dict[str, float]:
    """Return the four aspects of robustness in percent, of one model and language.

    Each aspect is 100 less the largest difference of accuracies, as a mean over tasks or pairs of
    tasks. Three aspects compare accuracies on one task: by position of the answer (order), by
    subset of arguments (content), by template. The aspect ``adjacent`` compares the two tasks of a
    pair. Without accuracies to compare, an aspect is NaN, except ``content``: a task with fewer
    than two subsets counts as 100.

    By the method ``published``, accuracies of templates are shares of the settings' number of
    prompts. ``rounded``: round accuracies first, as the release does.
    """
    template_decimals = TEMPLATE_DECIMALS if rounded else None
    decimals = TASK_DECIMALS if rounded else None
    rows = rows.reset_index(drop=True)
    task_accuracies = rows[rows["paradigm"] == ALL].set_index("phenomenon")["accuracy"].to_dict()
    content: list[float] = []
    for task, names in SUBSETS.items():
        subsets = [f"{task}_{name}" for name in names]
        accuracies = [task_accuracies[name] for name in subsets if name in task_accuracies]
        content.append(_evenness(accuracies, decimals))
    adjacent: list[float] = []
    for pair in ADJACENT:
        if {*pair} <= task_accuracies.keys():
            adjacent.append(_evenness([task_accuracies[task] for task in pair], decimals))
    return {
        "order": _mean(_evenness_by(rows, "answer", ORDERED, decimals)),
        "content": _mean(content),
        "template": _mean(_evenness_by(rows, "template", TASKS, template_decimals)),
        "adjacent": _mean(adjacent),
    }


def robustness(rows: pd.DataFrame, *, rounded: bool = False) -> float:
    """Return the mean of the aspects in percent, or NaN; ``rounded``: as the release rounds."""
    mean = sum(aspects(rows, rounded=rounded).values()) / 4
    return round(mean, 1) if rounded else mean


def mean_accuracy(rows: pd.DataFrame) -> float:
    """Return the unweighted mean accuracy over the language's tasks, in percent."""
    on_tasks = rows[(rows["paradigm"] == ALL) & rows["phenomenon"].isin(TASKS)]
    return float(100 * on_tasks["accuracy"].mean())


def lmentry_score(rows: pd.DataFrame, *, rounded: bool = False) -> float:
    """Return mean accuracy times robustness, in percent; ``rounded``: as the release rounds."""
    return mean_accuracy(rows) * robustness(rows, rounded=rounded) / 100


TASKS_BY_ACCURACY, COLUMNS_BY_VALUE = ("phenomenon", "accuracy"), ("column", "value")
"""Two ways to rank: the column of names to rank, and the column of their values."""
RANKED = {"mean(accuracy)": TASKS_BY_ACCURACY, "value": COLUMNS_BY_VALUE}


@formula("rank of {name} by {by}", name=PHRASE, by=choice(RANKED))
def rank_of(rows: pd.DataFrame, name: str, by: tuple[str, str]) -> float:
    """Return the rank of the task or column ``name`` by its mean value; 1 is the highest."""
    name_column, value_column = by
    means = rows.groupby(name_column, observed=True)[value_column].mean()
    return float(means.rank(ascending=False, method="min")[name])


@formula("mean over models of {formula}")
def mean_over_models(rows: pd.DataFrame, formula: Formula) -> float:
    """Return the mean over models of a formula's value, computed from each model's rows."""
    values = [formula(model_rows) for _, model_rows in rows.groupby("model", observed=True)]
    return float(sum(values) / len(values))


def _nominal_accuracy(rows: pd.DataFrame) -> float:
    """Return right answers in percent of the settings' numbers of prompts (column ``nominal``).

    ``rows``: judgements of prompts. The number of a template is the same in all its rows.
    """
    template = rows["paradigm"].astype(str).str.extract(r"template=(\d+)", expand=False)
    groups = [rows[key].astype(str) for key in ("model", "lang", "phenomenon") if key in rows]
    prompts = rows["nominal"].groupby([*groups, template]).first().sum()
    return float(100 * rows["correct"].sum() / prompts)


def _mean_over_tasks(text: str, value: Callable[[pd.DataFrame], pd.Series]) -> Formula:
    # ``value`` takes rows of the table of verdicts, one for each model, language and task, and
    # returns a number for each. The formula is their mean with equal weights of models.
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
# The 195 examples of appendix A.4: five for each of the 39 tasks and subsets in Basque.
FIVE = Formula("5 × number of rows", lambda rows: 5 * len(rows))
NOMINAL = Formula("100 × sum of correct ÷ nominal prompts of the templates", _nominal_accuracy)
KAPPA = mean_of("kappa")
CHANGED = Formula(
    "sum of published and of corrected",
    lambda rows: rows["published"].sum() + rows["corrected"].sum(),
)
"""Number of answers whose verdicts differ. In rows of a reason, ``published`` counts the answers
that only the published rules accept, and ``corrected`` those that only the corrected rules do."""
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
"""Corrected accuracy less published accuracy, in points; ``n`` are judged prompts. It is the sum of
``SHARE_OF_CHANGE`` over all reasons, and ``DENOMINATORS``."""
SHARE_OF_CHANGE = _mean_over_tasks(
    "100 × (corrected − published) ÷ nominal",
    lambda rows: 100 * (rows["corrected"] - rows["published"]) / rows["nominal"],
)
"""Summand of ``CHANGE`` that is due to verdicts."""
DENOMINATORS = _mean_over_tasks(
    "100 × corrected × (1 ÷ n − 1 ÷ nominal)",
    lambda rows: 100 * rows["corrected"] / rows["n"] - 100 * rows["corrected"] / rows["nominal"],
)
"""Summand of ``CHANGE`` that is due to different denominators."""
ON_THE_WAY = ", rounded on the way as in the release"
MEAN_ACCURACY = Formula("mean accuracy", mean_accuracy)
ROBUSTNESS = Formula("mean of the four aspects of robustness", robustness)
SCORE = Formula("mean accuracy × robustness", lmentry_score)
ROBUSTNESS_ROUNDED = Formula(ROBUSTNESS.sentence + ON_THE_WAY, partial(robustness, rounded=True))
SCORE_ROUNDED = Formula(SCORE.sentence + ON_THE_WAY, partial(lmentry_score, rounded=True))


def as_released(formula: Formula, method: str) -> Formula:
    """Return a score's formula; for the method ``published``, the form that rounds percentages."""
    rounded = {ROBUSTNESS: ROBUSTNESS_ROUNDED, SCORE: SCORE_ROUNDED}
    return rounded.get(formula, formula) if method == PUBLISHED else formula
