"""Tables 3 to 5: the models, their accuracy, LMentry score and robustness.

Source: Moroni, Aula-Blasco, Conia and others (2025), sections 3.3, 4 and 5.1.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from blimpworks.exhibits.descriptions import Description
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import KINDS, MEAN, QUOTIENT, TOTAL, UNWEIGHTED, Formula
from blimpworks.exhibits.shared import Tables, formula_cell, printed_cell, read_printed
from blimpworks.papers.lmentry.exhibits import describe
from blimpworks.papers.lmentry.exhibits.common import (
    judged_by,
    language_code,
    languages_of,
    model_name,
    models_of,
    read_accuracies,
    read_exhibit,
    sections_of,
    selection,
    whole,
)
from blimpworks.papers.lmentry.exhibits.formulas import (
    MEAN_ACCURACY,
    PRODUCT,
    ROBUSTNESS,
    SCORE,
    as_released,
    mean_over_models,
)
from blimpworks.papers.lmentry.exhibits.names import (
    AVERAGE,
    BENCHMARK,
    HEADS,
    LANGUAGES,
    MODELS,
)
from blimpworks.papers.lmentry.exhibits.tasks import tasks_of

METRICS = {"lms": "LMS", "accuracy": "Acc."}
FORMULAS_OF = {"lms": SCORE, "accuracy": MEAN_ACCURACY, "": ROBUSTNESS}
"""Formulas of a model's measured numbers; the empty name is that of Table 5's only metric."""
AVERAGE_ROW, OF_ROWS = "Average", "Average of the rows"
SIZE, ANSWERS, SPOKEN = "Size", "Answers", "Languages"


# Table 3


def _judged(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """How many answers of each model were judged, and in how many languages."""
    for model in models_of(rows):
        where = {"benchmark": BENCHMARK, "model": model, "method": labels.method, **whole([*HEADS])}
        for column, formula in ((ANSWERS, TOTAL), (SPOKEN, KINDS)):
            place = (model_name(model, labels), column)
            yield formula_cell(rows, place, formula, "accuracies", where, ",.0f")


def _size(billions: float | None) -> str:
    return f"{billions:.3g}B" if billions else "unknown"


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: the models, their sizes and languages."""
    if labels.source == "published":
        return _printed_models(tables, labels)
    rows = read_accuracies(tables, labels)
    sizes = labels.facts["lmentry_sizes"]
    stub = {
        model_name(model, labels): {"Name": model, SIZE: _size(sizes.get(model))}
        for model in models_of(rows)
    }
    columns = ["Name", SIZE, ANSWERS, SPOKEN]
    return Exhibit(
        **describe("table3"),
        cells=list(_judged(rows, labels)),
        stub=stub,
        sections=sections_of(models_of(rows), labels, columns, {}),
    )


def _printed_models(tables: Tables, labels: Labels) -> Exhibit:
    own = read_printed(tables, exhibit="table3")
    printed = {(row["row"], row["column"]): row for _, row in own.iterrows()}
    cells, stub, remarks = [], {}, {}
    for model in MODELS:
        name = model_name(model, labels)
        cells.append(printed_cell(printed[model, "size"], (name, SIZE)))
        stub[name] = {"Name": str(printed[model, "name"]["text"])}
        remarks[name] = {SPOKEN: str(printed[model, "languages"]["text"])}
    return Exhibit(
        **describe("table3_published"),
        cells=cells,
        stub=stub,
        remarks=remarks,
        sections=sections_of([*MODELS], labels, ["Name", SIZE, SPOKEN], {}),
    )


# Tables 4 and 5


def _heading(lang: str, metric: str, labels: Labels) -> str:
    return f"{language_code(lang, labels)} {METRICS.get(metric, '')}".strip()


def _key(lang: str, metric: str) -> str:
    return f"{lang} {metric}".strip()


# Measured


def _measured(rows: pd.DataFrame, metrics: Sequence[str], labels: Labels) -> Iterator[Cell]:
    """A cell per model, language and metric, and averages over models; no cell without data."""
    for lang, metric in product(languages_of(rows), metrics):
        inside = rows[rows["lang"] == lang]
        column, key = _heading(lang, metric, labels), _key(lang, metric)
        formula = as_released(FORMULAS_OF[metric], labels.method)
        scores = [
            formula_cell(
                inside,
                (model_name(model, labels), column),
                formula,
                "accuracies",
                selection(lang, model, labels),
                ".1f",
                stands_for=(model, key),
            )
            for model in models_of(inside)
        ]
        known = [cell for cell in scores if not pd.isna(cell.value)]
        yield from known
        if known:
            where = selection(lang, [cell.where["model"] for cell in known], labels)
            place, mean = (AVERAGE_ROW, column), mean_over_models(formula)
            yield formula_cell(
                inside, place, mean, "accuracies", where, ".1f", stands_for=(AVERAGE, key)
            )


def _measured_table(key: str, metrics: Sequence[str], tables: Tables, labels: Labels) -> Exhibit:
    rows = read_accuracies(tables, labels)
    cells = list(_measured(rows, metrics, labels))
    judged = judged_by(labels)
    unscored = sorted({language_code(x, labels) for x in languages_of(rows)} - _codes(cells))
    if unscored:
        judged += (
            f" Without a score in {', '.join(unscored)}: a score needs accuracies by template and "
            "by the position of the answer."
        )
    codes = [_heading(lang, m, labels) for lang in languages_of(rows) for m in metrics]
    return _layout(describe(key, judged=judged), cells, models_of(rows), codes, labels)


