"""How far people agree with BLiMP's labels: printed, summarised, and from single ratings.

Source: Warstadt et al. (2020), section 3.4, the human columns of Tables 3 and 4, and the
responses and their summary that the authors released.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from blimpworks.campaign.reference import PublishedRow
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, Formula, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_plain, read_printed
from blimpworks.papers.blimp.exhibits import describe
from blimpworks.papers.blimp.exhibits.accuracies import (
    RELEASED,
    formula_cell,
    mean_cell,
    read_released,
    with_interval,
)
from blimpworks.papers.blimp.exhibits.formulas import (
    ASSIGNMENTS,
    INDIVIDUAL_AGREEMENT,
    MAJORITY_AGREEMENT,
    WORKERS,
)
from blimpworks.papers.blimp.paradigms import HUMAN, NAMES, PARADIGMS, PHENOMENON_OF
from blimpworks.papers.blimp.published import paradigm_of
from blimpworks.papers.blimp.released_results import (
    ATTENTION,
    INDIVIDUAL,
    MAJORITY,
    OTHERS,
    REASONS,
    REJECTED,
    UNVALIDATED,
)
from blimpworks.papers.blimp.tables import RATINGS

RATED = "ratings"
"""Name of the table of single ratings."""
PRINTED, SUMMARY = "Printed", "Summary"
VARIANTS = {"published": "Ratings", "corrected": "Stated rule"}
"""Columns computed from ratings, by the column that says which ratings count."""
MAJORITIES = {name: f"Majority, {name.lower()}" for name in (SUMMARY, *VARIANTS.values())}
PRINTED_MAJORITY = "Majority, printed"
SUMMARISED = {SUMMARY: VARIANTS["published"], MAJORITIES[SUMMARY]: MAJORITIES["Ratings"]}
"""Columns of the summary, and those computed from the same ratings."""
COUNTED, NUMBER = "Counted", "Number"
ALL = "all paradigms"
DIFFERS = "Differs"
REJECTED_PARADIGMS = tuple(uid for uid, kind in OTHERS.items() if kind == REJECTED)
EXACT = 1e-6
"""Points within which numbers are the same: the summary has all digits."""
COLUMNS = (
    *(PRINTED, SUMMARY, *VARIANTS.values()),
    *(PRINTED_MAJORITY, *MAJORITIES.values()),
    COUNTED,
    DIFFERS,
)
HEADS = {name: ("Majority,", name.partition(", ")[2]) for name in COLUMNS if ", " in name}
Where = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Released:
    """Released tables that cells are computed from; without rows where they are not at hand."""

    ratings: pd.DataFrame
    summary: pd.DataFrame

    def cells(self, row: str, uids: Sequence[str]) -> Iterator[Cell]:
        """Individual and majority agreement on some paradigms: the summary's, the ratings'."""
        summary = self.summary[self.summary["paradigm"].isin(uids)]
        for method, column in {INDIVIDUAL: SUMMARY, MAJORITY: MAJORITIES[SUMMARY]}.items():
            rows = summary[summary["method"] == method]
            if not rows.empty:
                yield mean_cell(rows, (row, column), RELEASED)
        for variant, name in VARIANTS.items():
            where: Where = {"paradigm": [*uids], variant: True}
            rows = select_rows(self.ratings, where)
            if rows.empty:
                continue
            pairs = len(rows[["paradigm", "pair"]].drop_duplicates())
            for column, formula, n in (
                (name, INDIVIDUAL_AGREEMENT, len(rows)),
                (MAJORITIES[name], MAJORITY_AGREEMENT, pairs),
            ):
                cell = formula_cell(rows, (row, column), formula, RATED, where, "{:.1f}")
                yield with_interval(cell, n)
            if variant == "published":
                yield formula_cell(rows, (row, COUNTED), COUNT, RATED, where)


def _key(row: pd.Series) -> tuple[str, str] | None:
    """Row and column, in this exhibit, of a printed human number: Table 4's where it belongs."""
    if row["exhibit"] == "table3":
        return (ALL if row["column"] == "overall" else row["column"]), PRINTED
    if row["exhibit"] == "table4":
        return paradigm_of(PublishedRow.model_validate(row.to_dict())), PRINTED
    majority = (row["exhibit"], row["column"]) == ("text", "aggregate")
    return (ALL, PRINTED_MAJORITY) if majority else None


@dataclass(slots=True)
class _Row:
    """A row of the exhibit: its cells by column, and what is to be said of it."""

    cells: dict[str, Cell]
    half_units: dict[str, float]
    remarks: list[str]

    def differences(self) -> str:
        """What differs: of printed numbers beyond rounding, of the summary at all."""
        differences = [*self.remarks]
        columns = {
            PRINTED: [SUMMARY, *VARIANTS.values()],
            PRINTED_MAJORITY: [*MAJORITIES.values()],
        }
        for printed, others in columns.items():
            for column in others if printed in self.cells else ():
                if not self.same(printed, column, self.half_units[printed]):
                    differences.append(f"{column} from print")
        for summary, ratings in SUMMARISED.items():
            if not self.same(summary, ratings, 0):
                differences.append(f"{ratings} from {summary}")
        return "; ".join(differences)

    def same(self, first: str, second: str, within: float) -> bool:
        """Whether two columns have the same number, within some points, or one has none."""
        if first not in self.cells or second not in self.cells:
            return True
        return abs(self.cells[first].value - self.cells[second].value) <= within + EXACT


