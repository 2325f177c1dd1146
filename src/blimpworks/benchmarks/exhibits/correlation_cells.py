"""Make the cells of correlations: of two models, and of models with people."""

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
"""Fewest paradigms or phenomena of a correlation."""
UNIT_NAMES = {PARADIGM: "paradigms", PHENOMENON: "phenomena"}


def correlations_with_people(view: View, lang: str) -> dict[str, list[Cell]]:
    """Correlate models' with people's accuracies in a language.

    Returns the cells of Pearson's and Spearman's correlations over paradigms, and over phenomena if
    their number differs, keyed by "paradigm" and "phenomenon". There are none for fewer than
    ``FEWEST`` values.
    """
    rows_of = {
        name: select_rows(view.rows, {"lang": lang, "model": [models[0], HUMAN]})
        for name, models in view.columns.items()
        if name != PEOPLE
    }
    common = {
        unit: {name: accuracies_by(rows, unit).dropna() for name, rows in rows_of.items()}
        for unit in UNIT_NAMES
    }
    paradigms, phenomena = (max(map(len, by_name.values())) for by_name in common.values())
    cells: dict[str, list[Cell]] = {}
    for unit in [*UNIT_NAMES] if paradigms != phenomena else [PARADIGM]:
        for coefficient, (name, rows) in product((PEARSON, SPEARMAN), rows_of.items()):
            row, formula = f"{coefficient} over {UNIT_NAMES[unit]}", correlation(coefficient, unit)
            cell_key = f"{view.prefix(lang)}{row}", name
            # In partial languages people judged only some of the models' paradigms.
            is_partial = lang in view.partial
            if cell := correlation_cell(common[unit][name], rows, cell_key, formula, is_partial):
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

    ``accuracies`` are [paradigm or phenomenon, 2], from ``rows``; if ``names_paradigms``, the
    cell's filter lists these paradigms. Returns None for fewer than ``FEWEST`` accuracies, and for
    equal ones.
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
