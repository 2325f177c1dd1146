"""Formulas over people's ratings of UrBLiMP's pairs; see ``urblimp.validation.kappas``."""

import pandas as pd

from blimpworks.exhibits.formulas import Formula, choice, formula

OVER = ", over pairs with {per_pair} judgements"
KAPPAS = {
    "Fleiss' kappa of the sentence chosen": "published",
    "Fleiss' kappa of right and wrong": "corrected",
    "Randolph's free-marginal kappa": "free",
}
"""Names of kappas, by what sentences call them."""
PAIRS = Formula("number of pairs", lambda rows: rows["item_id"].nunique())


@formula("{name}" + OVER, name=choice(KAPPAS))
def kappa(rows: pd.DataFrame, name: str, per_pair: int) -> float:
    """A kappa, over the pairs that have just so many judgements."""
    from blimpworks.papers.urblimp.validation import kappas  # heavy: scipy, statsmodels

    return float(getattr(kappas, name)(rows, per_pair))


@formula("number of pairs" + OVER)
def complete(rows: pd.DataFrame, per_pair: int) -> float:
    """How many pairs have just so many judgements."""
    return float((rows.groupby("item_id").size() == per_pair).sum())


@formula("number of pairs without {per_pair} judgements")
def incomplete(rows: pd.DataFrame, per_pair: int) -> float:
    """How many pairs have more or fewer judgements."""
    return float((rows.groupby("item_id").size() != per_pair).sum())


@formula("100 × share of couples of judgements of a pair that agree" + OVER)
def agreement(rows: pd.DataFrame, per_pair: int) -> float:
    """How many couples of judgements agree, in percent, mean of the pairs."""
    from blimpworks.papers.urblimp.validation.kappas import agreements

    return float(100 * agreements(rows, per_pair).mean())


@formula("100 × share of unanimous pairs" + OVER)
def unanimous(rows: pd.DataFrame, per_pair: int) -> float:
    """How many pairs all judgements agree on, in percent."""
    from blimpworks.papers.urblimp.validation.kappas import agreements

    return float(100 * (agreements(rows, per_pair) == 1).mean())
