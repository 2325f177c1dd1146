"""Read rows of files in the formats of released benchmarks, with the line of each row.

``Table.rows`` (at the end of the class) yields the number of each line and its cells, such as
``(2, {"good": "…", "bad": "…"})``. It calls the function for the file's format in ``READERS``.

Only line feeds end lines, since sentences may hold Unicode's other separators. The csv module reads
strictly, whereas pandas silently fills short rows, and pyarrow accepts text after a closing
quotation mark.
"""

import codecs
import csv
import io
import json
import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from blimpworks.benchmarks.account import BLANK, Account
from blimpworks.benchmarks.declaration import People
from blimpworks.benchmarks.entries import PlainFiles
from blimpworks.errors import UserError, reading
from blimpworks.files import cells_of_any_size, load_json

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl"}
SUFFIXES |= {".parquet": "parquet", ".xlsx": "xlsx", ".txt": "txt"}
"""Format of files, by suffix."""
NO_VALUE = ("", "na", "n/a", "nan", "null", "none")
"""Texts that programs write where there is no value, in lower case."""
SEPARATORS = ",;\t|"
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')
"""A cell in quotes of csv that contains a quotation mark, such as ``"He said ""no""."``."""
Cells = Iterator[tuple[int, dict[str, Any]]]
"""Numbers of lines, rows or records, from 1, each with its cells by column."""
LeavesOut = Callable[..., bool]
"""Function that counts a line (number, whether it is blank), and tells whether it is left out."""


@dataclass(frozen=True)
class Table:
    """A file in memory, and the entry of the declaration that says how to read it."""

    name: str
    content: bytes
    entry: PlainFiles

    @cached_property
    def format(self) -> str:
        """Format, as declared or by the suffix. Raises UserError for an unknown suffix."""
        suffix = PurePosixPath(self.name).suffix.lower()
        name = self.entry.format or SUFFIXES.get(suffix)
        if name is None:
            raise UserError(
                f"{self.name}: the suffix {suffix!r} is of no known format "
                f"({', '.join(SUFFIXES)}); add 'format' to its entry in data."
            )
        return name

    @cached_property
    def encoding(self) -> str:
        """Encoding, as declared or by the byte order mark, else UTF-8."""
        for mark, name in BYTE_ORDER_MARKS.items():
            if self.entry.encoding is None and self.content.startswith(mark):
                return name
        return self.entry.encoding or "utf-8"

    @cached_property
    def text(self) -> str:
        """Text without byte order mark. Raises UserError for another encoding."""
        try:
            text = self.content.decode(self.encoding)
            if "\0" in text:
                raise UnicodeError("there is a NUL")
        except (UnicodeError, LookupError) as error:
            line = ""
            if isinstance(error, UnicodeDecodeError):
                line_feeds = self.content.count(b"\n", 0, error.start)
                line = f":{line_feeds + 1}"
            raise UserError(
                f"{self.name}{line} is not in {self.encoding} ({error}); state the file's "
                "encoding with 'encoding', such as cp1251 or latin-1."
            ) from error
        if self.entry.encoding:
            # Bytes of one encoding often decode in another one too, as other letters.
            fault = ""
            if re.search(r"[\x80-\x84\x86-\x9f]", text):
                fault = "has control characters, which in cp1252 are letters or marks"
            if not self.content.isascii() and codecs.lookup(self.encoding).name[:5] != "utf-8":
                with suppress(UnicodeError):
                    self.content.decode("utf-8")
                    fault = "is valid UTF-8 too, which text in another encoding hardly ever is"
            if fault:
                raise UserError(f"{self.name} as {self.encoding} {fault}; correct 'encoding'.")
        return text.removeprefix("\ufeff")

    @cached_property
    def lines(self) -> list[str]:
        """Lines without their ends. Raises UserError if all end at carriage returns."""
        if "\n" not in self.text and "\r" in self.text.rstrip("\r"):
            raise UserError(
                f"{self.name}: only carriage returns end its lines; expected line feeds. Save it "
                "again, as UTF-8 with line ends of Unix or Windows."
            )
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    @cached_property
    def separator(self) -> str:
        """Separator of a csv or tsv file, as declared or guessed from the first row."""
        if self.entry.separator or self.format == "tsv":
            return self.entry.separator or "\t"
        first = "".join(self.lines[self.entry.header_row - 1 :][:1])  # "" if the file is shorter
        if self.entry.columns and len(self.entry.columns) > 1:
            n_separators = len(self.entry.columns) - 1
            fitting = [mark for mark in SEPARATORS if first.count(mark) == n_separators]
            if len(fitting) > 1:
                raise UserError(
                    f"{self.name}: {' or '.join(map(repr, fitting))} may separate the cells of "
                    "this table without headings; name one as 'separator'."
                )
            if fitting:
                return fitting[0]
        return max(SEPARATORS, key=first.count)

    @property
    def quotes(self) -> str:
        """Meaning of quotation marks: ``csv``, or text (``none``, the default of tsv)."""
        return self.entry.quotes or ("none" if self.format == "tsv" else "csv")

    @property
    def reading(self) -> str:
        """Format, encoding, separator and quotes, for provenance records."""
        details = [self.format]
        if self.format not in ("parquet", "xlsx"):
            details.append(self.encoding)
        if self.format in ("csv", "tsv"):
            quotes = "text" if self.quotes == "none" else "of csv"
            details += [f"separated by {self.separator!r}", f"quotes are {quotes}"]
        return ", ".join(details)

    def rows(self, account: Account) -> Cells:
        """Yield all rows except those of ``skip_lines``; malformed rows become faults.

        Raises UserError for a file without rows, and a line of ``skip_lines`` without a row.
        """
        lines_to_skip = {*self.entry.skipped(self.name)}
        skipped: list[int] = []

        def leaves_out(line: int, blank: bool = False) -> bool:
            """Tell whether to leave out a line, and count it in the account."""
            if line in lines_to_skip:
                account.rows += 1
                account.left_out["skip_lines"] += 1
                skipped.append(line)
                return True
            # The last of ``lines`` is blank if a line feed ends the file.
            if blank and line < len(self.lines):
                account.notes[BLANK] += 1
            return blank

        first_line = None
        for line, cells in READERS[self.format](self, account, leaves_out):
            first_line = first_line or line
            yield line, cells
        # Skipped lines above the first row are headings, and no halves of pairs.
        account.left_out_lines[self.name] = [line for line in skipped if line > (first_line or 0)]
        if absent := lines_to_skip - {*skipped}:
            raise UserError(
                f"{account.entry}: 'skip_lines' names line {min(absent)} of {self.name}, which "
                "has no row there; correct it."
            )
        if self.format not in ("parquet", "xlsx") and (marks := self.text.count("\ufeff")):
            account.notes["byte order marks inside files, which are read as text"] += marks
        if first_line is None and not account.faults:
            raise UserError(f"{self.name} has no rows; expected some. Retrieve it again.")


