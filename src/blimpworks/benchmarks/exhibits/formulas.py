"""Formulas of the exhibits of declared benchmarks: functions from rows to the number of a cell.

``@formula`` has the sentence that describes a formula, with parameters in braces:
``mean_effect("gap")`` is the formula "mean of the effect gap". A value in a sentence is one word,
unless a keyword argument allows any text (``PHRASE``) or the texts of a ``choice``.

Rows are accuracies for ``correlation``, ``OF_PARADIGMS`` and ``POOLED``. They are items for
``baseline``, and judgements for the others.
"""

import numpy as np
import pandas as pd

from blimpworks.exhibits.formulas import PHRASE, Formula, choice, formula
from blimpworks.items import ALL

PEARSON, SPEARMAN = "Pearson's r", "Spearman's ρ"
PARADIGM, PHENOMENON = "paradigm", "phenomenon"
COEFFICIENTS = choice({name: name for name in (PEARSON, SPEARMAN)})


def accuracies_by(rows: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Return accuracies [paradigm or phenomenon, model], NaN where a model has none."""
    chosen = rows[rows[PARADIGM] != ALL]
    if unit == PHENOMENON:
        # Use the rows of phenomena if all models have them; otherwise average over paradigms.
        phenomena = rows[(rows[PARADIGM] == ALL) & (rows[PHENOMENON] != ALL)]
        if {*phenomena["model"]} == {*rows["model"]}:
            chosen = phenomena
    keys = ["lang", PHENOMENON] + ([PARADIGM] if unit == PARADIGM else [])
    wide = chosen.pivot_table(index=keys, columns="model", values="accuracy")
    return wide.reindex(columns=sorted({*rows["model"]}))


def correlate(accuracies: pd.DataFrame, coefficient: str) -> float:
    """Correlate two columns over rows with both; NaN for fewer than two, and a constant column."""
    complete = accuracies.dropna()
    values = (complete.rank() if coefficient == SPEARMAN else complete).to_numpy(float)
    # Equal accuracies can differ by rounding.
    if len(values) < 2 or (np.ptp(values, axis=0) < 1e-12).any():
        return float("nan")
    return float(np.corrcoef(values, rowvar=False)[0, 1])


@formula("{coefficient} of two models' accuracies, {unit} by {unit}", coefficient=COEFFICIENTS)
def correlation(rows: pd.DataFrame, coefficient: str, unit: str) -> float:
    """Correlate the accuracies of two models over their common paradigms or phenomena."""
    return correlate(accuracies_by(rows, unit), coefficient)


@formula("100 × share of items that the baseline {name} gets right")
def baseline(rows: pd.DataFrame, name: str) -> float:
    """Compute a baseline's accuracy in percent; an item with equal sentences is half right."""
    from blimpworks.analysis.baselines import baseline_rows, one_row_per_item

    counts = baseline_rows(one_row_per_item(rows))
    chosen = counts[counts["baseline"] == name]
    return float(100 * chosen["correct"].sum() / chosen["n"].sum())


def rated(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return two columns, ``column`` and ``rating``, of the judged items that people rated."""
    if "rating" not in rows:
        return pd.DataFrame(columns=[column, "rating"], dtype=float)
    return rows.loc[rows["correct"].notna(), [column, "rating"]].dropna()


@formula("{coefficient} of {column} and rating", coefficient=COEFFICIENTS)
def correlation_with_rating(rows: pd.DataFrame, coefficient: str, column: str) -> float:
    """Correlate a column of judgements with people's ratings, over items that have both."""
    return correlate(rated(rows, column), coefficient)


@formula("number of rows with {column} and rating")
def rated_count(rows: pd.DataFrame, column: str) -> float:
    """Count the judged items that people rated."""
    return float(len(rated(rows, column)))


def _matthews(rows: pd.DataFrame) -> float:
    from blimpworks.benchmarks.verdicts import matthews_correlation

    judged = rows[rows["correct"].notna()]
    acceptable, accepted = (judged[name].to_numpy(bool) for name in ("acceptable", "accepted"))
    both = (acceptable & accepted).sum()
    return float(matthews_correlation(len(judged), acceptable.sum(), accepted.sum(), both))


def effects_in(rows: pd.DataFrame, name: str) -> pd.Series:
    """Return the values of an effect [nats], in the rows whose ``effect_names`` list it."""
    effects = rows[["effect_names", "effects"]].dropna().explode(["effect_names", "effects"])
    return effects["effects"][effects["effect_names"] == name].astype(float).dropna()


@formula("mean of the effect {name}", name=PHRASE)
def mean_effect(rows: pd.DataFrame, name: str) -> float:
    """Average an effect over the rows that have it."""
    return float(effects_in(rows, name).mean())


@formula("number of rows with the effect {name}", name=PHRASE)
def effect_count(rows: pd.DataFrame, name: str) -> int:
    """Count the rows that have an effect."""
    return len(effects_in(rows, name))


OF_PARADIGMS = Formula(
    "100 × mean of the accuracies of single paradigms",
    lambda rows: float(100 * rows["accuracy"][rows[PARADIGM] != ALL].mean()),
)
POOLED = Formula(
    "100 × sum(correct) ÷ sum(n)", lambda rows: 100 * rows["correct"].sum() / rows["n"].sum()
)
MATTHEWS = Formula("Matthews' correlation of acceptable and accepted", _matthews)
VERDICT_COUNT = Formula("number of rows with a verdict", lambda rows: rows["correct"].notna().sum())
UNRATED = Formula(
    "number of rows with a verdict and without rating",
    lambda rows: rows["correct"].notna().sum() - len(rated(rows, "correct")),
)
WRONG = Formula("number of rows where correct is 0", lambda rows: (rows["correct"] == 0).sum())
