"""What the rules decide: published against corrected verdicts on the same answers.

An exhibit of ours, about section 3.3 of Moroni, Aula-Blasco, Conia and others (2025).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.variants import CORRECTED, PUBLISHED, VARIANTS
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import Formula, sum_of
from blimpworks.exhibits.shared import Tables, formula_cell, read_plain
from blimpworks.exhibits.style import BLUE, COLUMN_INCHES, GREY, ORANGE, new_figure, say
from blimpworks.papers.lmentry.analysis.verdicts import (
    CASE,
    OTHER,
    REASONS,
    SCRIPT,
    VACUOUS,
    WORDING,
    YES_NO,
)
from blimpworks.papers.lmentry.exhibits import describe
from blimpworks.papers.lmentry.exhibits.common import (
    language_code,
    language_name,
    languages_of,
    models_of,
    named_section,
)
from blimpworks.papers.lmentry.exhibits.formulas import (
    BY_CORRECTED,
    BY_PUBLISHED,
    CHANGE,
    CHANGED,
    DENOMINATORS,
    SHARE_OF_CHANGE,
)
from blimpworks.papers.lmentry.exhibits.names import TASK_NAMES, task_name
from blimpworks.papers.lmentry.tables import VERDICTS
from blimpworks.papers.lmentry.tasks import TASKS

SOURCE = "verdicts"
NOTHING = 1e-9
"""Below this a difference is what floating point leaves of none."""
SHOWN = 3
"""Tasks of each language that the table lists: those that change most."""
COLUMNS: dict[tuple[str, str], tuple[Formula, str | list[str]]] = {
    ("Accuracy", PUBLISHED): (BY_PUBLISHED, ALL),
    ("Accuracy", CORRECTED): (BY_CORRECTED, ALL),
    ("Accuracy", "change"): (CHANGE, ALL),
    ("Verdicts", "changed"): (CHANGED, [*REASONS]),
    ("No ASCII word", "right"): (SHARE_OF_CHANGE, VACUOUS),
    ("No ASCII word", "wrong"): (SHARE_OF_CHANGE, SCRIPT),
    ("Capital", "letters"): (SHARE_OF_CHANGE, CASE),
    ("Yes", "or no"): (SHARE_OF_CHANGE, YES_NO),
    ("Wording", "known"): (SHARE_OF_CHANGE, WORDING),
    ("Other", "rules"): (SHARE_OF_CHANGE, OTHER),
    ("Prompts", "counted"): (DENOMINATORS, ALL),
    ("Answers", "cut off"): (sum_of("cut"), ALL),
    ("Answers", "echoes"): (sum_of("echoes"), ALL),
}
"""Heads of the columns, with the formula of each, and the reasons for a change that it is about."""
CHANGE_COLUMN = "Accuracy change"
WRITTEN = {"Answers cut off": "cut", "Answers echoes": "echoes"}
"""Columns that are left out where the judgements do not have them."""
SIGNED = (CHANGE, SHARE_OF_CHANGE, DENOMINATORS)
# Where both are the same, the diamond stands inside the ring.
MARKS: dict[str, dict[str, Any]] = {
    "published rules": {
        "s": 26,
        "facecolor": "white",
        "edgecolor": ORANGE,
        "linewidth": 1.3,
        "marker": "o",
    },
    "corrected rules": {"s": 10, "color": BLUE, "marker": "D"},
}
GROUPS = {"all tasks": TASKS} | {
    group: tuple(task for task in TASKS if TASK_NAMES[task].group == group)
    for group in dict.fromkeys(TASK_NAMES[task].group for task in TASKS)
}
"""Panels of the figure: all tasks, and five groups that have each of them once."""


def _read(tables: Tables, labels: Labels) -> pd.DataFrame:
    rows = read_plain(VERDICTS, tables[SOURCE][0])
    return rows[rows["model"].isin(labels.models)]


def _row(rows: pd.DataFrame, name: str, lang: str, tasks: Sequence[str]) -> Iterator[Cell]:
    """Accuracies by both methods, their difference, and the parts that add up to it."""
    where = {"lang": lang, "model": models_of(rows), "phenomenon": [*tasks]}
    judged = rows[rows["phenomenon"].isin(tasks) & (rows["reason"] == ALL)]
    for head, (formula, reason) in COLUMNS.items():
        column = " ".join(head)
        if column in WRITTEN and judged[WRITTEN[column]].isna().any():
            continue
        form = ",.0f" if column in WRITTEN or formula == CHANGED else ".1f"
        chosen = where | {"reason": reason}
        cell = formula_cell(rows, (name, column), formula, SOURCE, chosen, form)
        if formula in SIGNED:
            # The minus is as in print; zero has no sign.
            text = f"{cell.value:+.1f}".replace("-", "−")
            text = "0.0" if text[1:] == "0.0" else text
            cell = replace(cell, text="0" if abs(cell.value) < NOTHING else text)
        yield cell


def artefacts(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy by the published and by the corrected rules, and what makes the difference.

    Below the languages stand the tasks of each whose accuracy changes most.
    """
    rows = _read(tables, labels)
    of_languages: list[Cell] = []
    of_tasks: list[Cell] = []
    for lang in languages_of(rows):
        in_language = rows[rows["lang"] == lang]
        tasks = [task for task in TASKS if (in_language["phenomenon"] == task).any()]
        of_languages += _row(in_language, language_name(lang, labels), lang, tasks)
        changes: list[tuple[float, list[Cell]]] = []
        on_tasks = in_language[in_language["phenomenon"].isin(TASKS)]
        for task in sorted(tasks):
            name = f"{language_code(lang, labels)} {task_name(task)}"
            cells = [*_row(on_tasks, name, lang, [task])]
            change = next(abs(cell.value) for cell in cells if cell.column == CHANGE_COLUMN)
            if change > NOTHING:
                changes.append((change, cells))
        changes.sort(key=lambda change: -change[0])
        of_tasks += (cell for _, cells in changes[:SHOWN] for cell in cells)
    shown = {cell.column for cell in of_languages}
    heads = {" ".join(head): head for head in COLUMNS}
    heads = {name: head for name, head in heads.items() if name not in WRITTEN or name in shown}
    named = dict.fromkeys(cell.row for cell in of_languages)
    sections = [named_section("Language", named, [*heads])]
    if of_tasks:
        below = ["Tasks that change most", *(cell.row for cell in of_tasks)]
        sections.append(named_section("Language", below, [*heads]))
    return Exhibit(
        **describe("artefacts", models=rows["model"].nunique()),
        cells=[*of_languages, *of_tasks],
        heads=heads,
        sections=sections,
    )


