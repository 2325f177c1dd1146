"""Baselines beside accuracies of models: what items alone say, by language and phenomenon."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.analysis.baselines import BASELINES, baseline_rows, compared
from blimpworks.benchmarks.exhibits.formulas import baseline
from blimpworks.benchmarks.exhibits.view import View, number_text
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.tables import ITEMS

NAMES = {name: text.capitalize() for name, text in BASELINES.items()}
"""Headings of columns."""
COLUMNS = ["lang", "phenomenon", "paradigm", "good", "bad", "item", "acceptable", "alternatives"]


@dataclass(frozen=True)
class Baselines:
    """How many items of each paradigm each baseline gets right."""

    view: View
    rows: pd.DataFrame

    @classmethod
    def read(cls, tables: Tables, view: View) -> "Baselines":
        """Those of the items that models were run on; none where only print is shown."""
        items = compared(read_plain(ITEMS, tables.get("items"), COLUMNS))
        return cls(view, baseline_rows(items[items["lang"].isin(view.languages)]))

    @property
    def columns(self) -> list[str]:
        """Headings of the baselines that there are."""
        return [name for key, name in NAMES.items() if key in {*self.rows["baseline"]}]

    def cells(self, lang: str, phenomenon: str, row: str, paradigm: str = ALL) -> Iterator[Cell]:
        """What those baselines get right that know all items of a phenomenon or paradigm."""
        where: dict[str, Any] = {"lang": lang, "phenomenon": phenomenon, "paradigm": paradigm}
        where = {key: value for key, value in where.items() if value != ALL}
        own = self.rows
        for key, value in where.items():
            own = own[own[key] == value]
        sums = own.groupby("baseline")[["correct", "n"]].sum()
        for key, name in NAMES.items():
            if key in sums.index and sums["n"][key] == sums["n"].max():
                n, value = int(sums["n"][key]), 100 * sums["correct"][key] / sums["n"][key]
                text = number_text(value, ".1f")
                yield Cell(row, name, value, text, baseline(key), "items", where, n=n)

    @property
    def note(self) -> str:
        """A caption's sentences on what the baselines are; empty without any."""
        if self.rows.empty:
            return ""
        known = {*self.rows["lang"][self.rows["baseline"] == "frequent"]}
        pairs = {*self.rows["lang"][self.rows["baseline"] == "longer"]}
        unknown = [name for lang, name in self.view.languages.items() if lang in pairs - known]
        without = f" wordfreq gives no frequencies of {', '.join(unknown)} here." if unknown else ""
        said = " ".join(NOTES[key] for key, name in NAMES.items() if name in self.columns)
        return f" Last, baselines by the items alone, equal ones half: {said}.{without}"


NOTES = {
    "longer": "the longer sentence,",
    "shorter": "the shorter one (in characters),",
    "frequent": "the one with the more frequent words (mean Zipf frequency of wordfreq)",
    "majority": "the commoner label of each paradigm",
    "chance": "one of an item's options by chance",
}
"""What baselines are, by their name."""
