"""Compute accuracies of baselines, which judge items without a model, such as by length."""

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
ITEM_COLUMNS = [
    *("lang", "phenomenon", "paradigm", "good", "bad", "item", "acceptable", "alternatives"),
]
NOTES = {
    "longer": "the longer sentence",
    "shorter": "the shorter one (in characters)",
    "frequent": "the one with the more frequent words (mean Zipf frequency of wordfreq)",
    "majority": "the commoner label of each paradigm",
    "chance": "one of an item's options by chance",
}


@dataclass(frozen=True)
class Baselines:
    """Accuracies of baselines on the items that models were run on."""

    view: View
    rows: pd.DataFrame

    @classmethod
    def read(cls, tables: Tables, view: View) -> "Baselines":
        """Count the items of each paradigm that each baseline gets right."""
        items = one_row_per_item(read_plain(ITEMS, tables.get("items"), ITEM_COLUMNS))
        return cls(view, baseline_rows(items[items["lang"].isin(view.languages)]))

    @property
    def columns(self) -> list[str]:
        return [name for key, name in COLUMN_NAMES.items() if key in {*self.rows["baseline"]}]

    def cells(self, lang: str, phenomenon: str, row: str, paradigm: str = ALL) -> Iterator[Cell]:
        """Yield the accuracies of baselines on a phenomenon or paradigm.

        Left out are baselines that cannot decide as many of its items as another baseline can.
        """
        where: dict[str, Any] = {"lang": lang, "phenomenon": phenomenon, "paradigm": paradigm}
        where = {key: value for key, value in where.items() if value != ALL}
        sums = select_rows(self.rows, where).groupby("baseline")[["correct", "n"]].sum()
        for key, name in COLUMN_NAMES.items():
            if key in sums.index and sums["n"][key] == sums["n"].max():
                n, value = int(sums["n"][key]), 100 * sums["correct"][key] / sums["n"][key]
                text = number_text(value, ".1f")
                yield Cell(row, name, value, text, baseline(key), "items", where, n=n)

    @property
    def note(self) -> str:
        """Caption's sentences on the baselines; "" without baselines."""
        if self.rows.empty:
            return ""
        with_pairs = {*self.rows["lang"][self.rows["baseline"] == "longer"]}
        lacking = with_pairs - {*self.rows["lang"][self.rows["baseline"] == "frequent"]}
        unknown = [name for lang, name in self.view.languages.items() if lang in lacking]
        without = f" wordfreq gives no frequencies of {', '.join(unknown)} here." if unknown else ""
        notes = ", ".join(NOTES[key] for key, name in COLUMN_NAMES.items() if name in self.columns)
        return f" Last, baselines by the items alone, equal ones half: {notes}.{without}"
