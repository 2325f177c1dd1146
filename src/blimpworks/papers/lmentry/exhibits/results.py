"""Tables 4 and 5: accuracy, LMentry score and robustness by model and language.

Source: Moroni, Aula-Blasco, Conia and others (2025), sections 3.3 and 5.1.
"""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import MEAN, QUOTIENT, UNWEIGHTED
from blimpworks.exhibits.shared import Tables, printed_cell, read_printed
from blimpworks.papers.lmentry.exhibits.common import (
    cell_of,
    judged_by,
    language_code,
    languages_of,
    model_name,
    models_of,
    read_accuracies,
    read_exhibit,
    sections_of,
    selection,
    whole,
)
from blimpworks.papers.lmentry.exhibits.formulas import (
    MEAN_ACCURACY,
    PRODUCT,
    ROBUSTNESS,
    SCORE,
    as_released,
    mean_over_models,
)
from blimpworks.papers.lmentry.exhibits.names import AVERAGE, LANGUAGES, MODELS
from blimpworks.papers.lmentry.tasks import TASKS

METRICS = {"lms": "LMS", "accuracy": "Acc."}
FORMULAS_OF = {"lms": SCORE, "accuracy": MEAN_ACCURACY, "": ROBUSTNESS}
"""Formulas of a model's measured numbers; the empty name is that of Table 5's only metric."""
AVERAGE_ROW, OF_ROWS = "Average", "Average of the rows"
ROBUST = (
    "Robustness: mean of argument order, argument content, template and adjacent tasks, each 100 "
    "less the largest difference between what is compared (appendix A.2)."
)


def _heading(lang: str, metric: str, labels: Labels) -> str:
    return f"{language_code(lang, labels)} {METRICS.get(metric, '')}".strip()


def _key(lang: str, metric: str) -> str:
    return f"{lang} {metric}".strip()


# Measured


def _measured(rows: pd.DataFrame, metrics: Sequence[str], labels: Labels) -> Iterator[Cell]:
    """A cell per model, language and metric, and averages over models; no cell without data."""
    models = models_of(rows)
    for lang in languages_of(rows):
        inside = rows[rows["lang"] == lang]
        for metric in metrics:
            column = _heading(lang, metric, labels)
            formula = as_released(FORMULAS_OF[metric], labels.method)
            scores = []
            for model in models:
                where = selection(lang, model, labels)
                part = inside[inside["model"] == model]
                if part.empty:
                    continue
                place = (model_name(model, labels), column)
                key = (model, _key(lang, metric))
                scores.append(cell_of(part, place, formula, "accuracies", where, stands_for=key))
            scored = [c for c in scores if not pd.isna(c.value)]
            yield from scored
            if scored:
                where = selection(lang, [c.where["model"] for c in scored], labels)
                place, key = (AVERAGE_ROW, column), (AVERAGE, _key(lang, metric))
                mean = mean_over_models(formula)
                yield cell_of(inside, place, mean, "accuracies", where, stands_for=key)


def _measured_table(
    title: str, caption: str, metrics: Sequence[str], tables: Tables, labels: Labels
) -> Exhibit:
    rows = read_accuracies(tables, labels)
    cells = list(_measured(rows, metrics, labels))
    caption += judged_by(labels)
    unscored = sorted({language_code(x, labels) for x in languages_of(rows)} - _codes(cells))
    if unscored:
        caption += (
            f" Without a score in {', '.join(unscored)}: a score needs accuracies by template and "
            "by the position of the answer."
        )
    codes = [_heading(lang, m, labels) for lang in languages_of(rows) for m in metrics]
    return _layout(title, caption, cells, models_of(rows), codes, labels)


def _codes(cells: Sequence[Cell]) -> set[str]:
    """Languages that have a cell of the score itself."""
    return {cell.column.split()[0] for cell in cells if not cell.column.endswith("Acc.")}


def _layout(
    title: str,
    caption: str,
    cells: list[Cell],
    models: Sequence[str],
    columns: Sequence[str],
    labels: Labels,
) -> Exhibit:
    present = {cell.row for cell in cells}
    below = {row: row for row in (AVERAGE_ROW, OF_ROWS) if row in present}
    present_columns = [column for column in columns if any(cell.column == column for cell in cells)]
    heads = {c: (c.split()[0], c.split()[1]) for c in present_columns if " " in c}
    sections = sections_of(models, labels, present_columns, below)
    return Exhibit(title, caption, cells, row_title="Model", heads=heads, sections=sections)


# Published


def _printed(printed: pd.DataFrame, metrics: Sequence[str], labels: Labels) -> Iterator[Cell]:
    """The table as it is printed."""
    names = {_key(lang, m): _heading(lang, m, labels) for lang in LANGUAGES for m in metrics}
    for _, row in printed.iterrows():
        name = AVERAGE_ROW if row["row"] == AVERAGE else model_name(row["row"], labels)
        yield printed_cell(row, (name, names[row["column"]]))


