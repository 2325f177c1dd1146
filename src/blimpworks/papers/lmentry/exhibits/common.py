"""Read tables, name rows and columns, and make cells for Multi-LMentry's tables and figures.

Languages and models have the paper's names, or those of the campaign (``labels``) if the paper has
none.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Labels, Section
from blimpworks.exhibits.formulas import COUNT, select_rows
from blimpworks.exhibits.shared import Place, Tables
from blimpworks.papers.lmentry import tasks

OTHER = "Other Models"
SAMPLES, TOTAL, EVERY = "Prompts", "Total", "all"


def read_accuracies(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read the campaign's accuracies by the exhibit's method. Raises UserError without any."""
    where = {"benchmark": tasks.BENCHMARK, "model": [*labels.models]}
    return shared.read_accuracies(tables, where, labels.method)


def _in_order(values: pd.Series, order: Mapping[str, Any]) -> list[str]:
    present = {*values.astype(str)}
    return [value for value in order if value in present] + sorted(present - {*order})


def languages_of(rows: pd.DataFrame) -> list[str]:
    """Return the languages in column ``lang``: the paper's in its order, then others."""
    return _in_order(rows["lang"], tasks.LANGUAGES)


def models_of(rows: pd.DataFrame) -> list[str]:
    """Return the models in column ``model``: the paper's in its order, then others."""
    return _in_order(rows["model"], tasks.MODELS)


def tasks_of(rows: pd.DataFrame) -> dict[str, list[str]]:
    """Return the tasks of each language in ``rows``, in the paper's order."""
    present = {*zip(rows["lang"].astype(str), rows["phenomenon"].astype(str), strict=True)}
    langs = languages_of(rows)
    return {lang: [task for task in tasks.TASKS if (lang, task) in present] for lang in langs}


def language_name(lang: str, labels: Labels) -> str:
    """Return a language's name, or "Total" for the key of all languages."""
    if lang == EVERY:
        return TOTAL
    language = tasks.LANGUAGES.get(lang)
    return language.name if language else labels.languages.get(lang, lang)


def language_code(lang: str, labels: Labels) -> str:
    """Return a language's code in the paper's tables, or its name in the campaign."""
    language = tasks.LANGUAGES.get(lang)
    return language.code if language else labels.languages.get(lang, lang)


def language_tag(lang: str) -> str:
    """Return a language's tag in HTML (BCP 47)."""
    return tasks.LANGUAGES[lang].code.lower().replace("_", "-") if lang in tasks.LANGUAGES else lang


def model_name(model: str, labels: Labels) -> str:
    """Return a model's name in the paper's tables, or in the campaign."""
    return tasks.MODELS[model]["name"] if model in tasks.MODELS else labels.models[model]


def group_of(model: str) -> str:
    """Return the heading that the paper puts a model under."""
    return tasks.MODELS[model]["group"] if model in tasks.MODELS else OTHER


def sections_of(
    models: Sequence[str],
    labels: Labels,
    columns: Sequence[str],
    averages: Mapping[str, str] | None = None,
) -> list[Section]:
    """Return the table's sections: models below the paper's headings, then ``averages``.

    A heading is a row without cells. ``averages``: names of rows in cells, and as they are shown.
    """
    sections = []
    for group in (tasks.WEIGHT, tasks.DATA, tasks.SPECIFIC, OTHER):
        names = [model_name(model, labels) for model in models if group_of(model) == group]
        if names:
            sections.append(named_section("Model", [group, *names], columns))
    return [*sections, Section("Model", averages, columns)] if averages else sections


def named_section(title: str, rows: Iterable[str], columns: Sequence[str]) -> Section:
    """Return a section whose rows are shown by their names in the cells."""
    return Section(title, {row: row for row in rows}, columns)


def printed_cells(
    tables: Tables, exhibit: str, row_name: Callable[[str], str], column_name: Callable[[str], str]
) -> list[Cell]:
    """Return a cell for each number that is printed in ``exhibit`` and legible in our copy."""
    numbers = shared.by_place(shared.read_printed(tables, exhibit=exhibit))
    return [
        shared.printed_cell(row, (row_name(row_key), column_name(column_key)))
        for (row_key, column_key), row in numbers.items()
    ]


def judged_by(labels: Labels) -> str:
    """Return the rules behind measured numbers for a caption; empty for printed numbers."""
    return labels.method if labels.source == "measured" else ""


def count_of(
    items: pd.DataFrame, cell_key: Place, stands_for: Place | None = None, **where: Any
) -> Cell:
    """Return a cell with the number of prompts; ``where``: values that their columns must have."""
    where = {"benchmark": tasks.BENCHMARK, **where}
    more: dict[str, Any] = {"n": len(select_rows(items, where)), "stands_for": stands_for}
    return shared.formula_cell(items, cell_key, COUNT, "items", where, ",.0f", **more)


def selection(lang: str, models: str | list[str], labels: Labels, **more: Any) -> dict[str, Any]:
    """Return the filter for accuracies in one language; ``more``: values of other columns."""
    where = {"benchmark": tasks.BENCHMARK, "lang": lang, "model": models, "method": labels.method}
    return where | more