def _csv_rows(table: Table, account: Account, leaves_out: LeavesOut) -> Cells:
    # With skipinitialspace, a quotation mark opens a cell after a separator and a space too.
    options: Any = {"delimiter": table.separator, "strict": True, "skipinitialspace": True}
    # Only if the declaration itself states "csv" may cells have line breaks. Where it states
    # nothing, a quotation mark that is not closed would otherwise swallow the next rows.
    read = _rows_over_lines if table.entry.quotes == "csv" else _rows_of_lines
    with cells_of_any_size():
        rows = [*read(table, account, leaves_out, options)]
    yield from _with_headings(table, rows, account)


def _rows_over_lines(
    table: Table, account: Account, leaves_out: LeavesOut, options: Any
) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of each row; cells in quotes may have line breaks."""
    reader, line = csv.reader((f"{text}\n" for text in table.lines), **options), 1
    try:
        for cells in reader:
            if not leaves_out(line, not cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        account.faults.append(
            f"{table.name}:{line}: {error}; correct the file, or write 'quotes: none' where "
            "quotation marks are text."
        )


def _rows_of_lines(
    table: Table, account: Account, leaves_out: LeavesOut, options: Any
) -> Iterator[tuple[int, list[str]]]:
    # Yield the line and the cells of each row, which is one line.
    for line, text in enumerate(table.lines, start=1):
        if leaves_out(line, not text):
            continue
        if table.quotes == "none":
            cells = text.split(table.separator)
            if table.entry.quotes is None:  # the default of tsv, which may be wrong
                _check_quotes(table, line, cells)
            yield line, cells
            continue
        try:
            [cells] = csv.reader([text], **options)
            yield line, cells
        except csv.Error as error:
            account.faults.append(
                f"{table.name}:{line}: a quotation mark is not closed before the cell or the line "
                f"ends ({error}); write 'quotes: none' where quotation marks are text, or 'quotes: "
                "csv' where cells hold line breaks."
            )


def _check_quotes(table: Table, line: int, cells: Sequence[str]) -> None:
    """Raise UserError if a cell of a tsv file is evidently in quotes of csv.

    Evident are a cell such as ``"He said ""no""."``, and a heading in quotes. So is a row in which
    all texts, but not numbers, are in quotes.
    """
    suspects = [cell for cell in cells if QUOTED.fullmatch(cell)]
    if not suspects:
        in_quotes = [cell for cell in cells if len(cell) > 1 and cell[0] == cell[-1] == '"']
        texts = [cell for cell in cells if cell and not cell.replace(".", "").isdecimal()]
        is_heading = line == table.entry.header_row and not table.entry.columns
        suspects = in_quotes if is_heading or in_quotes == texts else []
    if suspects:
        raise UserError(
            f"{table.name}:{line}: the quotes of the cell {suspects[0]!r:.60} look like those of "
            "csv; write 'quotes: csv' if they enclose the text, 'quotes: none' if they are text."
        )


def _with_headings(
    table: Table, rows: Iterable[tuple[int, Sequence[object]]], account: Account
) -> Cells:
    """Yield cells by heading, from ``columns`` or the row ``header_row``.

    If the entry ``is_wide``, headings may be repeated; the key "" then has a list of all pairs
    (heading, cell). Raises UserError for other repeated headings, and ``columns`` that repeat them.
    """
    names: Sequence[str] | None = table.entry.columns
    for number, (line, cells) in enumerate(rows):
        if number == 0 and table.entry.columns:
            headings = {*table.entry.columns} & {as_text(cell).strip() for cell in cells}
            if headings:
                raise UserError(
                    f"{table.name}:{line}: the first row has the cell {min(headings)!r}, a name of "
                    "'columns', which is for tables without headings; leave 'columns' out, or the "
                    "line with 'skip_lines'. If the row is an item, rename the column."
                )
        if names is None:
            if line < table.entry.header_row:
                continue
            names = [as_text(cell).strip() for cell in cells]
            repeated = [name for name in names if name and names.count(name) > 1]
            if repeated and not is_wide(table.entry):
                raise UserError(
                    f"{table.name}:{line}: the heading {repeated[0]!r} is in several columns; "
                    "name distinct ones with 'columns', and leave this line out with 'skip_lines'."
                )
        elif len(cells) != len(names):
            account.faults.append(
                f"{table.name}:{line}: {len(cells)} cells, but {len(names)} columns; check "
                f"'separator' ({table.separator!r}) and 'quotes' ({table.quotes})."
            )
        else:
            pairs: list[tuple[str, Any]] = [*zip(names, cells, strict=True)]
            if is_wide(table.entry):
                distinct = [pair for pair in pairs if names.count(pair[0]) == 1]
                pairs = [*distinct, ("", pairs)]
            yield line, dict(pairs)
    if names is None:
        raise UserError(f"{table.name} is empty; expected a row of headings. Retrieve it again.")


def is_wide(entry: PlainFiles) -> bool:
    """Tell whether each column has the ratings of one sentence, and headings may be repeated."""
    return isinstance(entry, People) and entry.kind == "ratings" and entry.headings is not None


def _values_inside(value: object, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of each value inside another: ``meta, {"id": 7}`` and ``meta.id, 7``."""
    if path:
        yield path, value
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield from _values_inside(child, f"{path}.{key}" if path else str(key))


