"""Draw Tables 3 to 6 and 34 to 51, and statements of the text (Moroni and others 2025).

The exhibits, as rows × columns:

- ``table3``: models × name, size, languages.
- ``score_table``: models × score and accuracy (Table 4) or robustness (Table 5) in each language.
- ``table6``: languages and ranks × names of the best and worst tasks, for two groups of models.
- ``task_table`` (Tables 34 to 51): models × accuracy on one half of the tasks, in one language.
- ``text``: statements × number as printed, number recomputed.

Input are accuracies (see ``common.read_accuracies``) or printed numbers. LMS, the LMentry score, is
accuracy times robustness. Hidden cells have ranks, or printed numbers that are recomputed.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from blimpworks.campaign.variants import PUBLISHED
from blimpworks.exhibits import formulas as basic
from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.items import ALL
from blimpworks.papers.lmentry import tasks as lmentry
from blimpworks.papers.lmentry.exhibits import common, describe, formulas
from blimpworks.papers.lmentry.tasks import DATA, HEADS, LANGUAGES, MODELS, TASKS, WEIGHT, task_name

METRICS = {
    "table4": {"lms": ("LMS", formulas.SCORE), "accuracy": ("Acc.", formulas.MEAN_ACCURACY)},
    "table5": {"": ("", formulas.ROBUSTNESS)},
}
"""Metrics of Tables 4 and 5: {key: (heading, formula)}. Robustness (Table 5) has no key."""


class ScoreColumn(NamedTuple):
    """A column of Table 4 or 5: a metric in a language."""

    lang: str
    metric: str
    heading: tuple[str, str]
    """Code of the language and name of the metric ("EN", "LMS")."""
    formula: basic.Formula

    @property
    def key(self) -> str:
        """Key of the column in the printed numbers: "eng lms"; of robustness "eng"."""
        return f"{self.lang} {self.metric}".rstrip()

    @property
    def name(self) -> str:
        return " ".join(self.heading).rstrip()


AVERAGE_ROW = "Average"  # as printed
AVERAGE_OF_ROWS = "Average of the rows"  # recomputed
NOT_IN_BASQUE = ("homophones", "rhyming_word_orthographically_different")
_RANKS = [formulas.rank_of(f"{lang} lms", formulas.COLUMNS_BY_VALUE) for lang in LANGUAGES]
_TEXT_FORMULAS = [basic.COUNT, basic.LARGEST, formulas.SMALLEST, basic.QUOTIENT]
_TEXT_FORMULAS += [formulas.FIVE, formulas.LEAD, basic.of_row("value"), *_RANKS]
# Computes numbers of the running text from printed tables, of which it may name these rows and
# columns: "{languages}".
RECOMPUTATION = shared.Recomputation(
    dict.fromkeys(_TEXT_FORMULAS, "{:.6g}"),
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


def table3(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 3: the models, their sizes and languages."""
    cells, stub, remarks = [], {}, {}
    if labels.source == "published":
        models, columns, text_key = [*MODELS], ["Name", "Size", "Languages"], "table3_published"
        numbers = shared.read_printed(tables, exhibit="table3").iterrows()
        printed = {(row["row"], row["column"]): row for _, row in numbers}
        for model in models:
            name = common.model_name(model, labels)
            cells.append(shared.printed_cell(printed[model, "size"], (name, "Size")))
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
            where |= {"benchmark": lmentry.BENCHMARK, "model": model, "method": labels.method}
            for column, formula in (("Answers", basic.N_SUM), ("Languages", basic.LANGS)):
                cell_key, source = (name, column), "accuracies"
                cells.append(shared.formula_cell(rows, cell_key, formula, source, where, ",.0f"))
    sections = common.sections_of(models, labels, columns)
    return Exhibit(**describe(text_key), cells=cells, stub=stub, remarks=remarks, sections=sections)


