"""Write and read the tables between the workflow's rules, as Parquet files with checksums.

``write_table`` and ``read_table`` check a table against a schema, such as ``SCORES``: the names and
types of its columns. Each schema is a file in ``schemas`` or in a paper's package, so that after a
change only products of that table are made again. Only open schemas allow further columns, such as
the covariates of a benchmark's items.

A Parquet file has pages of data, then a footer. Its own checksums cover neither the headers of
pages nor the footer. Therefore ``write_parquet`` adds a SHA-256 of all other bytes between pages
and footer, which other readers skip:

    pages | b"blimpworks:sha256" + SHA-256 | footer, its size, b"PAR1"
"""

import hashlib
import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from blimpworks.errors import UserError, reading
from blimpworks.files import atomic, read_cells
from blimpworks.records.job import current_job

if TYPE_CHECKING:
    import pandas as pd


MARK = b"blimpworks:sha256"
"""Bytes before the SHA-256, and a key of the table's metadata."""
CHECKSUM_SIZE = len(MARK) + hashlib.sha256().digest_size
TAIL_SIZE = 8
"""Bytes after the footer of every Parquet file: the footer's size (four bytes) and b"PAR1"."""


def _footer_start(content: mmap.mmap | bytes) -> int:
    """Return the offset of the footer in bytes; 0 if its stated size exceeds the file."""
    stated_size = int.from_bytes(content[-TAIL_SIZE:-4], "little")
    return max(len(content) - TAIL_SIZE - stated_size, 0)


def _digest(content: mmap.mmap | bytes, pages_end: int, footer_start: int) -> bytes:
    """Return the SHA-256 of all bytes except those between the two offsets."""
    with memoryview(content) as view:
        digest = hashlib.sha256(view[:pages_end])
        digest.update(view[footer_start:])
    return digest.digest()


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table with checksums, compressed by zstd, atomically."""
    metadata = {**(table.schema.metadata or {}), MARK: b"between the pages and this footer"}
    with atomic(path) as temporary:
        pq.write_table(
            table.replace_schema_metadata(metadata),
            temporary,
            compression="zstd",
            write_page_checksum=True,
        )
        content = temporary.read_bytes()
        footer_start = _footer_start(content)
        with temporary.open("r+b") as file:
            file.seek(footer_start)
            file.write(MARK + _digest(content, footer_start, footer_start) + content[footer_start:])


@lru_cache(maxsize=1024)
def _is_intact(path: Path, _size: int, _changed: int) -> bool | None:
    # Returns None for a file without a SHA-256. Size and time of the last change are only keys of
    # the cache, so that a changed file is read again.
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        footer_start = _footer_start(content)
        pages_end = max(footer_start - CHECKSUM_SIZE, 0)
        stated = bytes(content[pages_end:footer_start])
        if not stated.startswith(MARK):
            return None
        return stated == MARK + _digest(content, pages_end, footer_start)


@contextmanager
def open_parquet(path: Path, expected: str, remedy: str) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file after verifying its checksums, if it has any.

    Raises UserError when the file is missing, damaged or not in Parquet, with ``expected`` and
    ``remedy`` as in ``errors.reading``.
    """
    # pyarrow.parquet.read_table would import pyarrow.dataset, which takes long.
    with (
        reading(path, expected, remedy),
        pq.ParquetFile(path, page_checksum_verification=True) as file,
    ):
        state = path.stat()
        intact = _is_intact(path.absolute(), state.st_size, state.st_mtime_ns)
        # With MARK in the metadata, a file without a SHA-256 has lost it.
        if intact is False or (intact is None and MARK in (file.metadata.metadata or {})):
            raise ValueError("its bytes have another checksum than when they were written")
        yield file


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a table, or only its ``columns``. Raises UserError as ``open_parquet`` does."""
    with open_parquet(path, "a table in Parquet", "Build it.") as file:
        return file.read(columns=None if columns is None else [*columns])


def count_rows(path: Path) -> int:
    """Count the rows of a table. Raises UserError as ``open_parquet`` does."""
    with open_parquet(path, "a table in Parquet", "Build it.") as file:
        rows: int = file.metadata.num_rows
    return rows


METADATA_KEY = b"blimpworks"
STRING = pa.string()
# A column of few different texts, each of which is stored once.
LABEL = pa.dictionary(pa.int32(), STRING)
INT, FLOAT, BOOL = pa.int32(), pa.float64(), pa.bool_()
LONG = pa.int64()


@dataclass(frozen=True, slots=True)
class TableSchema:
    """Names and types of a table's columns; an ``open`` schema allows further columns."""

    name: str
    columns: tuple[tuple[str, pa.DataType], ...]
    open: bool = False

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns]

    def arrow(self) -> pa.Schema:
        """Return the declared columns as an Arrow schema."""
        return pa.schema([pa.field(name, data_type) for name, data_type in self.columns])


KINDS: Mapping[str, pa.DataType] = {
    "string": STRING,
    "label": LABEL,
    "int": INT,
    "long": LONG,
    "float": FLOAT,
    "bool": BOOL,
    "list of int": pa.list_(INT),
    "list of float": pa.list_(pa.float32()),
    "list of string": pa.list_(STRING),
}
"""Types of columns by their names in schema files."""


