"""Rows of one name in a table: files may have a pair twice, but then it is the same pair.

Each row counts, as often as a benchmark's files have it. What must not be is that one name stands
for different things, since rows of other tables are looked up by it.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.errors import UserError


def count_repeats(
    table: pa.Table, keys: Sequence[str], alike: Sequence[str], path: Path, what: str
) -> int:
    """How many rows have the ``keys`` of a row before them.

    Raises UserError, naming ``path``, where they do not have its values in the columns ``alike``:
    rows of ``what``.
    """
    names = pc.binary_join_element_wise(*(table[key].cast(pa.string()) for key in keys), "\t")
    names = names.combine_chunks()
    first = pc.index_in(names, value_set=names).to_numpy(zero_copy_only=False)
    again = np.flatnonzero(first != np.arange(len(first)))
    if len(again):
        values = table.select([*alike])
        # As text, since no number is like NaN.
        pairs = (values.take(pa.array(rows)).to_pylist() for rows in (again, first[again]))
        for row, (mine, before) in zip(again, zip(*pairs, strict=True), strict=True):
            if repr(mine) != repr(before):
                name = names[int(row)].as_py().replace("\t", " ")
                raise UserError(
                    f"{path}: rows {first[row] + 1} and {row + 1} are both of {name!r}, but have "
                    f"different {what}; expected one name for each. Build the table again."
                )
    return len(again)
