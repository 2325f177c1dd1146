"""Files of the catalogue's tables: separated by tabs, or by commas where they are called .csv."""

import csv
import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from blimpworks.errors import UserError

Row = TypeVar("Row")


def dialect(table: Path) -> dict[str, Any]:
    """How the cells of a table are separated, for the csv module: quoted in a .csv alone."""
    if table.suffix == ".csv":
        return {}
    return {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}


def headings(table: Path) -> list[str]:
    """Headings of a table; none where there is no such file, or it is empty."""
    text = table.read_text(encoding="utf-8", errors="replace") if table.is_file() else ""
    return next(csv.reader(text.splitlines()[:1], **dialect(table)), [])


def named_row(rows: Mapping[str, Row], name: str, table: Path) -> Row:
    """The row of a table that is called ``name``. Raises UserError where there is none."""
    if name not in rows:
        close = difflib.get_close_matches(name, rows, n=1, cutoff=0.0)
        hint = f"did you mean {close[0]}?" if close else "the table is empty."
        raise UserError(f"{table} has no row {name!r}; {hint}")
    return rows[name]
