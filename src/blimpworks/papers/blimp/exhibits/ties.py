"""Compare accuracies on BLiMP with ties wrong, as the authors count them, or half right.

Source: Warstadt et al. (2020), section 4.1: the grammatical sentence must be the more probable.
Seven of the released pairs are twice the same sentence, so no model can get those right.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, select_rows
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.accuracies import formula_cell, with_interval
from blimpworks.papers.blimp.exhibits.formulas import JUDGED, TIES_HALF, TIES_WRONG
from blimpworks.papers.blimp.paradigms import LANG, PHENOMENON_OF
from blimpworks.tables import ITEMS, JUDGEMENTS, read_table

PAIRS, TIED, SAME = "Pairs", "Ties", "Same sentence twice"
WRONG, HALF = "Ties wrong (published)", "Ties half (corrected)"
HEADS = {
    SAME: ("Same sentence", "twice"),
    WRONG: ("Ties wrong", "(published)"),
    HALF: ("Ties half", "(corrected)"),
}
MOST = 3
"""Paradigms shown of each model: those with the most ties."""


def _cells(
    judgements: pd.DataFrame,
    items: pd.DataFrame,
    row: str,
    model: str,
    method: str,
    paradigm: str | None,
) -> Iterator[Cell]:
    chosen: dict[str, Any] = {"paradigm": paradigm} if paradigm else {}
    where = {"model": model, "lang": LANG, "method": method} | chosen
    rows = select_rows(judgements, where)
    yield formula_cell(rows, (row, PAIRS), JUDGED, "judgements", where)
    tied = where | {"margin": 0.0}
    yield formula_cell(select_rows(rows, tied), (row, TIED), COUNT, "judgements", tied)
    every = [uid for uid in PHENOMENON_OF if uid in {*rows["paradigm"]}]
    same = (chosen or {"paradigm": every}) | {"identical": True}
    yield formula_cell(select_rows(items, same), (row, SAME), COUNT, "items", same)
    n = int(JUDGED(rows))
    for column, formula in {WRONG: TIES_WRONG, HALF: TIES_HALF}.items():
        cell = formula_cell(rows, (row, column), formula, "judgements", where, "{:.2f}")
        yield with_interval(cell, cell.value * n / 100, n)


def ties(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate ties of the campaign's models, and accuracies with ties wrong or half."""
    for path in tables["items"]:
        table = read_table(ITEMS, path)
        if path.stem == LANG and "identical" in table.column_names:
            items = table.select(["paradigm", "identical"]).to_pandas().astype({"paradigm": object})
            break
    else:
        raise UserError(
            f"{', '.join(map(str, tables['items'])) or 'nothing'} has no column 'identical'; "
            "expected the items of BLiMP, which say what pairs are twice the same sentence. Build "
            "them again."
        )
    identical = {*select_rows(items, {"identical": True})["paradigm"]}
    paths = {path.parent.name: path for path in tables["judgements"] if path.stem == LANG}
    cells: list[Cell] = []
    for model, name in labels.models.items():
        if model not in paths:
            continue
        rows = read_plain(JUDGEMENTS, paths[model])
        rows = rows[rows["paradigm"].isin(PHENOMENON_OF)]
        methods = sorted({*rows["method"]}, key=lambda m: (m != labels.method, m))
        for method in methods:
            row = f"{name}: all paradigms, {method.replace('_', ' ')}"
            cells += _cells(rows, items, row, model, method, None)
        tied = select_rows(rows, {"method": labels.method, "margin": 0.0})
        counts = tied["paradigm"].value_counts().to_dict()
        having = [uid for uid in PHENOMENON_OF if uid in counts or uid in identical]
        having.sort(key=lambda uid: -counts.get(uid, 0))
        for number, uid in enumerate(having):
            for cell in _cells(rows, items, f"{name}: {uid}", model, labels.method, uid):
                cells.append(replace(cell, printed=number < MOST))
    if not cells:
        raise UserError(
            "there are no judgements of English by the campaign's models; judge BLiMP's items."
        )
    description = describe("ties", most=MOST, method=labels.method.replace("_", " "))
    return Exhibit(**description, cells=cells, heads=HEADS)
