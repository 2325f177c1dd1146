"""Accuracies on UrBLiMP as cells, from the campaign's judgements or from the paper's numbers.

And what all exhibits of UrBLiMP make cells with.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL, mean_interval
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import ACCURACY, UNWEIGHTED, Formula, truncate
from blimpworks.exhibits.shared import Tables, by_place, read_plain, read_printed
from blimpworks.papers.urblimp.exhibits.formulas import MACRO
from blimpworks.papers.urblimp.phenomena import BENCHMARK, HUMAN, LANG, PARADIGMS, PHENOMENA
from blimpworks.papers.urblimp.settings import PSEUDO
from blimpworks.tables import ACCURACIES

Place = tuple[str, str]
"""Row and column of a cell."""
ORDER = {paradigm: rank for rank, paradigm in enumerate(PARADIGMS)}
PREFERRED = {
    "printed": "has the lower perplexity",
    "perplexity": "has the lower perplexity",
    "full_sentence": "has the higher log-probability",
}
"""What a pair's grammatical sentence does where a model is right, by method."""


def languages_of(present: Collection[str], labels: Labels) -> list[str]:
    """Languages that are ``present``: the paper's first, then in the order of the campaign."""
    order = dict.fromkeys([LANG, *labels.languages, *sorted(present)])
    return [lang for lang in order if lang in present]


def preferred(rows: pd.DataFrame, labels: Labels) -> str:
    """The same for the models of some accuracies, as a part of a sentence."""
    wording = PREFERRED.get(labels.method, f"is preferred by the method {labels.method}")
    if PSEUDO.get(labels.method) in {*rows["method"]}:
        wording += " or, of models that guess masked tokens, the lower pseudo-perplexity"
    return wording


def by_method(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """The rows by a method; of models that have none, those by its form for masked tokens.

    Source: section 3.1: perplexity of causal models, pseudo-perplexity of masked ones.
    """
    own = rows["method"] == method
    instead = rows["method"] == PSEUDO.get(method)
    return rows[own | (instead & ~rows["model"].isin(rows["model"][own]))]


def read_paradigms(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Accuracies of single paradigms by the method shown, in the order of the paper's tables.

    Only of models that have a label, and of people. Raises UserError when there are none.
    """
    path = tables["accuracies"][0]
    table = read_plain(ACCURACIES, path)
    rows = table[
        (table["benchmark"] == BENCHMARK)
        & (table["lang"] == LANG)
        & (table["paradigm"] != ALL)
        & table["model"].isin([*labels.models, HUMAN])
    ]
    rows = by_method(rows, labels.method)
    if rows.empty:
        raise UserError(
            f"{path} has no accuracies on {BENCHMARK} by method {labels.method!r} of the "
            "campaign's models; judge with that method and summarise again."
        )
    unknown = sorted({*rows["paradigm"]} - PARADIGMS.keys())
    if unknown:
        raise UserError(
            f"{path}: paradigm {unknown[0]!r} is none of {BENCHMARK}; expected one of "
            f"{', '.join(PARADIGMS)}."
        )
    return rows.sort_values("paradigm", key=lambda column: column.map(ORDER), kind="stable")


def read_people(tables: Tables) -> pd.DataFrame:
    """Accuracies of people on single paradigms, in the paper's order; no rows without any table.

    Raises UserError when the table is of another schema.
    """
    rows = read_plain(ACCURACIES, tables.get("people"))
    return rows.sort_values("paradigm", key=lambda column: column.map(ORDER))


def paradigms_of(rows: pd.DataFrame) -> dict[str, list[str]]:
    """The paradigms of each phenomenon that any model has been judged on."""
    present = {*rows["paradigm"]}
    return {
        phenomenon: names
        for phenomenon, (_, paradigms) in PHENOMENA.items()
        if (names := [name for name in paradigms if name in present])
    }


def complete(rows: pd.DataFrame) -> list[str]:
    """Models that have been judged on every paradigm that any has."""
    counts = rows.groupby("model", sort=False)["paradigm"].nunique()
    return list(counts.index[counts == rows["paradigm"].nunique()])


def printed_of(tables: Tables, labels: Labels, exhibit: str) -> dict[Place, pd.Series]:
    """Numbers that the paper prints in an exhibit, by row and column; none for measured ones."""
    if labels.source == "measured":
        return {}
    return by_place(read_printed(tables, exhibit=exhibit))


def where_of(rows: pd.DataFrame) -> dict[str, Any]:
    """What selects some ``rows`` of accuracies of single paradigms."""
    where: dict[str, Any] = {"benchmark": BENCHMARK, "lang": LANG}
    for key in ("method", "model", "phenomenon", "paradigm"):
        values = [str(value) for value in dict.fromkeys(rows[key])]
        where[key] = values[0] if len(values) == 1 else values
    return where


def percent_text(percent: float) -> str:
    """A percentage as the paper prints it: to two decimals, halves up."""
    return f"{truncate(percent + 0.005, 2):.2f}"


def accuracy_cell(
    rows: pd.DataFrame, place: Place, labels: Labels, stands_for: Place | None = None
) -> Cell:
    """Accuracy in percent: of one paradigm over its pairs, of several their unweighted mean.

    ``rows`` are of one model, and what its 95 % interval is made of; those of several models
    on the same pairs, or printed without a number of pairs, have no interval.
    """
    weights = [1 / len(rows)] * len(rows)
    judged = labels.source == "measured" and HUMAN not in {*rows["model"]}
    ties = int(rows["ties"].sum()) if judged and rows["model"].nunique() == 1 else None
    cell = _mean_cell(rows, place, UNWEIGHTED(rows), weights, ties=ties, stands_for=stands_for)
    if len(rows) == 1 and judged:
        return replace(cell, formula=ACCURACY, source="judgements")
    return cell


def macro_cell(
    rows: pd.DataFrame, place: Place, labels: Labels, stands_for: Place | None = None
) -> Cell:
    """A model's average in percent: each phenomenon counts once, and in it each paradigm."""
    sizes = rows.groupby("phenomenon")["paradigm"].transform("size")
    weights = list(1 / (sizes * rows["phenomenon"].nunique()))
    percent = float(100 * (weights * rows["accuracy"]).sum())
    return _mean_cell(rows, place, percent, weights, formula=MACRO, stands_for=stands_for)


def _mean_cell(
    rows: pd.DataFrame,
    place: Place,
    percent: float,
    weights: Sequence[float],
    formula: Formula = UNWEIGHTED,
    **more: Any,
) -> Cell:
    """The cell of a weighted mean of accuracies; with an interval if they are of one model."""
    low, high = mean_interval(rows, weights)
    bounded = rows["model"].nunique() == 1 and not pd.isna(low)
    return Cell(
        *place,
        percent,
        percent_text(percent),
        formula,
        "accuracies",
        where_of(rows),
        n=None if rows["n"].isna().any() else int(rows["n"].sum()),
        low=100 * low if bounded else None,
        high=100 * high if bounded else None,
        **more,
    )
