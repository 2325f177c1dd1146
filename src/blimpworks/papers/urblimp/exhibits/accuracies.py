"""Read accuracies on UrBLiMP, the campaign's or the paper's, and make cells of them."""

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
    """Order the languages ``present``: the paper's first, then as in the campaign."""
    order = dict.fromkeys([LANG, *labels.languages, *sorted(present)])
    return [lang for lang in order if lang in present]


def preferred(rows: pd.DataFrame, labels: Labels) -> str:
    """Say, as a part of a sentence, what the grammatical sentence does where a model is right."""
    wording = PREFERRED.get(labels.method, f"is preferred by the method {labels.method}")
    if PSEUDO.get(labels.method) in {*rows["method"]}:
        wording += " or, of models that guess masked tokens, the lower pseudo-perplexity"
    return wording


def by_method(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Keep the rows by a method; of models that have none, those by its form for masked tokens.

    Source: section 3.1: perplexity of causal models, pseudo-perplexity of masked ones.
    """
    plain = rows["method"] == method
    pseudo = rows["method"] == PSEUDO.get(method)
    return rows[plain | (pseudo & ~rows["model"].isin(rows["model"][plain]))]


def read_paradigms(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read accuracies of single paradigms by the method shown, in the order of the paper's tables.

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


def read_models(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read the same without people."""
    rows = read_paradigms(tables, labels)
    return rows[rows["model"] != HUMAN]


def read_people(tables: Tables) -> pd.DataFrame:
    """Read accuracies of people on single paradigms, in the paper's order; no rows without any."""
    rows = read_plain(ACCURACIES, tables.get("people"))
    return rows.sort_values("paradigm", key=lambda column: column.map(ORDER))


def paradigms_of(rows: pd.DataFrame) -> dict[str, list[str]]:
    """List the paradigms of each phenomenon that any model has been judged on."""
    present = {*rows["paradigm"]}
    paradigms = {
        phenomenon: [name for name in names if name in present]
        for phenomenon, (_, names) in PHENOMENA.items()
    }
    return {phenomenon: names for phenomenon, names in paradigms.items() if names}


def complete(rows: pd.DataFrame) -> list[str]:
    """List the models that have been judged on every paradigm that any has."""
    counts = rows.groupby("model", sort=False)["paradigm"].nunique()
    return list(counts.index[counts == rows["paradigm"].nunique()])


def printed_of(tables: Tables, labels: Labels, exhibit: str) -> dict[Place, pd.Series]:
    """Read what the paper prints in an exhibit, by row and column; nothing for measured forms."""
    if labels.source == "measured":
        return {}
    return by_place(read_printed(tables, exhibit=exhibit))


def where_of(rows: pd.DataFrame) -> dict[str, Any]:
    """Make the filter that selects some ``rows`` of accuracies of single paradigms."""
    where: dict[str, Any] = {"benchmark": BENCHMARK, "lang": LANG}
    for key in ("method", "model", "phenomenon", "paradigm"):
        values = [str(value) for value in dict.fromkeys(rows[key])]
        where[key] = values[0] if len(values) == 1 else values
    return where


def percent_text(percent: float) -> str:
    """Format a percentage as the paper prints it: to two decimals, halves up."""
    return f"{truncate(percent + 0.005, 2):.2f}"


def _mean_cell(
    rows: pd.DataFrame,
    place: Place,
    percent: float,
    formula: Formula,
    weights: Sequence[float],
    **fields: Any,
) -> Cell:
    """Make the cell of a weighted mean of accuracies; with an interval if they are of one model."""
    if rows["model"].nunique() == 1:
        low, high = mean_interval(rows, weights)
        fields |= {} if pd.isna(low) else {"low": 100 * low, "high": 100 * high}
    if rows["n"].notna().all():
        fields["n"] = int(rows["n"].sum())
    text, where = percent_text(percent), where_of(rows)
    return Cell(*place, percent, text, formula, "accuracies", where, **fields)


def accuracy_cell(
    rows: pd.DataFrame, place: Place, labels: Labels, stands_for: Place | None = None
) -> Cell:
    """Make an accuracy in percent: of one paradigm over its pairs, of several their mean.

    ``rows`` are of one model, and what its 95 % interval is made of; those of several models
    on the same pairs, or printed without a number of pairs, have no interval.
    """
    weights = [1 / len(rows)] * len(rows)
    judged = labels.source == "measured" and HUMAN not in {*rows["model"]}
    ties = int(rows["ties"].sum()) if judged and rows["model"].nunique() == 1 else None
    cell = _mean_cell(
        rows, place, UNWEIGHTED(rows), UNWEIGHTED, weights, ties=ties, stands_for=stands_for
    )
    if len(rows) == 1 and judged:
        return replace(cell, formula=ACCURACY, source="judgements")
    return cell


def macro_cell(rows: pd.DataFrame, place: Place, stands_for: Place | None = None) -> Cell:
    """Make a model's average: each phenomenon counts once, and in it each paradigm."""
    sizes = rows.groupby("phenomenon")["paradigm"].transform("size")
    weights = list(1 / (sizes * rows["phenomenon"].nunique()))
    percent = float(100 * (weights * rows["accuracy"]).sum())
    return _mean_cell(rows, place, percent, MACRO, weights, stands_for=stands_for)
