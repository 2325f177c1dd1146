"""The formulas of cells: from the rows a cell selects to its value.

An exhibit names one of these for each cell, and ``blimpworks explain`` applies it again to
the rows themselves, so a printed number can always be recomputed.
"""

import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from blimpworks.papers.blimp.exhibits.formulas import FORMULAS as BLIMP
from blimpworks.papers.clams.exhibits.formulas import FORMULAS as CLAMS
from blimpworks.papers.clams.exhibits.formulas import parametric as clams_parametric
from blimpworks.papers.lmentry.exhibits.formulas import LMENTRY
from blimpworks.papers.multiblimp.analysis.leaders import LEAD_BELOW, leads
from blimpworks.papers.urblimp.exhibits import formulas as urblimp

ENOUGH_PAIRS = 10
COUNT = "number of rows"
TEXT = "text of the row"
"""Of a cell whose text stands for itself: its value is the number of texts, 1."""
TOTAL = "sum of n"
ACCURACY = "100 × mean(correct)"
KINDS = "number of languages"
VALUES = "sum of value"
LANGUAGES = f"number of languages with at least {ENOUGH_PAIRS} rows"
WEIGHTED = "100 × sum of accuracy × n ÷ sum of n"
UNWEIGHTED = "100 × mean(accuracy)"
MEAN = "mean of value"
PARADIGMS = "number of paradigms"
QUOTIENT = "100 × first value ÷ second value"
DIFFERENCE = "first value − second value"
COMPLEMENT = "1 − value of the row"
LEADS = f"number of languages that model_a leads, p < {LEAD_BELOW} against the next"


def _languages(rows: pd.DataFrame) -> float:
    return float((rows["lang"].value_counts() >= ENOUGH_PAIRS).sum())


def share(value: str) -> str:
    """Formula: the part of the counts whose verb has a value."""
    return f"count where verb_value is {value} ÷ sum of count"


def ratio(n: int) -> str:
    """Formula: the sum of n, divided by a number from outside."""
    return f"{TOTAL} ÷ {n}"


def weighted_values(weights: Mapping[str, int]) -> str:
    """Formula: the mean of columns' values, each weighted by a number from outside."""
    parts = " + ".join(f"{weight} × {column}" for column, weight in weights.items())
    return f"({parts}) ÷ {sum(weights.values())}"


def of_row(column: str) -> str:
    """Formula: what the only row has in a column."""
    return f"{column} of the row"


def truncated(formula: str, decimals: int) -> str:
    """Formula: another one, with all digits after some decimals cut off."""
    return f"{formula}, truncated to {decimals} decimals"


def wins(below: float) -> str:
    """Formula: in how many languages the first model of a comparison is the better one."""
    return f"number of rows where accuracy_a > accuracy_b and p < {below}"


def win_share(below: float) -> str:
    """Formula: the same, in percent of the languages."""
    return f"100 × share of rows where accuracy_a > accuracy_b and p < {below}"


def won(rows: pd.DataFrame, below: float) -> pd.Series:
    """Comparisons, by row, in which the first model is the better one."""
    return (rows["accuracy_a"] > rows["accuracy_b"]) & (rows["p"] < below)


def _weighted(rows: pd.DataFrame) -> float:
    return float(100 * (rows["accuracy"] * rows["n"]).sum() / rows["n"].sum())


def _quotient(rows: pd.DataFrame) -> float:
    return float(100 * rows["value"].iloc[0] / rows["value"].iloc[1])


def _weighted_values(rows: pd.DataFrame, parts: str, total: int) -> float:
    values = rows.set_index("column")["value"]
    weights = (part.split(" × ") for part in parts.split(" + "))
    return float(sum(int(weight) * values[column] for weight, column in weights) / total)


def _value(rows: pd.DataFrame, column: str) -> float:
    return float(rows[column].item())


def _wins(rows: pd.DataFrame, below: float) -> float:
    return float(won(rows, below).sum())


