"""Make two tables of ours: human agreement with BLiMP's labels, and the ties of models.

``humans`` has phenomena and paradigms in rows. Its columns are human accuracies in percent, which
should be equal (Warstadt et al. 2020, section 3.4): as printed in Tables 3 and 4, from the released
summary, and computed here from the released ratings. A rating is one rater's choice on one pair.
Columns of majorities have the same for shares of pairs on which most raters are right.

``ties`` has models and paradigms in rows. A tie is a pair whose sentences are equally probable; in
seven released pairs they are even identical. A model is wrong on all ties (section 4.1); the
corrected variant counts each tie as half right.

A cell is one number of a table, with its formula and a filter of the formula's rows (``where``). A
``uid`` is the name of a paradigm, such as "passive_1".
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from blimpworks.campaign.reference import PublishedRow
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, Formula, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_plain, read_printed
from blimpworks.papers.blimp import released_results as release
from blimpworks.papers.blimp.exhibits import accuracies as acc
from blimpworks.papers.blimp.exhibits import describe, formulas
from blimpworks.papers.blimp.paradigms import HUMAN, LANG, NAMES, PARADIGMS, PHENOMENON_OF
from blimpworks.papers.blimp.published import paradigm_of
from blimpworks.papers.blimp.tables import RATINGS
from blimpworks.tables import ITEMS, JUDGEMENTS, read_table

RATED = "ratings"
"""Name of the input table of ratings."""
PRINTED, SUMMARY, BY_SUMMARY, BY_RULE = "Printed", "Summary", "Ratings", "Stated rule"
"""Titles of columns. "Ratings" has the ratings that the summary counts. "Stated rule" leaves more
out: as the paper says, those of raters who did not confirm that they speak English."""
VARIANTS = {"published": BY_SUMMARY, "corrected": BY_RULE}
"""{column of ratings that marks the counted ones: column of ``humans``}"""
PRINTED_MAJORITY = "Majority, printed"
MAJORITIES = {
    SUMMARY: "Majority, summary",
    BY_SUMMARY: "Majority, ratings",
    BY_RULE: "Majority, stated rule",
}
"""{column of right ratings: column of pairs on which most ratings are right}"""
PRINTED_COLUMN = dict.fromkeys(MAJORITIES, PRINTED)
PRINTED_COLUMN |= dict.fromkeys(MAJORITIES.values(), PRINTED_MAJORITY)
"""{column of percentages: column of printed numbers, which should be equal after rounding}"""
SUMMARY_COLUMN = {BY_SUMMARY: SUMMARY, MAJORITIES[BY_SUMMARY]: MAJORITIES[SUMMARY]}
"""{column of percentages: column of the released summary, which should be equal in all digits}"""
COUNTED, NUMBER = "Counted", "Number"  # number of counted ratings; any other number
ALL_PARADIGMS = "all paradigms"
DIFFERS = "Differs"
"""Column of remarks: which numbers of the row are not equal, as they should be."""
REJECTED_UIDS = tuple(uid for uid, reason in release.OTHERS.items() if reason == release.REJECTED)
"""Paradigms that the validation rejected; they have human results, but none of models."""
EXACT = 1e-6
"""Largest difference of equal numbers, in points: the summary has all digits."""
PERCENTAGES = (PRINTED, *MAJORITIES, PRINTED_MAJORITY, *MAJORITIES.values())
COLUMNS = (*PERCENTAGES, COUNTED, DIFFERS)
HEADS = {name: ("Majority,", name.partition(", ")[2]) for name in COLUMNS if ", " in name}
"""Headings of columns in two lines."""


@dataclass
class AgreementRow:
    """A row of ``humans``: all paradigms, those of a phenomenon, or one paradigm."""

    uids: Sequence[str]
    """The row's paradigms."""
    cells: dict[str, Cell] = field(default_factory=dict)
    """Cells by column."""
    half_units: dict[str, float] = field(default_factory=dict)
    """Half a unit of the last printed digit [points], by column of printed numbers."""
    remarks: list[str] = field(default_factory=list)


def _agreement_cells(
    ratings: pd.DataFrame, summary: pd.DataFrame, row: str, uids: Sequence[str]
) -> Iterator[Cell]:
    """Yield cells of agreement on the paradigms ``uids`` for a row, from summary and ratings."""
    columns = {release.INDIVIDUAL: SUMMARY, release.MAJORITY: MAJORITIES[SUMMARY]}
    for method, column in columns.items():
        rows = summary[summary["paradigm"].isin(uids) & (summary["method"] == method)]
        if not rows.empty:
            yield acc.mean_cell(rows, (row, column))
    for variant, name in VARIANTS.items():
        where: dict[str, Any] = {"paradigm": [*uids], variant: True}
        rows = select_rows(ratings, where)
        if rows.empty:
            continue
        pairs = len(rows[["paradigm", "pair"]].drop_duplicates())
        for column, formula, n in (
            (name, formulas.INDIVIDUAL_AGREEMENT, len(rows)),
            (MAJORITIES[name], formulas.MAJORITY_AGREEMENT, pairs),
        ):
            cell = acc.formula_cell(rows, (row, column), formula, RATED, where, "{:.1f}")
            yield acc.with_interval(cell, n)
        if variant == "published":
            yield acc.formula_cell(ratings, (row, COUNTED), COUNT, RATED, where)


