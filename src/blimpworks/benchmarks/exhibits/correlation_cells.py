"""Make the cells of correlations of accuracies: of two models, and of models with people.

``correlation_cell`` makes one cell from accuracies [unit, 2]; a unit is a paradigm or phenomenon.
``correlations_with_people`` makes the cells of all models: Pearson's r over paradigms, gpt2, 0.62.
"""

from itertools import product

import pandas as pd

from blimpworks.analysis.statistics import correlation_interval
from blimpworks.benchmarks.accuracies import HUMAN
from blimpworks.benchmarks.exhibits.view import (
    PARADIGM,
    PEARSON,
    PEOPLE,
    PHENOMENON,
    SPEARMAN,
    View,
    accuracies_by,
    correlate,
    correlation,
    number_text,
)
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import Formula, select_rows
from blimpworks.exhibits.shared import SOURCE, Place, where_of

FEWEST = 3
"""Fewest units of a correlation."""
UNIT_NAMES = {PARADIGM: "paradigms", PHENOMENON: "phenomena"}


def correlations_with_people(view: View, lang: str) -> dict[str, list[Cell]]:
    """Correlate the accuracies of each model with those of people, in a language.

    Returns the cells of Pearson's and Spearman's correlations, keyed by "paradigm" and, if their
    numbers differ, "phenomenon". A correlation over fewer than ``FEWEST`` units has no cell.
    """
    rows_of: dict[str, pd.DataFrame] = {}  # of a model and people, by the model's column
    for column, models in view.columns.items():
        if column != PEOPLE:
            where = {"lang": lang, "model": [models[0], HUMAN]}
            rows_of[column] = select_rows(view.rows, where)
    common: dict[str, dict[str, pd.DataFrame]] = {}  # accuracies, by unit and column
    for unit in UNIT_NAMES:
        common[unit] = {name: accuracies_by(rows, unit).dropna() for name, rows in rows_of.items()}
    paradigms, phenomena = (max(map(len, by_column.values())) for by_column in common.values())
    cells: dict[str, list[Cell]] = {}
    for unit in [*UNIT_NAMES] if paradigms != phenomena else [PARADIGM]:
        for coefficient, (column, rows) in product((PEARSON, SPEARMAN), rows_of.items()):
            row, formula = f"{coefficient} over {UNIT_NAMES[unit]}", correlation(coefficient, unit)
            cell_key = f"{view.prefix(lang)}{row}", column
            # In partial languages people judged only some of the models' paradigms.
            is_partial = lang in view.partial
            if cell := correlation_cell(common[unit][column], rows, cell_key, formula, is_partial):
                cells.setdefault(unit, []).append(cell)
    return cells


def correlation_cell(
    accuracies: pd.DataFrame,
    rows: pd.DataFrame,
    key: Place,
    formula: Formula,
    names_paradigms: bool = False,
) -> Cell | None:
    """Make the cell of a correlation of two models; Pearson's has Fisher's interval.

    ``accuracies`` [unit, 2] are computed from ``rows``; if ``names_paradigms``, the cell's filter
    lists the units. Returns None for too few units, or if a model's accuracies are equal.
    """
    coefficient, n = formula.arguments["coefficient"], len(accuracies.dropna())
    value = correlate(accuracies, coefficient) if n >= FEWEST else float("nan")
    if pd.isna(value):
        return None
    low, high = correlation_interval(value, n) if coefficient == PEARSON else (None, None)
    filters = where_of(rows).items()
    where = {name: values for name, values in filters if names_paradigms or name not in UNIT_NAMES}
    text = number_text(value, ".2f")
    return Cell(*key, value, text, formula, SOURCE, where, n=n, low=low, high=high)
