"""Compute accuracies of baselines, which judge items without a model, such as by length.

``Baselines.read`` counts the items that each baseline gets right. ``cells`` makes the cells of a
table's row, in columns such as "Longer" (the longer sentence).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from blimpworks.analysis.baselines import BASELINES, baseline_rows, one_row_per_item
from blimpworks.benchmarks.exhibits.view import View, baseline, number_text
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import select_rows
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.items import ALL
from blimpworks.tables import ITEMS

COLUMN_NAMES = {name: text.capitalize() for name, text in BASELINES.items()}
"""Columns of exhibits, keyed by baseline."""
ITEM_COLUMNS = ["lang", "phenomenon", "paradigm", "good", "bad"]
ITEM_COLUMNS += ["item", "acceptable", "alternatives"]


@dataclass(frozen=True)
class Baselines:
    """Accuracies of baselines on the items that models were run on."""

    view: View
    rows: pd.DataFrame
    """Numbers of items (``n``) and of right answers, by paradigm and baseline."""

    @classmethod
    def read(cls, tables: Tables, view: View) -> "Baselines":
        """Count the items of each paradigm that each baseline gets right."""
        items = one_row_per_item(read_plain(ITEMS, tables.get("items"), ITEM_COLUMNS))
        return cls(view, baseline_rows(items[items["lang"].isin(view.languages)]))

    @property
    def columns(self) -> list[str]:
        return [name for key, name in COLUMN_NAMES.items() if key in {*self.rows["baseline"]}]

    def cells(self, lang: str, phenomenon: str, row: str, paradigm: str = ALL) -> Iterator[Cell]:
        """Yield the row's cells: accuracies of the baselines that decide the most items."""
        where: dict[str, Any] = {"lang": lang, "phenomenon": phenomenon, "paradigm": paradigm}
        where = {key: value for key, value in where.items() if value != ALL}
        sums = select_rows(self.rows, where).groupby("baseline")[["correct", "n"]].sum()
        for key, name in COLUMN_NAMES.items():
            if key in sums.index and sums["n"][key] == sums["n"].max():
                n, value = int(sums["n"][key]), 100 * sums["correct"][key] / sums["n"][key]
                text = number_text(value, ".1f")
                yield Cell(row, name, value, text, baseline(key), "items", where, n=n)

    def described(self) -> dict[str, list[str]]:
        """Return names of baselines, and of languages without word frequencies, for a caption."""
        baselines = self.rows["baseline"]
        with_pairs = {*self.rows["lang"][baselines == "longer"]}
        lacking = with_pairs - {*self.rows["lang"][baselines == "frequent"]}
        unknown = [name for lang, name in self.view.languages.items() if lang in lacking]
        return {"names": [key for key in COLUMN_NAMES if key in {*baselines}], "unknown": unknown}
