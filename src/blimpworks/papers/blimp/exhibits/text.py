"""Numbers that BLiMP gives in running text, as a table of statements."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from statsmodels.stats.proportion import confint_proportions_2indep

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, PRODUCT, UNWEIGHTED, VALUES, Formula, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_printed
from blimpworks.papers.blimp.exhibits.accuracies import (
    OWN,
    RELEASED,
    computed_cell,
    counted,
    mean_cell,
    of_phenomenon,
    read_all,
    read_own,
    read_released,
)
from blimpworks.papers.blimp.exhibits.accuracies import model_names as shown
from blimpworks.papers.blimp.exhibits.formulas import (
    ADJECTIVE,
    CONTRASTS,
    DISTANCE,
    FARTHEST,
    HIGHEST,
    IRREGULARITY,
    LOWEST,
    PEARSON,
    RATIO,
    REJECTED,
    difference,
    extreme,
    pearson_interval,
)
from blimpworks.papers.blimp.paradigms import HUMAN, PHENOMENON_OF
from blimpworks.papers.blimp.released_results import MAJORITY

VALUE, PRINTED, AGAIN = "Value", "Printed", "Recomputed"
Place = tuple[str, str]
LSTM, TXL, GPT2, NGRAM = "lstm-gulordava", "transformer-xl-wt103", "gpt2-large", "blimp-5gram"
NEURAL = (LSTM, TXL, GPT2)
SUBJECTS = {
    "benchmark": "BLiMP",
    HUMAN: "Humans",
    "cola": "CoLA",
    "vocabulary": "Vocabulary",
    "other vocabularies": "Vocabularies of earlier data sets",
    "validation": "Validation",
    "chance": "Chance",
    "webtext": "WebText",
    "wikipedia": "Wikipedia, for LSTM and TXL",
    "neural models": "Neural models",
    "sub-word models": "Models with sub-words (TXL, GPT-2)",
    "curve": "Models retrained on less text",
    "gpt2 sizes": "GPT-2 of four sizes",
}
"""Rows by their keys, and what they are about; others are models."""
_TEXT = {"exhibit": "text"}
_AGREEMENT = ["anaphor_agreement", "determiner_noun_agreement", "subject_verb_agreement"]
ELSEWHERE: dict[Place, tuple[Formula, dict[str, Any]]] = {
    ("benchmark", "paradigms"): (VALUES, {"exhibit": "table2", "column": "N"}),
    ("benchmark", "phenomena"): (COUNT, {"exhibit": "table2", "column": "N"}),
    ("benchmark", "pairs"): (
        PRODUCT,
        {**_TEXT, "row": "benchmark", "column": ["paradigms", "pairs per paradigm"]},
    ),
    ("validation", "judgements"): (
        PRODUCT,
        {**_TEXT, "column": ["raters per pair", "rated pairs", "paradigms"]},
    ),
    ("validation", "ratings per paradigm"): (
        PRODUCT,
        {**_TEXT, "column": ["raters per pair", "rated pairs"]},
    ),
    ("webtext", "billion tokens"): (
        RATIO,
        {**_TEXT, "row": "webtext", "column": ["gigabytes", "least bytes per word"]},
    ),
    (GPT2, "below human"): (
        FARTHEST,
        {"exhibit": "table3", "row": [GPT2, HUMAN], "column": "overall"},
    ),
    (GPT2, "largest distance from human, agreement"): (
        FARTHEST,
        {"exhibit": "table3", "row": [GPT2, HUMAN], "column": _AGREEMENT},
    ),
}
"""Row and column, and the formula and rows of other printed numbers that give the same."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said of some models' accuracies on the paradigms of a phenomenon (or all)."""

    formula: Formula
    models: tuple[str, ...]
    paradigms: tuple[str, ...] = tuple(PHENOMENON_OF)
    form: str = "{:.1f}"


def _contrast(name: str, *models: str, kind: Callable[..., float] | None = None) -> Statement:
    """A contrast of one model, or the largest or smallest (``max``, ``min``) of several ones'."""
    contrast = CONTRASTS[name]
    formula = extreme(kind, difference(contrast)) if kind else difference(contrast)
    return Statement(formula, models, contrast.paradigms)


STATEMENTS: dict[Place, Statement] = {
    (HUMAN, "individual"): Statement(UNWEIGHTED, (HUMAN,)),
    (HUMAN, "argument_structure"): Statement(
        UNWEIGHTED, (HUMAN,), of_phenomenon("argument_structure")
    ),
    (GPT2, "below human, islands"): Statement(
        DISTANCE, (GPT2, HUMAN), of_phenomenon("island_effects")
    ),
    (TXL, f"r with {LSTM}"): Statement(PEARSON, (TXL, LSTM), form="{:.3f}"),
    (NGRAM, "adjective"): _contrast("adjective", NGRAM),
    ("neural models", "largest adjective"): _contrast("adjective", *NEURAL, kind=max),
    ("neural models", "smallest adjective"): _contrast("adjective", *NEURAL, kind=min),
    **{(model, "attractor"): _contrast("attractor", model) for model in (GPT2, LSTM, TXL)},
    ("sub-word models", "largest irregularity"): _contrast("irregularity", TXL, GPT2, kind=max),
    (LSTM, "irregularity"): _contrast("irregularity", LSTM),
}
"""Row and column, and what of the accuracies gives the same."""
OF_MAJORITY: dict[Place, tuple[Formula, str]] = {
    (HUMAN, "aggregate"): (UNWEIGHTED, ALL),
    ("validation", "rejected"): (REJECTED, "validated"),
    (HUMAN, "largest majority"): (HIGHEST, ALL),
    (HUMAN, "smallest majority"): (LOWEST, ALL),
}
"""The same of the majority's decisions, on released paradigms (all) or all validated ones."""


