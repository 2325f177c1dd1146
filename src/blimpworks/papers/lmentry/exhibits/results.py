"""Draw Tables 3 to 6 and 34 to 51, and statements of the text (Moroni and others 2025).

The exhibits, as rows × columns:

- ``table3``: models × name, size, languages.
- ``score_table``: models × score and accuracy (Table 4) or robustness (Table 5) in each language.
- ``table6``: languages and ranks × names of the best and worst tasks, for two groups of models.
- ``task_table`` (Tables 34 to 51): models × accuracy on one half of the tasks, in one language.
- ``text``: statements × number as printed, number recomputed.

Input are accuracies (see ``common.read_accuracies``) or printed numbers. LMS, the LMentry score, is
accuracy times robustness.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pandas as pd

from blimpworks.campaign.variants import PUBLISHED
from blimpworks.exhibits import formulas as basic
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import (
    Recomputation,
    Tables,
    formula_cell,
    printed_cell,
    printed_cells,
    printed_statements,
    read_printed,
    row_accuracy_cell,
)
from blimpworks.items import ALL
from blimpworks.papers.lmentry.exhibits import common, describe, formulas
from blimpworks.papers.lmentry.tasks import (
    AVERAGE,
    BENCHMARK,
    DATA,
    HEADS,
    LANGUAGES,
    MODELS,
    TASK_TABLES,
    TASKS,
    TASKS_OF_TABLES,
    WEIGHT,
    task_name,
)

FORMULAS = {"lms": formulas.SCORE, "accuracy": formulas.MEAN_ACCURACY, "": formulas.ROBUSTNESS}
"""Formula of each metric of a model. Robustness, the only metric of Table 5, has an empty key."""
METRICS = {"table4": {"lms": " LMS", "accuracy": " Acc."}, "table5": {"": ""}}
"""Metrics of each table, and how the names of their columns end ("EN LMS")."""


AVERAGE_ROW, AVERAGE_OF_ROWS = "Average", "Average of the rows"  # as printed; recomputed
NOT_IN_BASQUE = ("homophones", "rhyming_word_orthographically_different")
# Formulas of the text's numbers, and the lists of keys that they apply to.
_RANKS = [formulas.rank_of(f"{lang} lms", formulas.COLUMNS_BY_VALUE) for lang in LANGUAGES]
_FORMULAS = [basic.COUNT, basic.LARGEST, formulas.SMALLEST, basic.QUOTIENT]
_FORMULAS += [formulas.FIVE, formulas.LEAD, basic.of_row("value"), *_RANKS]
RECOMPUTATION = Recomputation(
    dict.fromkeys(_FORMULAS, "{:.6g}"),
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
    """Draw Table 3: the models, their sizes and languages."""
    cells, stub, remarks = [], {}, {}
    if labels.source == "published":
        models, columns, text_key = [*MODELS], ["Name", "Size", "Languages"], "table3_published"
        numbers = read_printed(tables, exhibit="table3").iterrows()
        printed = {(row["row"], row["column"]): row for _, row in numbers}
        for model in models:
            name = common.model_name(model, labels)
            cells.append(printed_cell(printed[model, "size"], (name, "Size")))
            stub[name] = {"Name": str(printed[model, "name"]["text"])}
            remarks[name] = {"Languages": str(printed[model, "languages"]["text"])}
    else:
        rows = common.read_accuracies(tables, labels)
        models, columns = common.models_of(rows), ["Name", "Size", "Answers", "Languages"]
        text_key, sizes = "table3", labels.facts["lmentry_sizes"]
        for model in models:
            name, billions = common.model_name(model, labels), sizes.get(model)
            stub[name] = {"Name": model, "Size": f"{billions:.3g}B" if billions else "unknown"}
            where: dict[str, Any] = {"phenomenon": [*HEADS], "paradigm": ALL}
            where |= {"benchmark": BENCHMARK, "model": model, "method": labels.method}
            for column, formula in (("Answers", basic.TOTAL), ("Languages", basic.KINDS)):
                cell_key = (name, column)
                cells.append(formula_cell(rows, cell_key, formula, "accuracies", where, ",.0f"))
    sections = common.sections_of(models, labels, columns)
    return Exhibit(**describe(text_key), cells=cells, stub=stub, remarks=remarks, sections=sections)


def score_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """Draw Table 4 or 5: LMentry score and accuracy, or robustness, by model and language."""
    published = labels.source == "published"
    rows = read_printed(tables) if published else common.read_accuracies(tables, labels)
    models = [*MODELS] if published else common.models_of(rows)
    languages = [*LANGUAGES] if published else common.languages_of(rows)
    columns = {
        (lang, metric): common.language_code(lang, labels) + ending
        for lang, (metric, ending) in product(languages, METRICS[table].items())
    }
    if published:
        cells = _published_scores(rows, tables, labels, table, columns)
    else:
        cells = []
        for (lang, metric), column in columns.items():
            printed_column = f"{lang} {metric}".strip()
            in_language = rows[rows["lang"] == lang]
            formula = formulas.as_released(FORMULAS[metric], labels.method)
            models_with_score = []
            for model in common.models_of(in_language):
                cell_key = (common.model_name(model, labels), column)
                where = common.filter_for(lang, model, labels)
                cell = formula_cell(in_language, cell_key, formula, "accuracies", where, ".1f")
                if not pd.isna(cell.value):
                    models_with_score.append(model)
                    cells.append(replace(cell, stands_for=(model, printed_column)))
            if models_with_score:
                cell_key = (AVERAGE_ROW, column)
                where = common.filter_for(lang, models_with_score, labels)
                mean = formulas.mean_over_models(formula)
                cell = formula_cell(in_language, cell_key, mean, "accuracies", where, ".1f")
                cells.append(replace(cell, stands_for=(AVERAGE, printed_column)))
    shown_rows, shown_columns = {cell.row for cell in cells}, {cell.column for cell in cells}
    unscored = sorted(
        common.language_code(lang, labels)
        for (lang, metric), column in columns.items()
        if metric != "accuracy" and column not in shown_columns
    )
    averages = {row: row for row in (AVERAGE_ROW, AVERAGE_OF_ROWS) if row in shown_rows}
    shown_names = [column for column in columns.values() if column in shown_columns]
    return Exhibit(
        **describe(table, rules=common.rules_of(labels), unscored=unscored),
        cells=cells,
        heads={name: (name.split()[0], name.split()[1]) for name in shown_names if " " in name},
        sections=common.sections_of(models, labels, shown_names, averages),
    )


Columns = Mapping[tuple[str, str], str]  # names of columns by language and metric


def _published_scores(
    printed: pd.DataFrame, tables: Tables, labels: Labels, table: str, columns: Columns
) -> list[Cell]:
    """Return the printed cells of Table 4 or 5, and hidden cells with recomputed numbers."""
    row_names = {model: common.model_name(model, labels) for model in MODELS}
    row_names[AVERAGE] = AVERAGE_ROW
    names = {f"{lang} {metric}".strip(): name for (lang, metric), name in columns.items()}
    cells = printed_cells(printed[printed["exhibit"] == table], row_names, names)
    for printed_column, column in names.items():
        cell_key = (AVERAGE_OF_ROWS, column)
        where: dict[str, Any] = {"exhibit": table, "row": [*MODELS], "column": printed_column}
        cell = formula_cell(printed, cell_key, basic.MEAN, "published", where, ".1f")
        cells.append(replace(cell, stands_for=(AVERAGE, printed_column)))
    # Compute each score from accuracy and robustness, and each robustness from score and accuracy.
    for lang, model in product(LANGUAGES, MODELS):
        if table == "table4":
            metric, formula, origin = "lms", formulas.PRODUCT, "Table 5"
            where = {"exhibit": ["table4", "table5"], "column": [f"{lang} accuracy", lang]}
        else:
            metric, formula, origin = "", basic.QUOTIENT, "Table 4"
            where = {"exhibit": "table4", "column": [f"{lang} lms", f"{lang} accuracy"]}
        where["row"] = model
        cell_key = (row_names[model], f"{columns[lang, metric]}, from {origin}")
        cell = formula_cell(printed, cell_key, formula, "published", where, ".1f", printed=False)
        cells.append(replace(cell, stands_for=(model, f"{lang} {metric}".strip())))
    if table == "table5":
        return cells
    # Recompute accuracies where Tables 34 to 51 have all tasks of a language.
    rows = common.read_accuracies(tables, labels)
    for lang, tasks in common.tasks_of(rows).items():
        in_language = basic.select_rows(rows, {"lang": lang, "phenomenon": tasks})
        for model in common.models_of(in_language):
            judged = in_language[in_language["model"] == model]
            if len(judged) == len(tasks):
                cell_key = (row_names[model], f"{columns[lang, 'accuracy']}, mean of the tasks")
                where = common.filter_for(lang, model, labels, phenomenon=tasks, paradigm=ALL)
                cell = formula_cell(judged, cell_key, basic.UNWEIGHTED, "accuracies", where, ".1f")
                stands_for, n = (model, f"{lang} accuracy"), int(judged["n"].sum())
                cells.append(replace(cell, stands_for=stands_for, n=n, printed=False))
    return cells


FILTERED_BY_POS = ("ita", "spa", "glg", "cat", "eus", "por", "deu")
"""Languages in which the words of the task ``starts_with_word`` are filtered by part of speech."""
# Settings of Table 6: groups of models, with their heading in Table 3 and name in Table 6;
# languages; and number of tasks at either end of the ranking.
OPENNESS = {"open-weight": (WEIGHT, "Open-weight"), "open-data": (DATA, "Open-data")}
RANKED = ("eng", "ita")
TASKS_PER_END = 5


def task_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """Draw one of Tables 34 to 51: accuracy of each model on one half of a language's tasks."""
    lang = TASK_TABLES[table]
    language = LANGUAGES[lang]
    half = language.tables.index(table)
    tasks = TASKS_OF_TABLES[half]
    name_of = partial(common.model_name, labels=labels)
    if labels.source == "published":
        models, names = [*MODELS], {task: task_name(task) for task in tasks}
        printed = read_printed(tables, exhibit=table)
        cells = printed_cells(printed, {model: name_of(model) for model in models}, names)
        # Numbers that our copy of the paper garbles.
        garbled = printed[printed["fault"] == "garbled"]
        tasks_by_model = garbled.groupby("row", sort=False)["column"]
        lost = [f"{name_of(str(m))} {', '.join(map(task_name, t))}" for m, t in tasks_by_model]
    else:
        rows = common.read_accuracies(tables, labels)
        models, cells = common.models_of(rows), []
        formula = formulas.NOMINAL if labels.method == PUBLISHED else basic.ACCURACY
        selected = basic.select_rows(rows, {"lang": lang, "paradigm": ALL, "phenomenon": [*tasks]})
        selected = selected.sort_values("phenomenon", key=lambda names: names.map(tasks.index))
        for _, row in selected.iterrows():
            model, task = row["model"], row["phenomenon"]
            cell_key = (name_of(model), task_name(task))
            where = common.filter_for(lang, model, labels, phenomenon=task)
            cell = row_accuracy_cell(row, cell_key, where, "judgements", formula, "{:.2f}".format)
            cells.append(replace(cell, stands_for=(model, task)))
        lost = []
    shown_rows, shown_columns = {cell.row for cell in cells}, {cell.column for cell in cells}
    models = [model for model in models if name_of(model) in shown_rows]
    columns = [task_name(task) for task in tasks if task_name(task) in shown_columns]
    description = describe(
        "task_table",
        language=language.name,
        part=half + 1,
        rules=common.rules_of(labels),
        empty=not cells,
        note=describe.entries["notes_of_languages"].get(lang),
        ceiling=lang in FILTERED_BY_POS and half == 0,
        lost=lost,
    )
    return Exhibit(
        **description,
        cells=cells,
        heads={task_name(task): head for task, head in HEADS.items() if task_name(task) in columns},
        sections=common.sections_of(models, labels, columns),
    )