def read_schema(
    module: str, path: str, base: TableSchema | None = None, *, open: bool = False
) -> TableSchema:
    """Read the schema in the file ``path``, which is relative to the Python file ``module``.

    Each row of the file has name and type of a column, such as "margin" and "float". With ``base``,
    its columns come first and the table has its name; without, the table has the file's name.
    """
    file = Path(module).parent / path
    columns = tuple((row["column"], KINDS[row["kind"]]) for row in read_cells(file))
    if base is None:
        return TableSchema(file.stem, columns, open)
    return TableSchema(base.name, base.columns + columns, base.open)


# docs/tables.md explains the columns.
TOKENS = read_schema(__file__, "schemas/tokens.tsv")
SENTENCES = read_schema(__file__, "schemas/sentences.tsv")
LEXICON = read_schema(__file__, "schemas/lexicon.tsv")
# Character spans of the critical region are half-open, in code points.
ITEMS = read_schema(__file__, "schemas/items.tsv", open=True)
FUNNEL = read_schema(__file__, "schemas/funnel.tsv")
# good_ends, bad_ends: for each scored token the character offset at which it ends.
SCORES = read_schema(__file__, "schemas/scores.tsv")
JUDGEMENTS = read_schema(__file__, "schemas/judgements.tsv", open=True)
ACCURACIES = read_schema(__file__, "schemas/accuracies.tsv")
PARITY = read_schema(__file__, "schemas/parity.tsv")
MORPHOLOGY = read_schema(__file__, "schemas/morphology.tsv")
PERPLEXITIES = read_schema(__file__, "schemas/perplexities.tsv")
EVALUATION_SETS = read_schema(__file__, "schemas/evaluation_sets.tsv")
COMPARISONS = read_schema(__file__, "schemas/comparisons.tsv")
REGRESSIONS = read_schema(__file__, "schemas/regressions.tsv")
RESIDUALS = read_schema(__file__, "schemas/residuals.tsv")
# Numbers of exhibits (tables and figures), each with its input table (``source``) and row filter.
CELLS = read_schema(__file__, "schemas/cells.tsv")
# Items that are prompts, and models' answers to them.
PROMPTS = read_schema(__file__, "schemas/prompts.tsv")
ANSWERS = read_schema(__file__, "schemas/answers.tsv")


def _describe(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)


def _check(actual: pa.Schema, schema: TableSchema, where: str) -> None:
    declared = schema.arrow()
    head = pa.schema(list(actual)[: len(declared)])
    if not head.equals(declared) or (len(actual) > len(declared) and not schema.open):
        raise UserError(
            f"{where}: columns are ({_describe(actual)}), expected the {schema.name} table "
            f"({_describe(declared)}). Rebuild it with this version of blimpworks."
        )


def write_table(table: pa.Table, schema: TableSchema, path: Path) -> None:
    """Check a table against its schema, and write it atomically, with the schema's columns first.

    The file's metadata contain the fields of the job's provenance record that stay the same when
    the job is repeated. Raises UserError when columns are missing or have other types.
    """
    missing = [c for c in schema.names if c not in table.column_names]
    if missing:
        raise UserError(
            f"{path}: the {schema.name} table lacks its column(s) {', '.join(missing)}."
        )
    extra = [c for c in table.column_names if c not in schema.names]
    table = table.select(schema.names + extra)
    fields = list(schema.arrow()) + [table.schema.field(c) for c in extra]
    table = table.cast(pa.schema(fields))
    _check(table.schema, schema, str(path))
    job = current_job()
    record = {"table": schema.name, "made_by": job.made_by if job else None}
    metadata = {METADATA_KEY: json.dumps(record, ensure_ascii=False, sort_keys=True).encode()}
    write_parquet(table.replace_schema_metadata(metadata), path)


def write_rows(rows: Sequence[Mapping[str, Any]], schema: TableSchema, path: Path) -> None:
    """Write a table of a schema from rows {column: value}; other keys are ignored.

    Missing values are null. Raises UserError when values have other types than the schema.
    """
    write_table(pa.Table.from_pylist([*rows], schema=schema.arrow()), schema, path)


def write_frame(frame: "pd.DataFrame", schema: TableSchema, path: Path) -> None:
    """Write a table of a schema from a data frame, without its index and other columns.

    Raises UserError when values have other types than the schema, KeyError for a missing column.
    """
    write_table(pa.Table.from_pandas(frame[schema.names], preserve_index=False), schema, path)


class Evaluation(NamedTuple):
    """Paths of the tables of one model and one language: items, outputs, and judgements."""

    model: str
    lang: str
    items: Path
    outputs: Path
    """Scores of pairs, or responses to prompts."""
    judgements: Path


def made_by(path: Path) -> dict[str, Any] | None:
    """Return the part of a provenance record that a table's metadata contain (``Job.made_by``).

    None for a table that no job made. Raises UserError when the file is missing or broken.
    """
    with open_parquet(path, "a table in Parquet", "Build it.") as file:
        record = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
    job: dict[str, Any] | None = json.loads(record)["made_by"] if record else None
    return job


def read_table(schema: TableSchema, path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a table, or only ``columns``. Raises UserError for a broken file or another schema."""
    with open_parquet(path, f"the {schema.name} table", "Build it.") as file:
        _check(file.schema_arrow.remove_metadata(), schema, str(path))
        return file.read(columns=None if columns is None else [*columns])
