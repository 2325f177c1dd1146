"""How far people agree on the pairs, and who they are: an exhibit of ours.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3, gives a mean accuracy and one kappa.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

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
from blimpworks.exhibits.shared import Tables, read_plain
from blimpworks.papers.urblimp.exhibits.formulas import (
    PAIRS,
    agreement,
    complete,
    incomplete,
    kappa,
    unanimous,
)
from blimpworks.papers.urblimp.tables import VALIDATION_PARTICIPANTS, VALIDATION_RATINGS

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
        formula = kappa(name, per_pair)
        value = formula(ratings)
        if math.isnan(value):
            continue
        ends = kappa_interval(name, ratings, per_pair)
        low, high = (None if math.isnan(end) else end for end in ends)
        text = f"{value:.2f}"
        yield Cell(row, VALUE, value, text, formula, RATED, {}, n=pairs, low=low, high=high)


def _number(
    rows: pd.DataFrame,
    row: str,
    formula: Formula,
    source: str,
    where: Mapping[str, Any] | None = None,
) -> Cell:
    """A count, or a share in percent."""
    value = formula(select_rows(rows, dict(where or {})))
    text = f"{value:.1f}" if formula.sentence.startswith("100 ×") else f"{value:,.0f}"
    return Cell(row, NUMBER, value, text, formula, source, where or {})


def _counts(ratings: pd.DataFrame, people: pd.DataFrame, per_pair: int) -> Iterator[Cell]:
    out: Where = {"left_out": True}
    yield _number(people, "Participants", COUNT, PEOPLE)
    yield _number(people, "left out: failed attention checks", COUNT, PEOPLE, out)
    yield _number(people, "Attention checks", sum_of("checks"), PEOPLE)
    yield _number(people, "passed", sum_of("passed"), PEOPLE)
    yield _number(ratings, "Judgements that count", COUNT, RATED)
    yield _number(ratings, "Pairs judged", PAIRS, RATED)
    yield _number(ratings, f"with {per_pair} judgements", complete(per_pair), RATED)
    yield _number(ratings, "left out of κ", incomplete(per_pair), RATED)
    if complete(per_pair)(ratings) and per_pair > 1:
        yield _number(ratings, "Unanimous pairs (%)", unanimous(per_pair), RATED)
        yield _number(ratings, "Two judgements agree (%)", agreement(per_pair), RATED)


def _row_of(participant: str) -> str:
    """Key of a participant's row, whatever people are called."""
    return f"participant {participant}"


def _participant(found: pd.Series) -> Iterator[Cell]:
    where: Where = {"participant": str(found["participant"])}
    name = _row_of(str(found["participant"]))
    if found["n"]:
        value = float(100 * found["accuracy"])
        low, high = (float(100 * found[end]) for end in ("low", "high"))
        place, text, n = (name, ACCURACY), f"{value:.1f}", int(found["n"])
        yield Cell(*place, value, text, UNWEIGHTED, PEOPLE, where, n=n, low=low, high=high)
    for column, key in {JUDGED: "n", CHECKS: "checks", PASSED: "passed"}.items():
        value, formula = float(found[key]), TOTAL if key == "n" else of_row(key)
        yield Cell(name, column, value, f"{value:,.0f}", formula, PEOPLE, where)


def _remarks(cells: list[Cell], people: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Intervals of kappas and accuracies, and whether a participant counts."""
    found = {cell.row: {INTERVAL: "", COUNTED: ""} for cell in cells}
    for cell in cells:
        if cell.low is not None and cell.high is not None:
            digits = 2 if cell.column == VALUE else 1
            found[cell.row][INTERVAL] = f"{cell.low:.{digits}f} to {cell.high:.{digits}f}"
    for name, left_out in zip(people["participant"], people["left_out"], strict=True):
        found[_row_of(str(name))][COUNTED] = "no" if left_out else "yes"
    return found


def validation(tables: Tables, labels: Labels) -> Exhibit:
    """Kappas of people's judgements, what they are made of, and each participant's part."""
    ratings = read_plain(VALIDATION_RATINGS, tables[RATED][0])
    people = read_plain(VALIDATION_PARTICIPANTS, tables[PEOPLE][0])
    per_pair = int(labels.facts[FACTS]["per_pair"])
    kappas = [*_kappas(ratings, per_pair)]
    counts = [*_counts(ratings, people, per_pair)]
    each = [cell for _, row in people.iterrows() for cell in _participant(row)]
    cells = [*kappas, *counts, *each]
    return Exhibit(
        "Agreement of people on the pairs",
        f"κ over the pairs with {per_pair} judgements that count. Sentence chosen: Fleiss' κ with "
        "a pair's two sentences, in an order by lot, as categories; the paper's .89 is of this "
        "kind. Right and wrong: Fleiss' κ of whether the grammatical one was chosen, which is 0 "
        "where errors do not fall on the same pairs, however few they are. Free-marginal: chance "
        "is one half. Intervals: jackknife over pairs for κ, Wilson's for accuracies. A κ that is "
        "not defined is left out.",
        cells,
        row_title="Judgements",
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
        Section(title, {c.row: c.row.removeprefix(_row_of("")) for c in cells}, shown)
        for title, (cells, shown) in columns.items()
        if cells
    ]
