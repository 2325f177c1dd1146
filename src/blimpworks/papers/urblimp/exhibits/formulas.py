"""Formulas that only UrBLiMP's exhibits use; ``exhibits.formulas`` has them among all others.

Those that compare models take either rows of accuracies, or printed numbers with a model as
row and a phenomenon as column.
"""

import re
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import pandas as pd

from blimpworks.papers.urblimp.exhibits import rating_formulas

Formula = Callable[[pd.DataFrame], float]
MACRO = "100 × mean over phenomena of mean(accuracy)"
IMPLIED = "smallest n of which every accuracy is a share"
PARADIGM_COUNT = "number of paradigms"
PAPER_TOTAL = "sum of value, or of corrected where there is no value"
TEST = "by Wilcoxon's signed-rank test over phenomena"
PARADIGM_TEST = "by Wilcoxon's signed-rank test over paradigms"
SIGNED_RANK = f"two-sided p of two models {TEST}"
PARADIGM_RANK = f"two-sided p of two models {PARADIGM_TEST}"
BITS = "sum of bits"
BITS_PER_TOKEN = "sum of bits ÷ sum of tokens"
EACH_OTHER, TUNED = "all pairs of models", "base models and their -it"
"""Which tests Holm's correction is over."""


def holm_of(first: str, second: str, among: str, test: str = TEST) -> str:
    """Formula: p of the test of two models, corrected for all that are done ``among`` models."""
    return f"Holm-corrected p of {first} and {second} among {among}, {test}"


def significant(below: float | str, among: str) -> str:
    """Formula: how many of the tests ``among`` models are significant after Holm's correction."""
    return f"number of Holm-corrected p < {below} among {among}, {TEST}"


def above(limit: float | str) -> str:
    """Formula: how many accuracies are higher."""
    return f"number of rows where accuracy > {limit}"


def below(limit: float | str) -> str:
    """Formula: how many accuracies are lower."""
    return f"number of rows where accuracy < {limit}"


def ahead(model: str) -> str:
    """Formula: on how many paradigms a model is better than each of the others."""
    return f"number of paradigms where {model} has the highest accuracy alone"


def percent_of(column: str) -> str:
    """Formula: a number of pairs in percent of all."""
    return f"100 × sum of {column} ÷ sum of n"


