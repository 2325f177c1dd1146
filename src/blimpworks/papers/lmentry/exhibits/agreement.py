"""Tables 52 and 53, and two of ours: agreement of the verdicts with annotators.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3 and appendix A.6.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.variants import VARIANTS
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import MEAN, UNWEIGHTED, select_rows
from blimpworks.exhibits.shared import Tables, formula_cell, printed_cell, read_plain, read_printed
from blimpworks.papers.lmentry.exhibits import describe
from blimpworks.papers.lmentry.exhibits.common import (
    language_code,
    language_name,
    languages_of,
    named_section,
)
from blimpworks.papers.lmentry.exhibits.formulas import KAPPA
from blimpworks.papers.lmentry.exhibits.names import HEADS, LANGUAGES, task_name
from blimpworks.papers.lmentry.tables import ANNOTATION_AGREEMENT

SOURCE = "annotation_agreement"
LANGUAGE_OF = {"table52": "eng", "table53": "eus"}
OVERALL, POOLED = "global accuracy", "all answers"
AGREEMENT, KAPPA_HEAD = "Agreement (%)", "κ"
COUNT = "Answers"
ABSENT = "κ is not given where one side says the same of every answer."


def _cells(
    rows: pd.DataFrame,
    row: str,
    heads: tuple[str, str],
    where: Mapping[str, Any],
    stands_for: str | None = None,
) -> Iterator[Cell]:
    """Agreement and kappa of some judges: means where there are several rows, else intervals.

    ``stands_for`` is the row in print that the cells stand for.
    """
    if rows.empty:
        return
    n = int(rows["n"].sum())
    for column, key, formula, scale, prefix in (
        (heads[0], "agreement", UNWEIGHTED, 100, ""),
        (heads[1], "kappa", KAPPA, 1, "kappa_"),
    ):
        if key == "kappa" and rows["kappa"].isna().any():
            continue
        ends = rows[[f"{prefix}low", f"{prefix}high"]]
        interval = {}
        if len(rows) == 1 and ends.notna().all(axis=None):
            low, high = ends.iloc[0]
            interval = {"low": scale * low, "high": scale * high}
        cell = formula_cell(rows, (row, column), formula, SOURCE, where, ".2f", n=n, **interval)
        yield replace(cell, stands_for=(stands_for, key)) if stands_for else cell


def _tasks_in(tasks: pd.Series) -> list[str]:
    present = {*tasks}
    return [task for task in HEADS if task in present]


def agreement_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """Tables 52 and 53: how often annotators agree with the verdicts, task by task."""
    lang = LANGUAGE_OF[table]
    language = LANGUAGES[lang].name
    if labels.source == "published":
        printed = read_printed(tables, exhibit=table)
        cells = [
            printed_cell(row, (task_name(row["row"]), AGREEMENT)) for _, row in printed.iterrows()
        ]
        where: dict[str, Any] = {"exhibit": table, "row": _tasks_in(printed["row"])}
        where |= {"column": "agreement"}
        place = (f"{OVERALL}, mean of the tasks", AGREEMENT)
        mean = formula_cell(printed, place, MEAN, "published", where, ".2f")
        cells.append(replace(mean, stands_for=("global_accuracy", "agreement")))
        return Exhibit(**describe("tables52_53_published", language=language), cells=cells)
    rows = read_plain(ANNOTATION_AGREEMENT, tables[SOURCE][0])
    rows = rows[(rows["lang"] == lang) & (rows["method"] == labels.method)]
    cells = []
    heads: dict[str, tuple[str, str]] = {}
    for name in sorted(rows["annotator"].unique()):
        judged = rows[rows["annotator"] == name]
        columns = (f"{name} {AGREEMENT}", f"{name} {KAPPA_HEAD}")
        heads |= {columns[0]: (name, AGREEMENT), columns[1]: (name, KAPPA_HEAD)}
        where = {"lang": lang, "method": labels.method, "annotator": name}
        tasks = _tasks_in(judged["phenomenon"])
        for row, phenomenon, stands_for in (
            *((task_name(task), task, task) for task in tasks),
            (OVERALL, tasks, "global_accuracy"),
            (POOLED, ALL, None),
        ):
            chosen = where | {"phenomenon": phenomenon}
            cells += _cells(select_rows(judged, chosen), row, columns, chosen, stands_for)
    # How many answers of a row the annotators have judged, or the fewest and the most.
    answers: dict[str, set[int]] = {}
    for cell in cells:
        answers.setdefault(cell.row, set()).add(cell.n or 0)
    stub = {
        row: {COUNT: "–".join(f"{n:,}" for n in sorted({min(sizes), max(sizes)}))}
        for row, sizes in answers.items()
    }
    key = "tables52_53" if cells else "tables52_53_empty"
    description = describe(key, language=language, method=labels.method, absent=ABSENT)
    return Exhibit(**description, cells=cells, heads=heads, stub=stub)


def agreement(tables: Tables, labels: Labels) -> Exhibit:
    """Agreement in each language: annotators with the verdicts, and with each other."""
    rows = read_plain(ANNOTATION_AGREEMENT, tables[SOURCE][0])
    rows = rows[rows["phenomenon"] == ALL]
    heads = {
        f"{method.capitalize()} {head}": (method.capitalize(), head)
        for method in VARIANTS
        for head in (AGREEMENT, KAPPA_HEAD)
    }
    with_verdicts: list[Cell] = []
    judged = rows[rows["method"].isin(VARIANTS)]
    for lang in languages_of(judged):
        for name in sorted(judged["annotator"][judged["lang"] == lang].unique()):
            for method in VARIANTS:
                where = {"lang": lang, "annotator": name, "method": method, "phenomenon": ALL}
                columns = (
                    f"{method.capitalize()} {AGREEMENT}",
                    f"{method.capitalize()} {KAPPA_HEAD}",
                )
                row = f"{language_name(lang, labels)}, {name}"
                with_verdicts += _cells(select_rows(rows, where), row, columns, where)
    with_each_other: list[Cell] = []
    compared = rows[~rows["method"].isin(VARIANTS)]
    order = languages_of(compared)
    for pair in compared.sort_values("lang", key=lambda langs: langs.map(order.index)).itertuples():
        where = {"lang": pair.lang, "annotator": pair.annotator, "method": pair.method}
        where |= {"phenomenon": ALL}
        row = f"{language_name(str(pair.lang), labels)}, {pair.method} and {pair.annotator}"
        with_each_other += _cells(rows.loc[[pair.Index]], row, (AGREEMENT, KAPPA_HEAD), where)
    named = dict.fromkeys(cell.row for cell in with_verdicts)
    sections = [named_section("Annotator", named, [COUNT, *heads])]
    if with_each_other:
        named = dict.fromkeys(cell.row for cell in with_each_other)
        sections.append(named_section("Annotators", named, [COUNT, AGREEMENT, KAPPA_HEAD]))
    below = "; below, that of two annotators" if with_each_other else ""
    cells = [*with_verdicts, *with_each_other]
    return Exhibit(
        **describe("agreement", below=below, absent=ABSENT),
        cells=cells,
        # How many answers both sides of a row have judged.
        stub={cell.row: {COUNT: f"{cell.n:,}"} for cell in cells},
        heads=heads,
        sections=sections,
    )


def agreement_tasks(tables: Tables, labels: Labels) -> Exhibit:
    """Agreement of the verdicts shown on each task and language, mean over annotators."""
    rows = read_plain(ANNOTATION_AGREEMENT, tables[SOURCE][0])
    rows = rows[rows["method"] == labels.method]
    cells: list[Cell] = []
    heads: dict[str, tuple[str, str]] = {}
    for lang in languages_of(rows):
        code = language_code(lang, labels)
        columns = (f"{code} %", f"{code} {KAPPA_HEAD}")
        heads |= {columns[0]: (code, "%"), columns[1]: (code, KAPPA_HEAD)}
        in_language = rows[rows["lang"] == lang]
        for task in _tasks_in(in_language["phenomenon"]):
            judged = in_language[in_language["phenomenon"] == task]
            annotators = sorted(judged["annotator"])
            where = {"lang": lang, "method": labels.method, "phenomenon": task}
            cells += _cells(judged, task_name(task), columns, where | {"annotator": annotators})
    order = [task_name(task) for task in HEADS]
    cells.sort(key=lambda cell: order.index(cell.row))
    description = describe("agreement_tasks", method=labels.method, absent=ABSENT)
    return Exhibit(**description, cells=cells, heads=heads)
