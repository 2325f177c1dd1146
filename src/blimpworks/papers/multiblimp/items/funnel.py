"""How many pairs each stage kept and each filter dropped, as one small table per stage."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from blimpworks.tables import FUNNEL, write_table


def write_funnel(path: Path, lang: str, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Write the ``funnel`` table of one rule: stage -> reason -> how many; the order is kept."""
    rows = [(stage, reason, n) for stage, found in counts.items() for reason, n in found.items()]
    stages, reasons, numbers = zip(*rows, strict=True)
    table = pa.table(
        {
            "lang": [lang] * len(rows),
            "stage": list(stages),
            "reason": list(reasons),
            "n": pa.array(numbers, pa.int32()),
        }
    )
    write_table(table, FUNNEL, path)
