"""Make the tables of accuracies of declared benchmarks, with baselines and people.

``phenomena`` and ``people`` take the campaign's tables of accuracies and items, and the names to
print, and return an exhibit: a table with rows for languages and phenomena, and columns for models.
``Baselines`` and ``correlation_cell`` make cells for figures too. A baseline judges items without a
model, such as by length. A correlation is over accuracies of units: paradigms or phenomena.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, TypeVar

import pandas as pd

from blimpworks.analysis.baselines import BASELINES, baseline_rows, one_row_per_item
from blimpworks.analysis.statistics import correlation_interval
from blimpworks.benchmarks.accuracies import HUMAN
from blimpworks.benchmarks.exhibits import formulas
from blimpworks.benchmarks.exhibits import view as views
from blimpworks.benchmarks.exhibits.formulas import PARADIGM, PEARSON, PHENOMENON, SPEARMAN
from blimpworks.benchmarks.exhibits.view import PEOPLE, View
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import Formula, select_rows
from blimpworks.exhibits.shared import SOURCE, Place, Tables, best_of_each, read_plain, where_of
from blimpworks.items import ALL
from blimpworks.tables import ITEMS

T = TypeVar("T")
BLOCK_MODELS, LAST_BLOCK_MODELS = 4, 2
"""Most models in a block of columns, and in a block with baselines; blocks are below each other."""


def blocks(values: Sequence[T], size: int = BLOCK_MODELS) -> Iterator[list[T]]:
    """Split a sequence into lists of at most ``size`` values."""
    return ([*values[start : start + size]] for start in range(0, len(values), size))


def phenomenon_cells(view: View) -> Iterator[Cell]:
    """Yield the accuracy with interval of each language, phenomenon (``all`` last) and column."""
    for lang, phenomenon, row in view.row_keys():
        for column, models in view.columns.items():
            rows = view.phenomenon_rows(lang, phenomenon, models)
            if cell := view.cell(rows, (row, column)):
                yield views.with_interval(cell)


def _item_counts(view: View) -> dict[str, dict[str, str]]:
    """Return the column of numbers of items, by row; "42 to 50" if models have different items."""
    counts = {}
    models = [model for model in chain(*view.columns.values()) if model != HUMAN]
    for lang, phenomenon, row in view.row_keys():
        n = view.paradigm_rows(lang, phenomenon, ALL, models)["n"]
        if lang in view.partial_languages:  # it has no row over all items of a phenomenon
            n = view.phenomenon_rows(lang, phenomenon, models).groupby("model")["n"].sum()
        text = "" if n.empty else f"{n.min()} to {n.max()}"
        counts[row] = {views.COUNT: str(n.min()) if n.nunique() == 1 else text}
    return counts


def _sections(
    view: View, rows: Sequence[str], first: Sequence[str] = (), last: Sequence[str] = ()
) -> Iterator[Section]:
    """Yield sections by block and language: all blocks have ``first``, the last also ``last``."""
    model_blocks = [*blocks([name for name in view.columns if name not in first])]
    if last and len(model_blocks[-1]) > LAST_BLOCK_MODELS:
        model_blocks.append([])  # a block of the columns ``last`` only
    model_blocks[-1] += last
    for block in model_blocks:
        columns = [views.COUNT, *first, *block]
        for lang, language in view.languages.items():
            prefix = view.prefix(lang)
            names = {language: language} if prefix else {}  # {key of the row: printed name}
            names |= {row: row.removeprefix(prefix) for row in rows if row.startswith(prefix)}
            yield Section("Phenomenon", names, columns)


def _bold_cells(cells: Sequence[Cell], view: View) -> set[tuple[str, str]]:
    models = {*view.columns} - {PEOPLE}
    return best_of_each(cells, models) if len(models) > 1 else set()


COLUMN_NAMES = {name: text.capitalize() for name, text in BASELINES.items()}
"""Heading of a baseline's column, by the baseline's name."""
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
        """Yield the row's cells: accuracies of the baselines that judge all of its items."""
        where: dict[str, Any] = {"lang": lang, "phenomenon": phenomenon, "paradigm": paradigm}
        where = {key: value for key, value in where.items() if value != ALL}
        sums = select_rows(self.rows, where).groupby("baseline")[["correct", "n"]].sum()
        for key, name in COLUMN_NAMES.items():
            if key in sums.index and sums["n"][key] == sums["n"].max():
                n, value = int(sums["n"][key]), 100 * sums["correct"][key] / sums["n"][key]
                text = views.number_text(value, ".1f")
                yield Cell(row, name, value, text, formulas.baseline(key), "items", where, n=n)

    def described(self) -> dict[str, list[str]]:
        """Return names of baselines, and of languages without word frequencies, for a caption."""
        baselines = self.rows["baseline"]
        # All languages with pairs have the baseline "longer", and those with a list "frequent".
        with_pairs = {*self.rows["lang"][baselines == "longer"]}
        without_list = with_pairs - {*self.rows["lang"][baselines == "frequent"]}
        unknown = [name for lang, name in self.view.languages.items() if lang in without_list]
        return {"names": [key for key in COLUMN_NAMES if key in {*baselines}], "unknown": unknown}


