"""How far people agree on the pairs, and who they are: an exhibit of ours.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3, gives a mean accuracy and one kappa.
"""

import math
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
from blimpworks.papers.urblimp.exhibits import describe, formulas

RATED, PEOPLE = "validation_ratings", "validation_participants"
VALUE, NUMBER = "κ", "Number"
KAPPA_ROWS = {
    "published": "Sentence chosen (published)",
    "corrected": "Right and wrong (corrected)",
    "free": "Free-marginal (Randolph)",
}
ACCURACY, JUDGED, PASSED, CHECKS, COUNTED = "Accuracy (%)", "Pairs", "Passed", "Checks", "Counted"
INTERVAL = "95 % interval"
Counted = tuple[str, Formula, str, dict[str, Any], str]
"""Row, formula, source, filter and format of a count."""


def _kappas(ratings: pd.DataFrame, per_pair: int) -> list[Cell]:
    """Make the three kappas; leave out those that are not defined."""
    from blimpworks.papers.urblimp.validation.kappas import kappa_interval

    cells = []
    pairs = int(formulas.complete(per_pair)(ratings))
    for name, row in KAPPA_ROWS.items():
        ends = kappa_interval(name, ratings, per_pair)
        low, high = (None if math.isnan(end) else end for end in ends)
        fields = {"n": pairs, "low": low, "high": high}
        formula = formulas.kappa(name, per_pair)
        cells.append(formula_cell(ratings, (row, VALUE), formula, RATED, {}, ".2f", **fields))
    return [cell for cell in cells if not math.isnan(cell.value)]


def _counts(ratings: pd.DataFrame, people: pd.DataFrame, per_pair: int) -> list[Cell]:
    """Count participants and judgements, and make shares in percent."""
    numbers: list[Counted] = [
        ("Participants", COUNT, PEOPLE, {}, ",.0f"),
        ("left out: failed attention checks", COUNT, PEOPLE, {"left_out": True}, ",.0f"),
        ("Attention checks", sum_of("checks"), PEOPLE, {}, ",.0f"),
        ("passed", sum_of("passed"), PEOPLE, {}, ",.0f"),
        ("Judgements that count", COUNT, RATED, {}, ",.0f"),
        ("Pairs judged", formulas.PAIRS, RATED, {}, ",.0f"),
        (f"with {per_pair} judgements", formulas.complete(per_pair), RATED, {}, ",.0f"),
        ("left out of κ", formulas.incomplete(per_pair), RATED, {}, ",.0f"),
    ]
    if formulas.complete(per_pair)(ratings) and per_pair > 1:
        unanimous, agreement = formulas.unanimous(per_pair), formulas.agreement(per_pair)
        numbers.append(("Unanimous pairs (%)", unanimous, RATED, {}, ".1f"))
        numbers.append(("Two judgements agree (%)", agreement, RATED, {}, ".1f"))
    tables = {RATED: ratings, PEOPLE: people}
    return [
        formula_cell(
            select_rows(tables[source], where), (row, NUMBER), formula, source, where, form
        )
        for row, formula, source, where, form in numbers
    ]


def _participant(people: pd.DataFrame, row: str, name: str) -> list[Cell]:
    """Make the row of a participant."""
    where = {"participant": name}
    rows = people[people["participant"].astype(str) == name]
    cells, n = [], int(rows["n"].item())
    if n:
        low, high = (float(100 * rows[end].item()) for end in ("low", "high"))
        fields = {"n": n, "low": low, "high": high}
        place = (row, ACCURACY)
        cells.append(formula_cell(rows, place, UNWEIGHTED, PEOPLE, where, ".1f", **fields))
    columns = {JUDGED: TOTAL, CHECKS: of_row("checks"), PASSED: of_row("passed")}
    for column, formula in columns.items():
        cells.append(formula_cell(rows, (row, column), formula, PEOPLE, where, ",.0f"))
    return cells


def validation(tables: Tables, labels: Labels) -> Exhibit:
    """Kappas of people's judgements, what they are made of, and the row of each participant."""
    ratings = read_plain(VALIDATION_RATINGS, tables[RATED][0])
    people = read_plain(VALIDATION_PARTICIPANTS, tables[PEOPLE][0])
    per_pair = int(labels.facts["urblimp_validation"]["per_pair"])
    # Keys of rows that cannot be those of others, whatever people are called.
    names = {f"participant {name}": str(name) for name in people["participant"]}
    sections = {
        "Kappa": (_kappas(ratings, per_pair), [VALUE, INTERVAL]),
        "Counts": (_counts(ratings, people, per_pair), [NUMBER]),
        "Participant": (
            [cell for row, name in names.items() for cell in _participant(people, row, name)],
            [JUDGED, ACCURACY, INTERVAL, CHECKS, PASSED, COUNTED],
        ),
    }
    cells = [cell for section, _ in sections.values() for cell in section]
    remarks = {cell.row: {INTERVAL: "", COUNTED: ""} for cell in cells}
    for cell in cells:
        if cell.low is not None and cell.high is not None:
            digits = 2 if cell.column == VALUE else 1
            remarks[cell.row][INTERVAL] = f"{cell.low:.{digits}f} to {cell.high:.{digits}f}"
    for row, left_out in zip(names, people["left_out"], strict=True):
        remarks[row][COUNTED] = "no" if left_out else "yes"
    return Exhibit(
        **describe("validation", per_pair=per_pair),
        cells=cells,
        sections=[
            Section(title, {c.row: names.get(c.row, c.row) for c in section}, columns)
            for title, (section, columns) in sections.items()
            if section
        ],
        remarks=remarks,
    )
