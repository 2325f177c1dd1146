"""Tables 6 and 34 to 51: the tasks by rank, and the accuracy of each model on each task.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 5.4 and appendix A.5.
"""

from collections.abc import Iterator, Sequence
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
    languages_of,
    model_name,
    models_of,
    read_accuracies,
    sections_of,
    selection,
    whole,
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
from blimpworks.papers.lmentry.tasks import TASKS

CEILED = ("ita", "spa", "glg", "cat", "eus", "por", "deu")
"""Languages whose words for that task were filtered by part of speech."""
GROUPS = {"open-weight": (WEIGHT, "Open-weight"), "open-data": (DATA, "Open-data")}
"""Groups of models in Table 6 by their keys: heading in Table 3, and name in Table 6."""
RANKED = ("eng", "ita")
LISTED = 5
"""Tasks that Table 6 lists at each end."""


def tasks_of(rows: pd.DataFrame) -> dict[str, list[str]]:
    """The tasks that each language has, in order: all 25, or those that any model has."""
    present = {
        str(lang): {str(task) for task in part["phenomenon"]} for lang, part in rows.groupby("lang")
    }
    return {lang: [task for task in TASKS if task in present[lang]] for lang in languages_of(rows)}


# Tables 34 to 51


def _measured(rows: pd.DataFrame, table: str, labels: Labels) -> Iterator[Cell]:
    """A cell for each accuracy of the table's language and columns."""
    lang = TASK_TABLES[table]
    columns = PARTS[LANGUAGES[lang].tables.index(table)]
    inside = rows[(rows["lang"] == lang) & (rows["paradigm"] == ALL)]
    places = {task: place for place, task in enumerate(columns)}
    inside = inside[inside["phenomenon"].isin(places)]
    inside = inside.sort_values("phenomenon", key=lambda tasks: tasks.astype(str).map(places))
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


def _printed(printed: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """The printed numbers; what our copy has lost is not there."""
    for _, row in printed[printed["value"].notna()].iterrows():
        yield printed_cell(row, (model_name(row["row"], labels), task_name(row["column"])))


def _lost(printed: pd.DataFrame, labels: Labels) -> str:
    """A sentence on the numbers that our copy has lost."""
    lost = printed[printed["fault"] == "garbled"]
    notes = [
        f"{model_name(model, labels)} "
        + ", ".join(map(task_name, lost["column"][lost["row"] == model]))
        for model in dict.fromkeys(lost["row"])
    ]
    return f" Lost in our copy: {'; '.join(notes)}." if notes else ""


def _columns(cells: Sequence[Cell], table: str) -> list[str]:
    present = {cell.column for cell in cells}
    part = PARTS[LANGUAGES[TASK_TABLES[table]].tables.index(table)]
    return [task_name(task) for task in part if task_name(task) in present]


def task_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """One of Tables 34 to 51, from measured accuracies or as printed."""
    lang = TASK_TABLES[table]
    language = LANGUAGES[lang]
    part = language.tables.index(table)
    if labels.source == "published":
        printed = read_printed(tables, exhibit=table)
        models, cells = [*MODELS], list(_printed(printed, labels))
        notes = describe.entries["notes_of_languages"]
        note = notes.get(lang, "") + (notes["ceiling"] if lang in CEILED and not part else "")
        note += _lost(printed, labels)
    else:
        rows = read_accuracies(tables, labels)
        models, cells = models_of(rows), list(_measured(rows, table, labels))
        note = judged_by(labels).strip() if cells else "Without any answer here."
        if cells and labels.method == PUBLISHED:
            note += " Divided, as in print, by the number of prompts that the settings ask for."
    names = {cell.row for cell in cells}
    models = [model for model in models if model_name(model, labels) in names]
    columns = _columns(cells, table)
    key, note = "second_part" if part else "first_part", f" {note}" if note else ""
    return Exhibit(
        **describe(key, language=language.name, note=note),
        cells=cells,
        heads={task_name(task): head for task, head in HEADS.items() if task_name(task) in columns},
        sections=sections_of(models, labels, columns, {}),
    )


# Table 6


def _place(lang: str, group: str, rank: int, n: int, labels: Labels) -> tuple[str, str] | None:
    """Row and column of a rank among ``n`` tasks, if it is among the first or last five."""
    if LISTED < rank <= n - LISTED:
        return None
    end, line = ("top 5", rank) if rank <= LISTED else ("bottom 5", rank - n + LISTED)
    return f"{language_code(lang, labels)} {line}", f"{GROUPS[group][1]} {end}"


def _ranks(rows: pd.DataFrame, lang: str, group: str, labels: Labels) -> Iterator[tuple[str, Cell]]:
    """Each task of a language and its rank among them, by the models of a group."""
    models = [model for model in models_of(rows) if group_of(model) == GROUPS[group][0]]
    inside = rows[(rows["lang"] == lang) & rows["model"].isin(models) & (rows["paradigm"] == ALL)]
    tasks = tasks_of(inside).get(lang, [])
    for task in tasks:
        where = selection(lang, models, labels, **whole(tasks))
        cell = formula_cell(
            inside,
            (f"{language_code(lang, labels)} {task_name(task)}", f"{GROUPS[group][1]}, rank"),
            rank_of(task, TASKS_BY_ACCURACY),
            "accuracies",
            where,
            ".1f",
            stands_for=(f"{lang} {group}", task),
            n=len(models),
            printed=False,
        )
        yield task, cell


def _ends(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """The tasks at either end, in the place of their rank."""
    for lang, group in product(RANKED, GROUPS):
        ranked = sorted(_ranks(rows, lang, group, labels), key=lambda each: each[1].value)
        for position, (task, cell) in enumerate(ranked, start=1):
            place = _place(lang, group, position, len(ranked), labels)
            if place:
                row, column = place
                yield replace(cell, row=row, column=column, text=task_name(task), printed=True)


def table6(tables: Tables, labels: Labels) -> Exhibit:
    """Table 6: tasks ranked by mean accuracy, in English and Italian.

    The published form has hidden cells of the ranks that Tables 34, 35, 50 and 51 give.
    """
    rows = read_accuracies(tables, labels)
    if labels.source == "measured":
        cells, key = [*_ends(rows, labels)], "table6"
    else:
        key = "table6_published"
        cells = [*_printed_ranks(read_printed(tables, exhibit="table6"), labels)]
        places = {cell.stands_for for cell in cells}
        for lang, group in product(RANKED, GROUPS):
            again = _ranks(rows, lang, group, labels)
            cells += [cell for _, cell in again if cell.stands_for in places]
    columns = [f"{name} {end}" for _, name in GROUPS.values() for end in ("top 5", "bottom 5")]
    heads = {column: (column.split()[0], column.partition(" ")[2]) for column in columns}
    description = describe(key, judged=judged_by(labels))
    return Exhibit(**description, cells=cells, heads=heads, textual=True)


def _printed_ranks(printed: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    for _, row in printed.iterrows():
        lang, group = row["row"].split()
        place = _place(lang, group, int(row["value"]), 25, labels)
        assert place is not None
        yield printed_cell(row, place)
