"""CSV files that people open in a spreadsheet, fill in and save again: written, read, checked.

Spreadsheets take a cell that starts with one of a few signs for a formula, and run it. An
apostrophe in front keeps them from it; reading takes it away again.
"""

import csv
import io
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from blimpworks.errors import UserError, reading
from blimpworks.files import atomic, cells_of_any_size, text_of

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n")
GUARD = "'"
SEPARATORS = ",;\t"
LISTED = 5
"""Wrong rows that a message names."""


class Line(NamedTuple):
    """A row of a file by column, and the line that it starts in."""

    number: int
    cells: dict[str, str]


def guarded(text: str) -> str:
    """``text`` as no spreadsheet takes it for a formula; what is guarded already, once more.

    >>> guarded("=1+1"), guarded("'tis")
    ("'=1+1", "''tis")
    """
    return GUARD + text if text.startswith((*FORMULA_SIGNS, GUARD)) else text


def unguarded(text: str) -> str:
    """The text that ``guarded`` was given."""
    return text.removeprefix(GUARD)


def write_sheet(path: Path, columns: Sequence[str], rows: Iterable[Mapping[Any, str]]) -> None:
    """Write a sheet as UTF-8 CSV, with the mark by which spreadsheets know that it is UTF-8."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(columns)
        writer.writerows([guarded(row[column]) for column in columns] for row in rows)


def read_sheet(path: Path) -> list[Line]:
    """Rows of a sheet by column; between commas, semicolons or tabs, as its first line has them.

    Lines without any text are left out. Raises UserError for a file that is missing or not
    UTF-8, for repeated columns, and for rows with more or fewer cells than there are columns.
    """
    with reading(path, "a filled annotation sheet", "Save the sheet as CSV in UTF-8."):
        text = text_of(path, "utf-8-sig")
    head = text.partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    lines = []
    with cells_of_any_size():
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        columns = [unguarded(name.strip()) for name in next(rows, [])]
        if len({*columns}) < len(columns):
            raise UserError(f"{path}:1: a column is named twice; expected a name for each.")
        start = rows.line_num + 1
        for row in rows:
            if len(row) != len(columns) and any(row):
                raise UserError(
                    f"{path}:{start}: {len(row)} cells, expected {len(columns)} as in line 1; "
                    "save the sheet as CSV again."
                )
            if any(cell.strip() for cell in row):
                lines.append(Line(start, dict(zip(columns, map(unguarded, row), strict=True))))
            start = rows.line_num + 1
    return lines


def plain(text: str) -> str:
    """A text without what saving it from a spreadsheet may change."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def annotator_of(path: Path) -> str:
    """The annotator of a file's labels: what follows the last dot in its name's stem."""
    return path.stem.rpartition(".")[2]


def refuse(problems: Sequence[str]) -> None:
    """Raise UserError with the first of some ``problems``, a line each, if there are any."""
    if problems:
        more = len(problems) - LISTED
        rest = [f"{more} more rows are wrong."] if more > 0 else []
        raise UserError("\n".join([*problems[:LISTED], *rest]))


def refuse_lines(path: Path, problems: Iterable[tuple[Line, str]]) -> None:
    """Raise UserError for the lines of a file that have a problem, a sentence that is not empty."""
    refuse([f"{path}:{line.number}: {problem}" for line, problem in problems if problem])
