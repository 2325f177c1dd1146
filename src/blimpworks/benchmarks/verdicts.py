"""What judging items of several conditions and judging single sentences have in common."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from blimpworks.errors import UserError
from blimpworks.judging.sides import Mask
from blimpworks.scoring.resolution import Floats
from blimpworks.tables import ITEMS, JUDGEMENTS, read_table, write_table

log = logging.getLogger(__name__)


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


def write_judgements(tables: Sequence[pa.Table], output: Path) -> int:
    """Write the judgements by each method; log and return how many of them are null.

    Raises UserError when they don't fit the schema.
    """
    table = pa.concat_tables(tables)
    write_table(table, JUDGEMENTS, output)
    unjudged = int(table["correct"].null_count)
    if unjudged:
        log.warning(
            "%s: %d of %d judgements are null: no score, or unknown words",
            output,
            unjudged,
            len(table),
        )
    return unjudged