def _count_cells(ratings: pd.DataFrame) -> Iterator[Cell]:
    """Yield the cells of counts, in rows such as "Raters" and "left out: no speaker"."""
    validated = {*ratings["phenomenon"]} - {release.ATTENTION, release.UNVALIDATED}
    pairs: dict[str, Any] = {"phenomenon": sorted(validated)}
    checks: dict[str, Any] = {"phenomenon": release.ATTENTION}
    # {row: (formula, filter of its rows)}
    counts: dict[str, tuple[Formula, dict[str, Any]]] = {
        "Assignments": (formulas.ASSIGNMENTS, {}),
        "Raters": (formulas.WORKERS, {}),
        "Ratings of pairs": (COUNT, pairs),
        **{f"left out: {why}": (COUNT, pairs | {"excluded": why}) for why in release.EXCLUSIONS},
        "Counted by the summary": (COUNT, pairs | {"published": True}),
        "Counted by the stated rule": (COUNT, pairs | {"corrected": True}),
        "Ratings of subject_island, in no result": (COUNT, {"phenomenon": release.UNVALIDATED}),
        "Attention checks": (COUNT, checks),
        "failed": (COUNT, checks | {"correct": 0.0}),
        "failed, in counted assignments": (COUNT, checks | {"correct": 0.0, "published": True}),
    }
    for row, (formula, where) in counts.items():
        yield acc.formula_cell(ratings, (row, NUMBER), formula, RATED, where)


def _printed_numbers(tables: Tables) -> Iterator[tuple[PublishedRow, Cell]]:
    """Yield the printed numbers of humans, each with its cell of ``humans``."""
    printed = read_printed(tables)
    for _, row in printed[(printed["row"] == HUMAN) | (printed["column"] == HUMAN)].iterrows():
        number, column = PublishedRow.model_validate(row.to_dict()), PRINTED
        if number.exhibit == "table3":
            key = ALL_PARADIGMS if number.column == "overall" else number.column
        elif number.exhibit == "table4":
            # The paper prints some numbers in the row of another paradigm.
            key = paradigm_of(number)
        elif (number.exhibit, number.column) == ("text", "aggregate"):
            key, column = ALL_PARADIGMS, PRINTED_MAJORITY
        else:
            continue
        yield number, printed_cell(row, (key, column))


def _differing(row: AgreementRow, references: Mapping[str, str]) -> Iterator[str]:
    # Yield the columns of a row that differ from their reference: {column: reference column}.
    # Rounding changes a printed number by at most half a unit of its last digit.
    for column, reference in references.items():
        if column in row.cells and reference in row.cells:
            difference = abs(row.cells[column].value - row.cells[reference].value)
            tolerance = EXACT + row.half_units.get(reference, 0)
            if difference > tolerance or math.isnan(difference):
                yield column


