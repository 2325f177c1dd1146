"""Tabulate numbers that BLiMP gives in running text."""

from dataclasses import dataclass, replace
from itertools import product

import pandas as pd
from statsmodels.stats.proportion import confint_proportions_2indep

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, PRODUCT, UNWEIGHTED, VALUES, Formula
from blimpworks.exhibits.shared import Tables, read_printed
from blimpworks.exhibits.statements import AGAIN, VALUE, Place, Recomputation, printed_statements
from blimpworks.papers.blimp.exhibits import accuracies as acc
from blimpworks.papers.blimp.exhibits import describe, formulas
from blimpworks.papers.blimp.exhibits.formulas import CONTRASTS
from blimpworks.papers.blimp.paradigms import HUMAN, PHENOMENON_OF
from blimpworks.papers.blimp.released_results import MAJORITY

LSTM, TXL, GPT2, NGRAM = "lstm-gulordava", "transformer-xl-wt103", "gpt2-large", "blimp-5gram"
SUBJECTS = {
    HUMAN: "Humans",
    "validation": "Validation",
    "neural models": "Neural models",
    "sub-word models": "Models with sub-words (TXL, GPT-2)",
}
VALUES_OF_PRINT = (COUNT, formulas.FARTHEST, PRODUCT, formulas.RATIO, VALUES)
RECOMPUTATION = Recomputation(dict.fromkeys(VALUES_OF_PRINT, "{:,.10g}"))
EVERY = tuple(PHENOMENON_OF)


@dataclass(frozen=True, slots=True)
class Statement:
    """A formula of some models' accuracies on some paradigms."""

    formula: Formula
    models: tuple[str, ...]
    paradigms: tuple[str, ...] = EVERY
    form: str = "{:.1f}"
    majority: bool = False
    """True for the majority's decisions, which are released with rejected paradigms."""


def _contrast(name: str, *models: str) -> Statement:
    return Statement(formulas.difference(CONTRASTS[name]), models, CONTRASTS[name].paradigms)


def _extreme_contrast(which: str, name: str, *models: str) -> Statement:
    formula = formulas.extreme(max if which == "largest" else min, _contrast(name).formula)
    return Statement(formula, models, CONTRASTS[name].paradigms)


STATEMENTS: dict[Place, Statement] = {
    (HUMAN, "individual"): Statement(UNWEIGHTED, (HUMAN,)),
    (HUMAN, "argument_structure"): Statement(
        UNWEIGHTED, (HUMAN,), acc.of_phenomenon("argument_structure")
    ),
    (GPT2, "below human, islands"): Statement(
        formulas.DISTANCE, (GPT2, HUMAN), acc.of_phenomenon("island_effects")
    ),
    (TXL, f"r with {LSTM}"): Statement(formulas.PEARSON, (TXL, LSTM), form="{:.3f}"),
    (NGRAM, "adjective"): _contrast("adjective", NGRAM),
    **{
        ("neural models", f"{which} adjective"): _extreme_contrast(
            which, "adjective", LSTM, TXL, GPT2
        )
        for which in ("largest", "smallest")
    },
    **{(model, "attractor"): _contrast("attractor", model) for model in (GPT2, LSTM, TXL)},
    ("sub-word models", "largest irregularity"): _extreme_contrast(
        "largest", "irregularity", TXL, GPT2
    ),
    (LSTM, "irregularity"): _contrast("irregularity", LSTM),
    (HUMAN, "aggregate"): Statement(UNWEIGHTED, (HUMAN,), majority=True),
    # Of all validated paradigms, the rejected ones too.
    ("validation", "rejected"): Statement(formulas.REJECTED, (HUMAN,), (), "{:.0f}", majority=True),
    (HUMAN, "largest majority"): Statement(formulas.HIGHEST, (HUMAN,), majority=True),
    (HUMAN, "smallest majority"): Statement(formulas.LOWEST, (HUMAN,), majority=True),
}


def _stated(
    place: Place, column: str, rows: pd.DataFrame, tables: Tables, labels: Labels
) -> Cell | None:
    """The cell of a statement, if all its models have all its paradigms."""
    statement = STATEMENTS.get(place) or _contrast(place[1], place[0])
    subject = SUBJECTS.get(place[0]) or labels.models.get(place[0], place[0])
    correlated = {f"r with {model}": f"r with {name}" for model, name in labels.models.items()}
    about = {**labels.models, **correlated}.get(place[1], place[1])
    titled = (f"{subject}: {about.replace('_', ' ')}", column)
    if statement.majority:
        released = acc.read_released(tables, [MAJORITY], rejected=not statement.paradigms)
        if released.empty:
            return None
        formula, form = statement.formula, statement.form
        return acc.computed_cell(released, titled, formula, form, stands_for=place)
    rows = rows[rows["model"].isin(statement.models) & rows["paradigm"].isin(statement.paradigms)]
    if len(rows) < len(statement.models) * len(statement.paradigms):
        return None
    if statement.formula == UNWEIGHTED:
        return acc.mean_cell(rows, titled, stands_for=place)
    # The interval of a contrast is Newcombe's, that of a correlation by Fisher's z.
    low = high = None
    contrast = statement.formula.arguments.get("contrast")
    if statement.formula == formulas.PEARSON:
        low, high = formulas.pearson_interval(rows)
    elif contrast is not None and rows[["correct", "n"]].notna().all(axis=None):
        counts: list[float] = []
        for group in (contrast.higher, contrast.lower):
            total = rows[rows["paradigm"].isin(group)][["correct", "n"]].sum()
            counts += [float(total["correct"]), float(total["n"])]
        bounds = confint_proportions_2indep(*counts, method="newcomb")
        low, high = (100 * float(bound) for bound in bounds)
    cell = acc.computed_cell(rows, titled, statement.formula, statement.form)
    return replace(cell, stands_for=place, low=low, high=high)


def text(tables: Tables, labels: Labels) -> Exhibit:
    """Tabulate statements on accuracies; in the published form, all printed numbers."""
    if labels.source == "measured":
        rows = acc.read_all(tables, labels)
        contrasts = {name: contrast.what for name, contrast in CONTRASTS.items()}
        # First the paper's, then each contrast of each model, then those on majorities.
        single = [place for place in STATEMENTS if place[1] not in CONTRASTS]
        places = [place for place in single if not STATEMENTS[place].majority]
        places += product(acc.model_names(rows, labels), contrasts)
        places += [place for place in single if STATEMENTS[place].majority]
        cells = [_stated(place, VALUE, rows, tables, labels) for place in places]
        return Exhibit(**describe("text", **contrasts), cells=[*filter(None, cells)])

    released = acc.read_released(tables)
    rows = acc.read_own(tables, labels) if released.empty else released

    def recomputed(place: Place, _title: str) -> Cell | None:
        stated = place in STATEMENTS
        return _stated(place, AGAIN, rows, tables, labels) if stated else None

    stated, faults = printed_statements(read_printed(tables), RECOMPUTATION, recomputed)
    of = "Table 4" if released.empty else "the released results"
    return Exhibit(**describe("text_published", of=of, faults=faults), cells=stated)