def score_table(tables: shared.Tables, labels: Labels, table: str) -> Exhibit:
    """Draw Table 4 or 5: LMentry score and accuracy, or robustness, by model and language."""
    published = labels.source == "published"
    rows = shared.read_printed(tables) if published else common.read_accuracies(tables, labels)
    models = [*MODELS] if published else common.models_of(rows)
    languages = [*LANGUAGES] if published else common.languages_of(rows)
    columns: list[ScoreColumn] = []
    for lang, (metric, (title, formula)) in product(languages, METRICS[table].items()):
        heading = (common.language_code(lang, labels), title)
        columns.append(ScoreColumn(lang, metric, heading, formula))
    if published:
        cells = _published_scores(rows, tables, labels, table, columns)
    else:
        cells = _measured_scores(rows, labels, columns)
    shown_rows, shown_columns = {cell.row for cell in cells}, {cell.column for cell in cells}
    filled = [column for column in columns if column.name in shown_columns]
    # Codes of languages without any score or robustness; they may have accuracies.
    unscored = [c.heading[0] for c in columns if c.metric != "accuracy" and c not in filled]
    task_counts, incomplete = ("", []) if published else _task_counts(rows, labels)
    counts = {"tasks": task_counts, "incomplete": incomplete, "unscored": sorted(unscored)}
    averages = {row: row for row in (AVERAGE_ROW, AVERAGE_OF_ROWS) if row in shown_rows}
    return Exhibit(
        **describe(table, rules=common.rules_of(labels), **counts),
        cells=cells,
        heads={column.name: column.heading for column in filled if column.metric},
        sections=common.sections_of(models, labels, [c.name for c in filled], averages),
    )


def _task_counts(accuracies: pd.DataFrame, labels: Labels) -> tuple[str, list[str]]:
    """Return the numbers of tasks ("25 in EN, IT; 24 in EU"), and where a model lacks a task."""
    codes_of_count: dict[int, list[str]] = defaultdict(list)
    incomplete: list[str] = []
    for lang, tasks in common.tasks_of(accuracies).items():
        code, in_language = common.language_code(lang, labels), accuracies["lang"] == lang
        codes_of_count[len(tasks)].append(code)
        for model in common.models_of(accuracies[in_language]):
            of_model = accuracies[in_language & (accuracies["model"] == model)]
            n = len(common.tasks_of(of_model)[lang])
            if n < len(tasks):
                incomplete.append(f"{common.model_name(model, labels)} in {code}: {n}")
    counts = [f"{n} in {', '.join(codes)}" for n, codes in codes_of_count.items()]
    return "; ".join(counts), incomplete


def _measured_scores(
    accuracies: pd.DataFrame, labels: Labels, columns: Sequence[ScoreColumn]
) -> list[Cell]:
    """Return the cells of Table 4 or 5, with an average over the models that have the metric."""
    cells: list[Cell] = []
    for column in columns:
        lang = column.lang
        in_language = accuracies[accuracies["lang"] == lang]
        formula = formulas.as_released(column.formula, labels.method)
        models_with_score = []
        for model in common.models_of(in_language):
            cell_key = (common.model_name(model, labels), column.name)
            where = common.filter_for(lang, model, labels)
            cell = shared.formula_cell(in_language, cell_key, formula, "accuracies", where, ".1f")
            if not pd.isna(cell.value):
                models_with_score.append(model)
                cells.append(replace(cell, stands_for=(model, column.key)))
        if models_with_score:
            cell_key = (AVERAGE_ROW, column.name)
            where = common.filter_for(lang, models_with_score, labels)
            mean = formulas.mean_over_models(formula)
            cell = shared.formula_cell(in_language, cell_key, mean, "accuracies", where, ".1f")
            cells.append(replace(cell, stands_for=(lmentry.AVERAGE, column.key)))
    return cells


