"""What judging items of several conditions and judging single sentences have in common."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from blimpworks.errors import UserError
from blimpworks.judging.sides import Mask
from blimpworks.scoring.resolution import Floats
from blimpworks.tables import ITEMS, read_table


def read_items(path: Path, more: Sequence[str]) -> pa.Table:
    """An items table's declared columns, and ``more`` that this kind of item has.

    Raises UserError when the table is missing or broken, or lacks one of the columns.
    """
    rows = read_table(ITEMS, path, [*ITEMS.names, *more])
    missing = [name for name in more if name not in rows.column_names or rows[name].null_count]
    if missing:
        raise UserError(
            f"{path} lacks values of {', '.join(missing)}; expected items with "
            f"{', '.join(more)} in each row. Build the items of this benchmark again."
        )
    return rows


def verdict_columns(
    margin: Floats, missing: Mask, *, ties: float, near: Mask
) -> dict[str, pa.Array]:
    """The columns margin, correct, tie and near_tie [n], null where ``missing``.

    A margin above 0 is correct, and one of 0 a tie, which counts as ``ties``. ``near`` are margins
    that noise could make; ties are near ties too.
    """
    tie = margin == 0
    correct = np.where(tie, ties, (margin > 0).astype(float))
    return {
        "margin": pa.array(margin, mask=missing),
        "correct": pa.array(correct, mask=missing),
        "tie": pa.array(tie, mask=missing),
        "near_tie": pa.array(tie | near, mask=missing),
    }
