"""BLiMP's erratum: Table 3 as printed, of the 67 paradigms of the same run, and run again.

The authors' repository says since August 2021 that Tables 3 and 4 are misreported, and has the
accuracies of another run. What is wrong with the printed ones follows from the paper and the
results behind it (see docs/blimp.md).
"""

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
    read_released,
    rows_of_model,
)
from blimpworks.papers.blimp.exhibits.formulas import CHANGE
from blimpworks.papers.blimp.exhibits.tables import COLUMNS, HEADINGS
from blimpworks.papers.blimp.paradigms import HUMAN, RERUN
from blimpworks.papers.blimp.released_results import METHODS

PRINTED, CORRECTED, AGAIN, MOVED = "printed", "corrected", "run of 2021", "change"
HEADS = {HEADINGS[key]: lines for key, lines in COLUMNS.items()}
PUBLISHED_RUN = METHODS["sentence"]
RUNS = {"Published run": PUBLISHED_RUN, "Run of 2021": RERUN}
CHANGED = "Change"
LEAST = 0.05
"""Points below which a change is shown as none."""
MOST = 15
"""Paradigms that are shown: those that moved most."""


def _compare_runs(rows: pd.DataFrame, *places: tuple[str, str]) -> list[Cell]:
    """Make cells of the mean accuracy of each run, and of the points between them."""
    published, rerun, change = places
    cell = computed_cell(rows, change, CHANGE, RELEASED)
    signed = f"{cell.value:+.1f}".replace("-", "−")
    return [
        mean_cell(rows[rows["method"] == PUBLISHED_RUN], published, RELEASED),
        mean_cell(rows[rows["method"] == RERUN], rerun, RELEASED),
        replace(cell, text=signed if abs(cell.value) >= LEAST else "0.0"),
    ]


def erratum(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3 as printed, what the released results say it should be, and the run of 2021.

    Without the released results there is only what is printed.
    """
    printed = read_printed(tables, exhibit="table3")
    rows = read_released(tables, [*RUNS.values()])
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
        for key, heading in HEADINGS.items() if len(rows) else ():
            inside = rows_of_model(rows, model, of_phenomenon(key))
            cells += _compare_runs(inside, *((f"{name}, {kind}", heading) for kind in kinds[1:]))
    description = describe("erratum_without_results")
    if len(rows):
        wide = rows.pivot(index=["model", "paradigm"], columns="method", values="accuracy")
        # A thousand pairs give three digits; what lies below is floating point.
        change = (wide[RERUN] - wide[PUBLISHED_RUN]).abs().round(9)
        counts = (change > 0).groupby("model").sum()
        moved = ", ".join(f"{name} {counts[model]}" for model, name in names.items())
        description = describe("erratum", moved=moved, most=MOST)
        change = change[change > 0].sort_values(ascending=False, kind="stable")
        shown: dict[str, str] = {}
        for number, (model, uid) in enumerate(change.index):
            title = f"{names[model]}: {uid}"
            single = rows_of_model(rows, model, [uid])
            for cell in _compare_runs(single, *((title, column) for column in (*RUNS, CHANGED))):
                cells.append(replace(cell, printed=number < MOST))
            shown |= {title: title} if number < MOST else {}
        sections.append(Section("What moved most", shown, [*RUNS, CHANGED]))
    return Exhibit(**description, cells=cells, sections=sections, heads=HEADS, bold=wrong)
