"""Tables 3 to 5, and running text: the models, their accuracy, LMentry score and robustness.

Source: Moroni, Aula-Blasco, Conia and others (2025), sections 3.3, 4 and 5.1.
"""

from collections.abc import Iterator
from itertools import product

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import (
    COUNT,
    KINDS,
    LARGEST,
    MEAN,
    QUOTIENT,
    TOTAL,
    UNWEIGHTED,
    of_row,
)
from blimpworks.exhibits.shared import Tables, formula_cell, printed_cell, read_printed
from blimpworks.exhibits.statements import Recomputation, printed_statements
from blimpworks.papers.lmentry.exhibits import describe
from blimpworks.papers.lmentry.exhibits.common import (
    judged_by,
    language_code,
    languages_of,
    model_name,
    models_of,
    of_whole_tasks,
    read_accuracies,
    sections_of,
    selection,
    tasks_of,
)
from blimpworks.papers.lmentry.exhibits.formulas import (
    COLUMNS_BY_VALUE,
    FIVE,
    LEAD,
    MEAN_ACCURACY,
    PRODUCT,
    ROBUSTNESS,
    SCORE,
    SMALLEST,
    as_released,
    mean_over_models,
    rank_of,
)
from blimpworks.papers.lmentry.exhibits.names import AVERAGE, BENCHMARK, HEADS, LANGUAGES, MODELS
from blimpworks.papers.lmentry.tasks import TASKS

