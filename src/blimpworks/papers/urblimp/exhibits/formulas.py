"""Formulas of UrBLiMP's tables and figures: functions from rows to the number that a cell shows.

Readers see the sentence of a formula beside the number. ``@formula`` has the sentence, with
placeholders for arguments: the sentence of ``above(0.9)`` is "number of rows where accuracy > 0.9".
``takes_as_printed`` formulas take rounded numbers as exact.

Rows are accuracies (model, phenomenon, paradigm, accuracy from 0 to 1, n pairs), judgements of
people (item_id, chose_good), printed numbers (of Table 4, row: model, column: phenomenon, value in
percent), or counts and bits of the tables of lengths.
"""

import math
from itertools import combinations

import pandas as pd

from blimpworks.exhibits.formulas import PHRASE, Formula, choice, formula, sum_of
from blimpworks.papers.urblimp.phenomena import KAPPAS

BY_PHENOMENON, BY_PARADIGM = "phenomenon", "paradigm"
"""A test's unit of observation, as the column of accuracies that names it."""
OVER = choice({"phenomena": BY_PHENOMENON, "paradigms": BY_PARADIGM})
"""Phrases of the units in sentences of formulas."""
EACH_OTHER, TUNED = "all pairs of models", "base models and their -it"
"""Names of sets of tests that Holm corrects together. ``TUNED`` has a test of each model whose
name with "-it" is also a model: gemma-3-4b and gemma-3-4b-it."""
TEST = "by Wilcoxon's signed-rank test over {over}"


