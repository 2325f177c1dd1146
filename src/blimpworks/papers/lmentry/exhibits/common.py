"""Read accuracies, name rows and columns, and make cells for this package's other modules.

In code, languages and models are keys ("eng", "phi-4"). Exhibits show the names that the paper
prints ("English", "Phi-4"). Languages and models that the paper does not have are shown by the
campaign's names (``labels``).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Labels, Section
from blimpworks.exhibits.formulas import COUNT
from blimpworks.exhibits.shared import Place, Tables
from blimpworks.papers.lmentry import tasks

OTHER = "Other Models"  # heading of models that the paper does not have
PROMPTS_HEAD = "Prompts"  # heading of columns with numbers of prompts
TOTAL = "Total"  # name of the row of all languages
EVERY = "all"  # key of the row of all languages in the printed numbers


def read_accuracies(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read the models' accuracies by ``labels.method``, of which formulas.py shows three.

    Raises UserError if there are none.
    """
    where = {"benchmark": tasks.BENCHMARK, "model": [*labels.models]}
    return shared.read_accuracies(tables, where, labels.method)


def _in_order(column: pd.Series, order: Mapping[str, Any]) -> list[str]:
    present = {*column.astype(str)}
    return [key for key in order if key in present] + sorted(present - {*order})


def languages_of(rows: pd.DataFrame) -> list[str]:
    """Return the languages in column ``lang``: the paper's in its order, then others by code."""
    return _in_order(rows["lang"], tasks.LANGUAGES)


def models_of(rows: pd.DataFrame) -> list[str]:
    """Return the models in column ``model``: the paper's in its order, then others by key."""
    return _in_order(rows["model"], tasks.MODELS)


def tasks_of(rows: pd.DataFrame) -> dict[str, list[str]]:
    """Return {language: tasks} in ``rows``, in the paper's order, without subsets of tasks."""
    present = {*zip(rows["lang"].astype(str), rows["phenomenon"].astype(str), strict=True)}
    langs = languages_of(rows)
    return {lang: [task for task in tasks.TASKS if (lang, task) in present] for lang in langs}


def language_name(lang: str, labels: Labels) -> str:
    """Return a language's name; "Total" for ``EVERY``."""
    if lang == EVERY:
        return TOTAL
    language = tasks.LANGUAGES.get(lang)
    return language.name if language else labels.languages.get(lang, lang)


def language_code(lang: str, labels: Labels) -> str:
    """Return a language's code in the paper's tables ("PT_BR"), or its name in the campaign."""
    language = tasks.LANGUAGES.get(lang)
    return language.code if language else labels.languages.get(lang, lang)


def language_tag(lang: str) -> str:
    """Return a language's tag in HTML, by BCP 47 ("pt-br")."""
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
    """Return the table's sections: models below the paper's headings, then rows of averages.

    A heading is a row without cells. ``averages`` is {row of cells: name in the table}.
    """
    sections = []
    for group in (tasks.WEIGHT, tasks.DATA, tasks.SPECIFIC, OTHER):
        names = [model_name(model, labels) for model in models if group_of(model) == group]
        if names:
            sections.append(named_section("Model", [group, *names], columns))
    return [*sections, Section("Model", averages, columns)] if averages else sections


def named_section(title: str, rows: Iterable[str], columns: Sequence[str]) -> Section:
    """Return a section of a table whose ``rows`` have the same names in cells and in print."""
    return Section(title, {row: row for row in rows}, columns)


def rules_of(labels: Labels) -> str:
    """Return the method of measured verdicts, which captions name; empty for printed numbers."""
    return labels.method if labels.source == "measured" else ""


def prompt_count(
    items: pd.DataFrame, cell_key: Place, stands_for: Place | None = None, **where: Any
) -> Cell:
    """Return a cell with the number of prompts in ``items`` (rows of ``PROMPTS``).

    ``where``: values that the prompts have, such as ``lang="eng"``.
    """
    where = {"benchmark": tasks.BENCHMARK, **where}
    cell = shared.formula_cell(items, cell_key, COUNT, "items", where, ",.0f")
    return replace(cell, n=int(cell.value), stands_for=stands_for)


def filter_for(lang: str, models: str | list[str], labels: Labels, **more: Any) -> dict[str, Any]:
    """Return a cell's filter of accuracies: a language, one or more models, ``labels.method``.

    ``more``: values of further columns.
    """
    where = {"benchmark": tasks.BENCHMARK, "lang": lang, "model": models, "method": labels.method}
    return where | more
