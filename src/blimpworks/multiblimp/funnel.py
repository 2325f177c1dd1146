"""How many pairs each stage kept and each filter dropped, as one small table per stage."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from blimpworks.tables import FUNNEL, write_table


def write_funnel(path: Path, lang: str, stage: str, counts: Mapping[str, int]) -> None:
    """Write the ``funnel`` table of one stage; the order of ``counts`` is kept."""
    table = pa.table(
        {
            "lang": [lang] * len(counts),
            "stage": [stage] * len(counts),
            "reason": list(counts),
            "n": list(counts.values()),
        }
    )
    write_table(table, FUNNEL, path)
