"""Compare every printed number with its value computed from other printed numbers.

A number without a recomputing cell needs a reason; a difference beyond rounding must be a known
erratum. Anything else ``deviates``, and CI fails on it. A printed text is compared with the
authors' released text.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from blimpworks.campaign.reference import PublishedRow, ReasonRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.exhibits.formula_lookup import formula_of
from blimpworks.exhibits.formulas import COMPLEMENT as COMPLEMENT_FORMULA
from blimpworks.exhibits.shared import read_plain
from blimpworks.files import write_text
from blimpworks.reproduction.agreement import TOLERANCE, agreement, rounded, same_wording, slack
from blimpworks.reproduction.printed import PLACE, Place, place_of, read_printed_numbers
from blimpworks.tables import ACCURACIES, CELLS, read_table

EXACT, ROUNDING, ERRATUM, GARBLED = "exact", "rounding", "erratum", "garbled"
COMPLEMENT, NOT_RECOMPUTABLE, DEVIATES = "complement", "not recomputable", "deviates"
STATUSES = (EXACT, ROUNDING, COMPLEMENT, ERRATUM, GARBLED, NOT_RECOMPUTABLE, DEVIATES)
COLUMNS = (*PLACE, "recomputed", "reading", "rule", "status", "corrected", "note")
"""Columns of the comparison; rule: formula's sentence; reading: released form of a printed text."""


class Selection:
    """A table with cached selections, for thousands of cells."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        self._origins = table["origin"].tolist()
        self._masks: dict[tuple[str, Any], NDArray[np.bool_]] = {}

    def _chosen(self, where: Mapping[str, Any]) -> NDArray[np.bool_]:
        chosen = np.ones(len(self.table), dtype=bool)
        for column in where.keys() & {*self.table.columns}:
            values = where[column] if isinstance(where[column], list) else [where[column]]
            for value in values:
                if (column, value) not in self._masks:
                    self._masks[column, value] = self.table[column].isin([value]).to_numpy(bool)
            chosen &= np.logical_or.reduce([self._masks[column, value] for value in values])
        return chosen

    def select(self, where: Mapping[str, Any]) -> pd.DataFrame:
        """Return rows whose columns have the value, or one of the listed values, in ``where``."""
        return self.table[self._chosen(where)]

    def origins(self, where: Mapping[str, Any]) -> list[str]:
        """Return the printed numbers of these rows; quicker than the rows themselves."""
        return [self._origins[at] for at in np.flatnonzero(self._chosen(where))]


@dataclass(frozen=True)
class Paper:
    """Files of one paper: printed numbers, reasons, cells, accuracies."""

    name: str
    printed: Sequence[Path]
    reasons: Path
    """Reasons why numbers cannot be recomputed; may be absent."""
    cells: Mapping[str, Path]
    """Cells of the exhibits' published forms, by exhibit."""
    accuracies: Path

    @cached_property
    def numbers(self) -> list[PublishedRow]:
        return read_printed_numbers(self.printed)

    @cached_property
    def tables(self) -> dict[str, Selection]:
        """Tables that cells are computed from, by source, with the rounding of each number."""
        rows = [
            row.model_dump() | {"half_unit": row.half_unit, "origin": row.place}
            for row in self.numbers
        ]
        columns = [*PublishedRow.model_fields, "half_unit", "origin"]
        return {
            "published": Selection(pd.DataFrame(rows, columns=columns)),
            # A benchmark that prints nothing, and has released nothing, has no such table.
            "accuracies": Selection(
                read_plain(ACCURACIES, [*filter(Path.exists, [self.accuracies])])
            ),
        }


def origins_of(cell: Mapping[str, Any], paper: Paper) -> list[str]:
    """Return the printed numbers behind a cell, as ``exhibit/row/column``; "" if not printed."""
    table = paper.tables.get(cell["source"])
    return [] if table is None else table.origins(json.loads(cell["filter"]))


def recomputations(paper: Paper) -> dict[Place, dict[str, Any]]:
    """Return recomputing cells by printed number. Raises UserError when two cells differ."""
    cells: dict[Place, dict[str, Any]] = {}
    for exhibit, path in paper.cells.items():
        for cell in read_table(CELLS, path).to_pylist():
            cell_key = (exhibit, cell["printed_row"], cell["printed_column"])
            if origins_of(cell, paper) == ["/".join(cell_key)]:
                continue  # it only shows the printed number that it stands for
            first_cell = cells.setdefault(cell_key, cell)
            if abs(first_cell["value"] - cell["value"]) > TOLERANCE:
                raise UserError(
                    f"{path}: two cells stand for row {cell_key[1]!r}, column {cell_key[2]!r} and "
                    f"differ ({first_cell['value']:g}, {cell['value']:g}); keep one."
                )
    return cells