def scores_by(rows: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Return accuracies in percent by ``unit`` (rows) and model (columns, in order of ``rows``)."""
    # Numbers of Table 4 are by phenomenon, and in percent already.
    if "accuracy" not in rows:
        wide = rows.pivot(index="column", columns="row", values="value")
        return wide[list(dict.fromkeys(rows["row"]))]
    means = rows.groupby([unit, "model"], sort=False)["accuracy"].mean()
    return 100 * means.unstack()[list(dict.fromkeys(rows["model"]))]


def corrected_tests(rows: pd.DataFrame, among: str, over: str = BY_PHENOMENON) -> pd.DataFrame:
    """Return a row for each test of the set ``among``: first, second, n, p and holm."""
    # scipy and statsmodels are slow to import.
    from blimpworks.papers.urblimp.analysis import compare_scores

    scores = scores_by(rows, over)
    models = [*scores.columns]
    pairs = [*combinations(models, 2)]
    if among == TUNED:
        pairs = [(model, f"{model}-it") for model in models if f"{model}-it" in models]
    return compare_scores(scores, pairs)


# Rounding is not propagated: the paper tests rounded cells, and p is no smooth function of them.
@formula(f"two-sided p of two models {TEST}", takes_as_printed=True, over=OVER)
def signed_rank(rows: pd.DataFrame, over: str = BY_PHENOMENON) -> float:
    """Compute p of the test between the only two models of ``rows``."""
    from blimpworks.papers.urblimp.analysis import compare_scores

    scores = scores_by(rows, over)
    first, second = scores.columns
    return float(compare_scores(scores, [(first, second)])["p"].item())


@formula(
    f"Holm-corrected p of {{first}} and {{second}} among {{among}}, {TEST}",
    takes_as_printed=True,
    among=PHRASE,
    over=OVER,
)
def holm_of(
    rows: pd.DataFrame, first: str, second: str, among: str, over: str = BY_PHENOMENON
) -> float:
    """Compute p of the test between two models, corrected for all tests of the set ``among``."""
    tests = corrected_tests(rows, among, over)
    forward = (tests["first"] == first) & (tests["second"] == second)
    backward = (tests["first"] == second) & (tests["second"] == first)
    return float(tests["holm"][forward | backward].item())


@formula(
    f"number of Holm-corrected p < {{below}} among {{among}}, {TEST}",
    takes_as_printed=True,
    among=PHRASE,
    over=OVER,
)
def significant(rows: pd.DataFrame, below: float, among: str, over: str = BY_PHENOMENON) -> float:
    """Count the tests of the set ``among`` with a corrected p ``below`` this level."""
    return float((corrected_tests(rows, among, over)["holm"] < below).sum())


@formula("number of rows where accuracy > {limit}")
def above(rows: pd.DataFrame, limit: float) -> float:
    """Count the accuracies above a limit."""
    return float((rows["accuracy"] > limit).sum())


@formula("number of rows where accuracy < {limit}")
def below(rows: pd.DataFrame, limit: float) -> float:
    """Count the accuracies below a limit."""
    return float((rows["accuracy"] < limit).sum())


@formula("number of paradigms where {model} has the highest accuracy alone")
def ahead(rows: pd.DataFrame, model: str) -> float:
    """Count the paradigms on which ``model`` is better than all other models."""
    wide = rows.pivot(index="paradigm", columns="model", values="accuracy")
    return float((wide[model] > wide.drop(columns=model).max(axis=1)).sum())


@formula("100 × sum of {column} ÷ sum of n")
def percent_of(rows: pd.DataFrame, column: str) -> float:
    """Return the number of pairs in ``column``, in percent of all pairs (``n``)."""
    return float(100 * rows[column].sum() / rows["n"].sum())


def _implied(rows: pd.DataFrame) -> float:
    from blimpworks.analysis.statistics import implied_denominator

    return implied_denominator(rows["accuracy"], rows["rounding"]) or math.nan


def macro_weights(rows: pd.DataFrame) -> pd.Series:
    """Return the weights of one model's rows: ¼, ¼, ½ for phenomena of two paradigms and of one."""
    sizes = rows.groupby("phenomenon")["phenomenon"].transform("size")
    return 1 / (sizes * rows["phenomenon"].nunique())


MACRO = Formula(
    "100 × mean over phenomena of mean(accuracy)",
    lambda rows: 100 * (macro_weights(rows) * rows["accuracy"]).sum(),
)
# ``implied_denominator`` gets the rounding of accuracies, so comparisons need not propagate it.
IMPLIED = Formula("smallest n of which every accuracy is a share", _implied, takes_as_printed=True)
PAPER_TOTAL = Formula(
    "sum of value, or of corrected where there is no value",
    lambda rows: rows["value"].astype(float).fillna(rows["corrected"].astype(float)).sum(),
)
BITS = sum_of("bits")
BITS_PER_TOKEN = Formula(
    "sum of bits ÷ sum of tokens", lambda rows: rows["bits"].sum() / rows["tokens"].sum()
)
OVER_PAIRS = ", over pairs with {per_pair} judgements"
NUMBER_OF_PAIRS = Formula("number of pairs", lambda rows: rows["item_id"].nunique())


@formula(
    "{name}" + OVER_PAIRS, name=choice({row["sentence"]: name for name, row in KAPPAS.items()})
)
def kappa(rows: pd.DataFrame, name: str, per_pair: int) -> float:
    """Compute a kappa (see ``KAPPAS``) over the pairs with ``per_pair`` judgements."""
    from blimpworks.papers.urblimp import analysis

    return analysis.kappa(name, rows, per_pair)


@formula("number of pairs" + OVER_PAIRS)
def complete(rows: pd.DataFrame, per_pair: int) -> float:
    """Count the pairs with ``per_pair`` judgements."""
    return float((rows.groupby("item_id").size() == per_pair).sum())


@formula("number of pairs without {per_pair} judgements")
def incomplete(rows: pd.DataFrame, per_pair: int) -> float:
    """Count the pairs with more or fewer judgements."""
    return float((rows.groupby("item_id").size() != per_pair).sum())


@formula("100 × share of couples of judgements of a pair that agree" + OVER_PAIRS)
def agreement(rows: pd.DataFrame, per_pair: int) -> float:
    """Compute the percentage of couples of a pair's judgements that agree, averaged over pairs."""
    from blimpworks.papers.urblimp.analysis import agreements

    return float(100 * agreements(rows, per_pair).mean())


@formula("100 × share of unanimous pairs" + OVER_PAIRS)
def unanimous(rows: pd.DataFrame, per_pair: int) -> float:
    """Compute the percentage of pairs on which all judgements agree."""
    from blimpworks.papers.urblimp.analysis import agreements

    return float(100 * (agreements(rows, per_pair) == 1).mean())
