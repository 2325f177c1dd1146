"""Tables 52 and 53, and two of ours: agreement of the verdicts with annotators.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 3.3 and appendix A.6.
"""

from collections.abc import Iterator, Mapping, Sequence
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
OF_TABLE = {"table52": "eng", "table53": "eus"}
GLOBAL = "global_accuracy"
OVERALL, POOLED = "global accuracy", "all answers"
AGREEMENT, KAPPA_HEAD = "Agreement (%)", "κ"
COUNT = "Answers"
ABSENT = "κ is not given where one side says the same of every answer."


def _read(tables: Tables) -> pd.DataFrame:
    return read_plain(ANNOTATION_AGREEMENT, tables[SOURCE][0])


def _interval(rows: pd.DataFrame, prefix: str, scale: float) -> dict[str, Any]:
    """The interval of a row, if it is the only one and has one."""
    low, high = f"{prefix}low", f"{prefix}high"
    if len(rows) != 1 or rows[[low, high]].isna().any(axis=None):
        return {}
    return {"low": scale * rows[low].item(), "high": scale * rows[high].item()}


def _both(
    rows: pd.DataFrame, row: str, heads: tuple[str, str], where: Mapping[str, Any]
) -> Iterator[Cell]:
    """Agreement and kappa of some judges, the means where there are several rows."""
    if rows.empty:
        return
    n = int(rows["n"].sum())
    share = _interval(rows, "", 100)
    yield formula_cell(rows, (row, heads[0]), UNWEIGHTED, SOURCE, where, ".2f", n=n, **share)
    if rows["kappa"].notna().all():
        interval = _interval(rows, "kappa_", 1)
        yield formula_cell(rows, (row, heads[1]), KAPPA, SOURCE, where, ".2f", n=n, **interval)


def _known_tasks(rows: pd.DataFrame) -> list[str]:
    present = {*rows["phenomenon"]}
    return [task for task in HEADS if task in present]


# Tables 52 and 53


def _by_task(rows: pd.DataFrame, lang: str, annotator: str, labels: Labels) -> Iterator[Cell]:
    """An annotator's agreement with the verdicts shown, task by task and in all."""
    where = {"lang": lang, "method": labels.method, "annotator": annotator}
    own = rows[rows["annotator"] == annotator]
    heads = (f"{annotator} {AGREEMENT}", f"{annotator} {KAPPA_HEAD}")
    tasks = _known_tasks(own)
    for task in tasks:
        part = own[own["phenomenon"] == task]
        chosen = where | {"phenomenon": task}
        cells = _both(part, task_name(task), heads, chosen)
        yield from (replace(cell, stands_for=(task, _key(cell))) for cell in cells)
    inside = own[own["phenomenon"].isin(tasks)]
    for cell in _both(inside, OVERALL, heads, where | {"phenomenon": tasks}):
        yield replace(cell, stands_for=(GLOBAL, _key(cell)))
    yield from _both(own[own["phenomenon"] == ALL], POOLED, heads, where | {"phenomenon": ALL})


def _key(cell: Cell) -> str:
    return "agreement" if cell.column.endswith(AGREEMENT) else "kappa"


def agreement_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """Tables 52 and 53: how often annotators agree with the verdicts, task by task."""
    if labels.source == "published":
        return _printed(tables, table)
    lang = OF_TABLE[table]
    rows = _read(tables)
    rows = rows[(rows["lang"] == lang) & (rows["method"] == labels.method)]
    annotators = sorted(rows["annotator"].unique())
    cells = [cell for name in annotators for cell in _by_task(rows, lang, name, labels)]
    heads = {
        f"{name} {head}": (name, head) for name in annotators for head in (AGREEMENT, KAPPA_HEAD)
    }
    key, name = "tables52_53" if cells else "tables52_53_empty", LANGUAGES[lang].name
    stub = {cell.row: {COUNT: _span(cells, cell.row)} for cell in cells}
    description = describe(key, language=name, method=labels.method, absent=ABSENT)
    return Exhibit(**description, cells=cells, heads=heads, stub=stub)


def _span(cells: Sequence[Cell], row: str) -> str:
    """How many answers of a row the annotators have judged."""
    counts = sorted({cell.n for cell in cells if cell.row == row and cell.n})
    return "–".join(f"{n:,}" for n in (counts if len(counts) < 2 else (counts[0], counts[-1])))