def _published_scores(
    printed: pd.DataFrame,
    tables: shared.Tables,
    labels: Labels,
    table: str,
    columns: Sequence[ScoreColumn],
) -> list[Cell]:
    """Return the printed cells of Table 4 or 5, and hidden cells with recomputed numbers."""
    row_names = {model: common.model_name(model, labels) for model in MODELS}
    row_names[lmentry.AVERAGE] = AVERAGE_ROW
    names = {column.key: column.name for column in columns}
    cells = shared.printed_cells(printed[printed["exhibit"] == table], row_names, names)
    for key, name in names.items():
        cell_key = (AVERAGE_OF_ROWS, name)
        where: dict[str, Any] = {"exhibit": table, "row": [*MODELS], "column": key}
        cell = shared.formula_cell(printed, cell_key, basic.MEAN, "published", where, ".1f")
        cells.append(replace(cell, stands_for=(lmentry.AVERAGE, key)))
    # Since a score is accuracy × robustness, compute Table 5 from Table 4's scores and accuracies,
    # and Table 4's scores from its accuracies and Table 5.
    for lang, model in product(LANGUAGES, MODELS):
        score, accuracy = f"{lang} lms", f"{lang} accuracy"
        if table == "table5":
            key, origin, formula = lang, "Table 4", basic.QUOTIENT
            where = {"exhibit": "table4", "column": [score, accuracy], "row": model}
        else:
            key, origin, formula = score, "Table 5", formulas.PRODUCT
            where = {"exhibit": ["table4", "table5"], "column": [accuracy, lang], "row": model}
        cell_key = (row_names[model], f"{names[key]}, from {origin}")
        cell = shared.formula_cell(printed, cell_key, formula, "published", where, ".1f")
        cells.append(replace(cell, stands_for=(model, key), printed=False))
    if table == "table5":
        return cells
    # Table 4's accuracy is the mean over tasks. Compute it where Tables 34 to 51 print all tasks.
    rows = common.read_accuracies(tables, labels)
    for lang, tasks in common.tasks_of(rows).items():
        key = f"{lang} accuracy"
        in_language = basic.select_rows(rows, {"lang": lang, "phenomenon": tasks})
        for model in common.models_of(in_language):
            judged = in_language[in_language["model"] == model]
            if len(judged) == len(tasks):
                cell_key = (row_names[model], f"{names[key]}, mean of the tasks")
                where = common.filter_for(lang, model, labels, phenomenon=tasks, paradigm=ALL)
                cell = shared.formula_cell(
                    judged, cell_key, basic.UNWEIGHTED, "accuracies", where, ".1f"
                )
                n = int(judged["n"].sum())
                cells.append(replace(cell, stands_for=(model, key), n=n, printed=False))
    return cells


FILTERED_BY_POS = ("ita", "spa", "glg", "cat", "eus", "por", "deu")
"""Languages in which the words of the task ``starts_with_word`` are filtered by part of speech."""


def task_table(tables: shared.Tables, labels: Labels, table: str) -> Exhibit:
    """Draw one of Tables 34 to 51: accuracy of each model on one half of a language's tasks."""
    lang = lmentry.TASK_TABLES[table]
    language = LANGUAGES[lang]
    half = language.tables.index(table)
    tasks = lmentry.TASKS_OF_TABLES[half]
    name_of = partial(common.model_name, labels=labels)
    lost: list[str] = []  # models, each with the tasks whose numbers our copy of the paper garbles
    if labels.source == "published":
        models, names = [*MODELS], {task: task_name(task) for task in tasks}
        printed = shared.read_printed(tables, exhibit=table)
        cells = shared.printed_cells(printed, {model: name_of(model) for model in models}, names)
        garbled = printed[printed["fault"] == "garbled"]
        for model, columns in garbled.groupby("row", sort=False)["column"]:
            lost.append(f"{name_of(str(model))} {', '.join(map(task_name, columns))}")
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
            cell = shared.row_accuracy_cell(
                row, cell_key, where, "judgements", formula, "{:.2f}".format
            )
            cells.append(replace(cell, stands_for=(model, task)))
    shown_rows, shown_columns = {cell.row for cell in cells}, {cell.column for cell in cells}
    models = [model for model in models if name_of(model) in shown_rows]
    heads = {task_name(task): HEADS[task] for task in tasks if task_name(task) in shown_columns}
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
    sections = common.sections_of(models, labels, [*heads])
    return Exhibit(**description, cells=cells, heads=heads, sections=sections)