FEWEST = 3
"""Fewest units of a correlation."""
UNIT_NAMES = {PARADIGM: "paradigms", PHENOMENON: "phenomena"}


def correlations_with_people(view: View, lang: str) -> dict[str, list[Cell]]:
    """Correlate the accuracies of each model with those of people, in a language.

    Returns the cells of Pearson's and Spearman's correlations by unit: "paradigm" and, unless there
    are as many phenomena as paradigms, "phenomenon". No cell has fewer than ``FEWEST`` units.
    """
    rows_by_column: dict[str, pd.DataFrame] = {}  # of a model and people, by the model's column
    for column, models in view.columns.items():
        if column != PEOPLE:
            where = {"lang": lang, "model": [models[0], HUMAN]}
            rows_by_column[column] = select_rows(view.rows, where)
    accuracies: dict[str, dict[str, pd.DataFrame]] = {}  # {unit: {column: accuracies [unit, 2]}}
    for unit, (column, rows) in product(UNIT_NAMES, rows_by_column.items()):
        accuracies.setdefault(unit, {})[column] = formulas.accuracies_by(rows, unit).dropna()
    most_units = {unit: max(map(len, by_column.values())) for unit, by_column in accuracies.items()}
    are_as_many = most_units[PARADIGM] == most_units[PHENOMENON]
    cells: dict[str, list[Cell]] = {}
    for unit in [PARADIGM] if are_as_many else UNIT_NAMES:
        for coefficient, (column, rows) in product((PEARSON, SPEARMAN), rows_by_column.items()):
            key = f"{view.prefix(lang)}{coefficient} over {UNIT_NAMES[unit]}", column
            formula = formulas.correlation(coefficient, unit)
            # In a partial language the table of accuracies has more units than the correlation.
            is_partial = lang in view.partial_languages
            if cell := correlation_cell(accuracies[unit][column], rows, key, formula, is_partial):
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
    value = formulas.correlate(accuracies, coefficient) if n >= FEWEST else float("nan")
    if pd.isna(value):
        return None
    low, high = correlation_interval(value, n) if coefficient == PEARSON else (None, None)
    filters = where_of(rows).items()
    where = {name: values for name, values in filters if names_paradigms or name not in UNIT_NAMES}
    text = views.number_text(value, ".2f")
    return Cell(*key, value, text, formula, SOURCE, where, n=n, low=low, high=high)


def phenomena(tables: Tables, labels: Labels) -> Exhibit:
    """Make the table of accuracies by phenomenon and model (or family of released models)."""
    view = views.read_view(tables, labels)
    cells = [*phenomenon_cells(view)]
    rows, bold = list(dict.fromkeys(cell.row for cell in cells)), _bold_cells(cells, view)
    baselines = Baselines.read(tables, view)
    for lang, phenomenon, row in view.row_keys():
        cells += baselines.cells(lang, phenomenon, row)
    unit = labels.facts["benchmark"]["unit"]
    return Exhibit(
        **view.described("phenomena", unit=unit, baselines=baselines.described()),
        cells=cells,
        stub=_item_counts(view),
        sections=[*_sections(view, rows, last=baselines.columns)],
        bold=bold,
    )


def people(tables: Tables, labels: Labels) -> Exhibit:
    """Make the table of accuracies of people and models; last rows: correlations with people."""
    view = views.with_people(views.read_view(tables, labels), tables)
    cells = [*phenomenon_cells(view)]
    correlations: list[Cell] = []
    for lang in view.languages:
        correlations += chain.from_iterable(correlations_with_people(view, lang).values())
    rows = list(dict.fromkeys(cell.row for cell in (*cells, *correlations)))
    return Exhibit(
        **view.described("people", correlated=correlations, fewest=FEWEST),
        cells=[*cells, *correlations],
        stub=_item_counts(view) | {cell.row: {views.COUNT: str(cell.n)} for cell in correlations},
        sections=[*_sections(view, rows, [PEOPLE])],
        bold=_bold_cells(cells, view),
    )
