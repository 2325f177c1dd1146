"""Formulas of CLAMS's cells: means over constructions, languages and seeds, correlations."""

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd

from blimpworks.papers.clams.items.constructions import CAPITALS, construction_of

Formula = Callable[[pd.DataFrame], float]
CORRECT = "mean(correct)"
PERPLEXITY = "mean(perplexity)"
JUDGED = "sum of n ÷ number of models"
LEAST, MOST = "least accuracy", "greatest accuracy"
GAIN = "mean accuracy of the second phenomenon − of the first"
PRINTED_GAIN = "mean(Table 1 + Table 4) − Table 1's average"
LEAD = "100 × least difference between first and second model of a language"
COMPLEXITY = "mean(value)"
FEWEST, MOST_FEATURES = "fewest values of a language", "most values of a language"
CONSTRUCTION, LANGUAGE, MODEL = "construction", "lang", "model"
TABLE_1, AVERAGE_ROW = "table1", "average"
_ORDER = "Spearman's ρ of mean accuracy and the order "
_MIXED_ORDER = "Spearman's ρ of mean accuracy, with capitals where there are any, and the order "
_PART = "sum of value × {} ÷ {}"
_MORE = "(sum(correct) + {0}) ÷ (n + {0})"
_COUNTED = "mean over construction of (correct{} ties{}) ÷ (n{})"


def mean_over(unit: str) -> str:
    """Formula: mean accuracy over the values of a column, each of which counts once."""
    return f"mean over {unit} of accuracy"


def sd_over(unit: str) -> str:
    """Formula: standard deviation of accuracy over the values of a column, as of all there is."""
    return f"population SD over {unit} of accuracy"


def rho(order: Sequence[Sequence[str]], *, mixed: bool = False) -> str:
    """Formula: rank correlation of languages' accuracy with an order, lowest first.

    Languages of one rank stand together. ``mixed``: of a language's accuracies those with
    capitals count, where it has any.
    """
    return (_MIXED_ORDER if mixed else _ORDER) + " < ".join(" = ".join(tied) for tied in order)


def part(numerator: int, denominator: int) -> str:
    """Formula: a fraction, known from elsewhere, of a number."""
    return _PART.format(numerator, denominator)


def with_more(sets: int) -> str:
    """Formula: accuracy with one item too many that is correct in each of some sets of items."""
    return _MORE.format(sets)


def counted(ties: float, more: int) -> str:
    """Formula: accuracy with another share of ties, and with items that count as correct.

    ``ties`` is added to the correct ones for each tie, ``more`` to them and to all.
    """
    sign = "−" if ties < 0 else "+"
    extra = f" + {more}" if more else ""
    return _COUNTED.format(f" {sign} {abs(ties):g} ×", extra, extra)


def accuracies_by(rows: pd.DataFrame, unit: str) -> pd.Series:
    """Accuracy by ``unit``, a column or the construction.

    Inside one, each model's accuracy on each construction of a language counts once; that of
    a construction is over all its pairs, whatever their nouns.
    """
    known = rows.assign(
        construction=rows["paradigm"].astype(object).map(construction_of),
        weight=rows["n"].fillna(1).astype(float),
    )
    known["weighted"] = known["accuracy"] * known["weight"]
    found = known.groupby([LANGUAGE, CONSTRUCTION, MODEL], observed=True)
    sums = found[["weighted", "weight"]].sum()
    return (sums["weighted"] / sums["weight"]).groupby(unit, observed=True).mean()


def _gain(rows: pd.DataFrame) -> float:
    kinds = sorted(rows["phenomenon"].astype(str).unique())
    before, after = (rows[rows["phenomenon"] == kind] for kind in kinds)
    by = (accuracies_by(part, CONSTRUCTION).mean() for part in (after, before))
    return float(next(by) - next(by))


def _printed_gain(rows: pd.DataFrame) -> float:
    averages = rows["row"] == AVERAGE_ROW
    parts = rows[~averages]
    before = rows[averages & (rows["exhibit"] == TABLE_1)]["value"].item()
    # Hundredths: what is left of floating point would make a gain of nothing.
    return round(float(parts["value"].sum() / parts["row"].nunique() - before), 9)


