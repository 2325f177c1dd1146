"""Whether the file that somebody asks about is the one that its job wrote."""

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError, reading
from blimpworks.files import sha256_of, sidecar_path
from blimpworks.records.reading import OWN_HASH, output_hash, record_hash, record_of


def require_as_recorded(path: Path) -> None:
    """Raise UserError where a product, or the record of its job, was edited since it was written.

    A file without a record, or that is not there, is for others to refuse.
    """
    record = record_of(path) if path.is_file() else None
    if record is None:
        return
    if OWN_HASH in record and record_hash(record) != record[OWN_HASH]:
        own = sidecar_path(Path(record["outputs"][0]["path"]))
        raise UserError(f"{own} was edited since its job wrote it. Make {path} anew: remove it.")
    actual, recorded = sha256_of(path), output_hash(record, path)
    if actual != recorded:
        raise UserError(
            f"{path} is not what its job wrote: its SHA-256 is {actual[:16]}…, the record says "
            f"{recorded[:16]}…. Remove it and run snakemake again."
        )


def _field(path: Path, row: str, column: str) -> str | None:
    """The field of a CSV table in a row and column, None unless it is the only one there."""
    expected = reading(path, "a table of an exhibit", "Build it.")
    with expected, path.open(encoding="utf-8", newline="") as file:
        header, *lines = [*csv.reader(file)] or [[]]
    rows = [line for line in lines if row in line and len(line) == len(header)]
    if len(rows) != 1 or header.count(column) != 1:
        return None
    field: str = rows[0][header.index(column)]
    return field


def require_shown(path: Path, cell: Mapping[str, Any]) -> None:
    """Raise UserError where a CSV table has another number than the cell that it shows."""
    # An exhibit may be named by a file that it does not have: a figure has no CSV table.
    is_table = path.suffix == ".csv" and path.is_file()
    field = _field(path, cell["row"], cell["column"]) if is_table else None
    if field is None or field == cell["text"]:
        return
    try:
        same = math.isclose(float(field), cell["value"], rel_tol=1e-9)
    except ValueError:
        return
    if not same:
        raise UserError(
            f"{path} has {field} in row {cell['row']}, column {cell['column']}, but its cells "
            f"have {cell['value']:.10g}. It was edited: remove it and run snakemake again."
        )
