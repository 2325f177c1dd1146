"""Tables of accuracies of declared benchmarks: by phenomenon, and beside people's."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeVar

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.benchmarks.exhibits.baselines import Baselines
from blimpworks.benchmarks.exhibits.formulas import (
    PARADIGM,
    PEARSON,
    PHENOMENON,
    SPEARMAN,
    accuracies_by,
    correlate,
    correlation,
)
from blimpworks.benchmarks.exhibits.view import (
    HUMAN,
    PEOPLE,
    SOURCE,
    View,
    number_text,
    present,
    read_view,
    spoken,
    where_of,
    with_interval,
    with_people,
)
from blimpworks.benchmarks.verdicts import correlation_interval
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import Formula, select_rows
from blimpworks.exhibits.shared import Tables, best_of_each

T = TypeVar("T")
BLOCK, FEW = 4, 2
"""Models side by side, of which further ones stand below; and with baselines beside them."""
FEWEST = 3
"""Paradigms or phenomena that a correlation needs."""
COUNT, FIRST = "n", "Phenomenon"
UNITS = {PARADIGM: "paradigms", PHENOMENON: "phenomena"}


def blocks(each: Sequence[T], size: int = BLOCK) -> Iterator[list[T]]:
    """A sequence in lists of at most so many."""
    return ([*each[at : at + size]] for at in range(0, len(each), size))


def row_of(view: View, lang: str, phenomenon: str) -> str:
    """Key of the row of a phenomenon in a language."""
    return f"{view.prefix(lang)}{spoken(phenomenon)}"


def phenomenon_cells(view: View) -> Iterator[Cell]:
    """Accuracies by language, phenomenon (last of all) and column, with their intervals."""
    for lang in view.languages:
        for phenomenon in (*view.phenomena, ALL):
            for column, models in view.columns.items():
                place = (row_of(view, lang, phenomenon), column)
                cell = view.cell(view.behind(lang, phenomenon, models), place)
                if cell:
                    yield replace(cell, text=with_interval(cell))


def _counts(view: View) -> dict[str, dict[str, str]]:
    """How many items models judged, by row: one number, or the least and the most of them."""
    counts = {}
    for lang in view.languages:
        for phenomenon in (*view.phenomena, ALL):
            models = [model for each in view.columns.values() for model in each if model != HUMAN]
            rows = view.behind(lang, phenomenon, models)
            whole = view.of(lang, phenomenon, ALL, models)
            n = rows.groupby("model")["n"].sum() if lang in view.partial else whole["n"]
            ends = dict.fromkeys((str(n.min()), str(n.max()))) if len(n) else {}
            counts[row_of(view, lang, phenomenon)] = {COUNT: " to ".join(ends)}
    return counts


def _sections(
    view: View, rows: Sequence[str], always: Sequence[str] = (), more: Sequence[str] = ()
) -> Iterator[Section]:
    """Rows by language, once for each few models; columns that stand in each of these first."""
    names = [name for name in view.columns if name not in always]
    parts = [*blocks(names)]
    if more and len(parts[-1]) > FEW:
        parts.append([])
    parts[-1] += more
    for block in parts:
        columns = [COUNT, *always, *block]
        for lang, language in view.languages.items():
            prefix = view.prefix(lang)
            own = {row: row.removeprefix(prefix) for row in rows if row.startswith(prefix)}
            yield Section(FIRST, {language: language, **own} if prefix else own, columns)


def _best(cells: Sequence[Cell], view: View) -> set[tuple[str, str]]:
    """The best models of each row, where there are several to choose from."""
    models = {*view.columns} - {PEOPLE}
    return best_of_each(cells, models) if len(models) > 1 else set()


def phenomena(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy by phenomenon and model, or by family of released models."""
    view = read_view(tables, labels)
    cells = [*phenomenon_cells(view)]
    rows = list(dict.fromkeys(cell.row for cell in cells))
    baselines = Baselines.read(tables, view)
    beside = [
        cell
        for lang, phenomenon in product(view.languages, (*view.phenomena, ALL))
        for cell in baselines.cells(lang, phenomenon, row_of(view, lang, phenomenon))
    ]
    return Exhibit(
        **view.described(
            "phenomena",
            unit=labels.facts["benchmark"]["unit"],
            means=means_of_seeds(view),
            baselines=baselines.note,
        ),
        cells=[*cells, *beside],
        stub=_counts(view),
        sections=[*_sections(view, rows, more=baselines.columns)],
        bold=_best(cells, view),
    )


