"""Tests between models on UrBLiMP: Tables 5 and 6, and the same over paradigms.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 4.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import truncate, truncated
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.accuracies import (
    Place,
    complete,
    printed_of,
    read_paradigms,
    where_of,
)
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
"""Digits of p: over paradigms it gets smaller."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What tests are made of: rows, the kind of their table, and what selects them there."""

    rows: pd.DataFrame
    source: str
    where: dict[str, Any]
    over: str = BY_PHENOMENON

    def of(self, first: str, second: str) -> dict[str, Any]:
        """What selects the rows of two of the models."""
        if self.over == BY_PARADIGM:
            return where_of(self.rows[self.rows["model"].isin([first, second])])
        return {**self.where, "model" if "model" in self.where else "row": [first, second]}


def read_scores(
    tables: Tables, labels: Labels, models: Sequence[str], over: str = BY_PHENOMENON
) -> Scores:
    """Scores of ``models`` by phenomenon: of the campaign, or the cells of Table 4.

    The paper's own tests are on the cells of Table 4, which are rounded. It matters: two
    differences that are equal there are not before rounding. Scores by paradigm are accuracies,
    measured or printed.
    """
    if labels.source == "measured" or over == BY_PARADIGM:
        table = read_paradigms(tables, labels)
        rows = pd.concat([table[table["model"] == model] for model in models])
        return Scores(rows, "accuracies", where_of(rows), over)
    columns = [*PHENOMENA]
    printed = printed_of(tables, labels, "table4")
    rows = pd.DataFrame([printed[model, column] for model in models for column in columns])
    where = {"exhibit": "table4", "row": [*models], "column": columns}
    return Scores(rows, "published", where)


def _as_printed(cell: Cell, printed: pd.Series | None, key: Place) -> Cell:
    """The cell of a printed number, cut off after as many digits as that has."""
    if printed is None:
        return cell
    _, _, digits = printed["text"].partition(".")
    value = truncate(cell.value, len(digits))
    text, formula = f"{value:.{len(digits)}f}", truncated(cell.formula, len(digits))
    return replace(cell, value=value, text=text, formula=formula, stands_for=key)


def pair_cells(
    scores: Scores, among: str, names: Mapping[str, str], printed: Mapping[Place, pd.Series]
) -> Iterator[Cell]:
    """The p of each test ``among`` the models, before and after Holm's correction.

    Where the paper prints it, it is cut off after as many digits as there: it truncates.
    """
    over = scores.over
    for _, test in corrected_tests(scores.rows, among, over).iterrows():
        pair = (test["first"], test["second"])
        row, key = " and ".join(names[model] for model in pair), " vs ".join(pair)
        for column, name, formula, where in (
            (P, "p", signed_rank(over), scores.of(*pair)),
            (HOLM, "holm", holm_of(*pair, among, over), scores.where),
        ):
            p, text = float(test[name]), f"{test[name]:.{DECIMALS[over]}f}"
            cell = Cell(row, column, p, text, formula, scores.source, where, n=int(test["n"]))
            yield _as_printed(cell, printed.get((key, name)), (key, name))


def _verdicts(cells: Sequence[Cell]) -> dict[str, dict[str, str]]:
    """Which tests are significant after correction, and over what, where columns say that."""
    verdicts: dict[str, dict[str, str]] = {}
    for cell in cells:
        if cell.column.endswith(HOLM.removeprefix(P)):
            over = cell.column.removeprefix(P).removesuffix(HOLM.removeprefix(P)).strip()
            head = f"{VERDICT}, {over}" if over else VERDICT
            verdicts.setdefault(cell.row, {})[head] = "yes" if cell.value < ALPHA else "no"
    return verdicts


def _ranked(rows: pd.DataFrame) -> list[str]:
    """Models that have been judged on all paradigms, the best first."""
    averages = scores_by(rows[rows["model"].isin(complete(rows))], BY_PHENOMENON).mean()
    return list(averages.sort_values(ascending=False, kind="stable").index)


def _table(
    kind: str, exhibit: str, preferred: Sequence[str], tables: Tables, labels: Labels
) -> Exhibit:
    models, measured = preferred, labels.source == "measured"
    if measured:
        models = chosen(preferred, _ranked(read_paradigms(tables, labels)))
    scores = read_scores(tables, labels, models)
    names = names_of(labels.models)
    cells = list(pair_cells(scores, EACH_OTHER, names, printed_of(tables, labels, exhibit)))
    origin = "the means of their paradigms" if measured else "the cells of Table 4"
    cut = "" if measured else " p is cut off, not rounded, as in the paper."
    none = "" if cells else " There are no two models to compare."
    return Exhibit(
        **describe(
            "tables5_6",
            kind=kind if {*models} <= {*preferred} else "the best",
            origin=origin,
            level=ALPHA,
            cut=cut,
            none=none,
        ),
        cells=cells,
        remarks=_verdicts(cells),
    )


def table5(tables: Tables, labels: Labels) -> Exhibit:
    """Table 5: the pretrained Gemma models against each other, or else the best."""
    return _table("pretrained Gemma", "table5", GEMMA, tables, labels)


def table6(tables: Tables, labels: Labels) -> Exhibit:
    """Table 6: the models that the paper calls its best against each other, or else the best."""
    return _table("the best", "table6", TOP, tables, labels)


# The same tests over paradigms


def _cells_over(over: str, models: Sequence[str], tables: Tables, labels: Labels) -> Iterator[Cell]:
    """The p of tests over phenomena or paradigms, in columns that say over what."""
    scores = read_scores(tables, labels, models, over)
    for cell in pair_cells(scores, EACH_OTHER, names_of(labels.models), {}):
        # Over phenomena it is that of Tables 5 and 6.
        if over == BY_PARADIGM or cell.column == HOLM:
            yield replace(cell, column=cell.column.replace(P, OVER[over], 1))


def tests(tables: Tables, labels: Labels) -> Exhibit:
    """The tests of Tables 5 and 6 over the paradigms in place of the phenomena.

    A phenomenon of one paradigm counts as much as one of five there, and ten observations can
    give no p below .002.
    """
    ranked = _ranked(read_paradigms(tables, labels))
    groups = {"Table 5": chosen(GEMMA, ranked), "Table 6": chosen(TOP, ranked)}
    if groups["Table 5"] == groups["Table 6"]:
        groups = {"": groups["Table 5"]}
    cells = [
        replace(cell, row=f"{cell.row} ({title})" if title else cell.row)
        for title, models in groups.items()
        for over in OVER
        for cell in _cells_over(over, models, tables, labels)
    ]
    none = "" if cells else " There are no two models to compare."
    return Exhibit(**describe("tests", none=none), cells=cells, remarks=_verdicts(cells))
