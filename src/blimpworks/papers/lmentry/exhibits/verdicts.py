"""Show agreement with annotators, and the differences between published and corrected verdicts.

Models' answers are judged by two methods: ``published``, the authors' rules, and ``corrected``,
rules that judge what the task asks. Annotators are people who judged a sample of the answers. The
exhibits, as rows × columns (κ is Cohen's kappa):

- ``agreement_table`` (Tables 52 and 53): tasks × agreement and κ with each annotator.
- ``agreement``: annotators of each language × agreement and κ by each method.
- ``agreement_tasks``: tasks × agreement and κ in each language.
- ``artefacts``: languages and tasks × accuracy by each method, and its change by reason.
- ``artefacts_fig``: a figure of accuracies by each method.

Input are the tables ``annotation_agreement`` and ``verdicts`` (``lmentry/tables.py``), one file
each. Tables 52 and 53 are in Moroni and others (2025), appendix A.6; the other exhibits are ours.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from blimpworks.campaign.variants import CORRECTED, PUBLISHED, VARIANTS
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import MEAN, UNWEIGHTED, Formula, select_rows, sum_of
from blimpworks.exhibits.shared import Tables, formula_cell, printed_cells, read_plain, read_printed
from blimpworks.exhibits.style import BLUE, COLUMN_INCHES, GREY, ORANGE, new_figure, say
from blimpworks.items import ALL
from blimpworks.papers.lmentry import verdicts
from blimpworks.papers.lmentry.exhibits import common, describe, formulas
from blimpworks.papers.lmentry.tables import ANNOTATION_AGREEMENT, VERDICTS
from blimpworks.papers.lmentry.tasks import HEADS, LANGUAGES, TASK_NAMES, TASKS, task_name

LANGUAGE_OF = {"table52": "eng", "table53": "eus"}
OVERALL = "global accuracy"  # row of means over tasks
POOLED = "all answers"  # row of numbers over the answers of all tasks
AGREEMENT_HEAD, KAPPA_HEAD, ANSWERS_HEAD = "Agreement (%)", "κ", "Answers"


def _agreement_cells(
    table: pd.DataFrame,
    where: Mapping[str, Any],
    row_title: str,
    columns: Iterable[str],
    printed_row: str | None = None,
) -> Iterator[Cell]:
    """Yield a cell of agreement and one of kappa, in a row of a table; none without rows.

    The numbers are means over the rows that ``where`` selects in the ``table`` of agreement. If it
    selects one row, the cells have its 95 % intervals. Kappa is left out if a row lacks it.
    ``columns``: of agreement and of kappa. ``printed_row``: key of the row in the printed numbers.
    """
    rows = select_rows(table, where)
    if rows.empty:
        return
    agreement_column, kappa_column = columns
    measures = [("agreement", agreement_column, UNWEIGHTED, 100 * rows[["low", "high"]])]
    if rows["kappa"].notna().all():
        kappa_intervals = rows[["kappa_low", "kappa_high"]]
        measures.append(("kappa", kappa_column, formulas.KAPPA, kappa_intervals))
    for measure, column, formula, intervals in measures:
        fields: dict[str, Any] = {"n": int(rows["n"].sum())}
        if printed_row:
            fields["stands_for"] = (printed_row, measure)
        if len(rows) == 1 and intervals.notna().all(axis=None):
            fields["low"], fields["high"] = intervals.iloc[0]
        cell_key, source = (row_title, column), "annotation_agreement"
        yield formula_cell(rows, cell_key, formula, source, where, ".2f", **fields)


def _tasks_in(tasks: pd.Series) -> list[str]:
    return [task for task in HEADS if (tasks == task).any()]


def _headings(name: str, agreement_head: str = AGREEMENT_HEAD) -> dict[str, tuple[str, str]]:
    """Return two columns below the heading ``name``, each with the two lines of its heading."""
    heads = (agreement_head, KAPPA_HEAD)
    return {f"{name} {head}": (name, head) for head in heads}


def agreement_table(tables: Tables, labels: Labels, table: str) -> Exhibit:
    """Make Table 52 or 53: annotators' agreement with the verdicts on each task in a language."""
    lang = LANGUAGE_OF[table]
    language = LANGUAGES[lang].name
    if labels.source == "published":
        printed = read_printed(tables, exhibit=table)
        names = {task: task_name(task) for task in printed["row"]}
        cells = printed_cells(printed, names, {"agreement": AGREEMENT_HEAD})
        tasks, stands_for = _tasks_in(printed["row"]), ("global_accuracy", "agreement")
        where: dict[str, Any] = {"exhibit": table, "row": tasks, "column": "agreement"}
        cell_key = (f"{OVERALL}, mean of the tasks", AGREEMENT_HEAD)
        mean = formula_cell(printed, cell_key, MEAN, "published", where, ".2f")
        cells.append(replace(mean, stands_for=stands_for))
        return Exhibit(**describe("tables52_53_published", language=language), cells=cells)
    rows = read_plain(ANNOTATION_AGREEMENT, tables["annotation_agreement"][0])
    rows = select_rows(rows, {"lang": lang, "method": labels.method})
    cells = []
    heads: dict[str, tuple[str, str]] = {}
    for annotator in sorted(rows["annotator"].unique()):
        columns = _headings(annotator)
        heads |= columns
        judged = rows[rows["annotator"] == annotator]
        of_annotator = {"lang": lang, "method": labels.method, "annotator": annotator}
        tasks = _tasks_in(judged["phenomenon"])
        for task in tasks:
            where = of_annotator | {"phenomenon": task}
            cells += _agreement_cells(judged, where, task_name(task), columns, task)
        where = of_annotator | {"phenomenon": tasks}
        cells += _agreement_cells(judged, where, OVERALL, columns, "global_accuracy")
        where = of_annotator | {"phenomenon": ALL}
        cells += _agreement_cells(judged, where, POOLED, columns)
    # If annotators have judged different numbers of a row's answers, show the least and greatest.
    counts_by_row: dict[str, set[int]] = defaultdict(set)
    for cell in cells:
        counts_by_row[cell.row].add(cell.n or 0)
    stub: dict[str, dict[str, str]] = {}
    for row, counts in counts_by_row.items():
        least, most = min(counts), max(counts)
        stub[row] = {ANSWERS_HEAD: f"{least:,}" if least == most else f"{least:,}–{most:,}"}
    description = describe("tables52_53", language=language, method=labels.method, empty=not cells)
    return Exhibit(**description, cells=cells, heads=heads, stub=stub)


