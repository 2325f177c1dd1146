"""Table 6: the five tasks with the highest and with the lowest mean accuracy.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 5.4.
"""

from collections.abc import Iterator

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables, printed_cell, read_printed
from blimpworks.papers.lmentry.exhibits.common import (
    cell_of,
    group_of,
    judged_by,
    language_code,
    models_of,
    read_accuracies,
    read_exhibit,
    selection,
    whole,
)
from blimpworks.papers.lmentry.exhibits.formulas import TASKS_BY_ACCURACY, rank_of
from blimpworks.papers.lmentry.exhibits.names import DATA, WEIGHT, task_name
from blimpworks.papers.lmentry.exhibits.results import tasks_of

GROUPS = {"open-weight": (WEIGHT, "Open-weight"), "open-data": (DATA, "Open-data")}
RANKED = ("eng", "ita")
LISTED = 5


def _columns() -> list[str]:
    return [f"{name} {end}" for _, name in GROUPS.values() for end in ("top 5", "bottom 5")]


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
        cell = cell_of(
            inside,
            (f"{language_code(lang, labels)} {task_name(task)}", f"{GROUPS[group][1]}, rank"),
            rank_of(task, TASKS_BY_ACCURACY),
            "accuracies",
            where,
            stands_for=(f"{lang} {group}", task),
            n=len(models),
            printed=False,
        )
        yield task, cell


def _measured(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """The tasks at either end, in the place of their rank."""
    for lang in RANKED:
        for group in GROUPS:
            ranked = sorted(_ranks(rows, lang, group, labels), key=lambda each: each[1].value)
            for position, (task, cell) in enumerate(ranked, start=1):
                place = _place(lang, group, position, len(ranked), labels)
                if place:
                    yield Cell(
                        *place,
                        cell.value,
                        task_name(task),
                        cell.formula,
                        cell.source,
                        cell.where,
                        n=cell.n,
                        stands_for=cell.stands_for,
                    )


def table6(tables: Tables, labels: Labels) -> Exhibit:
    """Table 6: tasks ranked by mean accuracy, in English and Italian.

    The published form has hidden cells of the ranks that Tables 34, 35, 50 and 51 give.
    """
    rows = read_accuracies(tables, labels)
    title = "Tasks with the highest and lowest mean accuracy"
    caption = "Names of the first and the last five tasks, in descending order of accuracy, mean "
    caption += "over the open-weight and the open-data multilingual models of Table 3."
    if labels.source == "measured":
        cells = list(_measured(rows, labels))
        caption += judged_by(labels)
    else:
        title += ", as printed"
        cells = list(_printed(read_exhibit(read_printed(tables), "table6"), labels))
        places = {cell.stands_for for cell in cells}
        for lang in RANKED:
            for group in GROUPS:
                again = _ranks(rows, lang, group, labels)
                cells += [cell for _, cell in again if cell.stands_for in places]
        caption += (
            " As printed: the open-weight lists follow from the tables of accuracies; the "
            "open-data lists do so, as sets, without EuroLLM-9B alone. With all six models all "
            "words from category is among the English top five in place of sentence not "
            "containing, and more letters among the Italian in place of word not containing."
        )
    heads = {column: (column.split()[0], column.partition(" ")[2]) for column in _columns()}
    return Exhibit(title, caption, cells, row_title="Language", heads=heads, textual=True)


def _printed(printed: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    for _, row in printed.iterrows():
        lang, group = row["row"].split()
        place = _place(lang, group, int(row["value"]), 25, labels)
        assert place is not None
        yield printed_cell(row, place)
