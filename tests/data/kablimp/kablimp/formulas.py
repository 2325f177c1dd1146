"""Formulas of KabLiMP's exhibits."""

import pandas as pd

from blimpworks.exhibits.formulas import formula


@formula("100 × mean({column}) over paradigms")
def mean_percent(rows: pd.DataFrame, column: str) -> float:
    """The mean of a column in percent, each paradigm counting once."""
    return float(100 * rows[column].mean())


PERCENT = mean_percent("accuracy")
