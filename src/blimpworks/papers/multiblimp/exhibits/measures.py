"""Declare names of phenomena and formulas of MultiBLiMP's exhibits, and make cells of accuracies.

A cell is one number of an exhibit (a table or figure). ``read_accuracies`` reads the rows that most
exhibits need, and ``accuracy_cell`` makes a cell of some rows. A formula computes a cell's
number from rows of a table. Its sentence is for readers: "count where verb_value is SG ÷ sum of
count". Formulas are functions with ``@formula``, and constants made by ``Formula``.
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
"""Name of each construction in Table 3. A phenomenon is a construction and the sign of a feature:
``sv#`` is subject-verb agreement in number, ``spG`` subject-participle agreement in gender."""
FEATURES = {
    "#": ("Number", ("SG", "PL", "DU")),
    "G": ("Gender", ("MASC", "NEUT", "FEM")),
    "P": ("Person", ("1", "2", "3")),
}
"""Name and values of each agreement feature, keyed by sign, in the order of Table 2. Values are
those of UniMorph: singular, plural, dual; masculine, neuter, feminine."""
AGREEMENT_TYPES = {
    f"{code}{sign}": (construction, FEATURES[sign][0])
    for code, construction in CONSTRUCTIONS.items()
    for sign in "#PG"
}
"""Names of construction and feature of the six phenomena, in the order of Table 3."""
PHENOMENON_NAMES = {key: ", ".join(pair) for key, pair in AGREEMENT_TYPES.items()}
"""Name of each phenomenon: "Subject-Verb, Number"."""
CERTAIN = ("+", "~")
"""Labels of agreement that the paper counts as certain: significant, and near-universal (4.2)."""

LEAD_BELOW = 0.1
"""Level of significance of Table B.2 (footnote 7)."""


def leads(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return comparisons of each language's best model with the second-best, where significant.

    ``comparisons`` has a row for each ordered pair of models and each language. In the returned
    rows the best model is ``model_a``, and p < ``LEAD_BELOW``. Among equal second-best models, the
    one with the largest p is returned.
    """
    # Equal differences of accuracies can differ in the last bits.
    lead = (comparisons["accuracy_a"] - comparisons["accuracy_b"]).round(9)
    # A model's strongest rival is first: that with the smallest lead, and then the largest p. Only
    # the best model has a lead above 0.
    ranked = comparisons.assign(lead=lead).sort_values(
        ["lang", "model_a", "lead", "p", "model_b"], ascending=[True, True, True, False, True]
    )
    closest = ranked.drop_duplicates(["lang", "model_a"])
    return closest[(closest["lead"] > 0) & (closest["p"] < LEAD_BELOW)].drop(columns="lead")


ENOUGH_PAIRS = 10
"""Fewest pairs of a condition for a language to count (section 6.1)."""


@formula("count where verb_value is {value} ÷ sum of count", value=PHRASE)
def share(rows: pd.DataFrame, value: str) -> float:
    """Return the share of verbs that have a value; ``rows`` are counts of agreement."""
    return float(rows["count"][rows["verb_value"] == value].sum() / rows["count"].sum())


@formula("sum of n ÷ {n}")
def ratio(rows: pd.DataFrame, n: int) -> float:
    """Divide the sum of n by a number of another source, such as that of the release's pairs."""
    return float(rows["n"].sum() / n)


@formula("({low} × low + {mid} × mid + {high} × high) ÷ {total}")
def weighted_values(rows: pd.DataFrame, low: int, mid: int, high: int, total: int) -> float:
    """Return the mean over resource groups, weighted by pairs: ``low``, ``mid``, ``high``."""
    values = rows.set_index("column")["value"]
    return float((low * values["low"] + mid * values["mid"] + high * values["high"]) / total)


@formula("number of rows where accuracy_a > accuracy_b and p < {below}")
def wins(rows: pd.DataFrame, below: float) -> float:
    """Count languages in which the first model of a comparison is significantly better."""
    return float(won(rows, below).sum())


@formula("100 × share of rows where accuracy_a > accuracy_b and p < {below}")
def win_share(rows: pd.DataFrame, below: float) -> float:
    """Return the percentage of languages in which the first model is significantly better."""
    return float(100 * won(rows, below).mean())


def won(rows: pd.DataFrame, below: float) -> pd.Series:
    """Return a mask of the comparisons in which the first model is significantly better."""
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
    """Read accuracies of the models and languages in ``labels``. Raises UserError without any."""
    path = tables["accuracies"][0]
    rows = read_plain(ACCURACIES, path)
    if rows.empty:
        raise UserError(
            f"{path} is empty: no model has judged a pair. Probably the "
            "campaign's languages have no pairs; see the exhibit funnel, or add languages."
        )
    names = {"lang": [*labels.languages], "model": [*labels.models]}
    rows = select_rows(rows, {"paradigm": ALL, "method": labels.method, **names})
    if rows.empty:
        raise UserError(
            f"{path} has no accuracies by method {labels.method!r} of the "
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
    """Make the cell of the accuracy over all pairs of ``rows``, in percent and with its interval.

    The rows are of one model, one phenomenon (or ``all``) and, without ``mean``, one language; with
    ``mean`` the cell's filter is a list of languages. Each pair counts once: measured cells average
    judgements, published cells weight rows by pairs.
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
    # No judgement has the phenomenon or paradigm "all", so that a filter with it selects nothing.
    where = {key: value for key, value in where.items() if value != ALL}
    return replace(cell, formula=ACCURACY, source="judgements", where=where)


def unweighted_cell(rows: pd.DataFrame, cell_key: tuple[str, str]) -> Cell:
    """Make a hidden cell of the mean accuracy over languages of equal weight."""
    where: dict[str, Any] = where_of(rows) | {"lang": [*rows["lang"]]}
    cell = formula_cell(rows, cell_key, UNWEIGHTED, "accuracies", where, ".1f")
    return replace(cell, n=int(rows["n"].sum()), printed=False)
