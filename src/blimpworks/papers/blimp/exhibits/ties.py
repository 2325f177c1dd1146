"""What ties do to accuracies on BLiMP: wrong, as the authors count them, or half right.

Source: Warstadt et al. (2020), section 4.1: the grammatical sentence must be the more probable.
Seven of the released pairs are twice the same sentence, so no model can get those right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
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
"""Paradigms that are shown of each model: those with the most ties."""
Where = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """Tables that cells are computed from: a model's judgements of English pairs, and items."""

    model: str
    judgements: pd.DataFrame
    items: pd.DataFrame

    def cells(self, row: str, method: str, paradigm: str | None) -> Iterator[Cell]:
        """A row of cells: of the judgements by a method, of one paradigm or all."""
        chosen: Where = {"paradigm": paradigm} if paradigm else {}
        where = {"model": self.model, "lang": LANG, "method": method} | chosen
        rows = select_rows(self.judgements, where)
        tied = where | {"margin": 0.0}
        judged = chosen or {"paradigm": [u for u in PHENOMENON_OF if u in {*rows["paradigm"]}]}
        same = judged | {"identical": True}
        for column, formula, source, table, selected in (
            (PAIRS, JUDGED, "judgements", self.judgements, where),
            (TIED, COUNT, "judgements", self.judgements, tied),
            (SAME, COUNT, "items", self.items, same),
        ):
            inside = select_rows(table, selected)
            yield formula_cell(inside, (row, column), formula, source, selected)
        for column, formula in {WRONG: TIES_WRONG, HALF: TIES_HALF}.items():
            cell = formula_cell(rows, (row, column), formula, "judgements", where, "{:.2f}")
            yield with_interval(cell, int(JUDGED(rows)))

    def tied(self, method: str) -> list[str]:
        """Paradigms with ties by a method, or with identical pairs; the most ties first."""
        ties = select_rows(self.judgements, {"method": method, "margin": 0.0})
        counts = ties["paradigm"].value_counts().to_dict()
        same = {*select_rows(self.items, {"identical": True})["paradigm"]}
        having = [uid for uid in PHENOMENON_OF if uid in counts or uid in same]
        return sorted(having, key=lambda uid: -counts.get(uid, 0))

    def rows(self, name: str, method: str) -> Iterator[Cell]:
        """Rows of the model: all paradigms by each method, and those with ties by ``method``."""
        methods = sorted({*self.judgements["method"]}, key=lambda m: (m != method, m))
        rows: list[tuple[str, str, str | None]] = [
            (f"{name}: all paradigms, {_spaced(m)}", m, None) for m in methods
        ]
        rows += [(f"{name}: {uid}", method, uid) for uid in self.tied(method)]
        for number, row in enumerate(rows):
            for cell in self.cells(*row):
                yield replace(cell, printed=number < len(methods) + MOST)


def _judgements(path: Path) -> pd.DataFrame:
    rows = read_plain(JUDGEMENTS, path)
    return rows[rows["paradigm"].isin(PHENOMENON_OF)]


def _items(paths: Sequence[Path]) -> pd.DataFrame:
    """Paradigm of each pair, and whether it is twice the same sentence.

    Raises UserError where the items don't say so.
    """
    for path in paths:
        table = read_table(ITEMS, path)
        if path.stem == LANG and "identical" in table.column_names:
            items: pd.DataFrame = table.select(["paradigm", "identical"]).to_pandas()
            return items.astype({"paradigm": object})
    raise UserError(
        f"{', '.join(map(str, paths)) or 'nothing'} has no column 'identical'; expected the items "
        "of BLiMP, which say what pairs are twice the same sentence. Build them again."
    )


def _spaced(method: str) -> str:
    return method.replace("_", " ")


def ties(tables: Tables, labels: Labels) -> Exhibit:
    """Ties of the campaign's models, and accuracies where they count as wrong, or half.

    Raises UserError when no model judged English.
    """
    items = _items(tables["items"])
    paths = {path.stem: path for path in tables["judgements"] if path.parent.name == LANG}
    cells: list[Cell] = []
    for model, name in labels.models.items():
        if model in paths:
            evaluation = _Evaluation(model, _judgements(paths[model]), items)
            cells += evaluation.rows(name, labels.method)
    if not cells:
        raise UserError(
            "there are no judgements of English by the campaign's models; judge BLiMP's items."
        )
    return Exhibit(
        **describe("ties", most=MOST, method=_spaced(labels.method)),
        cells=cells,
        heads=HEADS,
    )