def phenomenon_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Percentages [phenomenon, model]: means of the paradigms' accuracies, or as printed.

    Models are in order of appearance.
    """
    if "accuracy" not in rows:
        wide = rows.pivot(index="column", columns="row", values="value")
        return wide[list(dict.fromkeys(rows["row"]))]
    means = rows.groupby(["phenomenon", "model"], sort=False)["accuracy"].mean()
    return 100 * means.unstack()[list(dict.fromkeys(rows["model"]))]


def paradigm_scores(rows: pd.DataFrame) -> pd.DataFrame:
    """Percentages [paradigm, model]; models are in order of appearance."""
    wide = rows.pivot(index="paradigm", columns="model", values="accuracy")
    return 100 * wide[list(dict.fromkeys(rows["model"]))]


def tested_scores(rows: pd.DataFrame, test: str) -> pd.DataFrame:
    """What a test is on: percentages [phenomenon or paradigm, model]."""
    return paradigm_scores(rows) if test == PARADIGM_TEST else phenomenon_scores(rows)


def pairs_among(models: Any, among: str) -> list[tuple[str, str]]:
    """Pairs of ``models`` that are tested: each two, or each base model with its tuned one."""
    if among == EACH_OTHER:
        return list(combinations(models, 2))
    return [(model, f"{model}-it") for model in models if f"{model}-it" in models]


def corrected_tests(rows: pd.DataFrame, among: str, test: str = TEST) -> pd.DataFrame:
    """The tests ``among`` the models of some rows, as ``compare_scores`` has them."""
    from blimpworks.papers.urblimp.analysis.signed_rank import (
        compare_scores,
    )  # heavy: scipy, statsmodels

    scores = tested_scores(rows, test)
    return compare_scores(scores, pairs_among(list(scores.columns), among))


def _signed_rank(rows: pd.DataFrame, test: str = TEST) -> float:
    from blimpworks.papers.urblimp.analysis.signed_rank import compare_scores

    scores = tested_scores(rows, test)
    first, second = scores.columns
    return float(compare_scores(scores, [(first, second)])["p"].item())


def _holm(rows: pd.DataFrame, first: str, second: str, among: str, test: str = TEST) -> float:
    found = corrected_tests(rows, among, test)
    pairs = zip(found["first"], found["second"], strict=True)
    wanted = [{*pair} == {first, second} for pair in pairs]
    return float(found["holm"][wanted].item())


def _significant(rows: pd.DataFrame, limit: float, among: str) -> float:
    return float((corrected_tests(rows, among)["holm"] < limit).sum())


def _macro(rows: pd.DataFrame) -> float:
    return float(100 * rows.groupby("phenomenon")["accuracy"].mean().mean())


def _implied(rows: pd.DataFrame) -> float:
    from blimpworks.analysis.shares import implied_denominator

    found = implied_denominator(rows["accuracy"], rows["rounding"])
    return float("nan") if found is None else float(found)


def _percent(rows: pd.DataFrame, column: str) -> float:
    return float(100 * rows[column].sum() / rows["n"].sum())


def _ahead(rows: pd.DataFrame, model: str) -> float:
    wide = rows.pivot(index="paradigm", columns="model", values="accuracy")
    return float((wide[model] > wide.drop(columns=model).max(axis=1)).sum())


def _total(rows: pd.DataFrame) -> float:
    return float(rows["value"].fillna(rows["corrected"]).astype(float).sum())


def takes_as_printed(formula: str) -> bool:
    """Whether a formula is about rounded numbers: it allows for rounding, or tests them as such.

    The paper's tests are on the cells of Table 4. p is no smooth function of them, so how far
    rounding moves it has no meaning.
    """
    return formula == IMPLIED or TEST in formula or PARADIGM_TEST in formula


FORMULAS: dict[str, Formula] = {
    MACRO: _macro,
    IMPLIED: _implied,
    PAPER_TOTAL: _total,
    SIGNED_RANK: _signed_rank,
    PARADIGM_RANK: partial(_signed_rank, test=PARADIGM_TEST),
    **rating_formulas.FORMULAS,
    BITS: lambda rows: float(rows["bits"].sum()),
    BITS_PER_TOKEN: lambda rows: float(rows["bits"].sum() / rows["tokens"].sum()),
}


NUMBER, WORD = r"([\d.]+)", r"(\S+)"
PATTERNS: tuple[tuple[str, Callable[..., Formula]], ...] = (
    (
        holm_of(WORD, WORD, "(.+)"),
        lambda first, second, among: partial(_holm, first=first, second=second, among=among),
    ),
    (
        holm_of(WORD, WORD, "(.+)", PARADIGM_TEST),
        lambda first, second, among: partial(
            _holm, first=first, second=second, among=among, test=PARADIGM_TEST
        ),
    ),
    (
        significant(NUMBER, "(.+)"),
        lambda limit, among: partial(_significant, limit=float(limit), among=among),
    ),
    (
        above(NUMBER),
        lambda limit: lambda rows: float((rows["accuracy"] > float(limit)).sum()),
    ),
    (
        below(NUMBER),
        lambda limit: lambda rows: float((rows["accuracy"] < float(limit)).sum()),
    ),
    (percent_of(r"(\w+)"), lambda column: partial(_percent, column=column)),
    (ahead(WORD), lambda model: partial(_ahead, model=model)),
    *rating_formulas.PATTERNS,
)
"""Formulas with values in their names, and how they are made of these."""


def named(name: str) -> Formula | None:
    """The formula of a name with values in it; None if this module has none of that name."""
    for pattern, make in PATTERNS:
        if found := re.fullmatch(pattern, name):
            return make(*found.groups())
    return None