def _rows(printed: pd.DataFrame, released: _Released) -> dict[str, _Row]:
    """The exhibit's rows by key, in the order of Table 4; the rejected paradigms last."""
    groups: dict[str, Sequence[str]] = {ALL: [*PHENOMENON_OF]}
    for phenomenon, uids in PARADIGMS.items():
        groups |= {phenomenon: uids} | {uid: [uid] for uid in uids}
    groups |= {uid: [uid] for uid in REJECTED_PARADIGMS}
    rows = {key: _Row({}, {}, []) for key in groups}
    for _, number in printed[(printed["row"] == HUMAN) | (printed["column"] == HUMAN)].iterrows():
        if place := _key(number):
            key, column = place
            rows[key].cells[column] = printed_cell(number, place)
            half_unit = PublishedRow.model_validate(number.to_dict()).half_unit
            rows[key].half_units[column] = half_unit
            if number["exhibit"] == "table4" and number["fault"]:
                rows[key].remarks.append(f"printed in the row of {number['row']}")
    for key, members in groups.items():
        rows[key].cells |= {cell.column: cell for cell in released.cells(key, members)}
    return rows


def _counts(ratings: pd.DataFrame) -> Iterator[Cell]:
    """How many assignments, raters, ratings and attention checks there are, and what is left out.

    Ratings of pairs are those of validated paradigms, rejected ones included.
    """
    kinds = {*ratings["phenomenon"]}
    pairs: Where = {"phenomenon": sorted(kinds - {ATTENTION, UNVALIDATED})}
    checks: Where = {"phenomenon": ATTENTION}
    counts: dict[str, tuple[Formula, Where]] = {
        "Assignments": (ASSIGNMENTS, {}),
        "Raters": (WORKERS, {}),
        "Ratings of pairs": (COUNT, pairs),
        **{f"left out: {why}": (COUNT, pairs | {"excluded": why}) for why in REASONS},
        "Counted by the summary": (COUNT, pairs | {"published": True}),
        "Counted by the stated rule": (COUNT, pairs | {"corrected": True}),
        "Ratings of subject_island, in no result": (COUNT, {"phenomenon": UNVALIDATED}),
        "Attention checks": (COUNT, checks),
        "failed": (COUNT, checks | {"correct": 0.0}),
        "failed, in counted assignments": (COUNT, checks | {"correct": 0.0, "published": True}),
    }
    for row, (formula, where) in counts.items():
        rows = select_rows(ratings, where)
        yield formula_cell(rows, (row, NUMBER), formula, RATED, where)


def _sections(rows: dict[str, _Row], counts: Sequence[Cell]) -> list[Section]:
    """All and by phenomenon; each phenomenon's paradigms; the rejected ones; counts."""
    groups = {"Phenomenon": {ALL: "all paradigms", **NAMES}} | {
        NAMES[phenomenon]: {uid: uid for uid in uids} for phenomenon, uids in PARADIGMS.items()
    }
    groups["Rejected"] = {uid: uid for uid in REJECTED_PARADIGMS}
    sections = []
    for title, names in groups.items():
        inside = {key: name for key, name in names.items() if rows[key].cells}
        if inside:
            sections.append(Section(title, inside, COLUMNS))
    if counts:
        sections.append(Section("Counts", {c.row: c.row for c in counts}, [NUMBER]))
    return sections


def _comparison(rows: dict[str, _Row], released: _Released) -> str:
    """The caption's sentence on how many paradigms' ratings give the released summary."""
    if released.ratings.empty or released.summary.empty:
        return "Only what is at hand of summary and ratings is shown. "
    uids = [uid for uid in (*PHENOMENON_OF, *OTHERS) if uid in rows]
    same = sum(
        all(rows[uid].same(summary, ratings, 0) for summary, ratings in SUMMARISED.items())
        for uid in uids
    )
    return f"The ratings make the summary of {same} of {len(uids)} paradigms exactly. "


def humans(tables: Tables, labels: Labels) -> Exhibit:
    """Human agreement by phenomenon and paradigm: printed, summarised, and from single ratings.

    Without the released files there is only what is printed.
    """
    ratings = read_plain(RATINGS, tables.get(RATED))
    released = _Released(ratings, read_released(tables, [INDIVIDUAL, MAJORITY]))
    rows = _rows(read_printed(tables), released)
    counts = [*_counts(ratings)] if tables.get(RATED) else []
    cells = [row.cells[name] for row in rows.values() for name in COLUMNS if name in row.cells]
    remarks = {key: {DIFFERS: row.differences()} for key, row in rows.items() if row.cells}
    return Exhibit(
        **describe("humans", comparison=_comparison(rows, released)),
        cells=[*cells, *counts],
        sections=_sections(rows, counts),
        remarks=remarks | {cell.row: {DIFFERS: ""} for cell in counts},
        heads=HEADS,
        widths={DIFFERS: 0.25},
    )