def means_of_seeds(view: View) -> str:
    """A caption's sentence on columns that are means of several models; empty without any."""
    several = any(len(models) > 1 for models in view.columns.values())
    return " Of a model with several seeds the mean of these, without an interval." * several


# People


def _beside_people(view: View, lang: str, model: str, unit: str) -> pd.DataFrame:
    """Accuracies [paradigm or phenomenon, 2] of a model and of people in a language."""
    rows = select_rows(view.rows, {"lang": lang, "model": [model, HUMAN]})
    return accuracies_by(rows, unit).dropna()


def _models(view: View) -> dict[str, str]:
    return {name: models[0] for name, models in view.columns.items() if name != PEOPLE}


def units_of(view: View, lang: str) -> list[str]:
    """What people and models can be correlated over: paradigms, and phenomena if these differ."""
    models = _models(view).values()
    numbers = {
        unit: max(len(_beside_people(view, lang, model, unit)) for model in models)
        for unit in UNITS
    }
    enough = [unit for unit, n in numbers.items() if n >= FEWEST]
    return enough if numbers[PARADIGM] != numbers[PHENOMENON] else enough[:1]


def likeness_cells(view: View, lang: str, units: Sequence[str]) -> Iterator[Cell]:
    """Pearson's and Spearman's correlation of each model with people, over each unit."""
    for unit, coefficient in product(units, (PEARSON, SPEARMAN)):
        row = f"{view.prefix(lang)}{coefficient} over {UNITS[unit]}"
        for column, model in _models(view).items():
            both = _beside_people(view, lang, model, unit)
            rows = view.rows[(view.rows["lang"] == lang) & view.rows["model"].isin(both.columns)]
            formula = correlation(coefficient, unit)
            within = lang in view.partial
            yield from present([correlation_cell(both, rows, (row, column), formula, within)])


def correlation_cell(
    both: pd.DataFrame,
    rows: pd.DataFrame,
    place: tuple[str, str],
    formula: Formula,
    within: bool = False,
) -> Cell | None:
    """A correlation of two models; Pearson's with its interval by Fisher's z.

    ``both`` are their accuracies [paradigm or phenomenon, 2], made from ``rows``; of their
    paradigms alone where it is ``within`` these. None where they are too few, or the same in all.
    """
    coefficient, n = formula.arguments["coefficient"], len(both.dropna())
    value = correlate(both, coefficient) if n >= FEWEST else float("nan")
    if pd.isna(value):
        return None
    ends: tuple[float | None, float | None] = (None, None)
    if coefficient == PEARSON:
        ends = correlation_interval(value, n)
    where = {key: each for key, each in where_of(rows).items() if within or key not in UNITS}
    text = number_text(value, ".2f")
    return Cell(*place, value, text, formula, SOURCE, where, n=n, low=ends[0], high=ends[1])


def people(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy of people and models by phenomenon, and how models correlate with people."""
    view = with_people(read_view(tables, labels), tables)
    cells = [*phenomenon_cells(view)]
    alike = [
        cell for lang in view.languages for cell in likeness_cells(view, lang, units_of(view, lang))
    ]
    rows = list(dict.fromkeys(cell.row for cell in (*cells, *alike)))
    few = "" if alike else f" There are fewer than {FEWEST} paradigms to correlate."
    return Exhibit(
        **view.described(
            "people",
            people=labels.facts["benchmark"].get("people", ""),
            few=few,
            shared=view.shared,
        ),
        cells=[*cells, *alike],
        stub=_counts(view) | {cell.row: {COUNT: str(cell.n)} for cell in alike},
        sections=[*_sections(view, rows, [PEOPLE])],
        bold=_best(cells, view),
    )
