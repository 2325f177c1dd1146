"""Rows of files in the formats that benchmarks are released in, with the line of each."""

import bz2
import csv
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from blimpworks import errors
from blimpworks.benchmarks.declaration import People, declaration_in
from blimpworks.benchmarks.entries import Files
from blimpworks.benchmarks.names import columns_in
from blimpworks.errors import UserError, reading
from blimpworks.files import below, relative
from blimpworks.json_files import load_json

COMPRESSED: Mapping[str, Callable[[bytes], bytes]] = {
    ".xz": lzma.decompress,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
}
ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl"}
SUFFIXES |= {".parquet": "parquet", ".xlsx": "xlsx"}
SEPARATORS = ",;\t|"
MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""Encodings by the byte order mark that files begin with."""
BROKEN = (
    *(OSError, ValueError, RuntimeError, struct.error, tarfile.TarError, zipfile.BadZipFile),
    *errors.BROKEN,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file: its cells by column, and where it stands."""

    cells: Mapping[str, Any]
    file: str
    """Name of the file; of one inside an archive ARCHIVE/MEMBER."""
    line: int
    """Line, row or record, from 1."""

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Table:
    """A file in memory, and how it is read."""

    name: str
    content: bytes
    how: Files

    @property
    def format(self) -> str:
        """Format, by declaration or suffix. Raises UserError where neither says it."""
        suffix = PurePosixPath(self.name).suffix.lower()
        kind = self.how.format or SUFFIXES.get(suffix)
        if kind is None:
            raise UserError(
                f"{self.name}: the suffix {suffix!r} is of no known format "
                f"({', '.join(SUFFIXES)}); add 'format' to its entry in data."
            )
        return kind

    @property
    def encoding(self) -> str:
        """Encoding, by declaration or byte order mark, else UTF-8."""
        marked = (name for mark, name in MARKS.items() if self.content.startswith(mark))
        return self.how.encoding or next(marked, "utf-8")

    @property
    def text(self) -> str:
        """The decoded text. Raises UserError where it is not in the encoding."""
        try:
            text = self.content.decode(self.encoding)
            if "\0" in text:
                raise UnicodeError("there is a NUL")
        except (UnicodeError, LookupError) as error:
            place = ""
            if isinstance(error, UnicodeDecodeError):
                place = f":{self.content.count(10, 0, error.start) + 1}"
            raise UserError(
                f"{self.name}{place} is not in {self.encoding} ({error}); state the file's "
                "encoding with 'encoding', such as cp1251 or latin-1."
            ) from error
        return text

    @property
    def separator(self) -> str:
        """Separator of a csv or tsv file, by declaration or the one that the headings have."""
        if self.how.separator or self.format == "tsv":
            return self.how.separator or "\t"
        head = self.text.partition("\n")[0]
        return max(SEPARATORS, key=head.count)

    @property
    def reading(self) -> str:
        """How it is read, for records."""
        if self.format in ("csv", "tsv"):
            return f"{self.format}, {self.encoding}, separated by {self.separator!r}"
        return (
            f"{self.format}, {self.encoding}" if self.format in ("json", "jsonl") else self.format
        )


def local_files(folder: Path) -> dict[str, Path]:
    """Files in a benchmark's folder, by their names in patterns; hidden ones are no data.

    Raises UserError for a link that leads out of the folder.
    """
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in files}
    shown = {name: path for name, path in named.items() if not f"/{name}".count("/.")}
    for name in (name for name, path in shown.items() if path.is_symlink()):
        below(folder, name, f"{folder}: a file")
    return shown


def new_names_table(folder: Path, name: str) -> Path:
    """A table of new names. Raises UserError for one outside the benchmark's folder."""
    return below(folder, name, f"{declaration_in(folder)}: a table of 'rename'")


def plain_name(name: str) -> str:
    """Name of a file without the suffix of its compression."""
    path = PurePosixPath(name)
    return str(path.with_suffix("")) if path.suffix in COMPRESSED else name


def is_archive(name: str) -> bool:
    """Whether a name is that of an archive of several files."""
    return name.endswith(ARCHIVES)