def _codes(cells: Sequence[Cell]) -> set[str]:
    """Languages that have a cell of the score itself."""
    return {cell.column.split()[0] for cell in cells if not cell.column.endswith("Acc.")}


def _layout(
    description: Description,
    cells: list[Cell],
    models: Sequence[str],
    columns: Sequence[str],
    labels: Labels,
) -> Exhibit:
    present = {cell.row for cell in cells}
    below = {row: row for row in (AVERAGE_ROW, OF_ROWS) if row in present}
    present_columns = [column for column in columns if any(cell.column == column for cell in cells)]
    heads = {c: (c.split()[0], c.split()[1]) for c in present_columns if " " in c}
    sections = sections_of(models, labels, present_columns, below)
    return Exhibit(**description, cells=cells, heads=heads, sections=sections)


# Published


def _printed(printed: pd.DataFrame, metrics: Sequence[str], labels: Labels) -> Iterator[Cell]:
    """Cells of the printed numbers of Table 4 or 5."""
    names = {_key(lang, m): _heading(lang, m, labels) for lang in LANGUAGES for m in metrics}
    for _, row in printed.iterrows():
        name = AVERAGE_ROW if row["row"] == AVERAGE else model_name(row["row"], labels)
        yield printed_cell(row, (name, names[row["column"]]))


def _averages(printed: pd.DataFrame, metrics: Sequence[str], labels: Labels) -> Iterator[Cell]:
    """Means over the printed rows of models, as a row of their own."""
    exhibit = printed["exhibit"].iloc[0]
    for lang, metric in product(LANGUAGES, metrics):
        key = _key(lang, metric)
        where = {"exhibit": exhibit, "row": [*MODELS], "column": key}
        place = (OF_ROWS, _heading(lang, metric, labels))
        yield formula_cell(
            printed, place, MEAN, "published", where, ".1f", stands_for=(AVERAGE, key)
        )


def _again(
    printed: pd.DataFrame,
    metric: str,
    formula: Formula,
    origin: str,
    exhibits: str | list[str],
    columns: Sequence[str],
    labels: Labels,
) -> Iterator[Cell]:
    """A metric again, as hidden cells, from two printed numbers of each model and language.

    ``columns`` are those of the ``exhibits``, with ``{}`` for the language.
    """
    for lang, model in product(LANGUAGES, MODELS):
        where = {
            "exhibit": exhibits,
            "row": model,
            "column": [column.format(lang) for column in columns],
        }
        place = (model_name(model, labels), f"{_heading(lang, metric, labels)}, from {origin}")
        stands_for = (model, _key(lang, metric))
        yield formula_cell(
            printed, place, formula, "published", where, ".1f", stands_for=stands_for, printed=False
        )


def _accuracies(
    rows: pd.DataFrame, complete: Mapping[str, Sequence[str]], labels: Labels
) -> Iterator[Cell]:
    """Accuracies again: means of the tasks, of models that have all of a language's tasks."""
    for lang, tasks in complete.items():
        inside = rows[(rows["lang"] == lang) & rows["phenomenon"].isin(tasks)]
        for model in models_of(inside):
            accuracies = inside[inside["model"] == model]
            if len(accuracies) < len(tasks):
                continue
            where = selection(lang, model, labels, **whole(tasks))
            heading = f"{_heading(lang, 'accuracy', labels)}, mean of the tasks"
            place, again = (model_name(model, labels), heading), (model, f"{lang} accuracy")
            more: dict[str, Any] = {
                "stands_for": again,
                "printed": False,
                "n": int(accuracies["n"].sum()),
            }
            yield formula_cell(accuracies, place, UNWEIGHTED, "accuracies", where, ".1f", **more)


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Table 4: LMentry score and accuracy by model and language.

    The published form has hidden cells of its numbers computed from Tables 5 and 34 to 51, and
    a row of averages of its own rows.
    """
    if labels.source == "measured":
        return _measured_table("table4", tuple(METRICS), tables, labels)
    printed = read_printed(tables)
    own = read_exhibit(printed, "table4")
    rows = read_accuracies(tables, labels)
    cells = list(_printed(own, tuple(METRICS), labels))
    cells += _averages(own, tuple(METRICS), labels)
    factors = (["table4", "table5"], ["{} accuracy", "{}"])
    cells += _again(printed, "lms", PRODUCT, "Table 5", *factors, labels)
    cells += _accuracies(rows, tasks_of(rows), labels)
    columns = [_heading(lang, m, labels) for lang in LANGUAGES for m in METRICS]
    return _layout(describe("table4_published"), cells, [*MODELS], columns, labels)


def table5(tables: Tables, labels: Labels) -> Exhibit:
    """Table 5: robustness by model and language.

    The published form has hidden cells of its numbers computed from Table 4, and a row of
    averages of its own rows.
    """
    if labels.source == "measured":
        return _measured_table("table5", ("",), tables, labels)
    printed = read_printed(tables)
    own = read_exhibit(printed, "table5")
    cells = [*_printed(own, ("",), labels), *_averages(own, ("",), labels)]
    factors = ("table4", ["{} lms", "{} accuracy"])
    cells += _again(printed, "", QUOTIENT, "Table 4", *factors, labels)
    columns = [_heading(lang, "", labels) for lang in LANGUAGES]
    return _layout(describe("table5_published"), cells, [*MODELS], columns, labels)
