"""The campaign's own numbers beside those that the papers print."""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.campaign.comparability import SAME, Basis
from blimpworks.campaign.reference import PublishedRow
from blimpworks.files import write_text
from blimpworks.reproduction.agreement import TOLERANCE, agreement, same_wording
from blimpworks.reproduction.printed import PLACE, place_of, read_printed_numbers
from blimpworks.reproduction.published import GARBLED
from blimpworks.tables import ACCURACIES, CELLS, read_table

AGREES, DEVIATES, NOT_RUN = "agrees", "deviates", "not run"
NOT_COMPARABLE = "not comparable"
COLUMNS = (*PLACE, "measured", "low", "high", "n", "reading", "verdict", "differs")
"""Columns of the comparison. ``reading``: the campaign's text in the place of a printed text;
``differs``: of what is not comparable, what it is about that the printed number is not."""
ILLEGIBLE = "our copy of the paper cannot be read there"
MODELS = ("model", "model_a", "model_b")
"""Columns of filters that name models; rows that have one are of evaluations."""
EVALUATED = (*MODELS, "method")
Cell = Mapping[str, Any]
Place = tuple[str, str, str]
"""Exhibit, row and column of a printed number."""


@dataclass(frozen=True)
class Measured:
    """Files of one paper: printed numbers, and cells of its exhibits by exhibit.

    ``published`` are those of the published forms; ``accuracies`` the table of the accuracies that
    the paper prints, ``basis`` what the campaign's numbers are about.
    """

    printed: Sequence[Path]
    cells: Mapping[str, Path]
    published: Mapping[str, Path] = field(default_factory=dict)
    accuracies: Path | None = None
    basis: Basis = field(default_factory=lambda: SAME)

    @cached_property
    def languages(self) -> set[str]:
        """Languages that our copy of the paper has accuracies of."""
        if self.accuracies is None or not self.accuracies.exists():
            return set()
        return {*read_table(ACCURACIES, self.accuracies, ["lang"])["lang"].to_pylist()} - {ALL}


def verdict_of(row: PublishedRow, cell: Mapping[str, Any] | None) -> str:
    """Whether a measured cell agrees with what is printed.

    It does when the printed number, or what was rounded to it, lies in the cell's 95 %
    interval; a cell without one has to round to it. A printed bound has to hold somewhere in it.
    A printed text agrees with the same wording. Whether both are about the same says
    ``differences``.
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
    """List the languages that a cell is over; None where its filter names none."""
    languages = where.get("lang")
    return [languages] if isinstance(languages, str) else languages


def _other_languages(
    where: Mapping[str, Any], printed: Mapping[str, Any], basis: Basis, legible: Collection[str]
) -> str:
    """Say how the languages differ: a cell of one language is about that which its place names.

    A mean whose languages print does not list is over all or an unknown part of the paper's: ours
    is over the same if the campaign has them all.
    """
    if isinstance(where.get("lang"), str):
        return ""
    in_print = {*(_languages(printed) or ())}
    ours = {*(_languages(where) or basis["languages"])}
    if not in_print:
        in_print = {*(basis["paper_languages"] or legible)}
        ours = {*(basis["languages"] or _languages(where) or [])}
    if not ours or not in_print or ours == in_print:
        return ""
    further = len(ours - in_print)
    more = f" and {further} {'other' if further == 1 else 'others'}" if further else ""
    return f"{len(ours & in_print)} of {len(in_print)} languages{more}"


def differences(cell: Cell, printed: Cell | None, basis: Basis, legible: Collection[str]) -> str:
    """Say what sets a measured cell apart from the printed number that it stands for; or "".

    ``printed`` is the cell of the published form in the same place, if it has one;
    ``legible`` are the languages that our copy of the paper has accuracies of.
    """
    where = json.loads(cell["filter"])
    of_print = json.loads(printed["filter"]) if printed else {}
    evaluated = not {*where}.isdisjoint(EVALUATED)
    languages = _languages(where) or basis["languages"]

    def of_languages(reasons: Mapping[str, str]) -> str:
        """Give the reasons of the cell's languages, in short."""
        texts = list(dict.fromkeys(reasons[lang] for lang in languages if lang in reasons))
        return f"{texts[0]} and others" if len(texts) > 1 else "".join(texts)

    reasons = [_other_languages(where, of_print, basis, legible), of_languages(basis["data"])]
    if evaluated:
        models = []
        for column in MODELS:
            value = where.get(column) or []
            models += value if isinstance(value, list) else [value]
        reasons.append("; ".join(dict.fromkeys(filter(None, map(basis["models"].get, models)))))
        reasons += [of_languages(basis["items"]), basis["method"]]
    reasons = list(dict.fromkeys(filter(None, reasons)))
    if evaluated and not reasons and printed is not None:
        n, in_print = cell["n"], printed["n"]
        if n and in_print and n != in_print:
            reasons.append(f"{n:,} {basis['unit']}s, not {in_print:,}")
    return "; ".join(reasons)


def _by_place(cells: Mapping[str, Path]) -> dict[Place, dict[str, Any]]:
    """Read cells by the printed numbers they stand for; the first of several."""
    cells_by_place: dict[Place, dict[str, Any]] = {}
    for exhibit, path in cells.items():
        for cell in read_table(CELLS, path).to_pylist():
            cells_by_place.setdefault((exhibit, cell["printed_row"], cell["printed_column"]), cell)
    return cells_by_place


def compare(paper: str, files: Measured) -> Iterator[Any]:
    """A row of ``COLUMNS`` for each number or text that a paper prints, in its files' order."""
    measured, published = _by_place(files.cells), _by_place(files.published)
    for row in read_printed_numbers(files.printed):
        if row.value is None and not row.textual and row.fault != GARBLED:
            continue
        place = (row.exhibit, row.row, row.column)
        cell = measured.get(place)
        differs = ""
        if cell is not None:
            differs = differences(cell, published.get(place), files.basis, files.languages)
            if row.value is None and not row.textual:
                differs = differs or ILLEGIBLE
        number = None if row.textual else cell
        yield {
            **place_of(paper, row),
            "measured": number and float(f"{number['value']:.6g}"),
            "low": number and number["low"],
            "high": number and number["high"],
            "n": number and number["n"],
            "reading": cell["text"] if cell and row.textual else "",
            "verdict": NOT_COMPARABLE if differs else verdict_of(row, cell),
            "differs": differs,
        }


def compare_measured(papers: Mapping[str, Measured], output: Path) -> Counter[str]:
    """Write the comparison as CSV; how many printed numbers have each verdict."""
    rows = [row for paper, files in papers.items() for row in compare(paper, files)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["n"] = frame["n"].astype("Int64")
    write_text(output, frame.to_csv(index=False, lineterminator="\n"))
    return Counter(frame["verdict"])
