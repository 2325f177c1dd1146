"""Formulas of MultiBLiMP's exhibits: conditions of agreement, and models that are better."""

import pandas as pd

from blimpworks.exhibits.formulas import PHRASE, Formula, formula

LEAD_BELOW = 0.1


def leads(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Find models that lead a language, p < ``LEAD_BELOW`` against the next best.

    Each is ahead of every other model; its row is that of the closest (largest p on ties).
    """
    # Differences of the same number of pairs can differ in the last bits of the quotients.
    lead = (comparisons["accuracy_a"] - comparisons["accuracy_b"]).round(9)
    ranked = comparisons.assign(lead=lead).sort_values(
        ["lang", "model_a", "lead", "p", "model_b"], ascending=[True, True, True, False, True]
    )
    closest = ranked.drop_duplicates(["lang", "model_a"])
    leading = closest[(closest["lead"] > 0) & (closest["p"] < LEAD_BELOW)]
    return leading.drop(columns="lead")


ENOUGH_PAIRS = 10
"""Pairs of a condition with which a language counts (section 6.1)."""


@formula("count where verb_value is {value} ÷ sum of count", value=PHRASE)
def share(rows: pd.DataFrame, value: str) -> float:
    """Return the share of counts whose verb has a value."""
    return float(rows["count"][rows["verb_value"] == value].sum() / rows["count"].sum())


@formula("sum of n ÷ {n}")
def ratio(rows: pd.DataFrame, n: int) -> float:
    """Divide the sum of n by a number from outside."""
    return float(rows["n"].sum() / n)


@formula("({low} × low + {mid} × mid + {high} × high) ÷ {total}")
def weighted_values(rows: pd.DataFrame, low: int, mid: int, high: int, total: int) -> float:
    """Return the mean of the resource groups' values, weighted."""
    values = rows.set_index("column")["value"]
    return float((low * values["low"] + mid * values["mid"] + high * values["high"]) / total)


@formula("number of rows where accuracy_a > accuracy_b and p < {below}")
def wins(rows: pd.DataFrame, below: float) -> float:
    """Count languages in which the first model of a comparison is significantly better."""
    return float(won(rows, below).sum())


@formula("100 × share of rows where accuracy_a > accuracy_b and p < {below}")
def win_share(rows: pd.DataFrame, below: float) -> float:
    """Percentage of languages in which the first model of a comparison is significantly better."""
    return float(100 * won(rows, below).mean())


def won(rows: pd.DataFrame, below: float) -> pd.Series:
    """Mark comparisons in which the first model is significantly better."""
    return (rows["accuracy_a"] > rows["accuracy_b"]) & (rows["p"] < below)


LANGUAGES = Formula(
    f"number of languages with at least {ENOUGH_PAIRS} rows",
    lambda rows: (rows["lang"].value_counts() >= ENOUGH_PAIRS).sum(),
)
WEIGHTED = Formula(
    "100 × sum of accuracy × n ÷ sum of n",
    lambda rows: 100 * (rows["accuracy"] * rows["n"]).sum() / rows["n"].sum(),
)
DIFFERENCE = Formula(
    "first value − second value", lambda rows: rows["value"].iloc[0] - rows["value"].iloc[1]
)
LEADS = Formula(
    f"number of languages that model_a leads, p < {LEAD_BELOW} against the next",
    lambda rows: len(leads(rows)),
)
