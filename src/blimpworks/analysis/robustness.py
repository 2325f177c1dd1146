"""How far a model's accuracy depends on what should not matter: robustness and LMentry score.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3, appendix A.2 and Table 8.

Everything is computed from accuracies of one model on one language. Their ``phenomenon`` is a
task or one of its subsets of arguments, as Tables 34 to 51 name them; their ``paradigm`` is
``all``, or says which of the prompts: ``template=2``, ``answer=1`` (whether the first or the
second of two arguments is right), or both, ``template=2/answer=1``.
"""

from collections.abc import Sequence

import pandas as pd

from blimpworks.lmentry.tasks import ADJACENT, ORDERED, SUBSETS, TASKS, WHOLE


def _gap(accuracies: Sequence[float]) -> float:
    """100 less the largest difference, in points; 100 where there is nothing to compare."""
    return 100 * (1 - (max(accuracies) - min(accuracies))) if len(accuracies) > 1 else 100.0


def _mean(gaps: Sequence[float]) -> float:
    return sum(gaps) / len(gaps) if gaps else float("nan")


def _between_cases(rows: pd.DataFrame, kind: str, tasks: Sequence[str]) -> list[float]:
    """The gap of each task that has them between templates or answers, their prompts pooled."""
    case = rows["paradigm"].astype(str).str.extract(rf"(?:^|/){kind}=([^/]+)", expand=False)
    known = rows[case.notna() & rows["phenomenon"].isin(tasks)]
    keys = [known["phenomenon"].astype(str), case[known.index]]
    sums = known[["n"]].assign(hits=known["accuracy"] * known["n"]).groupby(keys).sum()
    pooled = sums["hits"] / sums["n"]
    return [_gap([*found]) for _, found in pooled.groupby(level=0)]


def aspects(rows: pd.DataFrame) -> dict[str, float]:
    """The four aspects of robustness in percent, of one model and language.

    ``order``, ``template``: mean over tasks of 100 less the largest difference between the
    cases; ``content``: the same between subsets of arguments, 100 where a language has less
    than two; ``adjacent``: over pairs of tasks. Not a number where no task has cases.
    """
    rows = rows.reset_index(drop=True)
    whole = rows[rows["paradigm"] == WHOLE].set_index("phenomenon")["accuracy"].to_dict()
    content = [
        [whole[f"{task}_{name}"] for name in names if f"{task}_{name}" in whole]
        for task, names in SUBSETS.items()
    ]
    adjacent = [[whole[a], whole[b]] for a, b in ADJACENT if a in whole and b in whole]
    return {
        "order": _mean(_between_cases(rows, "answer", ORDERED)),
        "content": _mean([*map(_gap, content)]),
        "template": _mean(_between_cases(rows, "template", TASKS)),
        "adjacent": _mean([*map(_gap, adjacent)]),
    }


def robustness(rows: pd.DataFrame) -> float:
    """Mean of the four aspects, in percent; not a number where one cannot be measured."""
    return sum(aspects(rows).values()) / 4


def mean_accuracy(rows: pd.DataFrame) -> float:
    """Unweighted mean over the tasks that the language has, in percent."""
    whole = rows[(rows["paradigm"] == WHOLE) & rows["phenomenon"].isin(TASKS)]
    return float(100 * whole["accuracy"].mean())


def lmentry_score(rows: pd.DataFrame) -> float:
    """Mean accuracy times robustness, in percent."""
    return mean_accuracy(rows) * robustness(rows) / 100
