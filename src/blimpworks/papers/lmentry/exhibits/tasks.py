"""Tables 6 and 34 to 51: the tasks by rank, and the accuracy of each model on each task.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 5.4 and appendix A.5.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.variants import PUBLISHED
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import ACCURACY
from blimpworks.exhibits.shared import Tables, formula_cell, printed_cell, read_printed
from blimpworks.papers.lmentry.exhibits import describe
from blimpworks.papers.lmentry.exhibits.common import (
    group_of,
    judged_by,
    language_code,
    model_name,
    models_of,
    of_whole_tasks,
    read_accuracies,
    sections_of,
    selection,
    tasks_of,
)
from blimpworks.papers.lmentry.exhibits.formulas import NOMINAL, TASKS_BY_ACCURACY, rank_of
from blimpworks.papers.lmentry.exhibits.names import (
    DATA,
    HEADS,
    LANGUAGES,
    MODELS,
    PARTS,
    TASK_TABLES,
    WEIGHT,
    task_name,
)

CEILED = ("ita", "spa", "glg", "cat", "eus", "por", "deu")
"""Languages whose words for that task were filtered by part of speech."""
GROUPS = {"open-weight": (WEIGHT, "Open-weight"), "open-data": (DATA, "Open-data")}
"""Groups of models in Table 6 by their keys: heading in Table 3, and name in Table 6."""
RANKED = ("eng", "ita")
LISTED = 5
"""Tasks that Table 6 lists at each end."""


def task_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """One of Tables 34 to 51, from measured accuracies or as printed."""
    lang = TASK_TABLES[table]
    language = LANGUAGES[lang]
    number = language.tables.index(table)
    if labels.source == "published":
        printed = read_printed(tables, exhibit=table)
        # What our copy of the paper has lost has no value, and no cell.
        cells = [
            printed_cell(row, (model_name(row["row"], labels), task_name(row["column"])))
            for _, row in printed[printed["value"].notna()].iterrows()
        ]
        notes = describe.entries["notes_of_languages"]
        note = notes.get(lang, "") + (notes["ceiling"] if lang in CEILED and number == 0 else "")
        models, note = [*MODELS], note + _lost(printed, labels)
    else:
        rows = read_accuracies(tables, labels)
        models, cells = models_of(rows), [*_measured(rows, lang, PARTS[number], labels)]
        note = judged_by(labels).strip() if cells else "Without any answer here."
        if cells and labels.method == PUBLISHED:
            note += " Divided, as in print, by the number of prompts that the settings ask for."
    shown_rows, shown_columns = ({cell.row for cell in cells}, {cell.column for cell in cells})
    models = [model for model in models if model_name(model, labels) in shown_rows]
    columns = [task_name(task) for task in PARTS[number] if task_name(task) in shown_columns]
    key, note = ("first_part", "second_part")[number], f" {note}" if note else ""
    return Exhibit(
        **describe(key, language=language.name, note=note),
        cells=cells,
        heads={task_name(task): head for task, head in HEADS.items() if task_name(task) in columns},
        sections=sections_of(models, labels, columns),
    )


def _measured(
    rows: pd.DataFrame, lang: str, tasks: tuple[str, ...], labels: Labels
) -> Iterator[Cell]:
    """A cell for each accuracy in a language on some tasks, in their order."""
    inside = rows[(rows["lang"] == lang) & (rows["paradigm"] == ALL)]
    inside = inside[inside["phenomenon"].isin(tasks)]
    inside = inside.sort_values("phenomenon", key=lambda names: names.map(tasks.index))
    formula = NOMINAL if labels.method == PUBLISHED else ACCURACY
    for _, row in inside.iterrows():
        model, task = row["model"], row["phenomenon"]
        yield Cell(
            model_name(model, labels),
            task_name(task),
            100 * row["accuracy"],
            f"{100 * row['accuracy']:.2f}",
            formula,
            "judgements",
            selection(lang, model, labels, phenomenon=task),
            n=int(row["n"]),
            low=100 * row["low"],
            high=100 * row["high"],
            stands_for=(model, task),
        )


def _lost(printed: pd.DataFrame, labels: Labels) -> str:
    """A sentence on the numbers that our copy has lost."""
    lost = printed[printed["fault"] == "garbled"]
    notes = [
        f"{model_name(str(model), labels)} {', '.join(map(task_name, tasks))}"
        for model, tasks in lost.groupby("row", sort=False)["column"]
    ]
    return f" Lost in our copy: {'; '.join(notes)}." if notes else ""


def table6(tables: Tables, labels: Labels) -> Exhibit:
    """Table 6: tasks ranked by mean accuracy, in English and Italian.

    The published form has hidden cells of the ranks that Tables 34, 35, 50 and 51 give.
    """
    rows = read_accuracies(tables, labels)
    cells: list[Cell] = []
    if labels.source == "measured":
        key = "table6"
        for lang, group in product(RANKED, GROUPS):
            ranked = sorted(_ranks(rows, lang, group, labels), key=lambda cell: cell.value)
            for rank, cell in enumerate(ranked, start=1):
                place = _place(lang, group, rank, len(ranked), labels)
                if place and cell.stands_for:
                    row, column = place
                    text = task_name(cell.stands_for[1])
                    cells.append(replace(cell, row=row, column=column, text=text, printed=True))
    else:
        key = "table6_published"
        for _, printed in read_printed(tables, exhibit="table6").iterrows():
            lang, group = printed["row"].split()
            place = _place(lang, group, int(printed["value"]), 25, labels)
            assert place is not None
            cells.append(printed_cell(printed, place))
        listed = {cell.stands_for for cell in cells}
        for lang, group in product(RANKED, GROUPS):
            ranks = _ranks(rows, lang, group, labels)
            cells += [cell for cell in ranks if cell.stands_for in listed]
    columns = [f"{name} {end}" for _, name in GROUPS.values() for end in ("top 5", "bottom 5")]
    heads = {column: (column.split()[0], column.partition(" ")[2]) for column in columns}
    description = describe(key, judged=judged_by(labels))
    return Exhibit(**description, cells=cells, heads=heads, textual=True)


def _ranks(rows: pd.DataFrame, lang: str, group: str, labels: Labels) -> Iterator[Cell]:
    """A hidden cell of the rank of each task of a language, by the models of a group."""
    models = [model for model in models_of(rows) if group_of(model) == GROUPS[group][0]]
    inside = rows[(rows["lang"] == lang) & rows["model"].isin(models) & (rows["paradigm"] == ALL)]
    tasks = tasks_of(inside).get(lang, [])
    for task in tasks:
        yield formula_cell(
            inside,
            (f"{language_code(lang, labels)} {task_name(task)}", f"{GROUPS[group][1]}, rank"),
            rank_of(task, TASKS_BY_ACCURACY),
            "accuracies",
            selection(lang, models, labels, **of_whole_tasks(tasks)),
            ".1f",
            stands_for=(f"{lang} {group}", task),
            n=len(models),
            printed=False,
        )


def _place(lang: str, group: str, rank: int, n: int, labels: Labels) -> tuple[str, str] | None:
    """Row and column of a rank among ``n`` tasks, if it is among the first or last five."""
    if LISTED < rank <= n - LISTED:
        return None
    end, line = ("top 5", rank) if rank <= LISTED else ("bottom 5", rank - n + LISTED)
    return f"{language_code(lang, labels)} {line}", f"{GROUPS[group][1]} {end}"
