"""Verdicts on items of several conditions and on sentences, and how they agree with labels."""

from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from blimpworks.errors import UserError
from blimpworks.judging.judge import RATING
from blimpworks.judging.sides import Mask
from blimpworks.scoring.resolution import Floats
from blimpworks.tables import ITEMS, read_table


def read_items(path: Path, more: Sequence[str], optional: Sequence[str] = ()) -> pa.Table:
    """Read an items table: its declared columns, ``more`` of this kind of item, and ``optional``.

    Raises UserError when the table is missing or broken, or lacks one of the columns, unless it is
    optional.
    """
    rows = read_table(ITEMS, path, [*ITEMS.names, *more, *optional, RATING])
    missing = [name for name in more if name not in rows.column_names or rows[name].null_count]
    if missing:
        raise UserError(
            f"{path} lacks values of {', '.join(missing)}; expected items with "
            f"{', '.join(more)} in each row. Build the items of this benchmark again."
        )
    return rows


def verdict_columns(
    margin: Floats, missing: Mask, *, correct: Floats, tie: Mask, near: Mask
) -> dict[str, pa.Array]:
    """Make the columns margin, correct, tie and near_tie [n], null where ``missing``.

    ``near`` are verdicts that noise could turn; ties are near ties too.
    """
    return {
        "margin": pa.array(margin, mask=missing),
        "correct": pa.array(correct, mask=missing),
        "tie": pa.array(tie, mask=missing),
        "near_tie": pa.array(tie | near, mask=missing),
    }


def right_of(margins: Floats, ties: float) -> Floats:
    """Return 1 where a margin is above 0, ``ties`` where it is 0, and else 0."""
    return np.where(margins == 0, ties, (margins > 0).astype(float))


def correlation(count: int, acceptable: ArrayLike, accepted: ArrayLike, both: ArrayLike) -> Floats:
    """Matthews' correlation from numbers of sentences; arrays of numbers give arrays.

    Of ``count`` sentences these are acceptable, accepted, and both. It is 0 where all sentences or
    none are acceptable, or are accepted: where the correlation of Pearson, whose case for binary
    variables it is, is undefined (Matthews 1975, "Comparison of the predicted and observed
    secondary structure of T4 phage lysozyme"; scikit-learn does the same).
    """
    positive, predicted, common = (
        np.asarray(number, dtype=np.float64) for number in (acceptable, accepted, both)
    )
    covariance = count * common - positive * predicted
    scale = np.sqrt(positive * (count - positive) * (predicted * (count - predicted)))
    values: Floats = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    return values


def matthews(acceptable: Mask, accepted: Mask) -> float:
    """Matthews' correlation of two masks of n sentences; 0 where either has a single value."""
    both = (acceptable & accepted).sum()
    return float(correlation(len(acceptable), acceptable.sum(), accepted.sum(), both))


def correlation_interval(r: float, n: int, spread: float = 1.0) -> tuple[float, float]:
    """95 % interval of a correlation over n items, by Fisher's z.

    Its inverse hyperbolic tangent has about the standard error √(spread / (n - 3)): with 1 that of
    Pearson's (Fisher 1921, "On the probable error of a coefficient of correlation deduced from a
    small sample"), of which Matthews' is one, of two binary variables; with 1 + r² / 2 that of
    Spearman's (Bonett and Wright 2000, "Sample size requirements for estimating Pearson, Kendall
    and Spearman correlations"). From -1 to 1 for three items or fewer; of no width for a
    correlation of 1 or -1.
    """
    if n <= 3:
        return -1.0, 1.0
    if abs(r) >= 1:
        return r, r
    reach = NormalDist().inv_cdf(0.975) * np.sqrt(spread / (n - 3))
    low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
    return float(low), float(high)
