"""Fit learning curves: accuracy by the logarithm of the training text.

Source: Warstadt et al. (2020), section 6.3: ordinary least squares of accuracy on the binary
logarithm of tokens, extrapolated to human accuracy.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.analysis.linear import INTERCEPT, ordinary_least_squares
from blimpworks.papers.blimp.paradigms import HUMAN, PHENOMENON_OF
from blimpworks.tables import ACCURACIES, REGRESSIONS, read_table, write_rows

DOUBLING, TO_HUMAN = "log2 tokens", "log10 tokens at human accuracy"
"""Terms: the slope per doubling of the text, and the text that human accuracy needs."""
Curves = Mapping[str, Mapping[str, int]]
"""Tokens of each model trained on a sample, by row of the table of models."""
Rows = list[dict[str, Any]]


def phenomena_accuracies(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies [models, phenomena and all], shares of 1: means over paradigms.

    ``accuracies`` are rows by paradigm, of one method.
    """
    rows = accuracies[accuracies["paradigm"].isin(PHENOMENON_OF)].astype({"model": object})
    phenomena = rows["paradigm"].astype(object).map(PHENOMENON_OF)
    means = rows.groupby(["model", phenomena])["accuracy"].mean().unstack()
    return means.assign(**{ALL: rows.groupby("model")["accuracy"].mean()})


def tokens_to_reach(accuracy: float, intercept: float, slope: float) -> float | None:
    """Return the log10 of the tokens at which a line reaches an accuracy; None if it falls.

    The line gives accuracy by the binary logarithm of tokens.
    """
    if not slope > 0:
        return None
    return (accuracy - intercept) / slope * math.log10(2)


def fit_curve(accuracies: pd.Series, tokens: pd.Series, human: float | None = None) -> Rows:
    """Return the terms of a curve: intercept, slope per doubling, tokens to reach ``human``.

    ``accuracies`` and ``tokens`` are [models]. No rows for fewer than two sizes or three models.
    """
    logarithms = pd.DataFrame({DOUBLING: np.log2(tokens.astype(float))})
    rows: Rows = ordinary_least_squares(accuracies, logarithms)
    if rows and human is not None:
        line = {row["term"]: row["coefficient"] for row in rows}
        reached = tokens_to_reach(human, line[INTERCEPT], line[DOUBLING])
        fit = {name: rows[0][name] for name in ("n", "r2")}
        rows += [{"term": TO_HUMAN, "coefficient": reached, **fit}] if reached else []
    return rows


def _read(path: Path, models: set[str], method: str) -> pd.DataFrame:
    rows: pd.DataFrame = read_table(ACCURACIES, path).to_pandas()
    return rows[rows["model"].isin(models) & (rows["method"] == method)]


def fit_curves(
    accuracies: Path, humans: Path | None, curves: Curves, method: tuple[str, str], output: Path
) -> int:
    """Write a table of regressions by phenomenon and over all; return the number of rows.

    ``humans`` is a table with human accuracies; without it nothing is extrapolated. ``method``
    names the methods of the models' and the humans' accuracies. A model of the result is a row of
    the table of models. Raises UserError for a missing table or another schema.
    """
    models = {model for sizes in curves.values() for model in sizes}
    measured = phenomena_accuracies(_read(accuracies, models, method[0]))
    human = pd.Series(dtype=float)
    if humans is not None:
        released = phenomena_accuracies(_read(humans, {HUMAN}, method[1]))
        human = released.iloc[0] if len(released) else human
    rows: Rows = []
    for row, sizes in curves.items():
        tokens = pd.Series(sizes)
        for phenomenon in measured:
            values = measured[phenomenon].reindex(tokens.index).dropna()
            terms = fit_curve(values, tokens[values.index], human.get(phenomenon))
            rows += [{"analysis": phenomenon, "model": row, **term} for term in terms]
    write_rows(rows, REGRESSIONS, output)
    return len(rows)
