"""Accuracies on UrBLiMP, the campaign's or the paper's, and cells of them."""

from collections.abc import Collection
from dataclasses import replace

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.errors import UserError
from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import ACCURACY, truncate
from blimpworks.exhibits.shared import Place, Tables, by_place, read_plain, read_printed
from blimpworks.papers.urblimp.exhibits.formulas import MACRO, macro_weights
from blimpworks.papers.urblimp.phenomena import BENCHMARK, HUMAN, LANG, PARADIGMS
from blimpworks.papers.urblimp.settings import PSEUDO
from blimpworks.tables import ACCURACIES

ORDER = {paradigm: rank for rank, paradigm in enumerate(PARADIGMS)}
PREFERRED = {
    "printed": "has the lower perplexity",
    "perplexity": "has the lower perplexity",
    "full_sentence": "has the higher log-probability",
}
"""Property of the grammatical sentence when a model is right, by method."""


def languages_of(present: Collection[str], labels: Labels) -> list[str]:
    """Order the languages ``present``: the paper's first, then as in the campaign."""
    order = dict.fromkeys([LANG, *labels.languages, *sorted(present)])
    return [lang for lang in order if lang in present]


def preferred(rows: pd.DataFrame, labels: Labels) -> str:
    """Say for a caption which property decides that a model is right."""
    wording = PREFERRED.get(labels.method, f"is preferred by the method {labels.method}")
    if PSEUDO.get(labels.method) in {*rows["method"]}:
        wording += " or, of models that guess masked tokens, the lower pseudo-perplexity"
    return wording


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by paradigm, in the order of the paper's tables."""
    return rows.sort_values("paradigm", key=lambda column: column.map(ORDER), kind="stable")


def read_paradigms(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read accuracies of paradigms in the tables' order, of labelled models and people.

    They are by the method shown, or by its form for masked tokens for models that the method has
    none of (section 3.1: pseudo-perplexity in place of perplexity). Raises UserError without any.
    """
    where = {"benchmark": BENCHMARK, "lang": LANG, "model": [*labels.models, HUMAN]}
    method = labels.method
    rows = shared.read_accuracies(tables, where, method, PSEUDO.get(method))
    rows = rows[rows["paradigm"] != ALL]
    unknown = sorted({*rows["paradigm"]} - PARADIGMS.keys())
    if unknown:
        raise UserError(
            f"{tables['accuracies'][0]}: paradigm {unknown[0]!r} is none of {BENCHMARK}; expected "
            f"one of {', '.join(PARADIGMS)}."
        )
    return in_order(rows)


def read_models(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read the same without people."""
    rows = read_paradigms(tables, labels)
    return rows[rows["model"] != HUMAN]


def read_people(tables: Tables) -> pd.DataFrame:
    """Read people's accuracies of paradigms, in the paper's order; no rows without the table."""
    return in_order(read_plain(ACCURACIES, tables.get("people")))


def complete(rows: pd.DataFrame) -> list[str]:
    """List the models that have been judged on every paradigm that any has."""
    counts = rows.groupby("model", sort=False)["paradigm"].nunique()
    return list(counts.index[counts == rows["paradigm"].nunique()])


def printed_of(tables: Tables, labels: Labels, exhibit: str) -> dict[Place, pd.Series]:
    """Read an exhibit's printed numbers by row and column; none for measured forms."""
    if labels.source == "measured":
        return {}
    return by_place(read_printed(tables, exhibit=exhibit))


def percent_text(percent: float) -> str:
    """Format a percentage as the paper prints it: to two decimals, halves up."""
    return f"{truncate(percent + 0.005, 2):.2f}"


def accuracy_cell(
    rows: pd.DataFrame, place: Place, labels: Labels, stands_for: Place | None = None
) -> Cell:
    """Make an accuracy in percent: of one paradigm over its pairs, of several their mean.

    ``rows`` are of one model and decide its 95 % interval. Rows of several models on the same
    pairs, or printed without a number of pairs, have no interval.
    """
    judged = labels.source == "measured" and HUMAN not in {*rows["model"]}
    ties = judged and rows["model"].nunique() == 1
    cell = shared.accuracy_cell(rows, place, text=percent_text, ties=ties, stands_for=stands_for)
    if len(rows) == 1 and judged:
        return replace(cell, formula=ACCURACY, source="judgements")
    return cell


def macro_cell(rows: pd.DataFrame, place: Place, stands_for: Place | None = None) -> Cell:
    """Make a model's average: each phenomenon has equal weight, and in it each paradigm."""
    weights = list(macro_weights(rows))
    return shared.accuracy_cell(
        rows, place, MACRO, weights=weights, text=percent_text, stands_for=stands_for
    )
