"""Make verdicts on items of several conditions and on sentences, and measure agreement."""

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
    """Read an items table with columns of ``more`` (UserError if absent) and ``optional``."""
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

    ``near`` marks verdicts that noise could turn; ties are near ties too.
    """
    return {
        "margin": pa.array(margin, mask=missing),
        "correct": pa.array(correct, mask=missing),
        "tie": pa.array(tie, mask=missing),
        "near_tie": pa.array(tie | near, mask=missing),
    }


def right_of(margins: Floats, ties: float) -> Floats:
    """Return 1 for a margin above 0, ``ties`` for 0, else 0."""
    return np.where(margins == 0, ties, (margins > 0).astype(float))


def correlation(count: int, acceptable: ArrayLike, accepted: ArrayLike, both: ArrayLike) -> Floats:
    """Compute Matthews' correlation from numbers of sentences; arrays of numbers give arrays.

    Of ``count`` sentences these are acceptable, accepted, and both. It is 0 where either has a
    single value, so that Pearson's correlation, which it equals, is undefined. Source: Matthews
    1975, "Comparison of the predicted and observed secondary structure of T4 phage lysozyme";
    scikit-learn does the same.
    """
    positive, predicted, common = (
        np.asarray(number, dtype=np.float64) for number in (acceptable, accepted, both)
    )
    covariance = count * common - positive * predicted
    scale = np.sqrt(positive * (count - positive) * (predicted * (count - predicted)))
    values: Floats = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    return values


def matthews(acceptable: Mask, accepted: Mask) -> float:
    """Compute Matthews' correlation of two masks [n]; 0 where either has a single value."""
    both = (acceptable & accepted).sum()
    return float(correlation(len(acceptable), acceptable.sum(), accepted.sum(), both))


def correlation_interval(r: float, n: int, spread: float = 1.0) -> tuple[float, float]:
    """Return the 95 % interval of a correlation over n items, by Fisher's z.

    The standard error of z is about √(spread / (n - 3)). ``spread`` is 1 for Pearson's and so for
    Matthews' (Fisher 1921, "On the probable error of a coefficient of correlation deduced from a
    small sample"). It is 1 + r² / 2 for Spearman's (Bonett and Wright 2000, "Sample size
    requirements for estimating Pearson, Kendall and Spearman correlations"). The interval is -1 to
    1 for three items or fewer, and of no width for a correlation of 1 or -1.
    """
    if n <= 3:
        return -1.0, 1.0
    if abs(r) >= 1:
        return r, r
    reach = NormalDist().inv_cdf(0.975) * np.sqrt(spread / (n - 3))
    low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
    return float(low), float(high)
