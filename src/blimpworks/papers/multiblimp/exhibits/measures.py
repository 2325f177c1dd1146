"""Compute cells of MultiBLiMP's exhibits: names of phenomena, formulas, and accuracies.

A formula is a sentence and a function of a table's rows, which make a cell's number. The sentence
is for readers: "count where verb_value is SG ÷ sum of count".
"""

from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Labels
from blimpworks.exhibits.formulas import ACCURACY, PHRASE, UNWEIGHTED, Formula, formula, select_rows
from blimpworks.exhibits.shared import Tables, formula_cell, read_plain, where_of
from blimpworks.exhibits.shared import accuracy_cell as shared_cell
from blimpworks.items import ALL
from blimpworks.tables import ACCURACIES

CONSTRUCTIONS = {"sv": "Subject-Verb", "sp": "Subject-Participle"}
"""Name in Table 3 of each construction; its code begins a phenomenon's, such as ``sv#``."""
FEATURES = {
    "#": ("Number", ("SG", "PL", "DU")),
    "G": ("Gender", ("MASC", "NEUT", "FEM")),
    "P": ("Person", ("1", "2", "3")),
}
"""Agreement feature and its values, in the order of Table 2; its sign ends a phenomenon's code."""
AGREEMENT_TYPES = {
    f"{code}{sign}": (construction, FEATURES[sign][0])
    for code, construction in CONSTRUCTIONS.items()
    for sign in "#PG"
}
"""The six agreement types: code, construction and feature, in the order of Table 3."""
PHENOMENON_NAMES = {key: ", ".join(pair) for key, pair in AGREEMENT_TYPES.items()}
CERTAIN = ("+", "~")
"""Labels of agreement that the paper counts as certain (section 4.2)."""


def abbreviation(phenomenon: str) -> str:
    """Abbreviate ``sv#`` as ``SV-N``: subject-verb or -participle; number, gender or person."""
    return f"{phenomenon[:2].upper()}-{FEATURES[phenomenon[2:]][0][0]}"


LEAD_BELOW = 0.1
"""Level of significance of Table B.2 (footnote 7)."""


def leads(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Find the models that are ahead of all others in a language, with p < ``LEAD_BELOW``.

    Returns the comparison of each with the closest other model (of equal ones that of largest p).
    """
    # Differences of the same number of pairs can differ in the last bits of the quotients.
    lead = (comparisons["accuracy_a"] - comparisons["accuracy_b"]).round(9)
    ranked = comparisons.assign(lead=lead).sort_values(
        ["lang", "model_a", "lead", "p", "model_b"], ascending=[True, True, True, False, True]
    )
    closest = ranked.drop_duplicates(["lang", "model_a"])
    return closest[(closest["lead"] > 0) & (closest["p"] < LEAD_BELOW)].drop(columns="lead")


ENOUGH_PAIRS = 10
"""Fewest pairs of a condition for a language to count (section 6.1)."""


@formula("count where verb_value is {value} ÷ sum of count", value=PHRASE)
def share(rows: pd.DataFrame, value: str) -> float:
    """Return the share of counts whose verb has a value."""
    return float(rows["count"][rows["verb_value"] == value].sum() / rows["count"].sum())


@formula("sum of n ÷ {n}")
def ratio(rows: pd.DataFrame, n: int) -> float:
    """Divide the sum of n by a number from outside."""
    return float(rows["n"].sum() / n)


@formula("({low} × low + {mid} × mid + {high} × high) ÷ {total}")
def weighted_values(rows: pd.DataFrame, low: int, mid: int, high: int, total: int) -> float:
    """Return the mean of the resource groups' values, weighted."""
    values = rows.set_index("column")["value"]
    return float((low * values["low"] + mid * values["mid"] + high * values["high"]) / total)


@formula("number of rows where accuracy_a > accuracy_b and p < {below}")
def wins(rows: pd.DataFrame, below: float) -> float:
    """Count languages in which the first model of a comparison is significantly better."""
    return float(won(rows, below).sum())


@formula("100 × share of rows where accuracy_a > accuracy_b and p < {below}")
def win_share(rows: pd.DataFrame, below: float) -> float:
    """Percentage of languages in which the first model of a comparison is significantly better."""
    return float(100 * won(rows, below).mean())


def won(rows: pd.DataFrame, below: float) -> pd.Series:
    """Mark comparisons in which the first model is significantly better."""
    return (rows["accuracy_a"] > rows["accuracy_b"]) & (rows["p"] < below)


LANGUAGE_COUNT = Formula(
    f"number of languages with at least {ENOUGH_PAIRS} rows",
    lambda rows: (rows["lang"].value_counts() >= ENOUGH_PAIRS).sum(),
)
WEIGHTED = Formula(
    "100 × sum of accuracy × n ÷ sum of n",
    lambda rows: 100 * (rows["accuracy"] * rows["n"]).sum() / rows["n"].sum(),
)
DIFFERENCE = Formula(
    "first value − second value", lambda rows: rows["value"].iloc[0] - rows["value"].iloc[1]
)
LEADS = Formula(
    f"number of languages that model_a leads, p < {LEAD_BELOW} against the next",
    lambda rows: len(leads(rows)),
)


def read_accuracies(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read accuracies of the labelled models and languages. Raises UserError without any."""
    rows = read_plain(ACCURACIES, tables["accuracies"][0])
    if rows.empty:
        raise UserError(
            f"{tables['accuracies'][0]} is empty: no model has judged a pair. Probably the "
            "campaign's languages have no pairs; see the exhibit funnel, or add languages."
        )
    names = {"lang": [*labels.languages], "model": [*labels.models]}
    rows = select_rows(rows, {"paradigm": ALL, "method": labels.method, **names})
    if rows.empty:
        raise UserError(
            f"{tables['accuracies'][0]} has no accuracies by method {labels.method!r} of the "
            "campaign's models and languages; judge with that method and summarise again."
        )
    return rows


def accuracy_cell(
    rows: pd.DataFrame,
    cell_key: tuple[str, str],
    labels: Labels,
    *,
    mean: bool = False,
    stands_for: tuple[str, str] | None = None,
) -> Cell:
    """Compute the accuracy over all pairs of ``rows``, in percent and with its interval.

    The rows are of one model and one phenomenon (or all); only a ``mean`` has several languages.
    Each pair counts once: the measured cell is a mean over judgements, the printed one is weighted
    by pairs.
    """
    measured = labels.source == "measured"
    cell = shared_cell(
        rows, cell_key, WEIGHTED, interval="pooled", ties=measured, stands_for=stands_for
    )
    where = dict(cell.where)
    if mean or len(rows) > 1:
        where["lang"] = [*rows["lang"]]
    if not measured:
        return replace(cell, where=where)
    # A judgement has one paradigm and one phenomenon, so a filter for all of them selects none.
    where = {key: value for key, value in where.items() if value != ALL}
    return replace(cell, formula=ACCURACY, source="judgements", where=where)


def unweighted_cell(rows: pd.DataFrame, cell_key: tuple[str, str]) -> Cell:
    """Compute the mean accuracy over languages, each of equal weight, as a hidden cell."""
    where: dict[str, Any] = where_of(rows) | {"lang": [*rows["lang"]]}
    more: dict[str, Any] = {"n": int(rows["n"].sum()), "printed": False}
    return formula_cell(rows, cell_key, UNWEIGHTED, "accuracies", where, ".1f", **more)