def _averages(printed: pd.DataFrame, metrics: Sequence[str], labels: Labels) -> Iterator[Cell]:
    """Means of the printed rows."""
    exhibit = printed["exhibit"].iloc[0]
    for lang in LANGUAGES:
        for metric in metrics:
            key = _key(lang, metric)
            where = {"exhibit": exhibit, "row": [*MODELS], "column": key}
            place = (OF_ROWS, _heading(lang, metric, labels))
            again = (AVERAGE, key)
            yield cell_of(printed, place, MEAN, "published", where, stands_for=again)


def _scores(printed: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """LMentry scores again: accuracy in Table 4 times robustness in Table 5."""
    for lang in LANGUAGES:
        keys = [f"{lang} accuracy", lang]
        for model in MODELS:
            where = {"exhibit": ["table4", "table5"], "row": model, "column": keys}
            place = (model_name(model, labels), f"{_heading(lang, 'lms', labels)}, from Table 5")
            again = (model, f"{lang} lms")
            more = {"stands_for": again, "printed": False}
            yield cell_of(printed, place, PRODUCT, "published", where, **more)


def _robustness(printed: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """Robustness again: LMentry score ÷ accuracy, both in Table 4."""
    for lang in LANGUAGES:
        for model in MODELS:
            where = {"exhibit": "table4", "row": model, "column": [_key(lang, m) for m in METRICS]}
            place = (model_name(model, labels), f"{_heading(lang, '', labels)}, from Table 4")
            more = {"stands_for": (model, lang), "printed": False}
            yield cell_of(printed, place, QUOTIENT, "published", where, **more)


def _accuracies(
    rows: pd.DataFrame, complete: Mapping[str, Sequence[str]], labels: Labels
) -> Iterator[Cell]:
    """Accuracies again: means of the tasks, of models that have all of a language's tasks."""
    for lang, tasks in complete.items():
        inside = rows[(rows["lang"] == lang) & rows["phenomenon"].isin(tasks)]
        for model in models_of(inside):
            accuracies = inside[inside["model"] == model]
            if len(accuracies) < len(tasks):
                continue
            where = selection(lang, model, labels, **whole(tasks))
            heading = f"{_heading(lang, 'accuracy', labels)}, mean of the tasks"
            place, again = (model_name(model, labels), heading), (model, f"{lang} accuracy")
            more = {"stands_for": again, "printed": False, "n": int(accuracies["n"].sum())}
            yield cell_of(accuracies, place, UNWEIGHTED, "accuracies", where, **more)


def tasks_of(rows: pd.DataFrame) -> dict[str, list[str]]:
    """The tasks that each language has, in order: all 25, or those that any model has."""
    present = {
        str(lang): {str(task) for task in part["phenomenon"]} for lang, part in rows.groupby("lang")
    }
    return {lang: [task for task in TASKS if task in present[lang]] for lang in languages_of(rows)}


def table4(tables: Tables, labels: Labels) -> Exhibit:
    """Table 4: LMentry score and accuracy by model and language.

    The published form has hidden cells of what Tables 5 and 34 to 51 make of its numbers, and
    a row of averages of its own rows.
    """
    title = "LMentry score and accuracy by model and language"
    caption = (
        "Acc.: accuracy in percent, unweighted mean of a language's tasks (25; 24 in Basque, and "
        "in Galician as printed). LMS: accuracy × robustness (Table 5)."
    )
    if labels.source == "measured":
        return _measured_table(title, caption, tuple(METRICS), tables, labels)
    printed = read_printed(tables)
    own = read_exhibit(printed, "table4")
    rows = read_accuracies(tables, labels)
    cells = list(_printed(own, tuple(METRICS), labels))
    cells += _averages(own, tuple(METRICS), labels)
    cells += _scores(printed, labels)
    cells += _accuracies(rows, tasks_of(rows), labels)
    columns = [_heading(lang, m, labels) for lang in LANGUAGES for m in METRICS]
    caption += (
        " Average: as printed; it is not that of the 18 rows, which stands below, and would fit "
        "a 19th model that the table leaves out. In Korean, German and Portuguese the scorers "
        "decide more than the models do (see Tables 44 to 49)."
    )
    return _layout(f"{title}, as printed", caption, cells, [*MODELS], columns, labels)


def table5(tables: Tables, labels: Labels) -> Exhibit:
    """Table 5: robustness by model and language.

    The published form has hidden cells of what Table 4 makes of its numbers, and a row of
    averages of its own rows.
    """
    title = "Robustness by model and language"
    if labels.source == "measured":
        return _measured_table(title, ROBUST, ("",), tables, labels)
    printed = read_printed(tables)
    own = read_exhibit(printed, "table5")
    cells = [*_printed(own, ("",), labels), *_averages(own, ("",), labels)]
    cells += _robustness(printed, labels)
    columns = [_heading(lang, "", labels) for lang in LANGUAGES]
    caption = f"{ROBUST} Average: as printed, and below it that of the 18 rows."
    return _layout(f"{title}, as printed", caption, cells, [*MODELS], columns, labels)
