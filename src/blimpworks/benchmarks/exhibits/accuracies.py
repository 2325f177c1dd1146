"""Make the tables of accuracies of declared benchmarks, with baselines and people.

``phenomena`` and ``people`` take the campaign's tables of accuracies and items, and the names to
print, and return an exhibit: a table with rows for languages and phenomena, and columns for models.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeVar

from blimpworks.benchmarks.accuracies import HUMAN
from blimpworks.benchmarks.exhibits.baselines import Baselines
from blimpworks.benchmarks.exhibits.correlation_cells import FEWEST, correlations_with_people
from blimpworks.benchmarks.exhibits.view import (
    COUNT,
    PEOPLE,
    View,
    read_view,
    with_interval,
    with_people,
)
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.shared import Tables, best_of_each
from blimpworks.items import ALL

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
                yield with_interval(cell)


def _item_counts(view: View) -> dict[str, dict[str, str]]:
    """Return the column of numbers of items, by row; "42 to 50" if models have different items."""
    counts = {}
    models = [model for column in view.columns.values() for model in column if model != HUMAN]
    for lang, phenomenon, row in view.row_keys():
        n = view.paradigm_rows(lang, phenomenon, ALL, models)["n"]
        if lang in view.partial:
            n = view.phenomenon_rows(lang, phenomenon, models).groupby("model")["n"].sum()
        ends = dict.fromkeys((str(n.min()), str(n.max()))) if len(n) else {}
        counts[row] = {COUNT: " to ".join(ends)}
    return counts


def _sections(
    view: View, rows: Sequence[str], first: Sequence[str] = (), last: Sequence[str] = ()
) -> Iterator[Section]:
    """Yield a section of ``rows`` (keys) for each block of models and language.

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
            names = {language: language} if prefix else {}  # printed names, by key of the row
            names |= {row: row.removeprefix(prefix) for row in rows if row.startswith(prefix)}
            yield Section("Phenomenon", names, columns)


def _bold_cells(cells: Sequence[Cell], view: View) -> set[tuple[str, str]]:
    models = {*view.columns} - {PEOPLE}
    return best_of_each(cells, models) if len(models) > 1 else set()


def phenomena(tables: Tables, labels: Labels) -> Exhibit:
    """Make the table of accuracies by phenomenon and model (or family of released models)."""
    view = read_view(tables, labels)
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
    view = with_people(read_view(tables, labels), tables)
    cells = [*phenomenon_cells(view)]
    correlations: list[Cell] = []
    for lang in view.languages:
        correlations += chain.from_iterable(correlations_with_people(view, lang).values())
    rows = list(dict.fromkeys(cell.row for cell in (*cells, *correlations)))
    return Exhibit(
        **view.described("people", correlated=correlations, fewest=FEWEST),
        cells=[*cells, *correlations],
        stub=_item_counts(view) | {cell.row: {COUNT: str(cell.n)} for cell in correlations},
        sections=[*_sections(view, rows, [PEOPLE])],
        bold=_bold_cells(cells, view),
    )
