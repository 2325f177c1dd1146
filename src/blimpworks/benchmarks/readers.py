"""Rows of tables in the formats that benchmarks are released in, with the line of each.

Lines end at a line feed alone, since sentences may hold any other separator of Unicode. The csv
module reads strictly: pandas fills short rows with nothing, and pyarrow takes text after a closing
quotation mark, both without a word.
"""

import csv
import io
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.declaration import People
from blimpworks.benchmarks.entries import Files
from blimpworks.errors import UserError, reading
from blimpworks.json_files import load_json

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl"}
SUFFIXES |= {".parquet": "parquet", ".xlsx": "xlsx"}
SEPARATORS = ",;\t|"
MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""Encodings by the byte order mark that files begin with."""
QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')
"""A cell in the quotes of csv that holds a quotation mark."""
Cells = Iterator[tuple[int, dict[str, Any]]]
"""Lines, rows or records from 1, each with its cells by column."""

csv.field_size_limit(sys.maxsize)


@dataclass(frozen=True)
class Table:
    """A file in memory, and how it is read."""

    name: str
    content: bytes
    how: Files

    @cached_property
    def format(self) -> str:
        """Format, by declaration or suffix. Raises UserError where neither says it."""
        suffix = PurePosixPath(self.name).suffix.lower()
        name = self.how.format or SUFFIXES.get(suffix)
        if name is None:
            raise UserError(
                f"{self.name}: the suffix {suffix!r} is of no known format "
                f"({', '.join(SUFFIXES)}); add 'format' to its entry in data."
            )
        return name

    @cached_property
    def encoding(self) -> str:
        """Encoding, by declaration or byte order mark, else UTF-8."""
        marked = (name for mark, name in MARKS.items() if self.content.startswith(mark))
        return self.how.encoding or next(marked, "utf-8")

    @cached_property
    def text(self) -> str:
        """The decoded text without byte order mark. Raises UserError for another encoding."""
        try:
            text = self.content.decode(self.encoding)
            if "\0" in text:
                raise UnicodeError("there is a NUL")
        except (UnicodeError, LookupError) as error:
            line = ""
            if isinstance(error, UnicodeDecodeError):
                line = f":{self.content.count(10, 0, error.start) + 1}"
            raise UserError(
                f"{self.name}{line} is not in {self.encoding} ({error}); state the file's "
                "encoding with 'encoding', such as cp1251 or latin-1."
            ) from error
        return text.removeprefix("\ufeff")

    @cached_property
    def lines(self) -> list[str]:
        """Lines of the text, without what ends them."""
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    @cached_property
    def separator(self) -> str:
        """Separator of a csv or tsv file, by declaration or the one that the headings have."""
        if self.how.separator or self.format == "tsv":
            return self.how.separator or "\t"
        headings = "".join(self.lines[self.how.header_row - 1 :][:1])
        return max(SEPARATORS, key=headings.count)

    @property
    def quotes(self) -> str:
        """What quotation marks are: of ``csv``, or text (``none``, the default of tsv)."""
        return self.how.quotes or ("none" if self.format == "tsv" else "csv")

    @property
    def reading(self) -> str:
        """How it is read, for records."""
        details = [self.format]
        if self.format not in ("parquet", "xlsx"):
            details.append(self.encoding)
        if self.format in ("csv", "tsv"):
            quotes = "text" if self.quotes == "none" else "of csv"
            details += [f"separated by {self.separator!r}", f"quotes are {quotes}"]
        return ", ".join(details)

    def rows(self, account: Account) -> Cells:
        """Rows of the table; those that ``skip_lines`` names are left out, and counted.

        Malformed rows become faults of the ``account``. Raises UserError where nothing can be
        read.
        """
        skipped = {*self.how.skipped(self.name)}
        read = False
        for line, cells in READERS[self.format](self, account, skipped):
            read = True
            yield line, cells
        if skipped:
            raise UserError(
                f"{account.entry}: 'skip_lines' names line {min(skipped)} of {self.name}, which "
                "has no row there; correct it."
            )
        if not read and not account.faults:
            raise UserError(f"{self.name} has no rows; expected some. Retrieve it again.")


def _is_skipped(line: int, account: Account, skipped: set[int]) -> bool:
    """Whether a line is to be left out; then it is counted, and no longer expected."""
    if line not in skipped:
        return False
    skipped.discard(line)
    account.rows += 1
    account.left_out["skip_lines"] += 1
    return True


def _csv_rows(table: Table, account: Account, skipped: set[int]) -> Cells:
    yield from _with_headings(table, _csv_cells(table, account, skipped), account)


def _csv_cells(
    table: Table, account: Account, skipped: set[int]
) -> Iterator[tuple[int, Sequence[str]]]:
    """Cells of each line, or of each row where ``quotes: csv`` allows line breaks in cells."""
    if table.how.quotes == "csv":
        reader = csv.reader(
            (f"{line}\n" for line in table.lines), delimiter=table.separator, strict=True
        )
        line = 1
        try:
            for cells in reader:
                if cells and not _is_skipped(line, account, skipped):
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            account.faults.append(
                f"{table.name}:{line}: {error}; correct the file, or write 'quotes: none' where "
                "quotation marks are text."
            )
        return
    for line, text in enumerate(table.lines, start=1):
        if not text or _is_skipped(line, account, skipped):
            continue
        if table.quotes == "none":
            cells = text.split(table.separator)
            if table.how.quotes is None:
                _check_quotes(table, line, cells)
            yield line, cells
            continue
        try:
            yield line, next(csv.reader([text], delimiter=table.separator, strict=True))
        except csv.Error as error:
            account.faults.append(
                f"{table.name}:{line}: a quotation mark is not closed before the cell or the line "
                f"ends ({error}); write 'quotes: none' where quotation marks are text, or 'quotes: "
                "csv' where cells hold line breaks."
            )


def _check_quotes(table: Table, line: int, cells: Sequence[str]) -> None:
    """Refuse a table that was written with the quotes of csv, if nobody says what they are."""
    quoted = next((cell for cell in cells if QUOTED.fullmatch(cell)), None)
    if quoted is None and line == table.how.header_row and not table.how.columns:
        quoted = next((c for c in cells if len(c) > 1 and c[0] == c[-1] == '"'), None)
    if quoted is not None:
        raise UserError(
            f"{table.name}:{line}: the cell {quoted!r:.60} looks like one in the quotes of csv; "
            "write 'quotes: csv' where they are no part of the text, or 'quotes: none' where they "
            "are."
        )


def _with_headings(
    table: Table, rows: Iterable[tuple[int, Sequence[object]]], account: Account
) -> Cells:
    """Cells of rows below the headings, by heading."""
    names: Sequence[str] | None = table.how.columns
    for line, cells in rows:
        if names is not None:
            if len(cells) == len(names):
                yield line, _by_name(names, cells, table)
                continue
            account.faults.append(
                f"{table.name}:{line}: {len(cells)} cells, but {len(names)} columns; check "
                f"'separator' ({table.separator!r}) and 'quotes' ({table.quotes})."
            )
        elif line >= table.how.header_row:
            names = _headings(cells, table, line)
    if names is None:
        raise UserError(f"{table.name} is empty; expected a row of headings. Retrieve it again.")


def _headings(cells: Sequence[object], table: Table, line: int) -> list[str]:
    names = [as_text(cell).strip() for cell in cells]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None and not _is_wide(table):
        raise UserError(
            f"{table.name}:{line}: the heading {twice!r} stands in several columns; expected "
            "distinct ones. State them with 'columns'."
        )
    return names


def _is_wide(table: Table) -> bool:
    """Whether each column has the ratings of a sentence, so that headings repeat."""
    return isinstance(table.how, People) and table.how.headings is not None


def _by_name(names: Sequence[str], cells: Sequence[object], table: Table) -> dict[str, Any]:
    pairs = [*zip(names, cells, strict=True)]
    return {"": pairs} if _is_wide(table) else dict(pairs)


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves of a record by dotted path, and its lists as they are too."""
    if path:
        yield path, value
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield from _leaves(child, f"{path}.{key}" if path else str(key))


