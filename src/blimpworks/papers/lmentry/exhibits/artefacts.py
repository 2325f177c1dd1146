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
from blimpworks.exhibits.formulas import sum_of
from blimpworks.exhibits.shared import Tables, formula_cell, read_plain
from blimpworks.exhibits.style import (
    BLUE,
    COLUMN_INCHES,
    GREY,
    ORANGE,
    new_figure,
    say,
)
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
HEADS = {
    VACUOUS: ("No ASCII word", "right"),
    SCRIPT: ("No ASCII word", "wrong"),
    CASE: ("Capital", "letters"),
    YES_NO: ("Yes", "or no"),
    WORDING: ("Wording", "known"),
    OTHER: ("Other", "rules"),
}
"""Columns of the reasons; the first two belong together."""
WHOLE = {
    BY_PUBLISHED: ("Accuracy", PUBLISHED),
    BY_CORRECTED: ("Accuracy", CORRECTED),
    CHANGE: ("Accuracy", "change"),
}
COUNTED = ("Prompts", "counted")
VERDICTS_CHANGED = ("Verdicts", "changed")
ANSWERS = {"cut": ("Answers", "cut off"), "echoes": ("Answers", "echoes")}
"""Heads of what answers are, by the table's columns."""
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


def _name(head: tuple[str, str]) -> str:
    return " ".join(head)


def _read(tables: Tables, labels: Labels) -> pd.DataFrame:
    rows = read_plain(VERDICTS, tables[SOURCE][0])
    return rows[rows["model"].isin(labels.models)]


def _signed(cell: Cell) -> Cell:
    """A difference with its sign; the minus as print has it."""
    if abs(cell.value) < NOTHING:
        return replace(cell, text="0")
    text = f"{cell.value:+.1f}".replace("-", "−")
    return replace(cell, text="0.0" if text[1:] == "0.0" else text)


def _row(rows: pd.DataFrame, row: str, lang: str, tasks: Sequence[str]) -> Iterator[Cell]:
    """Accuracies by both methods, their difference, and the parts that add up to it."""
    where = {"lang": lang, "model": models_of(rows), "phenomenon": [*tasks]}
    whole = where | {"reason": ALL}
    for formula, head in WHOLE.items():
        cell = formula_cell(rows, (row, _name(head)), formula, SOURCE, whole, ".1f")
        yield _signed(cell) if formula == CHANGE else cell
    reasons = where | {"reason": [*REASONS]}
    yield formula_cell(rows, (row, _name(VERDICTS_CHANGED)), CHANGED, SOURCE, reasons, ",.0f")
    for reason, head in HEADS.items():
        chosen = where | {"reason": reason}
        yield _signed(
            formula_cell(rows, (row, _name(head)), SHARE_OF_CHANGE, SOURCE, chosen, ".1f")
        )
    yield _signed(formula_cell(rows, (row, _name(COUNTED)), DENOMINATORS, SOURCE, whole, ".1f"))
    answers = rows[rows["phenomenon"].isin(tasks) & (rows["reason"] == ALL)]
    for column, head in ANSWERS.items():
        if answers[column].notna().all():
            yield formula_cell(rows, (row, _name(head)), sum_of(column), SOURCE, whole, ",.0f")


