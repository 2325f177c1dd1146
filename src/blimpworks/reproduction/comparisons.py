"""Compare every number that a paper prints with a recomputed and a measured number.

``compare_published`` writes a CSV file with printed numbers beside numbers that are recomputed from
other printed numbers, such as a mean from its values:

    paper  exhibit  row    column   printed  recomputed  rule  status  ...
    mine   table2   GPT-2  Overall  71.3     71.3333     mean  exact

``compare_measured`` writes a CSV file with each printed number beside the campaign's number.
Recomputed and measured numbers are read from files of cells (``exhibits``). A cell has a value and
the formula that computed it. Its filter selects the rows of a table (``source``) that are the
formula's input. Printed texts, such as prompts, are compared with released texts.
docs/published.md explains the statuses.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from blimpworks.campaign.comparability import SAME, Basis
from blimpworks.campaign.reference import PublishedRow, ReasonRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.exhibits.formulas import COMPLEMENT as COMPLEMENT_FORMULA
from blimpworks.exhibits.formulas import formula_of
from blimpworks.exhibits.shared import counted, read_plain
from blimpworks.files import write_text
from blimpworks.items import ALL
from blimpworks.reproduction.printed import (
    KEY_COLUMNS,
    TOLERANCE,
    NumberKey,
    agreement,
    input_error_of,
    number_columns,
    read_printed_numbers,
    rounded,
    same_wording,
)
from blimpworks.tables import ACCURACIES, CELLS, read_table

EXACT, ROUNDING, ERRATUM, GARBLED = "exact", "rounding", "erratum", "garbled"
COMPLEMENT, NOT_RECOMPUTABLE, DEVIATES = "complement", "not recomputable", "deviates"
STATUSES = (EXACT, ROUNDING, COMPLEMENT, ERRATUM, GARBLED, NOT_RECOMPUTABLE, DEVIATES)
"""Statuses of printed numbers. ``exact`` and ``rounding`` are as in ``printed.agreement``. A
complement is 1 minus another printed number. An erratum is a known fault in print; a garbled number
is illegible in our copy of the paper. A number that deviates without explanation fails in CI."""
RECOMPUTED_COLUMNS = (*KEY_COLUMNS, "recomputed", "reading", "rule", "status", "corrected", "note")
"""``rule`` is the formula's sentence; ``reading`` is the released form of a printed text."""