def artefacts_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy by the published and by the corrected rules, by language and group of tasks."""
    rows = _read(tables, labels)
    langs = languages_of(rows)
    cells = []
    for group, members in GROUPS.items():
        for lang in langs:
            inside = rows[(rows["lang"] == lang) & rows["phenomenon"].isin(members)]
            tasks = [task for task in members if (inside["phenomenon"] == task).any()]
            where = {"lang": lang, "model": models_of(inside), "phenomenon": tasks, "reason": ALL}
            for method, formula in zip(VARIANTS, (BY_PUBLISHED, BY_CORRECTED), strict=True):
                if tasks:
                    place = (language_name(lang, labels), f"{group}, {method}")
                    cells.append(formula_cell(inside, place, formula, SOURCE, where, ".1f"))
    figure = new_figure(COLUMN_INCHES, 1.1 + 3 * (0.25 + 0.115 * len(langs)))
    panels = figure.subplots(3, 2, sharex=True, sharey=True)
    names = [language_name(lang, labels) for lang in langs]
    for axes, group in zip(panels.flat, GROUPS, strict=True):
        if cells:
            _draw(axes, cells, group, names)
        else:
            say(axes, "no verdicts")
    panels[0][0].set_yticks(range(len(langs)), [language_code(lang, labels) for lang in langs])
    for axes in panels.flat:
        axes.tick_params(axis="y", labelsize=6)
    figure.supxlabel("mean accuracy (%)", fontsize=8)
    for name, mark in MARKS.items():
        panels[0][0].scatter([], [], label=name, **mark)
    figure.legend(loc="outside upper center", ncols=2)
    description = describe("artefacts_fig", models=rows["model"].nunique())
    return Exhibit(**description, cells=cells, figure=figure)


def _draw(axes: Axes, cells: Sequence[Cell], group: str, names: Sequence[str]) -> None:
    """Draw a line for each language from the one accuracy to the other."""
    values = {(cell.row, cell.column): cell.value for cell in cells}
    for y, name in enumerate(names):
        if (name, f"{group}, published") not in values:
            axes.text(50, y, "none", ha="center", va="center", color=GREY, fontsize=6)
            continue
        before, after = (values[name, f"{group}, {method}"] for method in VARIANTS)
        axes.plot([before, after], [y, y], color=GREY, linewidth=1.2, zorder=1)
        axes.scatter([before], [y], zorder=2, **MARKS["published rules"])
        axes.scatter([after], [y], zorder=3, **MARKS["corrected rules"])
    axes.set_title(group, fontsize=7, pad=2)
    axes.set(xlim=(-4, 104), ylim=(len(names) - 0.5, -0.5), xticks=[0, 50, 100])
    axes.tick_params(length=0)
    axes.grid(axis="y", visible=False)