def _printed(tables: Tables, table: str) -> Exhibit:
    own = read_printed(tables, exhibit=table)
    cells = [printed_cell(row, (task_name(row["row"]), AGREEMENT)) for _, row in own.iterrows()]
    tasks = _known_tasks(own.rename(columns={"row": "phenomenon"}))
    where = {"exhibit": table, "row": tasks, "column": "agreement"}
    place, stands_for = (f"{OVERALL}, mean of the tasks", AGREEMENT), (GLOBAL, "agreement")
    cells.append(formula_cell(own, place, MEAN, "published", where, ".2f", stands_for=stands_for))
    language = LANGUAGES[OF_TABLE[table]].name
    return Exhibit(**describe("tables52_53_published", language=language), cells=cells)


# Of any language


def _heads(method: str) -> tuple[str, str]:
    return f"{method.capitalize()} {AGREEMENT}", f"{method.capitalize()} {KAPPA_HEAD}"


def _with_methods(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """Agreement of each annotator of a language with the verdicts of both methods."""
    own = rows[rows["method"].isin(VARIANTS)]
    for lang in languages_of(own):
        for name in sorted(own["annotator"][own["lang"] == lang].unique()):
            for method in VARIANTS:
                where = {"lang": lang, "annotator": name, "method": method, "phenomenon": ALL}
                part = select_rows(rows, where)
                row = f"{language_name(lang, labels)}, {name}"
                yield from _both(part, row, _heads(method), where)


def _with_each_other(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """Agreement of each two annotators of a language."""
    own = rows[~rows["method"].isin(VARIANTS)]
    order = {lang: place for place, lang in enumerate(languages_of(own))}
    for pair in own.sort_values("lang", key=lambda langs: langs.map(order)).itertuples():
        where = {"lang": pair.lang, "annotator": pair.annotator, "method": pair.method}
        row = f"{language_name(str(pair.lang), labels)}, {pair.method} and {pair.annotator}"
        part = rows.loc[[pair.Index]]
        yield from _both(part, row, (AGREEMENT, KAPPA_HEAD), where | {"phenomenon": ALL})


def agreement(tables: Tables, labels: Labels) -> Exhibit:
    """Agreement in each language: annotators with the verdicts, and with each other."""
    rows = _read(tables)
    rows = rows[rows["phenomenon"] == ALL]
    first, second = [*_with_methods(rows, labels)], [*_with_each_other(rows, labels)]
    heads = {
        name: (name.split()[0], name.partition(" ")[2]) for m in VARIANTS for name in _heads(m)
    }
    columns = [name for method in VARIANTS for name in _heads(method)]
    sections = [named_section("Annotator", _rows(first), [COUNT, *columns])]
    if second:
        own = [COUNT, AGREEMENT, KAPPA_HEAD]
        sections.append(named_section("Annotators", _rows(second), own))
    return Exhibit(
        **describe(
            "agreement", below="; below, that of two annotators" if second else "", absent=ABSENT
        ),
        cells=[*first, *second],
        # How many answers both sides of a row have judged.
        stub={cell.row: {COUNT: f"{cell.n:,}"} for cell in (*first, *second)},
        heads=heads,
        sections=sections,
    )


def _rows(cells: Sequence[Cell]) -> list[str]:
    """Rows of some cells, each once."""
    return [*dict.fromkeys(cell.row for cell in cells)]


def agreement_tasks(tables: Tables, labels: Labels) -> Exhibit:
    """Agreement of the verdicts shown on each task and language, mean over annotators."""
    rows = _read(tables)
    rows = rows[rows["method"] == labels.method]
    cells: list[Cell] = []
    heads: dict[str, tuple[str, str]] = {}
    for lang in languages_of(rows):
        code = language_code(lang, labels)
        columns = (f"{code} %", f"{code} {KAPPA_HEAD}")
        heads |= {name: (code, name.removeprefix(f"{code} ")) for name in columns}
        for task in _known_tasks(rows[rows["lang"] == lang]):
            part = rows[(rows["lang"] == lang) & (rows["phenomenon"] == task)]
            where = {"lang": lang, "method": labels.method, "phenomenon": task}
            annotators = {"annotator": sorted(part["annotator"])}
            cells += _both(part, task_name(task), columns, where | annotators)
    order = {task_name(task): place for place, task in enumerate(HEADS)}
    cells.sort(key=lambda cell: order[cell.row])
    return Exhibit(
        **describe("agreement_tasks", method=labels.method, absent=ABSENT),
        cells=cells,
        heads=heads,
    )
