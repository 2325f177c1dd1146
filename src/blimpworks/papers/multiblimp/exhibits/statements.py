"""The numbers that sections 7.2 and 7.3 of MultiBLiMP give in running text, as a table."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, QUOTIENT, of_row
from blimpworks.exhibits.shared import Tables, read_plain, read_printed
from blimpworks.exhibits.statements import VALUE, Recomputation, printed_statements
from blimpworks.papers.multiblimp.analysis.regressions import CHAT, SIZE, why_no_size
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.accuracies import read_accuracies
from blimpworks.papers.multiblimp.exhibits.evaluation import form_of_test
from blimpworks.papers.multiblimp.exhibits.formulas import win_share, wins, won
from blimpworks.tables import COMPARISONS, REGRESSIONS

RECOMPUTATION = Recomputation({QUOTIENT: "{:.1f} %", of_row("value"): "{text}"})
# Section 7.3 gives it for the two sizes of Llama3 alone, footnote 7 has 0.1 for Table B.2; that
# it holds here for every two models is our choice.
WINS_BELOW = 0.05
GROUPS = {"aya": "Aya", "eurollm": "EuroLLM", "goldfish": "Goldfish"}
REGRESSION = {
    ("size", "models"): ("intercept", "n", "Regression on size, family and tuning: models", 0),
    ("size", "r2"): ("intercept", "r2", "Regression: R²", 3),
    ("size", "coefficient"): (
        SIZE,
        "coefficient",
        "Model size, per standard deviation of the logarithm: β",
        2,
    ),
    ("size", "t"): (SIZE, "t", "Model size: t", 2),
    ("chat", "coefficient"): (CHAT, "coefficient", "Post-training: β", 2),
    ("chat", "t"): (CHAT, "t", "Post-training: t", 2),
}
"""By row and column in print: term and column of a regression, title, and decimals shown."""


def _regression_cells(tables: Tables) -> Iterator[Cell]:
    regressions = read_plain(REGRESSIONS, tables["regressions"]).query("analysis == @SIZE")
    for place, (term, column, title, decimals) in REGRESSION.items():
        for _, row in regressions[regressions["term"] == term].iterrows():
            where = {"analysis": SIZE, "model": row["model"], "term": term}
            value = float(row[column])
            text = f"{value:.{decimals}f}".replace("-", "−")
            cell = Cell(title, VALUE, value, text, of_row(column), "regressions", where, n=row["n"])
            yield replace(cell, stands_for=place)


def _better(first: str, second: str, labels: Labels) -> str:
    return f"{labels.models[first]} better than {labels.models[second]}"


def _pair_cells(
    comparisons: pd.DataFrame, a: str, b: str, group: str, labels: Labels
) -> Iterator[Cell]:
    """Languages on which one of two models is significantly better, all and of the group."""
    for first, second in ((a, b), (b, a)):
        where: dict[str, object] = {"model_a": first, "model_b": second, "method": labels.method}
        rows = comparisons[(comparisons["model_a"] == first) & (comparisons["model_b"] == second)]
        if rows.empty:
            continue
        better = won(rows, WINS_BELOW)
        name = _better(first, second, labels)
        n, total = int(better.sum()), len(rows)
        cell = Cell(f"{name}: languages", VALUE, n, str(n), wins(WINS_BELOW), "comparisons", where)
        yield replace(cell, stands_for=(f"{first}>{second}", "languages"))
        if (first, second) == (a, b):
            compared = f"{labels.models[a]} and {labels.models[b]}: languages compared"
            yield Cell(compared, VALUE, total, str(total), COUNT, "comparisons", where)
        members = rows["lang"].isin(labels.facts["groups"].get(group, []))
        if group and first == b and members.any():
            where = {**where, "lang": list(rows["lang"][members])}
            share = 100 * float(better[members].mean())
            n, total = int(better[members].sum()), int(members.sum())
            row = f"{name}: of the {GROUPS[group]} languages"
            text = f"{n} of {total} ({share:.0f} %)"
            formula = win_share(WINS_BELOW)
            cell = Cell(row, VALUE, share, text, formula, "comparisons", where, n=total)
            yield replace(cell, stands_for=(f"{first}>{second}", f"{group} share"))


def _why_none(tables: Tables, labels: Labels) -> str:
    """Why nothing was fitted on size, family and tuning."""
    return why_no_size(read_accuracies(tables, labels), labels.facts["models"])


def text72_73(tables: Tables, labels: Labels) -> Exhibit:
    """The regression of 7.2 and the counts of significantly better languages of 7.3."""
    if labels.source == "published":
        return _published(tables, labels)
    cells = list(_regression_cells(tables))
    missing = "" if cells else f" There is no regression: {_why_none(tables, labels)}."
    comparisons = read_plain(COMPARISONS, tables["comparisons"][0])
    comparisons = comparisons[
        (comparisons["method"] == labels.method) & comparisons["lang"].isin(labels.languages)
    ]
    for a, b, group in labels.facts["pairs"]:
        cells += _pair_cells(comparisons, a, b, group, labels)
    return Exhibit(
        **describe("text72_73", level=WINS_BELOW, test=form_of_test(labels), missing=missing),
        cells=cells,
    )


def _published(tables: Tables, labels: Labels) -> Exhibit:
    printed = read_printed(tables)
    cells, faults = printed_statements(printed, RECOMPUTATION, exhibit="text72_73")
    return Exhibit(**describe("text72_73_published", faults=faults), cells=cells)
