"""Table 3's overall accuracies again, from its accuracies on the three resource groups.

Source: Jumelet, Weissweiler, Nivre and Bisazza (2025), Table 3.
"""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import select_rows
from blimpworks.papers.multiblimp.exhibits.formulas import weighted_values

PAIRS = {"low": 44_077, "mid": 49_294, "high": 27_934}
"""Pairs of each resource group: the release's numbers by language, in the groups that GlotCC's
characters make (``analysis.frequencies``). They are no fit to Table 3; one gives nearly the same
shares."""
SOME_LANGUAGES = {"goldfish"}
"""Models that exist for some of the languages only, whose pairs are others."""


def overall_cells(printed: pd.DataFrame, model: str, name: str, column: str) -> Iterator[Cell]:
    """A model's accuracy on all pairs, from those on each group, weighted by their pairs.

    ``printed`` is print; ``name`` and ``column`` are where the cell stands, in the files of values
    alone. Nothing of a model that covers some languages only.
    """
    if model in SOME_LANGUAGES:
        return
    where = {"exhibit": "table3", "row": model, "column": [*PAIRS]}
    formula = weighted_values(**PAIRS, total=sum(PAIRS.values()))
    rows = select_rows(printed, where)
    if len(rows) == len(PAIRS):
        value = formula(rows)
        cell = Cell(name, column, value, f"{value:.1f}", formula, "published", where)
        yield replace(cell, n=sum(PAIRS.values()), stands_for=(model, ALL), printed=False)
