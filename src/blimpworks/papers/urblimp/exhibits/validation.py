"""How far people agree on the pairs, and who they are: an exhibit of ours.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3, gives a mean accuracy and one kappa.
"""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from blimpworks.annotation.tables import VALIDATION_PARTICIPANTS, VALIDATION_RATINGS
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import (
    COUNT,
    TOTAL,
    UNWEIGHTED,
    Formula,
    of_row,
    select_rows,
    sum_of,
)
from blimpworks.exhibits.shared import Tables, formula_cell, read_plain
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.formulas import (
    PAIRS,
    agreement,
    complete,
    incomplete,
    kappa,
    unanimous,
)

RATED, PEOPLE = "validation_ratings", "validation_participants"
FACTS = "urblimp_validation"
VALUE, NUMBER = "κ", "Number"
KAPPA_ROWS = {
    "published": "Sentence chosen (published)",
    "corrected": "Right and wrong (corrected)",
    "free": "Free-marginal (Randolph)",
}
ACCURACY, JUDGED, PASSED, CHECKS, COUNTED = "Accuracy (%)", "Pairs", "Passed", "Checks", "Counted"
INTERVAL = "95 % interval"
Where = dict[str, Any]


def _kappas(ratings: pd.DataFrame, per_pair: int) -> Iterator[Cell]:
    """The three kappas; none that is not defined."""
    from blimpworks.papers.urblimp.validation.kappas import kappa_interval

    pairs = int(complete(per_pair)(ratings))
    for name, row in KAPPA_ROWS.items():
        ends = kappa_interval(name, ratings, per_pair)
        low, high = (None if math.isnan(end) else end for end in ends)
        more = {"n": pairs, "low": low, "high": high}
        cell = formula_cell(ratings, (row, VALUE), kappa(name, per_pair), RATED, {}, ".2f", **more)
        if not math.isnan(cell.value):
            yield cell


def _counts(ratings: pd.DataFrame, people: pd.DataFrame, per_pair: int) -> Iterator[Cell]:
    """Counts of participants and judgements, and shares in percent."""
    failed: Where = {"left_out": True}
    numbers: list[tuple[str, Formula, str, Where]] = [
        ("Participants", COUNT, PEOPLE, {}),
        ("left out: failed attention checks", COUNT, PEOPLE, failed),
        ("Attention checks", sum_of("checks"), PEOPLE, {}),
        ("passed", sum_of("passed"), PEOPLE, {}),
        ("Judgements that count", COUNT, RATED, {}),
        ("Pairs judged", PAIRS, RATED, {}),
        (f"with {per_pair} judgements", complete(per_pair), RATED, {}),
        ("left out of κ", incomplete(per_pair), RATED, {}),
    ]
    if complete(per_pair)(ratings) and per_pair > 1:
        numbers += [
            ("Unanimous pairs (%)", unanimous(per_pair), RATED, {}),
            ("Two judgements agree (%)", agreement(per_pair), RATED, {}),
        ]
    for row, formula, source, where in numbers:
        rows = select_rows(people if source == PEOPLE else ratings, where)
        style = ".1f" if formula.sentence.startswith("100 ×") else ",.0f"
        yield formula_cell(rows, (row, NUMBER), formula, source, where, style)


def _row_of(participant: str) -> str:
    """Key of a participant's row, whatever people are called."""
    return f"participant {participant}"


def _participant(rows: pd.DataFrame, name: str) -> Iterator[Cell]:
    """What a participant has judged; ``rows`` are the one of this participant."""
    where: Where = {"participant": name}
    row, n = _row_of(name), int(rows["n"].item())
    if n:
        low, high = (float(100 * rows[end].item()) for end in ("low", "high"))
        more = {"n": n, "low": low, "high": high}
        yield formula_cell(rows, (row, ACCURACY), UNWEIGHTED, PEOPLE, where, ".1f", **more)
    formulas = {JUDGED: TOTAL, CHECKS: of_row("checks"), PASSED: of_row("passed")}
    for column, formula in formulas.items():
        yield formula_cell(rows, (row, column), formula, PEOPLE, where, ",.0f")


def _remarks(cells: list[Cell], people: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Intervals of kappas and accuracies, and whether a participant counts."""
    remarks = {cell.row: {INTERVAL: "", COUNTED: ""} for cell in cells}
    for cell in cells:
        if cell.low is not None and cell.high is not None:
            digits = 2 if cell.column == VALUE else 1
            remarks[cell.row][INTERVAL] = f"{cell.low:.{digits}f} to {cell.high:.{digits}f}"
    for name, left_out in zip(people["participant"], people["left_out"], strict=True):
        remarks[_row_of(str(name))][COUNTED] = "no" if left_out else "yes"
    return remarks


def validation(tables: Tables, labels: Labels) -> Exhibit:
    """Kappas of people's judgements, what they are made of, and each participant's part."""
    ratings = read_plain(VALIDATION_RATINGS, tables[RATED][0])
    people = read_plain(VALIDATION_PARTICIPANTS, tables[PEOPLE][0])
    per_pair = int(labels.facts[FACTS]["per_pair"])
    kappas = [*_kappas(ratings, per_pair)]
    counts = [*_counts(ratings, people, per_pair)]
    names = people["participant"].astype(str)
    each = [cell for n in names for cell in _participant(people[names == n], n)]
    cells = [*kappas, *counts, *each]
    return Exhibit(
        **describe("validation", per_pair=per_pair),
        cells=cells,
        sections=_sections(kappas, counts, each),
        remarks=_remarks(cells, people),
    )


def _sections(kappas: list[Cell], counts: list[Cell], each: list[Cell]) -> list[Section]:
    columns = {
        "Kappa": (kappas, [VALUE, INTERVAL]),
        "Counts": (counts, [NUMBER]),
        "Participant": (each, [JUDGED, ACCURACY, INTERVAL, CHECKS, PASSED, COUNTED]),
    }
    return [
        Section(title, {c.row: c.row.removeprefix(_row_of("")) for c in cells}, heads)
        for title, (cells, heads) in columns.items()
        if cells
    ]