def _win_share(rows: pd.DataFrame, below: float) -> float:
    return float(100 * won(rows, below).mean())


def _share(rows: pd.DataFrame, value: str) -> float:
    return float(rows["count"][rows["verb_value"] == value].sum() / rows["count"].sum())


def truncate(value: float, decimals: int) -> float:
    """A positive number without its digits after some decimals.

    What floating point leaves just below a digit counts as that digit.
    """
    unit: float = 10**decimals
    return math.floor(value * unit + 1e-9) / unit


def _truncated(
    rows: pd.DataFrame, formula: Callable[[pd.DataFrame], float], decimals: int
) -> float:
    return truncate(formula(rows), decimals)


def _ratio(rows: pd.DataFrame, n: int) -> float:
    return float(rows["n"].sum() / n)


PATTERNS: dict[str, Callable[..., Callable[[pd.DataFrame], float]]] = {
    share("(.+)"): lambda value: partial(_share, value=value),
    rf"{TOTAL} ÷ (\d+)": lambda n: partial(_ratio, n=int(n)),
    r"\((\d+ × .+)\) ÷ (\d+)": lambda parts, total: partial(
        _weighted_values, parts=parts, total=int(total)
    ),
    of_row("(.+)"): lambda column: partial(_value, column=column),
    truncated("(.+)", 0).replace("0", r"(\d+)"): lambda formula, decimals: partial(
        _truncated, formula=FORMULAS[formula], decimals=int(decimals)
    ),
}
"""Formulas with a value in their name, and what makes them from it."""


class _Formulas(dict[str, Callable[[pd.DataFrame], float]]):
    """Formulas by name; those with a value in their name are made when looked up."""

    def __missing__(self, name: str) -> Callable[[pd.DataFrame], float]:
        for pattern, make in PATTERNS.items():
            if found := re.fullmatch(pattern, name):
                return make(*found.groups())
        for phrase, function in ((wins, _wins), (win_share, _win_share)):
            before, _, after = phrase(0.5).partition("0.5")
            if name.startswith(before):
                return partial(function, below=float(name[len(before) :].removesuffix(after)))
        if formula := clams_parametric(name) or urblimp.named(name):
            return formula
        raise KeyError(name)


FORMULAS: dict[str, Callable[[pd.DataFrame], float]] = _Formulas(
    {
        COUNT: lambda rows: float(len(rows)),
        TEXT: lambda rows: float(len(rows)),
        TOTAL: lambda rows: float(rows["n"].sum()),
        ACCURACY: lambda rows: float(100 * rows["correct"].mean()),
        VALUES: lambda rows: float(rows["value"].sum()),
        KINDS: lambda rows: float(rows["lang"].nunique()),
        LANGUAGES: _languages,
        WEIGHTED: _weighted,
        UNWEIGHTED: lambda rows: float(100 * rows["accuracy"].mean()),
        QUOTIENT: _quotient,
        DIFFERENCE: lambda rows: float(rows["value"].iloc[0] - rows["value"].iloc[1]),
        COMPLEMENT: lambda rows: float(1 - rows["value"].item()),
        LEADS: lambda rows: float(len(leads(rows))),
        MEAN: lambda rows: float(rows["value"].mean()),
        PARADIGMS: lambda rows: float(rows["paradigm"].nunique()),
        **BLIMP,
        **CLAMS,
        **LMENTRY,
    }
    | urblimp.FORMULAS
)


def takes_as_printed(formula: str) -> bool:
    """Whether rounded rows are just what a formula is about: that they are adds no doubt."""
    return urblimp.takes_as_printed(formula)


def select_rows(rows: pd.DataFrame, where: dict[str, Any]) -> pd.DataFrame:
    """Rows whose columns have the wanted value, or one of the wanted values.

    Columns that the rows don't have (the path already decided them) are passed over.
    """
    for column, wanted in where.items():
        if column in rows:
            values = wanted if isinstance(wanted, list) else [wanted]
            rows = rows[rows[column].isin(values)]
    return rows