def _lead(rows: pd.DataFrame) -> float:
    known = rows.assign(
        language=rows["column"].str.partition(" ")[0], model=rows["column"].str.partition(" ")[2]
    )
    wide = known.pivot(index="language", columns="model", values="value")
    # Mono before multi: models by name.
    return float(100 * (wide.iloc[:, 0] - wide.iloc[:, 1]).min())


def _values(rows: pd.DataFrame) -> pd.Series:
    """How many features count, by language."""
    return rows.dropna(subset="value").groupby(LANGUAGE, observed=True).size()


def _rho(rows: pd.DataFrame, order: Sequence[Sequence[str]]) -> float:
    ranks = {lang: rank for rank, tied in enumerate(order) for lang in tied}
    found = accuracies_by(rows, LANGUAGE)
    if found.nunique() < 2:
        return math.nan
    # By pandas, and a frame's: scipy takes longer to import than explaining a number may.
    both = pd.DataFrame({"rank": [ranks[str(lang)] for lang in found.index], "found": [*found]})
    return float(both.corr(method="spearman").to_numpy()[0, 1])


def _mixed_rho(rows: pd.DataFrame, order: Sequence[Sequence[str]]) -> float:
    with_capitals = rows["phenomenon"] == CAPITALS
    known = rows["lang"].isin(rows["lang"][with_capitals])
    return _rho(rows[with_capitals | ~known], order)


def _part(rows: pd.DataFrame, share: float) -> float:
    return float(rows["value"].item() * share)


def parametric(name: str) -> Formula | None:
    """The formula of a name that holds values of its own; None if it is not one of these."""
    for start, function in ((_ORDER, _rho), (_MIXED_ORDER, _mixed_rho)):
        if name.startswith(start):
            order = [tied.split(" = ") for tied in name.removeprefix(start).split(" < ")]
            return partial(function, order=order)
    pattern = re.escape(_COUNTED).replace(r"\{\}", "{}")
    if found := re.fullmatch(pattern.format(r" ([−+]) ([\d.]+) ×", r"(?: \+ (\d+))?", r".*"), name):
        ties = float(found[2]) * (-1 if found[1] == "−" else 1)
        return partial(_counted, ties=ties, more=int(found[3] or 0))
    if found := re.fullmatch(
        re.escape(_MORE).replace(r"\{0\}", r"(\d+)", 1).replace(r"\{0\}", r"\1"), name
    ):
        return partial(_with_more, sets=int(found[1]))
    if found := re.fullmatch(_PART.format(r"(\d+)", r"(\d+)"), name):
        return partial(_part, share=int(found[1]) / int(found[2]))
    return None


def _with_more(rows: pd.DataFrame, sets: int) -> float:
    return float((rows["correct"].sum() + sets) / (rows["correct"].count() + sets))


def _counted(rows: pd.DataFrame, ties: float, more: int) -> float:
    right = rows["correct"] + ties * rows["ties"] + more
    return _mean(rows.assign(accuracy=right / (rows["n"] + more)), CONSTRUCTION)


def _mean(rows: pd.DataFrame, unit: str) -> float:
    return float(accuracies_by(rows, unit).mean())


def _sd(rows: pd.DataFrame, unit: str) -> float:
    return float(accuracies_by(rows, unit).std(ddof=0))


_over: dict[str, Any] = {
    form(unit): partial(function, unit=unit)
    for form, function in ((mean_over, _mean), (sd_over, _sd))
    for unit in (CONSTRUCTION, LANGUAGE, MODEL)
}
FORMULAS: dict[str, Formula] = {
    CORRECT: lambda rows: float(rows["correct"].mean()),
    PERPLEXITY: lambda rows: float(rows["perplexity"].mean()),
    JUDGED: lambda rows: float(rows["n"].sum() / rows["model"].nunique()),
    LEAST: lambda rows: float(rows["accuracy"].min()),
    MOST: lambda rows: float(rows["accuracy"].max()),
    GAIN: _gain,
    PRINTED_GAIN: _printed_gain,
    LEAD: _lead,
    COMPLEXITY: lambda rows: float(rows["value"].mean()),
    FEWEST: lambda rows: float(_values(rows).min()),
    MOST_FEATURES: lambda rows: float(_values(rows).max()),
    **_over,
}