def _name(place: Place, labels: Labels) -> str:
    row, column = place
    subject = SUBJECTS.get(row) or labels.models.get(row, row)
    known = {**labels.models, **{f"r with {m}": f"r with {n}" for m, n in labels.models.items()}}
    return f"{subject}: {known.get(column, column).replace('_', ' ')}"


def _bounds(statement: Statement, rows: pd.DataFrame) -> tuple[float | None, float | None]:
    """95 % interval of a contrast (Newcombe's) or a correlation (Fisher's z)."""
    if statement.formula == PEARSON:
        return pearson_interval(rows)
    contrast = statement.formula.arguments.get("contrast")
    if contrast is None or not counted(rows):
        return None, None
    sums = [
        rows[rows["paradigm"].isin(group)][["correct", "n"]].sum()
        for group in (contrast.higher, contrast.lower)
    ]
    counts = [float(number) for found in sums for number in (found["correct"], found["n"])]
    low, high = confint_proportions_2indep(*counts, method="newcomb")
    return 100 * float(low), 100 * float(high)


def _stated(
    place: Place, column: str, rows: pd.DataFrame, source: str, labels: Labels
) -> Iterator[Cell]:
    """The cell of a statement, if all its models have all its paradigms."""
    statement = STATEMENTS[place] if place in STATEMENTS else _contrast(place[1], place[0])
    found = rows[rows["model"].isin(statement.models)]
    found = found[found["paradigm"].isin(statement.paradigms)]
    if len(found) < len(statement.models) * len(statement.paradigms):
        return
    at = (_name(place, labels), column)
    if statement.formula == UNWEIGHTED:
        yield mean_cell(found, at, source, place)
        return
    cell = computed_cell(found, at, statement.formula, source, place, statement.form)
    low, high = _bounds(statement, found)
    yield replace(cell, low=low, high=high)


def _majority(place: Place, tables: Tables, labels: Labels) -> Iterator[Cell]:
    """What the majority of raters decided, if the release is at hand."""
    formula, of = OF_MAJORITY[place]
    rows = read_released(tables, [MAJORITY])
    rows = rows[rows["paradigm"].isin(PHENOMENON_OF)] if of == ALL else rows
    if not rows.empty:
        at = (_name(place, labels), AGAIN if labels.source == "published" else VALUE)
        form = "{:.0f}" if formula == REJECTED else "{:.1f}"
        yield computed_cell(rows, at, formula, RELEASED, place, form)


def text(tables: Tables, labels: Labels) -> Exhibit:
    """What the text says of accuracies; of the published form, all that it gives in numbers."""
    if labels.source == "published":
        return _published(tables, labels)
    rows = read_all(tables, labels)
    contrasts = [(model, name) for model in shown(rows, labels) for name in CONTRASTS]
    places = [*(place for place in STATEMENTS if place[1] not in CONTRASTS), *contrasts]
    cells = [cell for place in places for cell in _stated(place, VALUE, rows, OWN, labels)]
    cells += [cell for place in OF_MAJORITY for cell in _majority(place, tables, labels)]
    return Exhibit(
        "Statements about accuracies",
        f"Adjective: percentage points lost, as the mean accuracy {ADJECTIVE.what}; attractor: "
        f"{CONTRASTS['attractor'].what}; irregularity: {IRREGULARITY.what}. Intervals are "
        "Newcombe's for such differences, Fisher's for correlations.",
        cells,
        row_title="Statement",
    )


def _again(
    place: Place, printed: pd.DataFrame, rows: pd.DataFrame, tables: Tables, labels: Labels
) -> Iterator[Cell]:
    """A printed number from others that are printed, or from the released results."""
    if place in ELSEWHERE:
        formula, where = ELSEWHERE[place]
        value = formula(select_rows(printed, where))
        at = (_name(place, labels), AGAIN)
        yield Cell(*at, value, f"{value:,.10g}", formula, "published", where, stands_for=place)
    elif place in STATEMENTS:
        source = RELEASED if rows["rounding"].isna().all() else OWN
        yield from _stated(place, AGAIN, rows, source, labels)
    elif place in OF_MAJORITY:
        yield from _majority(place, tables, labels)


def _published(tables: Tables, labels: Labels) -> Exhibit:
    printed = read_printed(tables)
    released = read_released(tables)
    released = released[released["paradigm"].isin(PHENOMENON_OF)]
    rows = read_own(tables, labels) if released.empty else released
    cells, faults = [], []
    for _, row in printed[(printed["exhibit"] == "text") & printed["value"].notna()].iterrows():
        place = (row["row"], row["column"])
        cells.append(printed_cell(row, (_name(place, labels), PRINTED)))
        cells += _again(place, printed, rows, tables, labels)
        faults += [f"{_name(place, labels)}: {row['note']}"] if row["fault"] else []
    of = "Table 4" if released.empty else "the released results"
    return Exhibit(
        "Statements in the text, as printed",
        f"As the paper prints them, beside what {of} and other printed numbers make of them. "
        + "; ".join(faults)
        + ".",
        cells,
        row_title="Statement",
    )