def _records(
    table: Table, values: Iterable[tuple[int, Any]], account: Account, skipped: set[int]
) -> Cells:
    """Fields of records by dotted path; what is no record becomes a fault."""
    for line, value in values:
        if _is_skipped(line, account, skipped):
            continue
        if not isinstance(value, dict):
            account.faults.append(
                f"{table.name}:{line} is {value!r:.60}; expected an object with fields."
            )
            continue
        leaves = [*_leaves(value)]
        cells = dict(leaves)
        if len(cells) < len(leaves):
            names = [name for name, _ in leaves]
            twice = next(name for name in names if names.count(name) > 1)
            account.faults.append(
                f"{table.name}:{line}: {twice!r} is a key with a dot, and a path too; rename one."
            )
            continue
        yield line, cells


def _json_lines(table: Table, account: Account, skipped: set[int]) -> Cells:
    values: list[tuple[int, Any]] = []
    for line, text in enumerate(table.lines, start=1):
        if line in skipped:
            values.append((line, None))
        elif text.strip():
            with account.collecting():
                values.append((line, _parsed(text, table, line)))
    yield from _records(table, values, account, skipped)


def _parsed(text: str, table: Table, line: int) -> Any:
    try:
        return load_json(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{table.name}:{line} is no JSON ({error}); retrieve it again.") from error


def _json_rows(table: Table, account: Account, skipped: set[int]) -> Cells:
    content = _parsed(table.text, table, 1)
    for key in (table.how.records or "").split(".") if table.how.records else ():
        if not isinstance(content, dict) or key not in content:
            keys = ", ".join(content) if isinstance(content, dict) else type(content).__name__
            raise UserError(
                f"{table.name} has no {table.how.records!r} (it has: {keys}); correct 'records'."
            )
        content = content[key]
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise UserError(
            f"{table.name} is {content!r:.60}; expected a list of records. Name its key with "
            "'records'."
        )
    yield from _records(table, enumerate(content, start=1), account, skipped)


def _parquet_rows(table: Table, account: Account, skipped: set[int]) -> Cells:
    import pyarrow.parquet as pq

    with reading(Path(table.name), "a Parquet file", "Retrieve it again."):
        rows = pq.read_table(io.BytesIO(table.content), page_checksum_verification=True).to_pylist()
    yield from _records(table, enumerate(rows, start=1), account, skipped)


def _sheet_rows(table: Table, account: Account, skipped: set[int]) -> Cells:
    import openpyxl

    with reading(Path(table.name), "an xlsx file", "Save it as one."):
        try:
            book = openpyxl.load_workbook(io.BytesIO(table.content), read_only=True, data_only=True)
        except (KeyError, zipfile.BadZipFile) as error:
            raise ValueError(f"it is no xlsx file ({error})") from error
    sheet = table.how.sheet or book.sheetnames[0]
    if sheet not in book.sheetnames:
        raise UserError(
            f"{table.name} has no sheet {sheet!r} (it has: {', '.join(book.sheetnames)}); correct "
            "'sheet'."
        )
    rows = (
        (line, cells)
        for line, cells in enumerate(book[sheet].iter_rows(values_only=True), start=1)
        if any(map(as_text, cells)) and not _is_skipped(line, account, skipped)
    )
    yield from _with_headings(table, rows, account)


READERS: Mapping[str, Callable[[Table, Account, set[int]], Cells]] = {
    "csv": _csv_rows,
    "tsv": _csv_rows,
    "jsonl": _json_lines,
    "json": _json_rows,
    "parquet": _parquet_rows,
    "xlsx": _sheet_rows,
}


def as_text(value: object) -> str:
    """A cell as text: whole numbers without a point, truth values in lower case."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)