class Selection:
    """A table of which thousands of cells select rows; masks of rows are cached."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        self._origins = table["origin"].tolist()
        # Function of a column and a value; returns whether each row has the value [rows].
        self._mask_of = cache(lambda column, value: table[column].isin([value]).to_numpy(bool))

    def _mask(self, where: Mapping[str, Any]) -> NDArray[np.bool_]:
        mask = np.ones(len(self.table), dtype=bool)
        for column in where.keys() & {*self.table.columns}:
            values = where[column] if isinstance(where[column], list) else [where[column]]
            mask &= np.logical_or.reduce([self._mask_of(column, value) for value in values])
        return mask

    def select(self, where: Mapping[str, Any]) -> pd.DataFrame:
        """Return the rows that pass a cell's filter: {"lang": "deu", "model": ["gpt2", "bert"]}.

        A row passes with (one of) the values in each column. Keys without a column are ignored.
        """
        return self.table[self._mask(where)]

    def origins(self, where: Mapping[str, Any]) -> list[str]:
        """Return the column ``origin`` of the rows that ``select`` would return, but faster."""
        return [self._origins[index] for index in np.flatnonzero(self._mask(where))]


@dataclass(frozen=True)
class Paper:
    """The printed numbers of a paper, and the files of cells to compare them with."""

    name: str
    printed: Sequence[Path]
    reasons: Path
    """File of reasons why numbers cannot be recomputed, which need not exist."""
    cells: Mapping[str, Path]
    """File of the cells to compare, by exhibit: recomputed from printed numbers, or measured."""
    accuracies: Path | None
    """Table of printed or released accuracies, which exists only if the paper has some."""
    published: Mapping[str, Path] = field(default_factory=dict)
    """File of cells with the printed numbers, by exhibit; for measured cells."""
    basis: Basis = field(default_factory=lambda: SAME)
    """Differences of the campaign's data, items, method and models from the paper's."""

    @cached_property
    def numbers(self) -> list[PublishedRow]:
        return read_printed_numbers(self.printed)

    @cached_property
    def tables(self) -> dict[str, Selection]:
        """Tables that cells are computed from, by their name in the column ``source`` of cells."""
        rows = [
            row.model_dump() | {"half_unit": row.half_unit, "origin": row.place}
            for row in self.numbers
        ]
        columns = [*PublishedRow.model_fields, "half_unit", "origin"]
        files = [path for path in [self.accuracies] if path and path.exists()]
        return {
            "published": Selection(pd.DataFrame(rows, columns=columns)),
            "accuracies": Selection(read_plain(ACCURACIES, files)),
        }


def origins_of(cell: Mapping[str, Any], paper: Paper) -> list[str]:
    """Return EXHIBIT/ROW/COLUMN of the printed numbers behind a cell; "" for released numbers."""
    table = paper.tables.get(cell["source"])
    return [] if table is None else table.origins(json.loads(cell["filter"]))


def _cells_of(files: Mapping[str, Path]) -> Iterator[tuple[NumberKey, dict[str, Any]]]:
    for exhibit, path in files.items():
        for cell in read_table(CELLS, path).to_pylist():
            yield (exhibit, cell["printed_row"], cell["printed_column"]), cell


def recomputations(paper: Paper) -> dict[NumberKey, dict[str, Any]]:
    """Return {printed number: cell that recomputes it}. Raises UserError if two cells differ."""
    cells: dict[NumberKey, dict[str, Any]] = {}
    for cell_key, cell in _cells_of(paper.cells):
        if origins_of(cell, paper) == ["/".join(cell_key)]:
            continue  # the cell copies the printed number, and recomputes nothing
        first_cell = cells.setdefault(cell_key, cell)
        if abs(first_cell["value"] - cell["value"]) > TOLERANCE:
            exhibit, row, column = cell_key
            raise UserError(
                f"{paper.cells[exhibit]}: two cells recompute row {row!r}, column {column!r}, and "
                f"differ ({first_cell['value']:g}, {cell['value']:g}); keep one."
            )
    return cells


def _confirms_correction(row: PublishedRow, value: float, input_error: float) -> bool:
    """Return whether a recomputed value confirms the correction that ``row`` states, if any.

    It rounds to the correction, or is as near as rounding of its inputs allows and in the row's
    note. ``input_error``: largest change of the value by rounding of the printed numbers.
    """
    if row.corrected is None:
        return True
    corrected = float(row.corrected)
    decimals_of_correction = len(f"{corrected:.9f}".rstrip("0").partition(".")[2])
    digits = max(row.decimals, decimals_of_correction)
    rounded_value = rounded(value, digits)
    if abs(rounded_value - corrected) <= TOLERANCE:
        return True
    is_near = abs(value - corrected) <= row.half_unit + input_error + TOLERANCE
    return is_near and f"{rounded_value:.{digits}f}" in row.note


def status_of(row: PublishedRow, cell: Mapping[str, Any] | None, paper: Paper) -> str:
    """Return the status of a printed number or text, one of ``STATUSES``.

    ``cell`` recomputes the number, or has the text that the authors released; None without such a
    cell. A known fault (erratum, garbled) is the status if the cell confirms it: the cell differs
    from print, and has the correction that ``row`` states.
    """
    if cell is not None and row.textual:
        is_same = same_wording(row.text, cell["text"])
        if row.fault == ERRATUM:
            is_noted = row.corrected is None or same_wording(str(row.corrected), cell["text"])
            return ERRATUM if is_noted and not is_same else DEVIATES
        return row.fault or (EXACT if is_same else DEVIATES)
    if cell is None or row.value is None:
        return row.fault or NOT_RECOMPUTABLE
    value, input_error = cell["value"], 0.0
    agrees = agreement(value, row)  # "exact", "rounding" or ""
    if agrees != EXACT:
        formula, inputs = formula_of(cell["formula"]), paper.tables.get(cell["source"])
        if inputs is not None and not formula.takes_as_printed:
            # The inputs are printed, so they are rounded; released decisions are not.
            input_error = input_error_of(formula, inputs.select(json.loads(cell["filter"])))
        agrees = agreement(value, row, input_error)
    if row.fault:
        is_confirmed = not math.isnan(value) and _confirms_correction(row, value, input_error)
        return row.fault if is_confirmed and not agrees else DEVIATES
    if agrees and cell["formula"] == COMPLEMENT_FORMULA.sentence:
        return COMPLEMENT
    return agrees or DEVIATES


def excuses(reason: ReasonRow, row: PublishedRow) -> bool:
    """Return whether a reason's patterns of exhibit, row and column match a printed number."""
    patterns = (reason.exhibit, reason.row, reason.column)
    return all(map(fnmatchcase, (row.exhibit, row.row, row.column), patterns))


