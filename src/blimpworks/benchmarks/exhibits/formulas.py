"""Compute numbers of exhibits of declared benchmarks: correlations, counts, effects."""

import numpy as np
import pandas as pd

from blimpworks.benchmarks.declaration import ALL
from blimpworks.exhibits.formulas import PHRASE, Formula, choice, formula

PEARSON, SPEARMAN = "Pearson's r", "Spearman's ρ"
PARADIGM, PHENOMENON = "paradigm", "phenomenon"
COEFFICIENTS = choice({name: name for name in (PEARSON, SPEARMAN)})
UNITS = {PARADIGM: ["lang", PHENOMENON, PARADIGM], PHENOMENON: ["lang", PHENOMENON]}
"""Columns that tell one paradigm, or phenomenon, from another."""


def accuracies_by(rows: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Return accuracies [paradigm or phenomenon, model], NaN where a model has none.

    A phenomenon has its own row's accuracy if every model has such rows, else its paradigms' mean.
    """
    by_paradigm = rows[rows[PARADIGM] != ALL]
    if unit == PHENOMENON:
        by_phenomenon = rows[(rows[PARADIGM] == ALL) & (rows[PHENOMENON] != ALL)]
        by_paradigm = (
            by_phenomenon if {*by_phenomenon["model"]} == {*rows["model"]} else by_paradigm
        )
    wide = by_paradigm.pivot_table(
        index=UNITS[unit], columns="model", values="accuracy", aggfunc="mean"
    )
    return wide.reindex(columns=sorted({*rows["model"]}))


def correlate(accuracies: pd.DataFrame, coefficient: str) -> float:
    """Correlate two columns over common rows; NaN for fewer than two, or a single value."""
    both = accuracies.dropna()
    values = (both.rank() if coefficient == SPEARMAN else both).to_numpy(float)
    # Floating point leaves a little of the spread of values that are all the same.
    if len(values) < 2 or (np.ptp(values, axis=0) < 1e-12).any():
        return float("nan")
    return float(np.corrcoef(values, rowvar=False)[0, 1])


@formula("{coefficient} of two models' accuracies, {unit} by {unit}", coefficient=COEFFICIENTS)
def correlation(rows: pd.DataFrame, coefficient: str, unit: str) -> float:
    """Correlate the accuracies of two models over their common paradigms or phenomena."""
    return correlate(accuracies_by(rows, unit), coefficient)


@formula("100 × share of items that the baseline {name} gets right")
def baseline(rows: pd.DataFrame, name: str) -> float:
    """Compute a baseline's accuracy in percent; equal sentences count half."""
    from blimpworks.analysis.baselines import baseline_rows, one_row_per_item

    counts = baseline_rows(one_row_per_item(rows))
    chosen = counts[counts["baseline"] == name]
    return float(100 * chosen["correct"].sum() / chosen["n"].sum())


def rated(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return values in a column and people's ratings [judged and rated items, 2]."""
    if "rating" not in rows:
        return pd.DataFrame(columns=[column, "rating"], dtype=float)
    return rows.loc[rows["correct"].notna(), [column, "rating"]].dropna()


@formula("{coefficient} of {column} and rating", coefficient=COEFFICIENTS)
def with_rating(rows: pd.DataFrame, coefficient: str, column: str) -> float:
    """Correlate a column of judgements with people's ratings, over items that have both."""
    return correlate(rated(rows, column), coefficient)


@formula("number of rows with {column} and rating")
def rated_count(rows: pd.DataFrame, column: str) -> float:
    """Count the items of a correlation with ratings."""
    return float(len(rated(rows, column)))


def _matthews(rows: pd.DataFrame) -> float:
    from blimpworks.benchmarks.verdicts import matthews

    judged = rows[rows["correct"].notna()]
    masks = (judged[name].to_numpy(bool) for name in ("acceptable", "accepted"))
    return matthews(*masks)


def effects_in(rows: pd.DataFrame, name: str) -> pd.Series:
    """Return the values of an effect [nats], of the rows that have one."""
    named = zip(rows["effect_names"], rows["effects"], strict=True)
    pairs = ((names, values) for names, values in named if names is not None and values is not None)
    values = [
        dict(zip(names, effect_values, strict=True)).get(name) for names, effect_values in pairs
    ]
    return pd.Series(values, dtype=float).dropna()


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
JUDGED = Formula("number of rows with a verdict", lambda rows: rows["correct"].notna().sum())
UNRATED = Formula(
    "number of rows with a verdict and without rating",
    lambda rows: rows["correct"].notna().sum() - len(rated(rows, "correct")),
)
WRONG = Formula("number of rows where correct is 0", lambda rows: (rows["correct"] == 0).sum())
