"""Tables of the catalogue: tab-separated, or comma-separated in .csv files."""

import csv
import difflib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from blimpworks.campaign.addresses import shown
from blimpworks.errors import UserError, reading
from blimpworks.files import BadLine, text_of

Named = TypeVar("Named")
Row = TypeVar("Row", bound=BaseModel)


def dialect(table: Path) -> dict[str, Any]:
    """Return a table's format for the csv module: quotes only in .csv files."""
    if table.suffix == ".csv":
        return {}
    return {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}


def headings(table: Path) -> list[str]:
    """Return the headings of a table; none where the file is missing or empty."""
    text = table.read_text(encoding="utf-8", errors="replace") if table.is_file() else ""
    return next(csv.reader(text.splitlines()[:1], **dialect(table)), [])


def named_row(rows: Mapping[str, Named], name: str, table: Path) -> Named:
    """Return the row ``name`` of a table. Raises UserError where there is none."""
    if name not in rows:
        close = difflib.get_close_matches(name, rows, n=1, cutoff=0.0)
        hint = f"did you mean {close[0]}?" if close else "the table is empty."
        raise UserError(f"{table} has no row {name!r}; {hint}")
    return rows[name]


def keyed(rows: Sequence[Named], key: str, path: Path) -> dict[str, Named]:
    """Return rows by one of their fields. Raises UserError for a repeated value."""
    names = Counter(getattr(row, key) for row in rows)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise UserError(f"{path}: {key} {twice[0]!r} stands in {names[twice[0]]} rows; keep one.")
    return {getattr(row, key): row for row in rows}


def read_rows(kind: type[Row], path: Path) -> list[Row]:
    """Read a table with headings and check each row against its model.

    Columns whose field has a default may be absent. Raises UserError with file, line and column of
    the first wrong cell.
    """
    expected = reading(path, f"a table of {kind.__name__}", "Write it so, in UTF-8.")
    with expected, io.StringIO(text_of(path), newline="") as handle:
        reader = csv.DictReader(handle, **dialect(path))
        _check_header(reader.fieldnames or [], kind, path)
        lines: dict[str, int] = {}
        rows = []
        for row in reader:
            line = reader.line_num
            if (first := lines.setdefault(repr(row), line)) != line:
                raise BadLine(line, f"the row stands in line {first} too")
            rows.append(_row(kind, row, path, line))
        return rows


def _check_header(header: Sequence[str], kind: type[BaseModel], path: Path) -> None:
    expected = list(kind.model_fields)
    required = [name for name in expected if kind.model_fields[name].is_required()]
    if len(header) > len({*header}) or not {*required} <= {*header} <= {*expected}:
        unknown = ", ".join(sorted(set(header) - set(expected))) or "none"
        missing = ", ".join(sorted(set(required) - set(header))) or "none"
        raise UserError(
            f"{path}:1: unknown columns: {unknown:.100}; missing columns: {missing}. "
            f"Expected: {', '.join(expected)}."
        )


def _row(kind: type[Row], row: dict[str, str], path: Path, line: int) -> Row:
    # Of cells beyond the last heading the reader makes a list, of absent ones None.
    if None in row or None in row.values():
        more_or_fewer, headings = "more" if None in row else "fewer", row.keys() - {None}
        raise UserError(
            f"{path}:{line}: {more_or_fewer} cells than headings ({len(headings)}); add or remove "
            "separators, and in a .csv put quotes around a cell that holds commas."
        )
    try:
        return kind.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        column = ".".join(str(location) for location in first["loc"])
        cell = shown(row[column]) if column == "url" else first["input"]
        where = f"column {column!r} is {cell!r}: " if column else ""
        raise UserError(f"{path}:{line}: {where}{first['msg'].lower()}.") from error