def _languages(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    for lang in languages_of(rows):
        inside = rows[rows["lang"] == lang]
        tasks = [task for task in TASKS if (inside["phenomenon"] == task).any()]
        yield from _row(inside, language_name(lang, labels), lang, tasks)


def _most_affected(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """The tasks of each language whose accuracy changes most; none that does not change."""
    at = [*WHOLE].index(CHANGE)
    for lang in languages_of(rows):
        inside = rows[(rows["lang"] == lang) & rows["phenomenon"].isin(TASKS)]
        candidates = [
            [*_row(inside, f"{language_code(lang, labels)} {task_name(task)}", lang, [task])]
            for task in sorted({*inside["phenomenon"]})
        ]
        candidates.sort(key=lambda cells: -abs(cells[at].value))
        yield from (
            cell for cells in candidates[:SHOWN] if abs(cells[at].value) > NOTHING for cell in cells
        )


def artefacts(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy by the published and by the corrected rules, and what makes the difference."""
    rows = _read(tables, labels)
    whole, single = [*_languages(rows, labels)], [*_most_affected(rows, labels)]
    heads = {_name(head): head for head in (*WHOLE.values(), VERDICTS_CHANGED, *HEADS.values())}
    heads[_name(COUNTED)] = COUNTED
    shown = {cell.column for cell in whole}
    heads |= {_name(head): head for head in ANSWERS.values() if _name(head) in shown}
    sections = [named_section("Language", [cell.row for cell in whole], [*heads])]
    if single:
        below = ["Tasks that change most", *(cell.row for cell in single)]
        sections.append(named_section("Language", below, [*heads]))
    return Exhibit(
        **describe("artefacts", models=rows["model"].nunique()),
        cells=[*whole, *single],
        heads=heads,
        sections=sections,
    )


# Figure


def _dumbbells(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """Accuracies by both methods of each group of tasks and language that there are."""
    for group, members in GROUPS.items():
        for lang in languages_of(rows):
            inside = rows[(rows["lang"] == lang) & rows["phenomenon"].isin(members)]
            tasks = [task for task in members if (inside["phenomenon"] == task).any()]
            where = {"lang": lang, "model": models_of(inside), "phenomenon": tasks, "reason": ALL}
            for formula in (BY_PUBLISHED, BY_CORRECTED) if tasks else ():
                place = (language_name(lang, labels), f"{group}, {WHOLE[formula][1]}")
                yield formula_cell(inside, place, formula, SOURCE, where, ".1f")


def _draw(axes: Axes, cells: Sequence[Cell], group: str, names: Sequence[str]) -> None:
    values = {(cell.row, cell.column): cell.value for cell in cells}
    for place, name in enumerate(names):
        if (name, f"{group}, published") not in values:
            axes.text(50, place, "none", ha="center", va="center", color=GREY, fontsize=6)
            continue
        before, after = (values[name, f"{group}, {side}"] for side in VARIANTS)
        axes.plot([before, after], [place, place], color=GREY, linewidth=1.2, zorder=1)
        axes.scatter([before], [place], zorder=2, **MARKS["published rules"])
        axes.scatter([after], [place], zorder=3, **MARKS["corrected rules"])
    axes.set_title(group, fontsize=7, pad=2)
    axes.set(xlim=(-4, 104), ylim=(len(names) - 0.5, -0.5), xticks=[0, 50, 100])
    axes.tick_params(length=0)
    axes.grid(axis="y", visible=False)


def artefacts_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Accuracy by the published and by the corrected rules, by language and group of tasks."""
    rows = _read(tables, labels)
    cells = [*_dumbbells(rows, labels)]
    names = [language_name(lang, labels) for lang in languages_of(rows)]
    codes = [language_code(lang, labels) for lang in languages_of(rows)]
    figure = new_figure(COLUMN_INCHES, 1.1 + 3 * (0.25 + 0.115 * len(names)))
    panels = figure.subplots(3, 2, sharex=True, sharey=True)
    for axes, group in zip(panels.flat, GROUPS, strict=True):
        if cells:
            _draw(axes, cells, group, names)
        else:
            say(axes, "no verdicts")
    panels[0][0].set_yticks(range(len(codes)), codes)
    for axes in panels.flat:
        axes.tick_params(axis="y", labelsize=6)
    figure.supxlabel("mean accuracy (%)", fontsize=8)
    for name, mark in MARKS.items():
        panels[0][0].scatter([], [], label=name, **mark)
    figure.legend(loc="outside upper center", ncols=2)
    return Exhibit(
        **describe("artefacts_fig", models=rows["model"].nunique()),
        cells=cells,
        figure=figure,
    )
