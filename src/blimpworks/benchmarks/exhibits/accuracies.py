"""Make the tables of accuracies of declared benchmarks, with baselines and people.

``phenomena`` and ``people`` make an exhibit (table) from the tables of a campaign: rows are
languages and phenomena, columns are models. Both are named in ``specs.tsv``. Baselines judge items
without a model, such as by the longer sentence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import pandas as pd

from blimpworks.analysis.baselines import BASELINES, baseline_rows, one_row_per_item
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
    baseline,
    correlate,
    correlation,
    number_text,
    read_view,
    with_interval,
    with_people,
)
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import Formula, select_rows
from blimpworks.exhibits.shared import SOURCE, Place, Tables, best_of_each, read_plain, where_of
from blimpworks.items import ALL
from blimpworks.tables import ITEMS

COLUMN_NAMES = {name: text.capitalize() for name, text in BASELINES.items()}
ITEM_COLUMNS = [
    *("lang", "phenomenon", "paradigm", "good", "bad", "item", "acceptable", "alternatives"),
]


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


NOTES = {
    "longer": "the longer sentence",
    "shorter": "the shorter one (in characters)",
    "frequent": "the one with the more frequent words (mean Zipf frequency of wordfreq)",
    "majority": "the commoner label of each paradigm",
    "chance": "one of an item's options by chance",
}
T = TypeVar("T")
BLOCK_MODELS, LAST_BLOCK_MODELS = 4, 2
"""Most models in a block of columns (printed one below another), and in one with baselines."""
FEWEST = 3
"""Fewest paradigms or phenomena of a correlation."""
COUNT, STUB_HEADING = "n", "Phenomenon"
UNIT_NAMES = {PARADIGM: "paradigms", PHENOMENON: "phenomena"}


def blocks(values: Sequence[T], size: int = BLOCK_MODELS) -> Iterator[list[T]]:
    """Split a sequence into lists of at most ``size`` values."""
    return ([*values[start : start + size]] for start in range(0, len(values), size))


def phenomenon_cells(view: View) -> Iterator[Cell]:
    """Yield the accuracy with interval of each language, phenomenon (``all`` last) and column."""
    for lang, phenomenon, row in view.lines():
        for column, models in view.columns.items():
            if cell := view.cell(view.rows_on(lang, phenomenon, models), (row, column)):
                yield with_interval(cell)


def _item_counts(view: View) -> dict[str, dict[str, str]]:
    """Return the number of items behind each row; a range ("42 to 50") if models differ in it."""
    counts = {}
    models = [model for column in view.columns.values() for model in column if model != HUMAN]
    for lang, phenomenon, row in view.lines():
        n = view.rows_at(lang, phenomenon, ALL, models)["n"]
        if lang in view.partial:
            n = view.rows_on(lang, phenomenon, models).groupby("model")["n"].sum()
        ends = dict.fromkeys((str(n.min()), str(n.max()))) if len(n) else {}
        counts[row] = {COUNT: " to ".join(ends)}
    return counts


def _sections(
    view: View, rows: Sequence[str], first: Sequence[str] = (), last: Sequence[str] = ()
) -> Iterator[Section]:
    """Yield a section of rows for each block of models and language.

    Each block begins with the columns ``first``, and the last block ends with the columns ``last``.
    """
    model_blocks = [*blocks([name for name in view.columns if name not in first])]
    if last and len(model_blocks[-1]) > LAST_BLOCK_MODELS:
        model_blocks.append([])  # a block of the columns ``last`` only
    model_blocks[-1] += last
    for block in model_blocks:
        columns = [COUNT, *first, *block]
        for lang, language in view.languages.items():
            prefix = view.prefix(lang)
            names_of = {language: language} if prefix else {}
            names_of |= {row: row.removeprefix(prefix) for row in rows if row.startswith(prefix)}
            yield Section(STUB_HEADING, names_of, columns)


def _bold_cells(cells: Sequence[Cell], view: View) -> set[tuple[str, str]]:
    models = {*view.columns} - {PEOPLE}
    return best_of_each(cells, models) if len(models) > 1 else set()


def phenomena(tables: Tables, labels: Labels) -> Exhibit:
    """Show accuracy by phenomenon and model, or by family of released models."""
    view = read_view(tables, labels)
    cells = [*phenomenon_cells(view)]
    rows, best = list(dict.fromkeys(cell.row for cell in cells)), _bold_cells(cells, view)
    baselines = Baselines.read(tables, view)
    for line in view.lines():
        cells += baselines.cells(*line)
    unit, means = labels.facts["benchmark"]["unit"], means_of_seeds(view)
    return Exhibit(
        **view.described("phenomena", unit=unit, means=means, baselines=baselines.note),
        cells=cells,
        stub=_item_counts(view),
        sections=[*_sections(view, rows, last=baselines.columns)],
        bold=best,
    )


def means_of_seeds(view: View) -> str:
    """Return the caption's sentence on columns that are means of several seeds, or ""."""
    if any(len(models) > 1 for models in view.columns.values()):
        return " Of a model with several seeds the mean of these, without an interval."
    return ""


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
    common, numbers = {}, {}
    for unit in UNIT_NAMES:
        common[unit] = {name: accuracies_by(rows, unit).dropna() for name, rows in rows_of.items()}
        numbers[unit] = max(map(len, common[unit].values()))
    units = [PARADIGM, PHENOMENON] if numbers[PARADIGM] != numbers[PHENOMENON] else [PARADIGM]
    cells: dict[str, list[Cell]] = {}
    for unit in units:
        if numbers[unit] < FEWEST:
            continue
        for coefficient in (PEARSON, SPEARMAN):
            row, formula = f"{coefficient} over {UNIT_NAMES[unit]}", correlation(coefficient, unit)
            for name, rows in rows_of.items():
                cell_key = f"{view.prefix(lang)}{row}", name
                # In partial languages people judged only some of the models' paradigms.
                is_partial = lang in view.partial
                accuracies = common[unit][name]
                if cell := correlation_cell(accuracies, rows, cell_key, formula, is_partial):
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


def people(tables: Tables, labels: Labels) -> Exhibit:
    """Show accuracy of people and models by phenomenon, and correlations of models with people."""
    view = with_people(read_view(tables, labels), tables)
    cells = [*phenomenon_cells(view)]
    by_unit = [correlations_with_people(view, lang).values() for lang in view.languages]
    alike = [*chain.from_iterable(chain.from_iterable(by_unit))]
    rows = list(dict.fromkeys(cell.row for cell in (*cells, *alike)))
    few = "" if alike else f" There are fewer than {FEWEST} paradigms to correlate."
    who = labels.facts["benchmark"].get("people", "")
    return Exhibit(
        **view.described("people", people=who, few=few, shared=view.shared),
        cells=[*cells, *alike],
        stub=_item_counts(view) | {cell.row: {COUNT: str(cell.n)} for cell in alike},
        sections=[*_sections(view, rows, [PEOPLE])],
        bold=_bold_cells(cells, view),
    )