def _records(
    table: Table, values: Iterable[tuple[int, Any]], account: Account, leaves_out: LeavesOut
) -> Cells:
    # Yield the cells of JSON objects, by dotted path; other values become faults.
    for line, value in values:
        if leaves_out(line):
            continue
        if not isinstance(value, dict):
            account.faults.append(f"{table.name}:{line} is {value!r:.60}; expected an object.")
            continue
        values_inside = [*_values_inside(value)]
        cells = dict(values_inside)
        if len(cells) < len(values_inside):
            [(name, _)] = Counter(name for name, _ in values_inside).most_common(1)
            account.faults.append(
                f"{table.name}:{line}: {name!r} is a key with a dot, and a path too; rename one."
            )
            continue
        yield line, cells


def _json_lines(table: Table, account: Account, leaves_out: LeavesOut) -> Cells:
    values: list[tuple[int, Any]] = []
    for line, text in enumerate(table.lines, start=1):
        if not leaves_out(line, not text.strip()):
            with account.collecting():
                values.append((line, _parsed(text, table, line)))
    yield from _records(table, values, account, leaves_out)


def _parsed(text: str, table: Table, line: int) -> Any:
    try:
        value = load_json(text)
        # UTF-8 cannot encode a lone surrogate, half of a character, such as \\ud83d.
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError) as error:
        raise UserError(f"{table.name}:{line} is no JSON ({error}); retrieve it again.") from error


