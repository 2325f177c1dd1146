"""Numbers in running text: as printed, and recomputed from other printed numbers.

``PublishedRow`` has the formula of each and the printed numbers behind it. Numbers that follow from
accuracies or items are computed by each paper's own exhibit.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell
from blimpworks.exhibits.formulas import Formula, select_rows
from blimpworks.exhibits.shared import printed_cell

VALUE, PRINTED, AGAIN = "Value", "Printed", "Recomputed"
"""Columns of tables of statements."""
Place = tuple[str, str]
KEYS = ("exhibit", "row", "column")


@dataclass(frozen=True, slots=True)
class Recomputation:
    """Derivation of a paper's numbers in running text from other numbers that it prints."""

    formats: Mapping[Formula, str]
    """Format of each formula's numbers: "{:.1f}", or "{text}" for the first number's text."""
    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Rows or columns behind a name in braces."""

    def cell(self, row: pd.Series, title: str, printed: pd.DataFrame) -> Cell:
        """Compute a row from other numbers; raise UserError for a faulty recomputation."""
        cell_key: Place = (row["row"], row["column"])
        subject = "printed number " + "/".join(row[key] for key in KEYS)
        formulas = {formula.sentence: formula for formula in self.formats}
        if row["formula"] not in formulas:
            raise UserError(
                f"{subject} has the formula {row['formula']!r}; expected one of "
                f"{', '.join(map(repr, formulas))}."
            )
        formula = formulas[row["formula"]]
        # What it is of: exhibit, rows and columns with "/" between them, each one key, several
        # with "; " between them, the name of a list in braces, or "*" for any.
        where: dict[str, Any] = {}
        for key, text in zip(KEYS, row["of"].split("/"), strict=True):
            name = re.fullmatch(r"\{(.+)\}", text)
            if name and name[1] not in self.lists:
                names = ", ".join(self.lists) or "none"
                raise UserError(f"{subject} is of {text}, which is no list; there are: {names}.")
            keys = text.split("; ")
            if name:
                where[key] = [*self.lists[name[1]]]
            elif text != "*":
                where[key] = keys if len(keys) > 1 else text
        rows = select_rows(printed, where)
        if rows.empty:
            raise UserError(f"{subject} is of {row['of']!r}, where nothing is printed.")
        value = formula(rows)
        text = self.formats[formula].format(value, text=rows["text"].iloc[0])
        return Cell(title, AGAIN, value, text, formula, "published", where, stands_for=cell_key)


def printed_statements(
    printed: pd.DataFrame,
    recomputation: Recomputation,
    other: Callable[[Place, str], Cell | None] = lambda place, title: None,
    exhibit: str = "text",
) -> tuple[list[Cell], str]:
    """Return cells of an ``exhibit``'s printed numbers beside recomputed ones, and their faults.

    ``other`` gives the cell of a number without a formula from its place and title, or None. The
    faults are one sentence, "." without any.
    """
    cells: list[Cell] = []
    faults = []
    for _, row in printed[(printed["exhibit"] == exhibit) & printed["value"].notna()].iterrows():
        cell_key: Place = (row["row"], row["column"])
        title = row["title"] or ": ".join(cell_key)
        computed = (
            recomputation.cell(row, title, printed) if row["formula"] else other(cell_key, title)
        )
        cells += [printed_cell(row, (title, PRINTED)), *filter(None, [computed])]
        faults += [f"{title}: {row['note']}"] if row["fault"] else []
    return cells, "; ".join(faults) + "."
