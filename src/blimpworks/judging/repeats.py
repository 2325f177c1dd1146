"""Count repeated names in a table.

Files may have a pair twice, and each row counts. One name must not have different contents, since
other tables look rows up by name.
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
    """Return how many rows repeat the ``keys`` of an earlier row.

    Raises UserError that names ``path`` and ``what`` if such a row differs in the columns
    ``alike``.
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