def _json_rows(table: Table, account: Account, leaves_out: LeavesOut) -> Cells:
    content = _parsed(table.text, table, 1)
    for key in table.entry.records.split(".") if table.entry.records else ():
        if not isinstance(content, dict) or key not in content:
            keys = ", ".join(content) if isinstance(content, dict) else type(content).__name__
            raise UserError(
                f"{table.name} has no {table.entry.records!r} (it has: {keys}); correct 'records'."
            )
        content = content[key]
    column = table.entry.keys_as
    if column is not None:
        lists = [*content.values()] if isinstance(content, dict) else [content]
        is_mapping = isinstance(content, dict) and all(isinstance(value, list) for value in lists)
        if not is_mapping or not all(isinstance(record, dict) for record in chain(*lists)):
            raise UserError(
                f"{table.name} is {content!r:.60}; expected a mapping from keys to lists of "
                "records. Correct 'records', or leave 'keys_as' out."
            )
        content = [{**record, column: key} for key in content for record in content[key]]
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise UserError(
            f"{table.name} is {content!r:.60}; expected a list of records. Name its key with "
            "'records'."
        )
    yield from _records(table, enumerate(content, start=1), account, leaves_out)


def _parquet_rows(table: Table, account: Account, leaves_out: LeavesOut) -> Cells:
    import pyarrow.parquet as pq

    with reading(Path(table.name), "a Parquet file", "Retrieve it again."):
        rows = pq.read_table(io.BytesIO(table.content), page_checksum_verification=True).to_pylist()
    yield from _records(table, enumerate(rows, start=1), account, leaves_out)


def _sheet_rows(table: Table, account: Account, leaves_out: LeavesOut) -> Cells:
    import openpyxl
    from openpyxl.utils.escape import unescape

    with reading(Path(table.name), "an xlsx file", "Save it as one."):
        try:
            # With read_only, openpyxl trusts the sheet's size as the file states it.
            book = openpyxl.load_workbook(io.BytesIO(table.content), data_only=True)
        except (KeyError, zipfile.BadZipFile) as error:
            raise ValueError(f"it is no xlsx file ({error})") from error
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    first = next(iter(sheets.values()), None)
    sheet = sheets.get(table.entry.sheet) if table.entry.sheet else first
    if sheet is None:
        raise UserError(
            f"{table.name} has no sheet {table.entry.sheet or 'of cells'!r} (it has: "
            f"{', '.join(sheets)}); correct 'sheet'."
        )
    for unread in book.worksheets[1:]:
        if table.entry.sheet is None and any(map(any, unread.values)):
            account.notes["sheets after the first, which are not read"] += 1
    rows: list[tuple[int, Sequence[object]]] = []
    for line, row in enumerate(sheet.iter_rows(), start=1):
        # A cell with an error of a formula, such as #NAME?, has no value. Excel writes some
        # characters as codes, such as _x000D_ for a carriage return.
        values = [None if cell.data_type == "e" else cell.value for cell in row]
        cells = [unescape(value) if isinstance(value, str) else value for value in values]
        if any(map(as_text, cells)) and not leaves_out(line):
            rows.append((line, cells))
    yield from _with_headings(table, rows, account)


def _text_rows(table: Table, account: Account, leaves_out: LeavesOut) -> Cells:
    column, *more = table.entry.columns or ("text",)
    if more:
        raise UserError(f"{table.name} is plain text, and has one column; correct 'columns'.")
    lines = table.lines[:-1] if not table.lines[-1] else table.lines
    for line, text in enumerate(lines, start=1):
        if leaves_out(line):
            continue
        if not text.strip() and column not in table.entry.allow_empty:
            account.faults.append(
                f"{table.name}:{line} is empty; expected a sentence. Correct the file, or add "
                f"'allow_empty: [{column}]'."
            )
        yield line, {column: text}


READERS: Mapping[str, Callable[[Table, Account, LeavesOut], Cells]] = {
    "csv": _csv_rows,
    "tsv": _csv_rows,
    "jsonl": _json_lines,
    "json": _json_rows,
    "parquet": _parquet_rows,
    "xlsx": _sheet_rows,
    "txt": _text_rows,
}


def as_text(value: object) -> str:
    """Return a cell as text: integral numbers without a point, truth values in lower case.

    A missing value, None or NaN, is an empty text.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if is_missing else str(value)
