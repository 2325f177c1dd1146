"""The formulas of cells: from the rows a cell selects to its value.

An exhibit names one of these for each cell, and ``blimpworks explain`` applies it again to
the rows themselves, so a printed number can always be recomputed.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

ENOUGH_PAIRS = 10
COUNT = "number of rows"
TOTAL = "sum of n"
ACCURACY = "100 × mean(correct)"
LANGUAGES = f"number of languages with at least {ENOUGH_PAIRS} rows"


def _languages(rows: pd.DataFrame) -> float:
    return float((rows["lang"].value_counts() >= ENOUGH_PAIRS).sum())


FORMULAS: dict[str, Callable[[pd.DataFrame], float]] = {
    COUNT: lambda rows: float(len(rows)),
    TOTAL: lambda rows: float(rows["n"].sum()),
    ACCURACY: lambda rows: float(100 * rows["correct"].mean()),
    LANGUAGES: _languages,
}


def select_rows(rows: pd.DataFrame, where: dict[str, Any]) -> pd.DataFrame:
    """Rows whose columns have the wanted value, or one of the wanted values.

    Columns that the rows don't have (the path already decided them) are passed over.
    """
    for column, wanted in where.items():
        if column in rows:
            values = wanted if isinstance(wanted, list) else [wanted]
            rows = rows[rows[column].isin(values)]
    return rows