def _members(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Files inside an archive, by name; nothing is written anywhere."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in sorted(archive.namelist()):
                if not entry.endswith("/"):
                    yield entry, archive.read(entry)
        return
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in sorted(archive.getmembers(), key=lambda each: each.name):
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield member.name, file.read()


def _uncompressed(name: str, content: bytes) -> bytes:
    unpack = COMPRESSED.get(PurePosixPath(name).suffix)
    return unpack(content) if unpack else content


def tables_in(path: Path, name: str, how: Files) -> Iterator[tuple[Table, dict[str, str]]]:
    """The file, or those inside an archive, each with what its name says by column.

    Raises UserError for one that is absent, broken, or an archive without such members, or with
    one whose name leads out of it.
    """
    said = columns_in(how.patterns, name) or {}
    try:
        content = path.read_bytes()
        if not is_archive(name):
            yield Table(plain_name(name), _uncompressed(name, content), how), said
            return
        members = [*_members(name, content)]
        _check_members(name, [member for member, _ in members], how)
        for member, data in members:
            inside = columns_in([how.members], member) if how.members else {}
            if inside is not None:
                whole = plain_name(f"{name}/{member}")
                yield Table(whole, _uncompressed(member, data), how), {**said, **inside}
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; retrieve it, or correct 'files'.") from error
    except BROKEN as error:
        raise UserError(
            f"{path} cannot be unpacked ({error}); expected a whole "
            f"{PurePosixPath(name).suffix} file. Retrieve it again."
        ) from error


def _check_members(name: str, members: Sequence[str], how: Files) -> None:
    """Some member of an archive must be among those that are read. Raises UserError else."""
    for member in members:
        try:
            relative(member)
        except ValueError as error:
            raise UserError(f"{name}: member {member!r:.80}: {error}; pack it anew.") from error
    chosen = [m for m in members if not how.members or columns_in([how.members], m) is not None]
    if not chosen:
        raise UserError(
            f"{name} has no member that 'members' ({how.members!r}) fits; it has "
            f"{', '.join(members[:4]) or 'none'}{', …' if len(members) > 4 else ''}. Correct it."
        )


def rows_of(table: Table, said: Mapping[str, str]) -> Iterator[Row]:
    """Rows of a file, with the columns that its name and the declaration add.

    Values are renamed as declared, and rows left out that ``where`` does not name. Raises
    UserError where the file is malformed, or a column stands twice.
    """
    added = {**said, **table.how.constants}
    line = 0
    for line, cells in READERS[table.format](table):
        twice = added.keys() & cells.keys()
        if twice:
            raise UserError(
                f"{table.name}:{line}: column {min(twice)!r} stands in the file, and in the name "
                "of the file or the constants too; rename the one in 'files' or 'constants'."
            )
        whole = {**cells, **added}
        for column, values in table.how.rename.items():
            if column in whole and isinstance(values, Mapping):
                whole[column] = values.get(as_text(whole[column]), whole[column])
        if all(is_one_of(whole.get(key), among) for key, among in table.how.where.items()):
            yield Row(whole, table.name, line)
    if not line:
        raise UserError(f"{table.name} has no rows; expected some. Retrieve it again.")


def as_text(value: object) -> str:
    """A cell as text: whole numbers without a point, truth values in lower case."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def is_one_of(value: object, among: object) -> bool:
    """Whether a cell is one of some values, or the only one, whatever their types and case."""
    several = among if isinstance(among, tuple | list) else (among,)
    return as_text(value).strip().casefold() in {as_text(each).casefold() for each in several}


def _csv_rows(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(io.StringIO(table.text, newline=""), delimiter=table.separator)
    before = 0
    rows: list[tuple[int, Sequence[object]]] = []
    try:
        for cells in reader:
            line, before = before + 1, reader.line_num
            if cells:
                rows.append((line, cells))
    except csv.Error as error:
        raise UserError(f"{table.name}:{reader.line_num}: {error}; correct the file.") from error
    yield from _with_headings(table, rows)


def _with_headings(
    table: Table, rows: Iterable[tuple[int, Sequence[object]]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Cells of rows below the headings, by heading."""
    names: Sequence[str] | None = table.how.columns
    for line, cells in rows:
        if names is not None:
            yield line, _named(names, cells, table, line)
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


def _named(
    names: Sequence[str], cells: Sequence[object], table: Table, line: int
) -> dict[str, Any]:
    if len(cells) != len(names):
        raise UserError(
            f"{table.name}:{line}: {len(cells)} cells, but {len(names)} columns; check 'separator' "
            f"({table.separator!r}), and quotes around cells that hold it."
        )
    cells_by_name = dict(zip(names, cells, strict=True))
    return {"": [*zip(names, cells, strict=True)]} if _is_wide(table) else cells_by_name


def _flat(value: object, path: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves of a record by dotted path, and its lists as they are too."""
    if path:
        yield path, value
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield from _flat(child, f"{path}.{key}" if path else str(key))


def _record(value: object, table: Table, line: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{table.name}:{line} is {value!r:.60}; expected an object with fields.")
    return dict(_flat(value))


def _jsonl_rows(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in enumerate(table.text.splitlines(), start=1):
        if text.strip():
            yield line, _record(_parsed(text, table, line), table, line)


def _parsed(text: str, table: Table, line: int) -> Any:
    try:
        return load_json(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{table.name}:{line} is no JSON ({error}); retrieve it again.") from error


def _json_rows(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    whole = _parsed(table.text, table, 1)
    for key in (table.how.records or "").split(".") if table.how.records else ():
        if not isinstance(whole, dict) or key not in whole:
            keys = ", ".join(whole) if isinstance(whole, dict) else type(whole).__name__
            raise UserError(
                f"{table.name} has no {table.how.records!r} (it has: {keys}); correct 'records'."
            )
        whole = whole[key]
    if isinstance(whole, dict):
        whole = [whole]
    if not isinstance(whole, list):
        raise UserError(
            f"{table.name} is {whole!r:.60}; expected a list of records. Name its key with "
            "'records'."
        )
    for number, value in enumerate(whole, start=1):
        yield number, _record(value, table, number)


def _parquet_rows(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    import pyarrow.parquet as pq

    with reading(Path(table.name), "a Parquet file", "Retrieve it again."):
        rows = pq.read_table(io.BytesIO(table.content), page_checksum_verification=True).to_pylist()
    for number, value in enumerate(rows, start=1):
        yield number, _record(value, table, number)


def _sheet_rows(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
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
    cells = enumerate(book[sheet].iter_rows(values_only=True), start=1)
    yield from _with_headings(table, ((n, row) for n, row in cells if any(map(as_text, row))))


READERS: Mapping[str, Callable[[Table], Iterator[tuple[int, dict[str, Any]]]]] = {
    "csv": _csv_rows,
    "tsv": _csv_rows,
    "jsonl": _jsonl_rows,
    "json": _json_rows,
    "parquet": _parquet_rows,
    "xlsx": _sheet_rows,
}
