"""How far people agree with BLiMP's labels: printed, summarised, and from single ratings.

Source: Warstadt et al. (2020), section 3.4, the human columns of Tables 3 and 4, and the
responses and their summary that the authors released.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import wilson
from blimpworks.campaign.reference import PublishedRow
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, Formula, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_plain, read_printed
from blimpworks.papers.blimp.exhibits.accuracies import HALF_UP, RELEASED, mean_cell, read_released
from blimpworks.papers.blimp.exhibits.formulas import (
    ASSIGNMENTS,
    INDIVIDUAL_AGREEMENT,
    MAJORITY_AGREEMENT,
    WORKERS,
)
from blimpworks.papers.blimp.paradigms import HUMAN, NAMES, PARADIGMS, PHENOMENON_OF
from blimpworks.papers.blimp.published import paradigm_of
from blimpworks.papers.blimp.released_ratings import ATTENTION, OTHERS, REASONS, UNVALIDATED
from blimpworks.papers.blimp.released_results import INDIVIDUAL, MAJORITY, REJECTED
from blimpworks.papers.blimp.tables import RATINGS

RATED = "ratings"
"""Name of the table of single ratings."""
PRINTED, SUMMARY = "Printed", "Summary"
VARIANTS = {"published": "Ratings", "corrected": "Stated rule"}
"""Columns of what the ratings make, by the column that says which of them count."""
MAJORITIES = {name: f"Majority, {name.lower()}" for name in (SUMMARY, *VARIANTS.values())}
PRINTED_MAJORITY = "Majority, printed"
SUMMARISED = {SUMMARY: VARIANTS["published"], MAJORITIES[SUMMARY]: MAJORITIES["Ratings"]}
"""Columns of the summary, and what the same ratings make."""
COUNTED, NUMBER = "Counted", "Number"
ALL = "all paradigms"
DIFFERS = "Differs"
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
class _Known:
    """Tables that cells are computed from; without rows where they are not at hand."""

    ratings: pd.DataFrame
    summary: pd.DataFrame

    def cells(self, row: str, uids: Sequence[str]) -> Iterator[Cell]:
        """Individual and majority agreement on some paradigms: the summary's, the ratings'."""
        summary = self.summary[self.summary["paradigm"].isin(uids)]
        for method, column in {INDIVIDUAL: SUMMARY, MAJORITY: MAJORITIES[SUMMARY]}.items():
            found = summary[summary["method"] == method]
            if not found.empty:
                yield mean_cell(found, (row, column), RELEASED)
        for variant, name in VARIANTS.items():
            where: Where = {"paradigm": [*uids], variant: True}
            rows = select_rows(self.ratings, where)
            if rows.empty:
                continue
            yield _agreement(rows, (row, name), INDIVIDUAL_AGREEMENT, where)
            yield _agreement(rows, (row, MAJORITIES[name]), MAJORITY_AGREEMENT, where)
            if variant == "published":
                yield _count(rows, (row, COUNTED), COUNT, where)


def _agreement(rows: pd.DataFrame, place: tuple[str, str], formula: Formula, where: Where) -> Cell:
    """Agreement in percent, with the interval of all ratings, or of the pairs of a majority."""
    value = formula(rows)
    pairs = len(rows[["paradigm", "pair"]].drop_duplicates())
    n = pairs if formula == MAJORITY_AGREEMENT else len(rows)
    low, high = (100 * bound for bound in wilson(value * n / 100, n))
    text = f"{value + HALF_UP:.1f}"
    return Cell(*place, value, text, formula, RATED, where, n=n, low=low, high=high)


def _count(rows: pd.DataFrame, place: tuple[str, str], formula: Formula, where: Where) -> Cell:
    value = formula(rows)
    return Cell(*place, value, f"{value:,.0f}", formula, RATED, where)


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
        found = [*self.remarks]
        columns = {
            PRINTED: [SUMMARY, *VARIANTS.values()],
            PRINTED_MAJORITY: [*MAJORITIES.values()],
        }
        for printed, others in columns.items():
            for column in others if printed in self.cells else ():
                if not self.same(printed, column, self.half_units[printed]):
                    found.append(f"{column} from print")
        for summary, ratings in SUMMARISED.items():
            if not self.same(summary, ratings, 0):
                found.append(f"{ratings} from {summary}")
        return "; ".join(found)

    def same(self, first: str, second: str, within: float) -> bool:
        """Whether two columns have the same number, within some points, or one has none."""
        if first not in self.cells or second not in self.cells:
            return True
        return abs(self.cells[first].value - self.cells[second].value) <= within + EXACT


def _rows(printed: pd.DataFrame, known: _Known) -> dict[str, _Row]:
    """The exhibit's rows by key, in the order of Table 4; the rejected paradigms last."""
    rejected = [uid for uid, of in OTHERS.items() if of == REJECTED]
    groups: dict[str, list[str]] = {ALL: [*PHENOMENON_OF]}
    for phenomenon, uids in PARADIGMS.items():
        groups |= {phenomenon: [*uids]} | {uid: [uid] for uid in uids}
    groups |= {uid: [uid] for uid in rejected}
    rows = {key: _Row({}, {}, []) for key in groups}
    for _, row in printed[(printed["row"] == HUMAN) | (printed["column"] == HUMAN)].iterrows():
        if place := _key(row):
            found = rows[place[0]]
            found.cells[place[1]] = printed_cell(row, place)
            found.half_units[place[1]] = PublishedRow.model_validate(row.to_dict()).half_unit
            if row["exhibit"] == "table4" and row["fault"]:
                found.remarks.append(f"printed in the row of {row['row']}")
    for key, members in groups.items():
        rows[key].cells |= {cell.column: cell for cell in known.cells(key, members)}
    return rows


