"""What judging items of several conditions and judging single sentences have in common."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

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
