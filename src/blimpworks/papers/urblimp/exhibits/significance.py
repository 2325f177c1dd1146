"""Tests between models on UrBLiMP: Tables 5 and 6, and the same over paradigms.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 4.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import truncate, truncated
from blimpworks.exhibits.shared import Place, Tables, where_of
from blimpworks.papers.urblimp.exhibits import accuracies as acc
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.formulas import (
    BY_PARADIGM,
    BY_PHENOMENON,
    EACH_OTHER,
    corrected_tests,
    holm_of,
    scores_by,
    signed_rank,
)
from blimpworks.papers.urblimp.exhibits.models import GEMMA, TOP, chosen, names_of
from blimpworks.papers.urblimp.phenomena import PHENOMENA

ALPHA = 0.05
P, HOLM, VERDICT = "p", "p, Holm", "Significant"
OVER = {BY_PHENOMENON: "p over phenomena", BY_PARADIGM: "p over paradigms"}
DECIMALS = {BY_PHENOMENON: 3, BY_PARADIGM: 5}
"""Decimals of p, which is smaller over paradigms."""
NO_MODELS = " There are no two models to compare."


@dataclass(frozen=True, slots=True)
class Scores:
    """Rows of scores to test, the kind of their table, and the filter of them."""

    rows: pd.DataFrame
    source: str
    where: dict[str, Any]
    over: str = BY_PHENOMENON


def read_scores(
    tables: Tables, labels: Labels, models: Sequence[str], over: str = BY_PHENOMENON
) -> Scores:
    """Read scores of ``models`` by phenomenon: the campaign's, or the cells of Table 4.

    The paper tests the rounded cells of Table 4, in which two differences are equal that are
    unequal before rounding. Scores by paradigm are accuracies, measured or printed.
    """
    if labels.source == "measured" or over == BY_PARADIGM:
        table = acc.read_paradigms(tables, labels)
        rows = pd.concat([table[table["model"] == model] for model in models])
        return Scores(rows, "accuracies", where_of(rows), over)
    columns = [*PHENOMENA]
    printed = acc.printed_of(tables, labels, "table4")
    rows = pd.DataFrame([printed[model, column] for model in models for column in columns])
    where = {"exhibit": "table4", "row": [*models], "column": columns}
    return Scores(rows, "published", where)


def pair_cells(
    scores: Scores, among: str, names: Mapping[str, str], printed: Mapping[Place, pd.Series]
) -> Iterator[Cell]:
    """Make the p of each test ``among`` the models, before and after Holm's correction.

    A p that the paper prints is cut off after as many digits: the paper truncates.
    """
    over = scores.over
    for _, test in corrected_tests(scores.rows, among, over).iterrows():
        first, second = pair = [test["first"], test["second"]]
        row = " and ".join(names[model] for model in pair)
        if over == BY_PARADIGM:
            of_pair = where_of(scores.rows[scores.rows["model"].isin(pair)])
        else:
            of_pair = {**scores.where, "model" if "model" in scores.where else "row": pair}
        for column, name, formula, where in (
            (P, "p", signed_rank(over), of_pair),
            (HOLM, "holm", holm_of(first, second, among, over), scores.where),
        ):
            p, text = float(test[name]), f"{test[name]:.{DECIMALS[over]}f}"
            cell = Cell(row, column, p, text, formula, scores.source, where, n=int(test["n"]))
            key = (" vs ".join(pair), name)
            if key in printed:
                digits = len(printed[key]["text"].partition(".")[2])
                p = truncate(p, digits)
                text, cut = f"{p:.{digits}f}", truncated(formula, digits)
                cell = replace(cell, value=p, text=text, formula=cut, stands_for=key)
            yield cell


def _ranked(tables: Tables, labels: Labels) -> list[str]:
    rows = acc.read_paradigms(tables, labels)
    averages = scores_by(rows[rows["model"].isin(acc.complete(rows))], BY_PHENOMENON).mean()
    return list(averages.sort_values(ascending=False, kind="stable").index)


def _table(
    kind: str, exhibit: str, preferred: Sequence[str], tables: Tables, labels: Labels
) -> Exhibit:
    measured = labels.source == "measured"
    models = chosen(preferred, _ranked(tables, labels)) if measured else preferred
    scores, names = read_scores(tables, labels, models), names_of(labels.models)
    printed = acc.printed_of(tables, labels, exhibit)
    cells = [*pair_cells(scores, EACH_OTHER, names, printed)]
    description = describe(
        "tables5_6",
        kind=kind if {*models} <= {*preferred} else "the best",
        origin="the means of their paradigms" if measured else "the cells of Table 4",
        level=ALPHA,
        cut="" if measured else " p is cut off, not rounded, as in the paper.",
        none="" if cells else NO_MODELS,
    )
    remarks = {
        cell.row: {VERDICT: "yes" if cell.value < ALPHA else "no"}
        for cell in cells
        if cell.column == HOLM
    }
    return Exhibit(**description, cells=cells, remarks=remarks)


table5 = partial(_table, "pretrained Gemma", "table5", GEMMA)
"""Table 5: the pretrained Gemma models against each other, or else the best."""
table6 = partial(_table, "the best", "table6", TOP)
"""Table 6: the models that the paper calls its best against each other, or else the best."""


def tests(tables: Tables, labels: Labels) -> Exhibit:
    """The tests of Tables 5 and 6 over the paradigms in place of the phenomena.

    A phenomenon of one paradigm weighs as much as one of five, and ten observations give no p below
    .002.
    """
    ranked, names = _ranked(tables, labels), names_of(labels.models)
    groups = {"Table 5": chosen(GEMMA, ranked), "Table 6": chosen(TOP, ranked)}
    if groups["Table 5"] == groups["Table 6"]:
        groups = {"": groups["Table 5"]}
    cells: list[Cell] = []
    remarks: dict[str, dict[str, str]] = {}
    for title, models in groups.items():
        for over, name in OVER.items():
            scores = read_scores(tables, labels, models, over)
            for cell in pair_cells(scores, EACH_OTHER, names, {}):
                row = f"{cell.row} ({title})" if title else cell.row
                if cell.column == HOLM:
                    head = f"{VERDICT}, {name.removeprefix(P).strip()}"
                    verdict = "yes" if cell.value < ALPHA else "no"
                    remarks.setdefault(row, {})[head] = verdict
                elif over == BY_PHENOMENON:
                    continue  # Tables 5 and 6 have it
                cells.append(replace(cell, row=row, column=cell.column.replace(P, name, 1)))
    none = "" if cells else NO_MODELS
    return Exhibit(**describe("tests", none=none), cells=cells, remarks=remarks)