RANKED_LANGUAGES = ("eng", "ita")
MODEL_GROUPS = {"open-weight": (WEIGHT, "Open-weight"), "open-data": (DATA, "Open-data")}
"""Heading in Table 3, and name in Table 6, of groups of models by their key in printed numbers."""
TASKS_PER_END = 5  # number of best tasks, and of worst tasks


def _task_ranks(accuracies: pd.DataFrame, labels: Labels, lang: str, group: str) -> dict[str, Cell]:
    """Return a hidden cell with the rank of each task, by mean accuracy of a group of models."""
    heading, name = MODEL_GROUPS[group]
    models = [model for model in common.models_of(accuracies) if common.group_of(model) == heading]
    selected = basic.select_rows(accuracies, {"lang": lang, "model": models, "paradigm": ALL})
    tasks = common.tasks_of(selected).get(lang, [])
    where = common.filter_for(lang, models, labels, phenomenon=tasks, paradigm=ALL)
    cells: dict[str, Cell] = {}
    for task in tasks:
        cell_key = (f"{common.language_code(lang, labels)} {task_name(task)}", f"{name}, rank")
        formula = formulas.rank_of(task, formulas.TASKS_BY_ACCURACY)
        cell = shared.formula_cell(selected, cell_key, formula, "accuracies", where, ".1f")
        n, stands_for = selected["model"].nunique(), (f"{lang} {group}", task)
        cells[task] = replace(cell, n=n, printed=False, stands_for=stands_for)
    return cells


def table6(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw Table 6: the best and worst tasks by mean accuracy, in English and Italian.

    A cell shows a task's name, and its value is the task's rank.
    """
    rows = common.read_accuracies(tables, labels)
    ranks: dict[tuple[str, str], dict[str, Cell]] = {}  # by language and group, then by task
    for lang, group in product(RANKED_LANGUAGES, MODEL_GROUPS):
        ranks[lang, group] = _task_ranks(rows, labels, lang, group)
    cells: list[Cell] = []
    if labels.source == "published":
        for _, printed in shared.read_printed(tables, exhibit="table6").iterrows():
            lang, group = printed["row"].split()
            position = _position(lang, group, int(printed["value"]), len(TASKS), labels)
            assert position is not None
            cells.append(shared.printed_cell(printed, position))
        listed = {cell.stands_for for cell in cells}
        for by_task in ranks.values():
            cells += [cell for cell in by_task.values() if cell.stands_for in listed]
    else:
        for (lang, group), by_task in ranks.items():
            # Tasks of equal rank are listed in the order of the paper.
            in_order = sorted(by_task.items(), key=lambda pair: pair[1].value)
            for rank, (task, cell) in enumerate(in_order, start=1):
                position = _position(lang, group, rank, len(in_order), labels)
                if position:
                    row, column = position
                    named = replace(cell, row=row, column=column, text=task_name(task))
                    cells.append(replace(named, printed=True))
    heads = {}
    for (_, name), end in product(MODEL_GROUPS.values(), ("top 5", "bottom 5")):
        heads[f"{name} {end}"] = (name, end)
    description = describe("table6", rules=common.rules_of(labels))
    return Exhibit(**description, cells=cells, heads=heads, textual=True)


def _position(lang: str, group: str, rank: int, n: int, labels: Labels) -> tuple[str, str] | None:
    """Return row and column of the task of a rank among ``n`` tasks; None for middle ranks."""
    code, (_, name) = common.language_code(lang, labels), MODEL_GROUPS[group]
    if rank <= TASKS_PER_END:
        return f"{code} {rank}", f"{name} top 5"
    if rank > n - TASKS_PER_END:
        return f"{code} {rank - n + TASKS_PER_END}", f"{name} bottom 5"
    return None


def text(tables: shared.Tables, labels: Labels) -> Exhibit:
    """Draw the table of numbers in the running text, printed and recomputed."""
    cells, _ = shared.printed_statements(shared.read_printed(tables), RECOMPUTATION)
    return Exhibit(**describe("text"), cells=cells)