def _is_compared(row: PublishedRow) -> bool:
    # Rows without number and text are empty cells in print, or illegible in our copy.
    return row.value is not None or row.textual or row.fault == GARBLED


def _six_digits(value: float) -> float:
    # Whole numbers keep all digits.
    return value if value.is_integer() else float(f"{value:.6g}")


def recomputed_rows(paper: Paper) -> Iterator[dict[str, Any]]:
    """Yield a row of ``RECOMPUTED_COLUMNS`` for each printed number or text, in the files' order.

    Raises UserError for a number that no cell recomputes and no reason excuses.
    """
    cells = recomputations(paper)
    reasons = read_rows(ReasonRow, paper.reasons) if paper.reasons.exists() else []
    for row in filter(_is_compared, paper.numbers):
        cell = cells.get((row.exhibit, row.row, row.column))
        status = status_of(row, cell, paper)
        explanation = ""  # added to the row's note
        if status == NOT_RECOMPUTABLE:
            matching = [reason.reason for reason in reasons if excuses(reason, row)]
            if not matching:
                raise UserError(
                    f"{paper.reasons}: no row says why {row.exhibit}, row {row.row!r}, column "
                    f"{row.column!r} ({row.text}) is not recomputed. Recompute it, or add the "
                    "reason."
                )
            explanation = matching[0]
        elif cell and status == COMPLEMENT:
            origins = ", ".join(origins_of(cell, paper))
            explanation = f"complement of {origins}, so no further evidence"
        recomputed = None
        if cell is not None and not row.textual:
            recomputed = _six_digits(cell["value"])
        yield {
            **number_columns(paper.name, row),
            "recomputed": recomputed,
            "reading": cell["text"] if cell and row.textual else "",
            "rule": cell["formula"] if cell else "",
            "status": status,
            "corrected": None if row.textual else row.corrected,
            "note": "; ".join(filter(None, (row.note, explanation))),
        }


def compare_published(papers: Sequence[Paper], output: Path) -> Counter[str]:
    """Write the comparison of all papers as CSV, and count its numbers by status."""
    rows = [row for paper in papers for row in recomputed_rows(paper)]
    frame = pd.DataFrame(rows, columns=list(RECOMPUTED_COLUMNS))
    write_text(output, frame.to_csv(index=False, lineterminator="\n"))
    return Counter(frame["status"])


AGREES, NOT_RUN, NOT_COMPARABLE = "agrees", "not run", "not comparable"
MEASURED_COLUMNS = (*KEY_COLUMNS, "measured", "low", "high", "n", "reading", "verdict", "differs")
"""measured, low, high: the campaign's number and 95 % interval. n: number of items. reading: the
campaign's text. differs: why the number or text is not comparable with the printed one."""
ILLEGIBLE = "our copy of the paper cannot be read there"
UNDEFINED = "the campaign's rows give no number there"
MODEL_COLUMNS = ("model", "model_a", "model_b")
"""Columns of a cell's filter that name models."""
EVALUATED = (*MODEL_COLUMNS, "method")
"""Columns in the filter of a cell that is the result of an evaluation."""
Cell = Mapping[str, Any]


def verdict_of(row: PublishedRow, cell: Mapping[str, Any] | None) -> str:
    """Return whether a measured cell "agrees" with a printed number or text, or "deviates".

    A number agrees if some number in the cell's 95 % interval (or the value, if there is no
    interval) rounds to it. A bound, such as "at least 5", agrees if it holds in the interval.
    """
    if cell is None:
        return NOT_RUN
    if row.textual:
        return AGREES if same_wording(row.text, cell["text"]) else DEVIATES
    assert row.value is not None
    low, high = cell["low"], cell["high"]
    if low is None or high is None or math.isnan(low + high):
        low = high = cell["value"]
    if row.bound:
        return AGREES if any(agreement(end, row) for end in (low, high)) else DEVIATES
    reach = row.half_unit + TOLERANCE
    return AGREES if low - reach <= row.value <= high + reach else DEVIATES


def _values(where: Mapping[str, Any], column: str) -> list[str]:
    values = where.get(column) or []
    return values if isinstance(values, list) else [values]


