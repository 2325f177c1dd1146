"""BLiMP's erratum: Table 3 as printed, of the 67 paradigms of the same run, and run again.

The authors' repository says since August 2021 that Tables 3 and 4 are misreported, and has the
accuracies of another run. What is wrong with the printed ones follows from the paper and the
results behind it (see docs/blimp.md).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.shared import Tables, printed_cell, read_printed
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.accuracies import (
    RELEASED,
    computed_cell,
    mean_cell,
    of_phenomenon,
    read_released_paradigms,
    rows_of_model,
)
from blimpworks.papers.blimp.exhibits.formulas import CHANGE
from blimpworks.papers.blimp.exhibits.tables import COLUMNS, HEADINGS
from blimpworks.papers.blimp.paradigms import HUMAN, RERUN
from blimpworks.papers.blimp.released_results import METHODS

PRINTED, CORRECTED, AGAIN, MOVED = "printed", "corrected", "run of 2021", "change"
HEADS = {HEADINGS[key]: lines for key, lines in COLUMNS.items()}
RUNS = {"Published run": METHODS["sentence"], "Run of 2021": RERUN}
CHANGED = "Change"
LEAST = 0.05
"""Points below which a change is shown as none."""
MOST = 15
"""Paradigms that are shown: those that moved most."""


def _change(rows: pd.DataFrame, place: tuple[str, str]) -> Cell:
    """How many points higher the mean accuracy of the later run is."""
    cell = computed_cell(rows, place, CHANGE, RELEASED)
    signed = f"{cell.value:+.1f}".replace("-", "−")
    return replace(cell, text=signed if abs(cell.value) >= LEAST else "0.0")


def _of_phenomena(rows: pd.DataFrame, model: str, name: str) -> Iterator[Cell]:
    """A model's means by phenomenon and overall, of either run, and the change between them."""
    for key, heading in HEADINGS.items():
        inside = rows_of_model(rows, model, of_phenomenon(key))
        for run, method in zip((CORRECTED, AGAIN), RUNS.values(), strict=True):
            place = (f"{name}, {run}", heading)
            yield mean_cell(inside[inside["method"] == method], place, RELEASED)
        yield _change(inside, (f"{name}, {MOVED}", heading))


def _differences(rows: pd.DataFrame) -> pd.Series:
    """By model and paradigm, the absolute difference of the two runs' accuracies."""
    wide = rows.pivot(index=["model", "paradigm"], columns="method", values="accuracy")
    # A thousand pairs give three digits; what lies below is floating point.
    differences: pd.Series = (wide[RERUN] - wide[METHODS["sentence"]]).abs().round(9)
    return differences


def _moved(rows: pd.DataFrame, names: Mapping[str, str]) -> Iterator[Cell]:
    """Accuracies on the paradigms that moved, of any model, the one that moved most first."""
    change = _differences(rows)
    change = change[change > 0].sort_values(ascending=False, kind="stable")
    for number, (model, uid) in enumerate(change.index):
        row = f"{names[model]}: {uid}"
        single = rows_of_model(rows, model, [uid])
        cells = [
            mean_cell(single[single["method"] == method], (row, column), RELEASED)
            for column, method in RUNS.items()
        ]
        for cell in (*cells, _change(single, (row, CHANGED))):
            yield replace(cell, printed=number < MOST)


def _counts(rows: pd.DataFrame, names: Mapping[str, str]) -> str:
    """How many paradigms moved, for each model."""
    counts = (_differences(rows) > 0).groupby("model").sum()
    return ", ".join(f"{name} {counts[model]}" for model, name in names.items())


def erratum(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3 as printed, what the released results say it should be, and the run of 2021.

    Without the released results there is only what is printed.
    """
    printed = read_printed(tables, exhibit="table3")
    rows = read_released_paradigms(tables, [*RUNS.values()])
    names = {m: n for m, n in labels.models.items() if m in set(printed["row"]) and m != HUMAN}
    kinds = (PRINTED,) if rows.empty else (PRINTED, CORRECTED, AGAIN, MOVED)
    keys = [f"{name}, {kind}" for name in names.values() for kind in kinds]
    sections = [Section("Model", dict(zip(keys, keys, strict=True)), [*HEADINGS.values()])]
    cells: list[Cell] = []
    wrong = set[tuple[str, str]]()
    for model, name in names.items():
        for _, row in printed[printed["row"] == model].iterrows():
            place = (f"{name}, {PRINTED}", HEADINGS[row["column"]])
            cells.append(printed_cell(row, place))
            wrong |= {place} if row["fault"] else set()
        cells += _of_phenomena(rows, model, name) if len(rows) else ()
    description = describe("erratum_without_results")
    if len(rows):
        description = describe("erratum", moved=_counts(rows, names), most=MOST)
        moved = [*_moved(rows, names)]
        rows_in_print = {cell.row: cell.row for cell in moved if cell.printed}
        sections.append(Section("What moved most", rows_in_print, [*RUNS, CHANGED]))
        cells += moved
    return Exhibit(
        **description,
        cells=cells,
        sections=sections,
        heads=HEADS,
        bold=wrong,
    )
