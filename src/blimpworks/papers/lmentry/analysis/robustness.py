"""Measure a model's robustness to irrelevant differences, and its LMentry score.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3, appendix A.2 and Table 8.

All functions take accuracies of one model on one language. ``phenomenon``: a task or subset of
arguments, as Tables 34 to 51 name them; ``paradigm``: ``all``, ``template=2``, ``answer=1`` (the
first or second of two arguments is right), or both, ``template=2/answer=1``.

The release rounds intermediate percentages: accuracies of tasks and answers to a hundredth, those
of templates to a tenth, robustness to a tenth before multiplication. This decides printed digits:
Table 4's score is the mean of tasks times Table 5's robustness in all 157 cases that have all
tasks; without this rounding, 66 could end in another digit.
"""

from collections.abc import Sequence

import pandas as pd

from blimpworks.papers.lmentry.tasks import ADJACENT, ORDERED, SUBSETS, TASKS, WHOLE

PUBLISHED = "published"
"""Method whose accuracies are shares of the settings' numbers of prompts."""
OF_TEMPLATES, OF_TASKS = 1, 2
"""Decimals of percentages that the release keeps on the way."""


def _gap(accuracies: Sequence[float], decimals: int | None = None) -> float:
    if len(accuracies) < 2:
        return 100.0
    points = [100 * accuracy for accuracy in accuracies]
    if decimals is not None:
        points = [round(point, decimals) for point in points]
    return 100 - (max(points) - min(points))


def _mean(gaps: Sequence[float]) -> float:
    return sum(gaps) / len(gaps) if gaps else float("nan")


def _between_cases(
    rows: pd.DataFrame, kind: str, tasks: Sequence[str], decimals: int | None
) -> list[float]:
    """Return each task's gap between templates or answers, their prompts pooled."""
    case = rows["paradigm"].astype(str).str.extract(rf"(?:^|/){kind}=([^/]+)", expand=False)
    rows_with_case = rows[case.notna() & rows["phenomenon"].isin(tasks)]
    keys = [rows_with_case["phenomenon"].astype(str), case[rows_with_case.index]]
    hits = rows_with_case["accuracy"] * rows_with_case["n"]
    sums = rows_with_case[["n"]].astype(float).assign(hits=hits).groupby(keys).sum()
    if kind == "template" and "method" in rows:
        # In tasks on two arguments the release divides templates by the settings' numbers of
        # prompts, while these accuracies are of judged prompts. A whole task is a share of the
        # settings' numbers, equal for all templates, so its accuracy yields them.
        published = rows[rows["method"] == PUBLISHED]
        whole = published[(published["paradigm"] == WHOLE) & published["phenomenon"].isin(ORDERED)]
        for task, accuracy in zip(whole["phenomenon"].astype(str), whole["accuracy"], strict=True):
            if accuracy > 0 and task in sums.index:
                of_task = sums["hits"][task]
                sums.loc[task, "n"] = float(of_task.sum() / accuracy / len(of_task))
    pooled = sums["hits"] / sums["n"]
    return [_gap([*accuracies], decimals) for _, accuracies in pooled.groupby(level=0)]


def aspects(rows: pd.DataFrame, *, rounded: bool = False) -> dict[str, float]:
    """Return the four aspects of robustness in percent, of one model and language.

    ``order``, ``template``: mean over tasks of 100 less the largest difference between cases;
    ``content``: the same between subsets of arguments, 100 for a language with less than two;
    ``adjacent``: over pairs of tasks. In the method ``published`` templates are shares of the
    settings' numbers, answers of the judged prompts. NaN if no task has cases. ``rounded`` rounds
    accuracies first, as the release does.
    """
    of_templates, of_tasks = (OF_TEMPLATES, OF_TASKS) if rounded else (None, None)
    rows = rows.reset_index(drop=True)
    task_accuracies = rows[rows["paradigm"] == WHOLE].set_index("phenomenon")["accuracy"].to_dict()
    content = [
        [task_accuracies[f"{task}_{name}"] for name in names if f"{task}_{name}" in task_accuracies]
        for task, names in SUBSETS.items()
    ]
    adjacent = [
        [task_accuracies[a], task_accuracies[b]]
        for a, b in ADJACENT
        if a in task_accuracies and b in task_accuracies
    ]
    return {
        "order": _mean(_between_cases(rows, "answer", ORDERED, of_tasks)),
        "content": _mean([_gap(accuracies, of_tasks) for accuracies in content]),
        "template": _mean(_between_cases(rows, "template", TASKS, of_templates)),
        "adjacent": _mean([_gap(pair, of_tasks) for pair in adjacent]),
    }


def robustness(rows: pd.DataFrame, *, rounded: bool = False) -> float:
    """Return the mean of the aspects in percent, NaN if one is; ``rounded`` to a tenth."""
    mean = sum(aspects(rows, rounded=rounded).values()) / 4
    return round(mean, 1) if rounded else mean


def mean_accuracy(rows: pd.DataFrame) -> float:
    """Return the unweighted mean over the language's tasks, in percent."""
    whole_tasks = rows[(rows["paradigm"] == WHOLE) & rows["phenomenon"].isin(TASKS)]
    return float(100 * whole_tasks["accuracy"].mean())


def lmentry_score(rows: pd.DataFrame, *, rounded: bool = False) -> float:
    """Return mean accuracy times robustness, in percent; ``rounded`` is for robustness."""
    return mean_accuracy(rows) * robustness(rows, rounded=rounded) / 100
