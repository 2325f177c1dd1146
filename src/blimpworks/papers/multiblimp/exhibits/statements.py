"""Numbers that MultiBLiMP gives in running text: sections 3, 5, 6.2, 7.1 to 7.3 and 8."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, KINDS, QUOTIENT, Formula, of_row
from blimpworks.exhibits.shared import Tables, formula_cell, read_plain, read_printed
from blimpworks.exhibits.statements import VALUE, Place, Recomputation, printed_statements
from blimpworks.papers.multiblimp.analysis.regressions import CHAT, SIZE, why_no_size
from blimpworks.papers.multiblimp.exhibits import describe
from blimpworks.papers.multiblimp.exhibits.accuracies import read_accuracies
from blimpworks.papers.multiblimp.exhibits.evaluation import form_of_test
from blimpworks.papers.multiblimp.exhibits.formulas import (
    DIFFERENCE,
    ENOUGH_PAIRS,
    LANGUAGES,
    win_share,
    wins,
    won,
)
from blimpworks.tables import COMPARISONS, ITEMS, REGRESSIONS

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


def _pair_cells(
    comparisons: pd.DataFrame, a: str, b: str, group: str, labels: Labels
) -> Iterator[Cell]:
    for first, second in ((a, b), (b, a)):
        where: dict[str, object] = {"model_a": first, "model_b": second, "method": labels.method}
        rows = comparisons[(comparisons["model_a"] == first) & (comparisons["model_b"] == second)]
        if rows.empty:
            continue
        better = won(rows, WINS_BELOW)
        name = f"{labels.models[first]} better than {labels.models[second]}"
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


def text72_73(tables: Tables, labels: Labels) -> Exhibit:
    """The regression of 7.2 and the counts of significantly better languages of 7.3."""
    if labels.source == "published":
        printed = read_printed(tables)
        stated, faults = printed_statements(printed, RECOMPUTATION, exhibit="text72_73")
        return Exhibit(**describe("text72_73_published", faults=faults), cells=stated)
    cells = list(_regression_cells(tables))
    missing = ""
    if not cells:
        reason = why_no_size(read_accuracies(tables, labels), labels.facts["models"])
        missing = f" There is no regression: {reason}."
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


DATA_RECOMPUTATION = Recomputation(dict.fromkeys((COUNT, DIFFERENCE, of_row("value")), "{:g}"))
MEASURED: Mapping[Place, tuple[str, Formula, Mapping[str, str]]] = {
    ("data", "pairs"): ("MultiBLiMP 1.0: pairs", COUNT, {}),
    ("data", "languages"): ("MultiBLiMP 1.0: languages", KINDS, {}),
    ("sv#", "languages"): (
        "Subject-verb number agreement: languages",
        LANGUAGES,
        {"phenomenon": "sv#"},
    ),
    ("spP", "languages"): (
        "Subject-participle person agreement: languages",
        LANGUAGES,
        {"phenomenon": "spP"},
    ),
}
"""What a printed number is about, and the formula and items that give the campaign's own."""


def text(tables: Tables, labels: Labels) -> Exhibit:
    """What the text says of the resources, the pairs and the models, apart from 7.2 and 7.3."""
    if labels.source == "published":
        cells, faults = printed_statements(read_printed(tables), DATA_RECOMPUTATION)
        return Exhibit(**describe("text_published", faults=faults), cells=cells)
    items = read_plain(ITEMS, tables["items"], ["lang", "phenomenon"])
    cells = [
        formula_cell(items, (name, VALUE), formula, "items", where, ",.0f", stands_for=place)
        for place, (name, formula, where) in MEASURED.items()
    ]
    return Exhibit(**describe("text", enough=ENOUGH_PAIRS), cells=cells)
