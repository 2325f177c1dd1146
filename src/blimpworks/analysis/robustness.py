"""How far a model's accuracy depends on what should not matter: robustness and LMentry score.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3, appendix A.2 and Table 8.

Everything is computed from accuracies of one model on one language. Their ``phenomenon`` is a
task or one of its subsets of arguments, as Tables 34 to 51 name them; their ``paradigm`` is
``all``, or says which of the prompts: ``template=2``, ``answer=1`` (whether the first or the
second of two arguments is right), or both, ``template=2/answer=1``.
"""

from collections.abc import Iterable, Sequence

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.lmentry.tasks import ADJACENT, ORDERED, SUBSETS, TASKS


def _gap(accuracies: Sequence[float]) -> float:
    """100 less the largest difference, in points; 100 where there is nothing to compare."""
    return 100 * (1 - (max(accuracies) - min(accuracies))) if len(accuracies) > 1 else 100.0


def _mean(gaps: Iterable[float]) -> float:
    found = list(gaps)
    return sum(found) / len(found) if found else float("nan")


def _cases(rows: pd.DataFrame, kind: str) -> list[float]:
    """Accuracies of one task by template or by answer: the prompts of a case are pooled."""
    case = rows["paradigm"].str.extract(rf"(?:^|/){kind}=([^/]+)", expand=False)
    known = rows[case.notna()].assign(case=case, hits=rows["accuracy"] * rows["n"])
    sums = known.groupby("case")[["hits", "n"]].sum()
    return list(sums["hits"] / sums["n"])


def aspects(rows: pd.DataFrame) -> dict[str, float]:
    """The four aspects of robustness in percent, of one model and language.

    ``order``, ``template``: mean over tasks of 100 less the largest difference between the
    cases; ``content``: the same between subsets of arguments, 100 where a language has less
    than two; ``adjacent``: over pairs of tasks. Not a number where no task has cases.
    """
    whole = rows[rows["paradigm"] == ALL].set_index("phenomenon")["accuracy"].to_dict()
    tasks = {str(name): part for name, part in rows.groupby("phenomenon", observed=True)}
    order = [_cases(tasks[task], "answer") for task in ORDERED if task in tasks]
    template = [_cases(tasks[task], "template") for task in TASKS if task in tasks]
    content = [
        [whole[f"{task}_{name}"] for name in names if f"{task}_{name}" in whole]
        for task, names in SUBSETS.items()
    ]
    adjacent = [[whole[a], whole[b]] for a, b in ADJACENT if a in whole and b in whole]
    return {
        "order": _mean(_gap(cases) for cases in order if cases),
        "content": _mean(map(_gap, content)),
        "template": _mean(_gap(cases) for cases in template if cases),
        "adjacent": _mean(map(_gap, adjacent)),
    }


def robustness(rows: pd.DataFrame) -> float:
    """Mean of the four aspects, in percent; not a number where one cannot be measured."""
    return sum(aspects(rows).values()) / 4


def mean_accuracy(rows: pd.DataFrame) -> float:
    """Unweighted mean over the tasks that the language has, in percent."""
    whole = rows[(rows["paradigm"] == ALL) & rows["phenomenon"].isin(TASKS)]
    return float(100 * whole["accuracy"].mean())


def lmentry_score(rows: pd.DataFrame) -> float:
    """Mean accuracy times robustness, in percent."""
    return mean_accuracy(rows) * robustness(rows) / 100