FORMULAS = {"lms": SCORE, "accuracy": MEAN_ACCURACY, "": ROBUSTNESS}
"""Formulas of a model's measured numbers by metric; Table 5's only one has no name."""
METRICS = {"table4": {"lms": " LMS", "accuracy": " Acc."}, "table5": {"": ""}}
"""Metrics of each table, and what their columns are called behind the language."""
FACTORS = {
    "table4": ("lms", PRODUCT, "Table 5", ["table4", "table5"], ("{} accuracy", "{}")),
    "table5": ("", QUOTIENT, "Table 4", "table4", ("{} lms", "{} accuracy")),
}
"""A metric of each table that two printed numbers give again: formula, origin, their exhibits and
columns, with ``{}`` for the language."""
AVERAGE_ROW, AVERAGE_OF_ROWS = "Average", "Average of the rows"
NOT_IN_BASQUE = ("homophones", "rhyming_word_orthographically_different")
_RANKS = [rank_of(f"{lang} lms", COLUMNS_BY_VALUE) for lang in LANGUAGES]
RECOMPUTATION = Recomputation(
    dict.fromkeys((COUNT, LARGEST, SMALLEST, QUOTIENT, FIVE, LEAD, of_row("value")), "{:.6g}")
    | dict.fromkeys(_RANKS, "{:.6g}"),
    {
        "languages": [*LANGUAGES],
        "new languages": [lang for lang in LANGUAGES if lang != "eng"],
        "tasks": [*TASKS],
        "tasks in Basque": [task for task in HEADS if task not in NOT_IN_BASQUE],
        "models": [*MODELS],
        "lms": [f"{lang} lms" for lang in LANGUAGES],
        "accuracies": [f"{lang} accuracy" for lang in LANGUAGES],
    },
)


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: the models, their sizes and languages."""
    cells, stub, remarks = [], {}, {}
    if labels.source == "published":
        models, columns = [*MODELS], ["Name", "Size", "Languages"]
        printed = {
            (row["row"], row["column"]): row
            for _, row in read_printed(tables, exhibit="table3").iterrows()
        }
        for model in models:
            name = model_name(model, labels)
            cells.append(printed_cell(printed[model, "size"], (name, "Size")))
            stub[name] = {"Name": str(printed[model, "name"]["text"])}
            remarks[name] = {"Languages": str(printed[model, "languages"]["text"])}
        description = describe("table3_published")
    else:
        rows = read_accuracies(tables, labels)
        models, columns = models_of(rows), ["Name", "Size", "Answers", "Languages"]
        sizes = labels.facts["lmentry_sizes"]
        for model in models:
            name, billions = model_name(model, labels), sizes.get(model)
            stub[name] = {"Name": model, "Size": f"{billions:.3g}B" if billions else "unknown"}
            where = {"benchmark": BENCHMARK, "model": model, "method": labels.method}
            where |= of_whole_tasks(HEADS)
            for column, formula in (("Answers", TOTAL), ("Languages", KINDS)):
                cells.append(
                    formula_cell(rows, (name, column), formula, "accuracies", where, ",.0f")
                )
        description = describe("table3")
    sections = sections_of(models, labels, columns)
    return Exhibit(**description, cells=cells, stub=stub, remarks=remarks, sections=sections)


def score_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """Table 4 or 5: LMentry score and accuracy, or robustness, by model and language.

    The published form has a row of averages of its own rows, and hidden cells of its numbers
    computed from the other table and, of accuracies, from Tables 34 to 51.
    """
    metrics = METRICS[table]
    if labels.source == "measured":
        rows = read_accuracies(tables, labels)
        models, languages = models_of(rows), languages_of(rows)
        cells = [*_measured(rows, table, labels)]
        scored = {cell.column.split()[0] for cell in cells if not cell.column.endswith("Acc.")}
        unscored = sorted({language_code(lang, labels) for lang in languages} - scored)
        judged = judged_by(labels)
        if unscored:
            judged += (
                f" Without a score in {', '.join(unscored)}: a score needs accuracies by template "
                "and by the position of the answer."
            )
        description = describe(table, judged=judged)
    else:
        printed = read_printed(tables)
        models, languages = [*MODELS], [*LANGUAGES]
        cells = [*_printed(printed, table, labels), *_from_factors(printed, table, labels)]
        if table == "table4":
            cells += _means_of_tasks(read_accuracies(tables, labels), labels)
        key = "table4_published" if table == "table4" else "table5_published"
        description = describe(key)
    shown_rows, shown_columns = ({cell.row for cell in cells}, {cell.column for cell in cells})
    averages = {row: row for row in (AVERAGE_ROW, AVERAGE_OF_ROWS) if row in shown_rows}
    columns = [_column(lang, table, m, labels) for lang, m in product(languages, metrics)]
    columns = [column for column in columns if column in shown_columns]
    return Exhibit(
        **description,
        cells=cells,
        heads={c: (c.split()[0], c.split()[1]) for c in columns if " " in c},
        sections=sections_of(models, labels, columns, averages),
    )


def _column(lang: str, table: str, metric: str, labels: Labels) -> str:
    return language_code(lang, labels) + METRICS[table][metric]


def _key(lang: str, metric: str) -> str:
    return f"{lang} {metric}".strip()


def _measured(rows: pd.DataFrame, table: str, labels: Labels) -> Iterator[Cell]:
    """A cell per model, language and metric, and averages over models; no cell without data."""
    for lang, metric in product(languages_of(rows), METRICS[table]):
        in_language = rows[rows["lang"] == lang]
        column, key = _column(lang, table, metric, labels), _key(lang, metric)
        formula = as_released(FORMULAS[metric], labels.method)
        scored = []
        for model in models_of(in_language):
            place, where = (model_name(model, labels), column), selection(lang, model, labels)
            cell = formula_cell(
                in_language, place, formula, "accuracies", where, ".1f", stands_for=(model, key)
            )
            if not pd.isna(cell.value):
                scored.append(model)
                yield cell
        if scored:
            where = selection(lang, scored, labels)
            place, mean = (AVERAGE_ROW, column), mean_over_models(formula)
            yield formula_cell(
                in_language, place, mean, "accuracies", where, ".1f", stands_for=(AVERAGE, key)
            )


def _printed(printed: pd.DataFrame, table: str, labels: Labels) -> Iterator[Cell]:
    """The printed numbers, and the means over the printed rows of models."""
    columns = {
        _key(lang, metric): _column(lang, table, metric, labels)
        for lang, metric in product(LANGUAGES, METRICS[table])
    }
    for _, row in printed[printed["exhibit"] == table].iterrows():
        name = AVERAGE_ROW if row["row"] == AVERAGE else model_name(row["row"], labels)
        yield printed_cell(row, (name, columns[row["column"]]))
    for key, column in columns.items():
        where = {"exhibit": table, "row": [*MODELS], "column": key}
        place, stands_for = (AVERAGE_OF_ROWS, column), (AVERAGE, key)
        yield formula_cell(printed, place, MEAN, "published", where, ".1f", stands_for=stands_for)


def _from_factors(printed: pd.DataFrame, table: str, labels: Labels) -> Iterator[Cell]:
    """Hidden cells of a metric again, from two printed numbers of each model and language."""
    metric, formula, origin, exhibits, columns = FACTORS[table]
    for lang, model in product(LANGUAGES, MODELS):
        where = {
            "exhibit": exhibits,
            "row": model,
            "column": [column.format(lang) for column in columns],
        }
        column = f"{_column(lang, table, metric, labels)}, from {origin}"
        place, stands_for = (model_name(model, labels), column), (model, _key(lang, metric))
        yield formula_cell(
            printed, place, formula, "published", where, ".1f", stands_for=stands_for, printed=False
        )


def _means_of_tasks(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """Hidden cells of accuracies again, of models that have all of a language's tasks."""
    for lang, tasks in tasks_of(rows).items():
        in_language = rows[(rows["lang"] == lang) & rows["phenomenon"].isin(tasks)]
        for model in models_of(in_language):
            accuracies = in_language[in_language["model"] == model]
            if len(accuracies) < len(tasks):
                continue
            column = f"{_column(lang, 'table4', 'accuracy', labels)}, mean of the tasks"
            yield formula_cell(
                accuracies,
                (model_name(model, labels), column),
                UNWEIGHTED,
                "accuracies",
                selection(lang, model, labels, **of_whole_tasks(tasks)),
                ".1f",
                stands_for=(model, f"{lang} accuracy"),
                printed=False,
                n=int(accuracies["n"].sum()),
            )


def text(tables: Tables, labels: Labels) -> Exhibit:
    """What the text says of the benchmark, the models, the annotators and the results."""
    cells, _ = printed_statements(read_printed(tables), RECOMPUTATION)
    return Exhibit(**describe("text"), cells=cells)
