"""Formulas of CLAMS's cells: means over constructions, languages and seeds, correlations."""

import math
from collections.abc import Sequence

import pandas as pd

from blimpworks.exhibits.formulas import Formula, Notation, choice, column_mean, formula
from blimpworks.papers.clams.items.sets import CAPITALS, construction_of

CONSTRUCTION, LANGUAGE, MODEL = "construction", "lang", "model"
TABLE_1, AVERAGE_ROW = "table1", "average"
Order = Sequence[Sequence[str]]
"""Languages, lowest first, grouped by rank."""

ORDER = Notation(
    ".+",
    lambda order: " < ".join(" = ".join(tied) for tied in order),
    lambda text: [tied.split(" = ") for tied in text.split(" < ")],
)
MIXED = choice({"": False, ", with capitals where there are any,": True})
TIES = Notation(
    r" [−+] [\d.]+ ×",
    lambda ties: f" {'−' if ties < 0 else '+'} {abs(ties):g} ×",
    lambda text: float(text.strip(" ×").replace("−", "-").replace(" ", "")),
)
MORE = Notation(
    r"(?: \+ \d+)?",
    lambda more: f" + {more}" if more else "",
    lambda text: int(text.removeprefix(" + ") or 0),
)


def accuracies_by(rows: pd.DataFrame, unit: str) -> pd.Series:
    """Compute mean accuracy by ``unit``, a column or the construction.

    Each model's accuracy on each construction of a language has equal weight; that on a
    construction is over all its pairs, animate or not.
    """
    weighed = rows.assign(
        construction=rows["paradigm"].astype(object).map(construction_of),
        weight=rows["n"].fillna(1).astype(float),
    )
    weighed["weighted"] = weighed["accuracy"] * weighed["weight"]
    groups = weighed.groupby([LANGUAGE, CONSTRUCTION, MODEL], observed=True)
    sums = groups[["weighted", "weight"]].sum()
    return (sums["weighted"] / sums["weight"]).groupby(unit, observed=True).mean()


def _gain(rows: pd.DataFrame) -> float:
    constructions = sorted(rows["phenomenon"].astype(str).unique())
    before, after = (rows[rows["phenomenon"] == construction] for construction in constructions)
    by = (accuracies_by(of_kind, CONSTRUCTION).mean() for of_kind in (after, before))
    return float(next(by) - next(by))


def _printed_gain(rows: pd.DataFrame) -> float:
    averages = rows["row"] == AVERAGE_ROW
    without_averages = rows[~averages]
    before = rows[averages & (rows["exhibit"] == TABLE_1)]["value"].item()
    # Values are hundredths: a floating-point remainder would look like a gain.
    return round(
        float(without_averages["value"].sum() / without_averages["row"].nunique() - before), 9
    )


def _lead(rows: pd.DataFrame) -> float:
    named = rows.assign(
        language=rows["column"].str.partition(" ")[0], model=rows["column"].str.partition(" ")[2]
    )
    wide = named.pivot(index="language", columns="model", values="value")
    # Sorted by name, mono comes before multi.
    return float(100 * (wide.iloc[:, 0] - wide.iloc[:, 1]).min())


def _values(rows: pd.DataFrame) -> pd.Series:
    return rows.dropna(subset="value").groupby(LANGUAGE, observed=True).size()


@formula("mean over {unit} of accuracy")
def mean_over(rows: pd.DataFrame, unit: str) -> float:
    """Average accuracy over the values of a column, each of equal weight."""
    return float(accuracies_by(rows, unit).mean())


@formula("population SD over {unit} of accuracy")
def sd_over(rows: pd.DataFrame, unit: str) -> float:
    """Compute the population standard deviation of accuracy over the values of a column."""
    return float(accuracies_by(rows, unit).std(ddof=0))


@formula("Spearman's ρ of mean accuracy{mixed} and the order {order}", order=ORDER, mixed=MIXED)
def rho(rows: pd.DataFrame, order: Order, *, mixed: bool = False) -> float:
    """Correlate accuracy with an order; NaN if all accuracies are equal.

    ``mixed`` takes accuracies with capitals for languages that have them.
    """
    if mixed:
        with_capitals = rows["phenomenon"] == CAPITALS
        rows = rows[with_capitals | ~rows["lang"].isin(rows["lang"][with_capitals])]
    ranks = {lang: rank for rank, tied in enumerate(order) for lang in tied}
    means = accuracies_by(rows, LANGUAGE)
    if means.nunique() < 2:
        return math.nan
    # scipy is slow to import; a frame's correlation, unlike a series', does without it.
    both = pd.DataFrame({"rank": [ranks[str(lang)] for lang in means.index], "mean": [*means]})
    return float(both.corr(method="spearman").to_numpy()[0, 1])


@formula("sum of value × {numerator} ÷ {denominator}")
def part(rows: pd.DataFrame, numerator: int, denominator: int) -> float:
    """Compute a fraction of a number."""
    return float(rows["value"].item() * (numerator / denominator))


@formula("(sum(correct) + {sets}) ÷ (n + {sets})")
def with_more(rows: pd.DataFrame, sets: int) -> float:
    """Compute accuracy with a correct item too many in each of ``sets`` sets."""
    return float((rows["correct"].sum() + sets) / (rows["correct"].count() + sets))


@formula("mean over construction of (correct{ties} ties{more}) ÷ (n{more})", ties=TIES, more=MORE)
def counted(rows: pd.DataFrame, ties: float, more: int) -> float:
    """Compute accuracy with ``ties`` added per tie, and ``more`` correct items in each set."""
    right = rows["correct"] + ties * rows["ties"] + more
    with_accuracy = rows.assign(accuracy=right / (rows["n"] + more))
    return float(accuracies_by(with_accuracy, CONSTRUCTION).mean())


CORRECT = column_mean("correct")
COMPLEXITY = column_mean("value")
JUDGED = Formula(
    "sum of n ÷ number of models", lambda rows: rows["n"].sum() / rows["model"].nunique()
)
LEAST = Formula("least accuracy", lambda rows: rows["accuracy"].min())
MOST = Formula("greatest accuracy", lambda rows: rows["accuracy"].max())
GAIN = Formula("mean accuracy of the second phenomenon − of the first", _gain)
PRINTED_GAIN = Formula("mean(Table 1 + Table 4) − Table 1's average", _printed_gain)
LEAD = Formula("100 × least difference between first and second model of a language", _lead)
FEWEST = Formula("fewest values of a language", lambda rows: _values(rows).min())
MOST_FEATURES = Formula("most values of a language", lambda rows: _values(rows).max())