def _reason_for(languages: Collection[str], reason_by_lang: Mapping[str, str]) -> str:
    reasons = dict.fromkeys(reason_by_lang[lang] for lang in languages if lang in reason_by_lang)
    first = next(iter(reasons), "")
    return f"{first} and others" if len(reasons) > 1 else first


def _other_languages(
    languages: Collection[str], printed: Cell | None, basis: Basis, legible: Collection[str]
) -> str:
    """Describe how the languages of a measured and a printed mean differ: "3 of 8 languages"."""
    measured = {*languages}
    in_print = {*_values(json.loads(printed["filter"]), "lang")} if printed else set[str]()
    if not in_print:
        # The filter names no language, so the printed mean is over all languages of the paper.
        # Compare these with all languages of the campaign.
        in_print = {*(basis["paper_languages"] or legible)}
        measured = {*(basis["languages"] or languages)}
    if not measured or not in_print or measured == in_print:
        return ""
    added = len(measured - in_print)
    addition = f" and {counted(added, 'other')}" if added else ""
    return f"{len(measured & in_print)} of {len(in_print)} languages{addition}"


def differences(cell: Cell, printed: Cell | None, basis: Basis, legible: Collection[str]) -> str:
    """Return why a measured cell is not comparable with the printed number; "" if it is.

    ``printed``: the cell of the printed number. If the filter of this cell has no languages, the
    number is a mean over the paper's languages (``basis``), or else over ``legible`` ones. Of
    ``legible`` languages, we can read printed accuracies.
    """
    where = json.loads(cell["filter"])
    languages = _values(where, "lang") or basis["languages"]
    is_over_languages = not isinstance(where.get("lang"), str)
    reasons = [_other_languages(languages, printed, basis, legible)] if is_over_languages else []
    reasons.append(_reason_for(languages, basis["data"]))
    is_evaluation = not {*where}.isdisjoint(EVALUATED)
    if is_evaluation:
        models = [model for column in MODEL_COLUMNS for model in _values(where, column)]
        reasons += [basis["models"].get(model, "") for model in models]
        reasons += [_reason_for(languages, basis["items"]), basis["method"]]
    reasons = list(dict.fromkeys(filter(None, reasons)))
    # Any other reason explains why the number of items differs.
    if is_evaluation and not reasons and printed is not None:
        n, printed_n = cell["n"], printed["n"]
        if n and printed_n and n != printed_n:
            reasons.append(f"{n:,} {basis['unit']}s, not {printed_n:,}")
    return "; ".join(reasons)


def measured_rows(paper: Paper) -> Iterator[Any]:
    """Yield a row of ``MEASURED_COLUMNS`` for each printed number or text, in the files' order."""
    measured: dict[NumberKey, Cell] = {}
    published: dict[NumberKey, Cell] = {}
    for cells, files in ((measured, paper.cells), (published, paper.published)):
        for cell_key, cell in _cells_of(files):
            cells.setdefault(cell_key, cell)  # the first of several cells of a printed number
    legible = {*paper.tables["accuracies"].table["lang"]} - {ALL}
    for row in filter(_is_compared, paper.numbers):
        number_key = (row.exhibit, row.row, row.column)
        measured_cell = measured.get(number_key)
        differs = ""
        numbers = dict.fromkeys(("measured", "low", "high", "n"))
        if measured_cell is not None:
            differs = differences(measured_cell, published.get(number_key), paper.basis, legible)
            if not row.textual:
                value = measured_cell["value"]
                if row.value is None or math.isnan(value):
                    differs = differs or (ILLEGIBLE if row.value is None else UNDEFINED)
                numbers |= {name: measured_cell[name] for name in ("low", "high", "n")}
                numbers["measured"] = _six_digits(value)
        yield {
            **number_columns(paper.name, row),
            **numbers,
            "reading": measured_cell["text"] if measured_cell and row.textual else "",
            "verdict": NOT_COMPARABLE if differs else verdict_of(row, measured_cell),
            "differs": differs,
        }


def compare_measured(papers: Sequence[Paper], output: Path) -> Counter[str]:
    """Write the comparison of all papers as CSV, and count its numbers by verdict."""
    rows = [row for paper in papers for row in measured_rows(paper)]
    frame = pd.DataFrame(rows, columns=list(MEASURED_COLUMNS))
    frame["n"] = frame["n"].astype("Int64")
    write_text(output, frame.to_csv(index=False, lineterminator="\n"))
    return Counter(frame["verdict"])
