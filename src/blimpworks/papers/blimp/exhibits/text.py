"""Numbers that BLiMP gives in running text, as a table of statements."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd
from statsmodels.stats.proportion import confint_proportions_2indep

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, PRODUCT, UNWEIGHTED, VALUES, Formula
from blimpworks.exhibits.shared import Tables, read_printed
from blimpworks.exhibits.statements import (
    AGAIN,
    VALUE,
    Place,
    Recomputation,
    printed_statements,
)
from blimpworks.papers.blimp.exhibits import describe
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

LSTM, TXL, GPT2, NGRAM = "lstm-gulordava", "transformer-xl-wt103", "gpt2-large", "blimp-5gram"
NEURAL = (LSTM, TXL, GPT2)
SUBJECTS = {
    HUMAN: "Humans",
    "validation": "Validation",
    "neural models": "Neural models",
    "sub-word models": "Models with sub-words (TXL, GPT-2)",
}
"""Rows that are computed here by their keys, and what they are about; others are models."""
RECOMPUTATION = Recomputation(
    dict.fromkeys((COUNT, FARTHEST, PRODUCT, RATIO, VALUES), "{:,.10g}"),
)


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
    counts = [float(number) for total in sums for number in (total["correct"], total["n"])]
    low, high = confint_proportions_2indep(*counts, method="newcomb")
    return 100 * float(low), 100 * float(high)


def _stated(
    place: Place, column: str, rows: pd.DataFrame, source: str, labels: Labels
) -> Cell | None:
    """The cell of a statement, if all its models have all its paradigms."""
    statement = STATEMENTS[place] if place in STATEMENTS else _contrast(place[1], place[0])
    rows = rows[rows["model"].isin(statement.models) & rows["paradigm"].isin(statement.paradigms)]
    if len(rows) < len(statement.models) * len(statement.paradigms):
        return None
    at = (_name(place, labels), column)
    if statement.formula == UNWEIGHTED:
        return mean_cell(rows, at, source, place)
    cell = computed_cell(rows, at, statement.formula, source, place, statement.form)
    low, high = _bounds(statement, rows)
    return replace(cell, low=low, high=high)


def _majority(place: Place, tables: Tables, labels: Labels) -> Cell | None:
    """What the majority of raters decided, if the release is at hand."""
    formula, of = OF_MAJORITY[place]
    rows = read_released(tables, [MAJORITY])
    rows = rows[rows["paradigm"].isin(PHENOMENON_OF)] if of == ALL else rows
    if rows.empty:
        return None
    at = (_name(place, labels), AGAIN if labels.source == "published" else VALUE)
    form = "{:.0f}" if formula == REJECTED else "{:.1f}"
    return computed_cell(rows, at, formula, RELEASED, place, form)


def text(tables: Tables, labels: Labels) -> Exhibit:
    """What the text says of accuracies; of the published form, all that it gives in numbers."""
    if labels.source == "published":
        return _published(tables, labels)
    rows = read_all(tables, labels)
    contrasts = [(model, name) for model in shown(rows, labels) for name in CONTRASTS]
    places = [*(place for place in STATEMENTS if place[1] not in CONTRASTS), *contrasts]
    cells = [_stated(place, VALUE, rows, OWN, labels) for place in places]
    cells += [_majority(place, tables, labels) for place in OF_MAJORITY]
    return Exhibit(
        **describe(
            "text",
            adjective=ADJECTIVE.what,
            attractor=CONTRASTS["attractor"].what,
            irregularity=IRREGULARITY.what,
        ),
        cells=[*filter(None, cells)],
    )


def _published(tables: Tables, labels: Labels) -> Exhibit:
    released = read_released(tables)
    released = released[released["paradigm"].isin(PHENOMENON_OF)]
    rows = read_own(tables, labels) if released.empty else released
    source = RELEASED if rows["rounding"].isna().all() else OWN

    def recomputed(place: Place, _title: str) -> Cell | None:
        """The cell of a statement as computed from accuracies, None where nothing gives it."""
        if place in STATEMENTS:
            return _stated(place, AGAIN, rows, source, labels)
        return _majority(place, tables, labels) if place in OF_MAJORITY else None

    printed = read_printed(tables)
    cells, faults = printed_statements(printed, RECOMPUTATION, recomputed)
    of = "Table 4" if released.empty else "the released results"
    return Exhibit(**describe("text_published", of=of, faults=faults), cells=cells)
