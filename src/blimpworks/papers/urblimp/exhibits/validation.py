"""People's agreement on the pairs, and the participants: an exhibit of ours.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3, gives a mean accuracy and one kappa.
"""

from math import isnan
from typing import Any

from blimpworks.annotation.tables import VALIDATION_PARTICIPANTS, VALIDATION_RATINGS
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, TOTAL, UNWEIGHTED, Formula, of_row, sum_of
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
INTERVAL, LEFT_OUT = "95 % interval", "left out: failed attention checks"


def validation(tables: Tables, labels: Labels) -> Exhibit:
    """Kappas of people's judgements, the numbers behind them, and a row for each participant."""
    from blimpworks.papers.urblimp.analysis.statistics import kappa_interval

    ratings = read_plain(VALIDATION_RATINGS, tables[RATED][0])
    people = read_plain(VALIDATION_PARTICIPANTS, tables[PEOPLE][0])
    per_pair = int(labels.facts["urblimp_validation"]["per_pair"])
    pairs = int(formulas.complete(per_pair)(ratings))
    kappas: list[Cell] = []
    for name, row in KAPPA_ROWS.items():
        formula = formulas.kappa(name, per_pair)
        low, high = (None if isnan(end) else end for end in kappa_interval(name, ratings, per_pair))
        fields: dict[str, Any] = {"n": pairs, "low": low, "high": high}
        kappas.append(formula_cell(ratings, (row, VALUE), formula, RATED, {}, ".2f", **fields))

    numbers: dict[str, tuple[Formula, str]] = {
        "Participants": (COUNT, PEOPLE),
        LEFT_OUT: (COUNT, PEOPLE),
        "Attention checks": (sum_of("checks"), PEOPLE),
        "passed": (sum_of("passed"), PEOPLE),
        "Judgements that count": (COUNT, RATED),
        "Pairs judged": (formulas.PAIRS, RATED),
        f"with {per_pair} judgements": (formulas.complete(per_pair), RATED),
        "left out of κ": (formulas.incomplete(per_pair), RATED),
    }
    if pairs and per_pair > 1:
        numbers["Unanimous pairs (%)"] = formulas.unanimous(per_pair), RATED
        numbers["Two judgements agree (%)"] = formulas.agreement(per_pair), RATED
    rows_of = {RATED: ratings, PEOPLE: people}
    counts: list[Cell] = []
    for row, (formula, source) in numbers.items():
        where: dict[str, Any] = {"left_out": True} if row == LEFT_OUT else {}
        form = ".1f" if "%" in row else ",.0f"
        counts.append(formula_cell(rows_of[source], (row, NUMBER), formula, source, where, form))

    # A participant may be called like another row.
    names = {f"participant {name}": str(name) for name in people["participant"]}
    columns = {JUDGED: TOTAL, CHECKS: of_row("checks"), PASSED: of_row("passed")}
    participants: list[Cell] = []
    for row, name in names.items():
        where = {"participant": name}
        person = people[people["participant"].astype(str) == name]
        if n := int(person["n"].item()):
            low, high = (float(100 * person[end].item()) for end in ("low", "high"))
            fields, cell_key = {"n": n, "low": low, "high": high}, (row, ACCURACY)
            participants.append(
                formula_cell(person, cell_key, UNWEIGHTED, PEOPLE, where, ".1f", **fields)
            )
        for column, formula in columns.items():
            participants.append(formula_cell(person, (row, column), formula, PEOPLE, where, ",.0f"))

    sections = {
        "Kappa": ([cell for cell in kappas if not isnan(cell.value)], [VALUE, INTERVAL]),
        "Counts": (counts, [NUMBER]),
        "Participant": (participants, [JUDGED, ACCURACY, INTERVAL, CHECKS, PASSED, COUNTED]),
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