def humans(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate human agreement by phenomenon and paradigm: printed, summary, and ratings."""
    ratings = read_plain(RATINGS, tables.get(RATED))
    summary = acc.read_released(tables, [release.INDIVIDUAL, release.MAJORITY], rejected=True)
    rows = {ALL_PARADIGMS: AgreementRow([*PHENOMENON_OF])}
    # {title of a section: {row: its name}}
    groups = {"Phenomenon": {ALL_PARADIGMS: ALL_PARADIGMS, **NAMES}}
    for phenomenon, paradigms in PARADIGMS.items():
        rows[phenomenon] = AgreementRow(paradigms)
        rows |= {uid: AgreementRow([uid]) for uid in paradigms}
        groups[NAMES[phenomenon]] = {uid: uid for uid in paradigms}
    rows |= {uid: AgreementRow([uid]) for uid in REJECTED_UIDS}
    groups["Rejected"] = {uid: uid for uid in REJECTED_UIDS}
    for number, cell in _printed_numbers(tables):
        row = rows[cell.row]
        row.cells[cell.column] = cell
        row.half_units[cell.column] = number.half_unit
        # Faulty human numbers of Table 4 are those that the paper prints in another row.
        if number.exhibit == "table4" and number.fault:
            row.remarks.append(f"printed in the row of {number.row}")
    differing_rows = set()  # rows in which ratings and summary differ
    for key, row in rows.items():
        for cell in _agreement_cells(ratings, summary, key, row.uids):
            row.cells[cell.column] = cell
        row.remarks += [f"{column} from print" for column in _differing(row, PRINTED_COLUMN)]
        for column in _differing(row, SUMMARY_COLUMN):
            row.remarks.append(f"{column} from {SUMMARY_COLUMN[column]}")
            differing_rows.add(key)
    counts = [*_count_cells(ratings)] if tables.get(RATED) else []
    single_paradigms = {*PHENOMENON_OF, *REJECTED_UIDS}
    description = describe(
        "humans",
        complete=not (ratings.empty or summary.empty),
        same=len(single_paradigms - differing_rows),
        total=len(single_paradigms),
    )
    sections = []
    for title, names in groups.items():
        if filled := {key: name for key, name in names.items() if rows[key].cells}:
            sections.append(Section(title, filled, COLUMNS))
    if counts:
        sections.append(Section("Counts", {cell.row: cell.row for cell in counts}, [NUMBER]))
    cells: list[Cell] = []
    remarks = {cell.row: {DIFFERS: ""} for cell in counts}
    for key, row in rows.items():
        cells += [row.cells[column] for column in COLUMNS if column in row.cells]
        if row.cells:
            remarks[key] = {DIFFERS: "; ".join(row.remarks)}
    return Exhibit(
        **description,
        cells=[*cells, *counts],
        sections=sections,
        remarks=remarks,
        heads=HEADS,
        widths={DIFFERS: 0.25},
    )


# Ties
PAIRS, TIED, SAME = "Pairs", "Ties", "Same sentence twice"
WRONG, HALF = "Ties wrong (published)", "Ties half (corrected)"
TIE_HEADS = {SAME: ("Same sentence", "twice")}
TIE_HEADS |= {WRONG: ("Ties wrong", "(published)"), HALF: ("Ties half", "(corrected)")}
MOST_PARADIGMS = 3
"""Number of paradigms that the table shows for each model: those with the most ties."""


def _tie_cells(
    judgements: pd.DataFrame, items: pd.DataFrame, row: str, where: dict[str, Any]
) -> Iterator[Cell]:
    """Yield a row's cells: numbers of pairs and ties, and accuracy with ties wrong and half.

    ``where`` selects the row's judgements by model, language, method and perhaps paradigm.
    """
    rows = select_rows(judgements, where)
    yield acc.formula_cell(rows, (row, PAIRS), formulas.MARGIN_COUNT, "judgements", where)
    tie_filter = where | {"margin": 0.0}
    yield acc.formula_cell(rows, (row, TIED), COUNT, "judgements", tie_filter)
    paradigms = [uid for uid in PHENOMENON_OF if uid in {*rows["paradigm"]}]
    identical_filter = {"paradigm": where.get("paradigm", paradigms), "identical": True}
    yield acc.formula_cell(items, (row, SAME), COUNT, "items", identical_filter)
    n = int(formulas.MARGIN_COUNT(rows))
    if n == 0:  # for a model that knows none of the words
        return
    for column, formula in {WRONG: formulas.TIES_WRONG, HALF: formulas.TIES_HALF}.items():
        cell = acc.formula_cell(rows, (row, column), formula, "judgements", where, "{:.2f}")
        yield acc.with_interval(cell, n)


def ties(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate ties of the campaign's models, and accuracies with ties wrong or half right."""
    for path in tables["items"]:
        table = read_table(ITEMS, path)
        if path.stem == LANG and "identical" in table.column_names:
            items = table.select(["paradigm", "identical"]).to_pandas().astype({"paradigm": object})
            break
    else:
        raise UserError(
            f"{', '.join(map(str, tables['items'])) or 'nothing'} has no column 'identical'; "
            "expected the items of BLiMP, which say what pairs are twice the same sentence. Build "
            "them again."
        )
    with_identical = {*select_rows(items, {"identical": True})["paradigm"]}
    paths = {path.parent.name: path for path in tables["judgements"] if path.stem == LANG}
    cells: list[Cell] = []
    for model, name in labels.models.items():
        if model not in paths:
            continue
        rows = read_plain(JUDGEMENTS, paths[model])
        rows = rows[rows["paradigm"].isin(PHENOMENON_OF)]
        # The method that exhibits show is first.
        methods = sorted({*rows["method"]}, key=lambda method: (method != labels.method, method))
        for method in methods:
            row = f"{name}: all paradigms, {method.replace('_', ' ')}"
            where = {"model": model, "lang": LANG, "method": method}
            cells += _tie_cells(rows, items, row, where)
        # Then rows of paradigms with ties or identical sentences, the most ties first.
        where = {"model": model, "lang": LANG, "method": labels.method}
        tied = select_rows(rows, where | {"margin": 0.0})
        counts = tied["paradigm"].value_counts().to_dict()
        paradigms = [uid for uid in PHENOMENON_OF if uid in counts or uid in with_identical]
        paradigms.sort(key=lambda uid: -counts.get(uid, 0))
        for number, uid in enumerate(paradigms):
            paradigm_cells = _tie_cells(rows, items, f"{name}: {uid}", where | {"paradigm": uid})
            cells += [replace(cell, printed=number < MOST_PARADIGMS) for cell in paradigm_cells]
    if not cells:
        raise UserError(
            "there are no judgements of English by the campaign's models; judge BLiMP's items."
        )
    description = describe("ties", most=MOST_PARADIGMS, method=labels.method.replace("_", " "))
    return Exhibit(**description, cells=cells, heads=TIE_HEADS)