def agreement(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate agreement in each language: annotators with the verdicts, and with each other."""
    rows = read_plain(ANNOTATION_AGREEMENT, tables["annotation_agreement"][0])
    rows = rows[rows["phenomenon"] == ALL]
    # Rows of other methods compare two annotators: ``method`` is then the name of the second.
    with_method = rows["method"].isin(VARIANTS)
    columns_of_method = {method: _headings(method.capitalize()) for method in VARIANTS}
    heads = {**columns_of_method[PUBLISHED], **columns_of_method[CORRECTED]}
    pair_columns = (AGREEMENT_HEAD, KAPPA_HEAD)
    with_verdicts: list[Cell] = []
    with_each_other: list[Cell] = []
    for lang in common.languages_of(rows):
        language, in_language = common.language_name(lang, labels), rows["lang"] == lang
        for annotator in sorted(rows["annotator"][in_language & with_method].unique()):
            for method, columns in columns_of_method.items():
                where = {"lang": lang, "annotator": annotator, "method": method, "phenomenon": ALL}
                with_verdicts += _agreement_cells(rows, where, f"{language}, {annotator}", columns)
        for pair in rows[in_language & ~with_method].itertuples():
            where = {"lang": lang, "annotator": pair.annotator, "method": pair.method}
            where["phenomenon"] = ALL
            row_title = f"{language}, {pair.method} and {pair.annotator}"
            with_each_other += _agreement_cells(rows, where, row_title, pair_columns)

    names = [cell.row for cell in with_verdicts]
    sections = [common.named_section("Annotator", names, [ANSWERS_HEAD, *heads])]
    if with_each_other:
        names = [cell.row for cell in with_each_other]
        sections.append(common.named_section("Annotators", names, [ANSWERS_HEAD, *pair_columns]))
    cells = [*with_verdicts, *with_each_other]
    return Exhibit(
        **describe("agreement", below=with_each_other),
        cells=cells,
        # Number of answers that both judges of a row have judged.
        stub={cell.row: {ANSWERS_HEAD: f"{cell.n:,}"} for cell in cells},
        heads=heads,
        sections=sections,
    )


def agreement_tasks(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate agreement with ``labels.method`` by task and language: means over annotators."""
    rows = read_plain(ANNOTATION_AGREEMENT, tables["annotation_agreement"][0])
    rows = rows[rows["method"] == labels.method]
    cells: list[Cell] = []
    langs = common.languages_of(rows)
    columns = {lang: _headings(common.language_code(lang, labels), "%") for lang in langs}
    heads = {key: head for headings in columns.values() for key, head in headings.items()}
    for task, lang in product(HEADS, langs):
        where: dict[str, Any] = {"lang": lang, "method": labels.method, "phenomenon": task}
        where["annotator"] = sorted(select_rows(rows, where)["annotator"])
        cells += _agreement_cells(rows, where, task_name(task), columns[lang])
    return Exhibit(**describe("agreement_tasks", method=labels.method), cells=cells, heads=heads)


ROUNDING_NOISE = 1e-9
MOST_CHANGED_TASKS = 3  # number of rows for tasks of each language: the most changed tasks


class ArtefactColumn(NamedTuple):
    """A column of the table of artefacts."""

    heading: tuple[str, str]
    """Two lines of the heading."""
    formula: Formula
    reason: str | list[str] = ALL
    """Values of ``reason`` in the rows of the table of verdicts that the formula takes."""
    form: str = ".1f"
    """Format of the numbers; "+" for a sign."""
    optional: str = ""
    """Column of the table of verdicts that may have nulls. With nulls, this column is left out."""

    @property
    def name(self) -> str:
        return " ".join(self.heading)


ACCURACY_FORMULAS = {PUBLISHED: formulas.BY_PUBLISHED, CORRECTED: formulas.BY_CORRECTED}
_SHARE = formulas.SHARE_OF_CHANGE
ARTEFACT_COLUMNS = (
    ArtefactColumn(("Accuracy", PUBLISHED), formulas.BY_PUBLISHED),
    ArtefactColumn(("Accuracy", CORRECTED), formulas.BY_CORRECTED),
    ArtefactColumn(("Accuracy", "change"), formulas.CHANGE, form="+.1f"),
    ArtefactColumn(("Verdicts", "changed"), formulas.CHANGED, [*verdicts.CAUSES], ",.0f"),
    # The change of accuracy is the sum of the next seven columns: six reasons (``CAUSES``), and
    # denominators. Answers without an ASCII word are right or wrong by the published rules.
    ArtefactColumn(("No ASCII word", "right"), _SHARE, verdicts.VACUOUS, "+.1f"),
    ArtefactColumn(("No ASCII word", "wrong"), _SHARE, verdicts.SCRIPT, "+.1f"),
    ArtefactColumn(("Capital", "letters"), _SHARE, verdicts.CASE, "+.1f"),
    ArtefactColumn(("Yes", "or no"), _SHARE, verdicts.YES_NO, "+.1f"),
    ArtefactColumn(("Wording", "known"), _SHARE, verdicts.WORDING, "+.1f"),
    ArtefactColumn(("Other", "rules"), _SHARE, verdicts.OTHER, "+.1f"),
    ArtefactColumn(("Prompts", "counted"), formulas.DENOMINATORS, form="+.1f"),
    ArtefactColumn(("Answers", "cut off"), sum_of("cut"), form=",.0f", optional="cut"),
    ArtefactColumn(("Answers", "echoes"), sum_of("echoes"), form=",.0f", optional="echoes"),
)
# Options of matplotlib's scatter. If both accuracies are equal, the diamond is inside the ring.
RING: dict[str, Any] = {"s": 26, "facecolor": "white", "edgecolor": ORANGE, "linewidth": 1.3}
DIAMOND: dict[str, Any] = {"s": 10, "color": BLUE, "marker": "D"}
MARKERS = {"published rules": RING | {"marker": "o"}, "corrected rules": DIAMOND}
TASK_GROUPS = {"all tasks": TASKS} | {
    group: tuple(task for task in TASKS if TASK_NAMES[task]["group"] == group)
    for group in dict.fromkeys(TASK_NAMES[task]["group"] for task in TASKS)
}
"""Tasks of each panel of the figure: all tasks, and five disjoint groups of tasks."""


def _verdict_cells(
    rows: pd.DataFrame, name: str, lang: str, tasks: Sequence[str]
) -> Iterator[Cell]:
    """Yield the cells of ``ARTEFACT_COLUMNS`` for some tasks of a language, in the row ``name``.

    ``rows``: rows of the table of verdicts in the language.
    """
    where = {"lang": lang, "model": common.models_of(rows), "phenomenon": [*tasks]}
    all_answers = rows[rows["phenomenon"].isin(tasks) & (rows["reason"] == ALL)]
    for column in ARTEFACT_COLUMNS:
        if column.optional and all_answers[column.optional].isna().any():
            continue
        cell_key, of_reason = (name, column.name), where | {"reason": column.reason}
        cell = formula_cell(rows, cell_key, column.formula, "verdicts", of_reason, column.form)
        if column.form.startswith("+"):
            # A typographic minus; "0.0" is a rounded change, "0" is no change.
            text = cell.text.replace("-", "−")
            text = "0.0" if text[1:] == "0.0" else text
            cell = replace(cell, text="0" if abs(cell.value) < ROUNDING_NOISE else text)
        yield cell


def artefacts(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate accuracies by both methods, for each language and for its most changed tasks."""
    rows = select_rows(read_plain(VERDICTS, tables["verdicts"][0]), {"model": [*labels.models]})
    of_languages: list[Cell] = []
    of_tasks: list[Cell] = []
    for lang in common.languages_of(rows):
        in_language = rows[rows["lang"] == lang]
        tasks = [task for task in TASKS if (in_language["phenomenon"] == task).any()]
        language = common.language_name(lang, labels)
        of_languages += _verdict_cells(in_language, language, lang, tasks)
        changes: list[tuple[float, list[Cell]]] = []  # change of accuracy and cells of each task
        for task in sorted(tasks):
            name = f"{common.language_code(lang, labels)} {task_name(task)}"
            cells = [*_verdict_cells(in_language, name, lang, [task])]
            change = next(abs(cell.value) for cell in cells if cell.column == "Accuracy change")
            if change > ROUNDING_NOISE:
                changes.append((change, cells))
        changes.sort(key=lambda pair: -pair[0])
        for _, cells in changes[:MOST_CHANGED_TASKS]:
            of_tasks += cells

    columns = {cell.column for cell in of_languages}
    heads = {c.name: c.heading for c in ARTEFACT_COLUMNS if not c.optional or c.name in columns}
    sections = [common.named_section("Language", (cell.row for cell in of_languages), [*heads])]
    if of_tasks:
        # A row without cells is a title above the rows of tasks.
        titled_rows = ["Tasks that change most", *(cell.row for cell in of_tasks)]
        sections.append(common.named_section("Language", titled_rows, [*heads]))
    return Exhibit(
        **describe("artefacts", models=rows["model"].nunique()),
        cells=[*of_languages, *of_tasks],
        heads=heads,
        sections=sections,
    )


def artefacts_fig(tables: Tables, labels: Labels) -> Exhibit:
    """Draw accuracies by both methods: a panel for each group of tasks, a line per language."""
    rows = select_rows(read_plain(VERDICTS, tables["verdicts"][0]), {"model": [*labels.models]})
    langs = common.languages_of(rows)
    cells = []
    for group, members in TASK_GROUPS.items():
        for lang in langs:
            selected = rows[(rows["lang"] == lang) & rows["phenomenon"].isin(members)]
            tasks = [task for task in members if (selected["phenomenon"] == task).any()]
            if not tasks:
                continue
            models = common.models_of(selected)
            where = {"lang": lang, "model": models, "phenomenon": tasks, "reason": ALL}
            for method, formula in ACCURACY_FORMULAS.items():
                cell_key = (common.language_name(lang, labels), f"{group}, {method}")
                cells.append(formula_cell(selected, cell_key, formula, "verdicts", where, ".1f"))
    # In inches: margins and legend, and three rows of panels with a title and lines of languages.
    figure = new_figure(COLUMN_INCHES, 1.1 + 3 * (0.25 + 0.115 * len(langs)))
    panels = figure.subplots(3, 2, sharex=True, sharey=True)
    values = {(cell.row, cell.column): cell.value for cell in cells}
    for axes, group in zip(panels.flat, TASK_GROUPS, strict=True):
        if not cells:
            say(axes, "no verdicts")
            continue
        for y, lang in enumerate(langs):
            name = common.language_name(lang, labels)
            if (name, f"{group}, {PUBLISHED}") not in values:  # no such task in the language
                axes.text(50, y, "none", ha="center", va="center", color=GREY, fontsize=6)
                continue
            ends = [values[name, f"{group}, {method}"] for method in VARIANTS]
            axes.plot(ends, [y, y], color=GREY, linewidth=1.2, zorder=1)
            for end, marker, zorder in zip(ends, MARKERS.values(), (2, 3), strict=True):
                axes.scatter([end], [y], zorder=zorder, **marker)
        axes.set_title(group, fontsize=7, pad=2)
        axes.set(xlim=(-4, 104), ylim=(len(langs) - 0.5, -0.5), xticks=[0, 50, 100])
        axes.tick_params(length=0)
        axes.grid(axis="y", visible=False)
    codes = [common.language_code(lang, labels) for lang in langs]
    panels[0][0].set_yticks(range(len(langs)), codes)
    for axes in panels.flat:
        axes.tick_params(axis="y", labelsize=6)
    figure.supxlabel("mean accuracy (%)", fontsize=8)
    for name, marker in MARKERS.items():
        panels[0][0].scatter([], [], label=name, **marker)
    figure.legend(loc="outside upper center", ncols=2)
    description = describe("artefacts_fig", models=rows["model"].nunique())
    return Exhibit(**description, cells=cells, figure=figure)
