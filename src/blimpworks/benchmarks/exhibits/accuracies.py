"""Make the tables of accuracies of declared benchmarks, with baselines and people.

``phenomena`` and ``people`` make an exhibit (table) from the tables of a campaign: rows are
languages and phenomena, columns are models. Both are named in ``specs.tsv``.
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
"""Most models in a block of columns (printed one below another), and in one with baselines."""
STUB_HEADING = "Phenomenon"


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