def table6(tables: Tables, labels: Labels) -> Exhibit:
    """Draw Table 6: the best and worst tasks by mean accuracy, in English and Italian."""
    rows = common.read_accuracies(tables, labels)
    # Hidden cells with the rank of each task by the mean accuracy of a group of models.
    ranks_by_group: dict[tuple[str, str], list[Cell]] = {}
    for lang, (group, (heading, name)) in product(RANKED, OPENNESS.items()):
        models = [model for model in common.models_of(rows) if common.group_of(model) == heading]
        selected = basic.select_rows(rows, {"lang": lang, "model": models, "paradigm": ALL})
        tasks = common.tasks_of(selected).get(lang, [])
        where = common.filter_for(lang, models, labels, phenomenon=tasks, paradigm=ALL)
        fields: dict[str, Any] = {"n": len(models), "printed": False}
        for task in tasks:
            position = (f"{common.language_code(lang, labels)} {task_name(task)}", f"{name}, rank")
            formula = formulas.rank_of(task, formulas.TASKS_BY_ACCURACY)
            fields["stands_for"] = (f"{lang} {group}", task)
            cell = formula_cell(selected, position, formula, "accuracies", where, ".1f", **fields)
            ranks_by_group.setdefault((lang, group), []).append(cell)
    cells: list[Cell] = []
    if labels.source == "measured":
        for (lang, group), ranks in ranks_by_group.items():
            ranked = sorted(ranks, key=lambda cell: cell.value)
            for rank, cell in enumerate(ranked, start=1):
                cell_key = _row_and_column(lang, group, rank, len(ranked), labels)
                if cell_key and cell.stands_for:
                    text = task_name(cell.stands_for[1])
                    row, column = cell_key
                    cells.append(replace(cell, row=row, column=column, text=text, printed=True))
    else:
        for _, printed in read_printed(tables, exhibit="table6").iterrows():
            lang, group = printed["row"].split()
            cell_key = _row_and_column(lang, group, int(printed["value"]), len(TASKS), labels)
            assert cell_key is not None
            cells.append(printed_cell(printed, cell_key))
        listed = {cell.stands_for for cell in cells}
        for ranks in ranks_by_group.values():
            cells += [cell for cell in ranks if cell.stands_for in listed]
    columns = [f"{name} {end}" for _, name in OPENNESS.values() for end in ("top 5", "bottom 5")]
    heads = {column: (column.split()[0], column.partition(" ")[2]) for column in columns}
    description = describe("table6", rules=common.rules_of(labels))
    return Exhibit(**description, cells=cells, heads=heads, textual=True)


def _row_and_column(
    lang: str, group: str, rank: int, n: int, labels: Labels
) -> tuple[str, str] | None:
    """Return row and column in Table 6 of a task's rank among ``n``; None for middle ranks."""
    code, (_, name) = common.language_code(lang, labels), OPENNESS[group]
    if rank <= TASKS_PER_END:
        return f"{code} {rank}", f"{name} top 5"
    if rank > n - TASKS_PER_END:
        return f"{code} {rank - n + TASKS_PER_END}", f"{name} bottom 5"
    return None


def text(tables: Tables, labels: Labels) -> Exhibit:
    """Draw the table of numbers in the running text, printed and recomputed."""
    cells, _ = printed_statements(read_printed(tables), RECOMPUTATION)
    return Exhibit(**describe("text"), cells=cells)