def _is_corrected(row: PublishedRow, value: float, input_error: float) -> bool:
    """Return whether a value is an erratum's known correction, or near it and in the note."""
    if row.corrected is None:
        return True
    corrected = float(row.corrected)
    digits = max(row.decimals, len(f"{corrected:.9f}".rstrip("0").partition(".")[2]))
    rounded_value = rounded(value, digits)
    if abs(rounded_value - corrected) <= TOLERANCE:
        return True
    near = abs(value - corrected) <= row.half_unit + input_error + TOLERANCE
    return near and f"{rounded_value:.{digits}f}" in row.note


def status_of(row: PublishedRow, cell: Mapping[str, Any] | None, paper: Paper) -> str:
    """Return the status of a printed number, given its recomputing cell, if any."""
    if cell is not None and row.textual:
        # The reading is the text that the authors released in its place.
        reading, same = cell["text"], same_wording(row.text, cell["text"])
        if row.fault == ERRATUM:
            right = row.corrected is None or same_wording(str(row.corrected), reading)
            return ERRATUM if right and not same else DEVIATES
        return row.fault or (EXACT if same else DEVIATES)
    if cell is None or row.value is None:
        return row.fault or NOT_RECOMPUTABLE
    value, input_error = cell["value"], 0.0
    agrees = agreement(value, row)
    if agrees != EXACT:
        formula = formula_of(cell["formula"])
        table = None if formula.takes_as_printed else paper.tables.get(cell["source"])
        if table is not None:
            input_error = slack(formula, table.select(json.loads(cell["filter"])))
            agrees = agreement(value, row, input_error)
    if row.fault:  # stays the status as long as the value is as noted
        as_noted = not math.isnan(value) and _is_corrected(row, value, input_error)
        return row.fault if as_noted and not agrees else DEVIATES
    if agrees and cell["formula"] == COMPLEMENT_FORMULA.sentence:
        return COMPLEMENT
    return agrees or DEVIATES


def excuses(reason: ReasonRow, row: PublishedRow) -> bool:
    """Return whether a reason is for a printed number."""
    patterns = (reason.exhibit, reason.row, reason.column)
    return all(map(fnmatchcase, (row.exhibit, row.row, row.column), patterns))


def compare(paper: Paper) -> Iterator[dict[str, Any]]:
    """Yield a row of ``COLUMNS`` for each printed number or text, in the files' order.

    Raises UserError when a number is neither recomputed nor excused.
    """
    cells = recomputations(paper)
    reasons = read_rows(ReasonRow, paper.reasons) if paper.reasons.exists() else []
    for row in paper.numbers:
        if row.value is None and not row.textual and row.fault != GARBLED:
            continue
        cell = cells.get((row.exhibit, row.row, row.column))
        status = status_of(row, cell, paper)
        more = ""
        if status == NOT_RECOMPUTABLE:
            fitting = [reason.reason for reason in reasons if excuses(reason, row)]
            if not fitting:
                raise UserError(
                    f"{paper.reasons}: nothing says why {row.exhibit}, row {row.row!r}, column "
                    f"{row.column!r} ({row.text}) is not recomputed. Recompute it, or give the "
                    "reason."
                )
            more = fitting[0]
        elif cell and status == COMPLEMENT:
            more = f"complement of {', '.join(origins_of(cell, paper))}: one of the two says all"
        recomputed = None
        if cell is not None and not row.textual:
            # Counts in full, others to six digits.
            value = cell["value"]
            recomputed = value if value.is_integer() else float(f"{value:.6g}")
        yield {
            **place_of(paper.name, row),
            "recomputed": recomputed,
            "reading": cell["text"] if cell and row.textual else "",
            "rule": cell["formula"] if cell else "",
            "status": status,
            "corrected": None if row.textual else row.corrected,
            "note": "; ".join(filter(None, (row.note, more))),
        }


def compare_published(papers: Sequence[Paper], output: Path) -> Counter[str]:
    """Write the comparison of all papers as CSV; return the number of numbers by status."""
    rows = [row for paper in papers for row in compare(paper)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    write_text(output, frame.to_csv(index=False, lineterminator="\n"))
    return Counter(frame["status"])
