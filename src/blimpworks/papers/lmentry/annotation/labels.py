"""Filled annotation sheets, checked row by row.

A file has the labels of one annotator in the column ``correct``, called after the file
(``eng.anna.csv`` is Anna's), or those of several, people or models, in columns such as
``correct:anna``.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from blimpworks.annotation.spreadsheet import (
    Line,
    annotator_of,
    plain,
    read_sheet,
    refuse,
    refuse_lines,
)
from blimpworks.campaign.variants import VARIANTS
from blimpworks.errors import UserError
from blimpworks.papers.lmentry.annotation.sheet import CORRECT, ID

LABELS = {"yes": 1, "no": 0, "1": 1, "0": 0}
METHODS = VARIANTS
OF = f"{CORRECT}:"


class Label(NamedTuple):
    """What an annotator says of a row, and where."""

    row: str
    annotator: str
    correct: int
    place: str


def _judges(path: Path, columns: Sequence[str]) -> dict[str, str]:
    """Columns with labels, and whose they are. Raises UserError where there is none."""
    found = {name: name.removeprefix(OF).strip() for name in columns if name.startswith(OF)}
    if CORRECT in columns:
        found[CORRECT] = annotator_of(path)
    if ID not in columns or not found:
        raise UserError(
            f"{path}:1: columns are {', '.join(columns)}; expected {ID!r} and {CORRECT!r} (or "
            f"{OF}NAME); fill in the sheet as it was exported."
        )
    taken = [name for name in found.values() if name in METHODS or not name]
    if taken:
        raise UserError(
            f"{path}: an annotator is called {taken[0]!r}; expected a name that is none of "
            f"{', '.join(METHODS)}. Name the file LANG.ANNOTATOR.csv."
        )
    return found


def _problem(line: Line, judges: Mapping[str, str], prompts: Mapping[str, str]) -> str:
    """What is wrong with a row, in a sentence; empty where nothing is."""
    row = line.cells[ID].strip()
    if row not in prompts:
        return f"row {row!r} is not in the sheet's key; take rows of this campaign's sheet."
    if "prompt" in line.cells and plain(line.cells["prompt"]) != plain(prompts[row]):
        return f"the prompt of row {row} is not the one of the sheet; do not sort single columns."
    for column in judges:
        label = line.cells[column].strip()
        if not label:
            return f"{column!r} of row {row} is empty; fill it in, or delete the row."
        if label.casefold() not in LABELS:
            return f"{column!r} of row {row} is {label!r}, expected yes, no, 1 or 0; correct it."
    return ""


def _labels(path: Path, prompts: Mapping[str, str]) -> Iterator[Label]:
    lines = [*read_sheet(path)]
    judges = _judges(path, [*lines[0].cells] if lines else [])
    refuse_lines(path, ((line, _problem(line, judges, prompts)) for line in lines))
    for line in lines:
        for column, annotator in judges.items():
            label = LABELS[line.cells[column].strip().casefold()]
            yield Label(line.cells[ID].strip(), annotator, label, f"{path}:{line.number}")


def read_labels(paths: Sequence[Path], key: pd.DataFrame) -> pd.DataFrame:
    """Labels of filled sheets: columns row, annotator, correct (0 or 1) and place.

    ``key`` has the sheets' rows and prompts. Raises UserError, with a sentence for each of the
    first wrong rows, for an unknown row, an altered prompt, a label that is missing or another
    word, and for a row that one annotator has labelled twice.
    """
    prompts = dict(zip(key["row"], key["prompt"], strict=True))
    found = [label for path in paths for label in _labels(path, prompts)]
    first: dict[tuple[str, str], str] = {}
    again = []
    for label in found:
        before = first.setdefault((label.row, label.annotator), label.place)
        if before != label.place:
            again.append(
                f"{label.place}: {label.annotator} has labelled row {label.row} before, in "
                f"{before}; keep one of the two."
            )
    refuse(again)
    return pd.DataFrame(found, columns=Label._fields)