def _counts(ratings: pd.DataFrame) -> Iterator[Cell]:
    """How many assignments, raters, ratings and attention checks there are, and what is left out.

    Ratings of pairs are those of validated paradigms, rejected ones included.
    """
    kinds = {*ratings["phenomenon"]}
    pairs: Where = {"phenomenon": sorted(kinds - {ATTENTION, UNVALIDATED})}
    checks: Where = {"phenomenon": ATTENTION}
    wanted: dict[str, tuple[Formula, Where]] = {
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
    for row, (formula, where) in wanted.items():
        yield _count(select_rows(ratings, where), (row, NUMBER), formula, where)


def _sections(rows: dict[str, _Row], counts: Sequence[Cell]) -> list[Section]:
    """All and by phenomenon; each phenomenon's paradigms; the rejected ones; counts."""
    having = {key for key, row in rows.items() if row.cells}
    whole = {ALL: "all paradigms", **NAMES}
    groups = {"Phenomenon": whole} | {
        NAMES[phenomenon]: {uid: uid for uid in uids} for phenomenon, uids in PARADIGMS.items()
    }
    groups["Rejected"] = {uid: uid for uid, of in OTHERS.items() if of == REJECTED}
    sections = []
    for title, names in groups.items():
        inside = {key: name for key, name in names.items() if key in having}
        if inside:
            sections.append(Section(title, inside, COLUMNS))
    if counts:
        sections.append(Section("Counts", {c.row: c.row for c in counts}, [NUMBER]))
    return sections


def _told(rows: dict[str, _Row], known: _Known) -> str:
    """What the caption says of the ratings: how far they make the summary."""
    if known.ratings.empty or known.summary.empty:
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
    paths = tables.get(RATED) or []
    ratings = read_plain(RATINGS, paths[0]) if paths else pd.DataFrame(columns=RATINGS.names)
    known = _Known(ratings, read_released(tables, [INDIVIDUAL, MAJORITY]))
    rows = _rows(read_printed(tables), known)
    counts = [*_counts(ratings)] if paths else []
    cells = [row.cells[name] for row in rows.values() for name in COLUMNS if name in row.cells]
    remarks = {key: {DIFFERS: row.differences()} for key, row in rows.items() if row.cells}
    return Exhibit(
        "Human agreement, from single ratings",
        "Percent. Individual agreement: of each pair the share of right ratings, then the mean "
        "of a paradigm's five pairs, then of paradigms; majority: share of pairs of which more "
        "than half the ratings are right. Summary: as the authors released it. Ratings: computed "
        "from the released responses, without rejected assignments, missing answers, and who "
        "confirmed neither English nor to be a native speaker. Stated rule: also without all "
        "others who did not confirm English, as the text says. "
        f"{_told(rows, known)}Counted: ratings behind the columns of ratings. Printed numbers "
        "of Table 4 stand at the paradigm that they are of. The cells file has 95 % Wilson "
        "intervals.",
        [*cells, *counts],
        row_title="Paradigm",
        sections=_sections(rows, counts),
        remarks=remarks | {cell.row: {DIFFERS: ""} for cell in counts},
        heads=HEADS,
        widths={DIFFERS: 0.25},
    )
