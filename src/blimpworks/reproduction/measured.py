"""Compare the campaign's own numbers with printed ones."""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.comparability import SAME, Basis
from blimpworks.campaign.reference import PublishedRow
from blimpworks.files import write_text
from blimpworks.reproduction.agreement import TOLERANCE, agreement, same_wording
from blimpworks.reproduction.printed import PLACE, Place, place_of, read_printed_numbers
from blimpworks.reproduction.published import GARBLED
from blimpworks.tables import ACCURACIES, CELLS, read_table

AGREES, DEVIATES, NOT_RUN = "agrees", "deviates", "not run"
NOT_COMPARABLE = "not comparable"
COLUMNS = (*PLACE, "measured", "low", "high", "n", "reading", "verdict", "differs")
"""``reading`` is the campaign's text; ``differs`` tells the subjects of two numbers apart."""
ILLEGIBLE = "our copy of the paper cannot be read there"
MODELS = ("model", "model_a", "model_b")
"""Columns of filters that name models; rows with one are of evaluations."""
EVALUATED = (*MODELS, "method")
Cell = Mapping[str, Any]


@dataclass(frozen=True)
class Measured:
    """Files of one paper; ``published`` are cells of the published forms by exhibit."""

    printed: Sequence[Path]
    cells: Mapping[str, Path]
    published: Mapping[str, Path] = field(default_factory=dict)
    accuracies: Path | None = None
    basis: Basis = field(default_factory=lambda: SAME)


def verdict_of(row: PublishedRow, cell: Mapping[str, Any] | None) -> str:
    """Return whether a measured cell agrees with a printed number or text.

    It agrees when a number that rounds to the printed one lies in the cell's 95 % interval; without
    interval the cell has to round to it. A printed bound has to hold somewhere in the interval.
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


def _languages(where: Mapping[str, Any]) -> list[str] | None:
    """Return the languages of a cell's filter; None where it names none."""
    languages = where.get("lang")
    return [languages] if isinstance(languages, str) else languages


def differences(cell: Cell, printed: Cell | None, basis: Basis, legible: Collection[str]) -> str:
    """Return the differences in subject between a measured cell and the published form's; or "".

    A printed mean without listed languages is over all the paper's languages, as far as known.
    """
    where = json.loads(cell["filter"])
    of_print = json.loads(printed["filter"]) if printed else {}
    evaluated = not {*where}.isdisjoint(EVALUATED)
    languages = _languages(where) or basis["languages"]

    def of_languages(reasons: Mapping[str, str]) -> str:
        texts = list(dict.fromkeys(reasons[lang] for lang in languages if lang in reasons))
        return f"{texts[0]} and others" if len(texts) > 1 else "".join(texts)

    in_print, ours = {*(_languages(of_print) or ())}, {*languages}
    if not in_print:
        in_print = {*(basis["paper_languages"] or legible)}
        ours = {*(basis["languages"] or languages)}
    reasons = []
    if not isinstance(where.get("lang"), str) and ours and in_print and ours != in_print:
        further = len(ours - in_print)
        more = f" and {further} {'other' if further == 1 else 'others'}" if further else ""
        reasons.append(f"{len(ours & in_print)} of {len(in_print)} languages{more}")
    reasons.append(of_languages(basis["data"]))
    if evaluated:
        models = []
        for column in MODELS:
            value = where.get(column) or []
            models += value if isinstance(value, list) else [value]
        reasons.append("; ".join(dict.fromkeys(filter(None, map(basis["models"].get, models)))))
        reasons += [of_languages(basis["items"]), basis["method"]]
    reasons = list(dict.fromkeys(filter(None, reasons)))
    if evaluated and not reasons and printed is not None:
        n, n_in_print = cell["n"], printed["n"]
        if n and n_in_print and n != n_in_print:
            reasons.append(f"{n:,} {basis['unit']}s, not {n_in_print:,}")
    return "; ".join(reasons)


def _by_place(cells: Mapping[str, Path]) -> dict[Place, dict[str, Any]]:
    """Read cells by their printed number; the first of several counts."""
    cells_by_place: dict[Place, dict[str, Any]] = {}
    for exhibit, path in cells.items():
        for cell in read_table(CELLS, path).to_pylist():
            cells_by_place.setdefault((exhibit, cell["printed_row"], cell["printed_column"]), cell)
    return cells_by_place


def compare(paper: str, files: Measured) -> Iterator[Any]:
    """Yield a row of ``COLUMNS`` for each printed number or text, in the files' order."""
    measured, published = _by_place(files.cells), _by_place(files.published)
    legible: set[str] = set()
    if files.accuracies is not None and files.accuracies.exists():
        langs = read_table(ACCURACIES, files.accuracies, ["lang"])["lang"]
        legible = {*langs.to_pylist()} - {ALL}
    for row in read_printed_numbers(files.printed):
        if row.value is None and not row.textual and row.fault != GARBLED:
            continue
        cell_key = (row.exhibit, row.row, row.column)
        cell = measured.get(cell_key)
        differs = ""
        if cell is not None:
            differs = differences(cell, published.get(cell_key), files.basis, legible)
            if row.value is None and not row.textual:
                differs = differs or ILLEGIBLE
        number = None if row.textual else cell
        yield {
            **place_of(paper, row),
            "measured": number and float(f"{number['value']:.6g}"),
            **{name: number and number[name] for name in ("low", "high", "n")},
            "reading": cell["text"] if cell and row.textual else "",
            "verdict": NOT_COMPARABLE if differs else verdict_of(row, cell),
            "differs": differs,
        }


def compare_measured(papers: Mapping[str, Measured], output: Path) -> Counter[str]:
    """Write the comparison as CSV; return the number of printed numbers by verdict."""
    rows = [row for paper, files in papers.items() for row in compare(paper, files)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["n"] = frame["n"].astype("Int64")
    write_text(output, frame.to_csv(index=False, lineterminator="\n"))
    return Counter(frame["verdict"])
