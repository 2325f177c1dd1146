"""Formulas over people's ratings of UrBLiMP's pairs; see ``urblimp.validation.kappas``."""

from collections.abc import Callable
from functools import partial

import pandas as pd

Formula = Callable[[pd.DataFrame], float]
PAIRS = "number of pairs"
KAPPAS = {
    "published": "Fleiss' kappa of the sentence chosen",
    "corrected": "Fleiss' kappa of right and wrong",
    "free": "Randolph's free-marginal kappa",
}
UNANIMOUS = "100 × share of unanimous pairs"
AGREEMENT = "100 × share of couples of judgements of a pair that agree"
INCOMPLETE = "number of pairs without"


def over(formula: str, per_pair: int | str) -> str:
    """Formula: another one, over the pairs that have just so many judgements."""
    return f"{formula}, over pairs with {per_pair} judgements"


def without(per_pair: int | str) -> str:
    """Formula: how many pairs have more or fewer judgements."""
    return f"{INCOMPLETE} {per_pair} judgements"


def total(column: str) -> str:
    """Formula: the sum of a column of participants."""
    return f"sum of {column}"


def _kappa(rows: pd.DataFrame, per_pair: int, name: str) -> float:
    from blimpworks.papers.urblimp.validation import kappas  # heavy: scipy, statsmodels

    return float(getattr(kappas, name)(rows, per_pair))


def _sizes(rows: pd.DataFrame) -> pd.Series:
    sizes: pd.Series = rows.groupby("item_id").size()
    return sizes


def _complete(rows: pd.DataFrame, per_pair: int) -> float:
    return float((_sizes(rows) == per_pair).sum())


def _incomplete(rows: pd.DataFrame, per_pair: int) -> float:
    return float((_sizes(rows) != per_pair).sum())


def _sum(rows: pd.DataFrame, column: str) -> float:
    return float(rows[column].sum())


def _agreement(rows: pd.DataFrame, per_pair: int) -> float:
    from blimpworks.papers.urblimp.validation.kappas import agreements

    return float(100 * agreements(rows, per_pair).mean())


def _unanimous(rows: pd.DataFrame, per_pair: int) -> float:
    from blimpworks.papers.urblimp.validation.kappas import agreements

    return float(100 * (agreements(rows, per_pair) == 1).mean())


OVER: dict[str, Callable[..., float]] = {
    **{formula: partial(_kappa, name=name) for name, formula in KAPPAS.items()},
    PAIRS: _complete,
    UNANIMOUS: _unanimous,
    AGREEMENT: _agreement,
}
NUMBER = r"(\d+)"


def _of_complete(function: Callable[..., float]) -> Callable[[str], Formula]:
    return lambda per_pair: partial(function, per_pair=int(per_pair))


PATTERNS: tuple[tuple[str, Callable[..., Formula]], ...] = (
    *((over(formula, NUMBER), _of_complete(function)) for formula, function in OVER.items()),
    (without(NUMBER), _of_complete(_incomplete)),
    (
        total("(checks|passed)"),
        lambda column: partial(_sum, column=column),
    ),
)
"""Formulas with a number in their names, and how they are made of it."""
FORMULAS: dict[str, Formula] = {PAIRS: lambda rows: float(rows["item_id"].nunique())}
