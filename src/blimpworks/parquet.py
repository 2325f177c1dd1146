"""Read and write Parquet files with a checksum over every byte.

Pages have Parquet's own checksums, which other readers verify. They leave out page headers and the
footer, so a SHA-256 of the remaining bytes stands between pages and footer, where no reader looks.
"""

import hashlib
import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from blimpworks.errors import reading
from blimpworks.files import atomic

MARK = b"blimpworks:sha256"
"""Bytes before that SHA-256; also a key of the table's metadata."""
SIZE = len(MARK) + hashlib.sha256().digest_size
TAIL = 8
"""Bytes at the end of every Parquet file: size of the footer (four) and a magic word."""


def _footer_start(content: mmap.mmap | bytes) -> int:
    """Return the start of the footer; 0 if its stated size exceeds the file."""
    footer_size = int.from_bytes(content[-TAIL : -TAIL // 2], "little") + TAIL
    return max(len(content) - footer_size, 0)


def _digest(content: mmap.mmap | bytes, pages_end: int, footer_start: int) -> bytes:
    """Hash all but the bytes between the two offsets."""
    with memoryview(content) as view:
        digest = hashlib.sha256(view[:pages_end])
        digest.update(view[footer_start:])
    return digest.digest()


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table with checksums, compressed by zstd, whole or not at all."""
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
def _has_own_digest(path: Path, _size: int, _changed: int) -> bool | None:
    # None without a digest; size and time are for the cache.
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        footer_start = _footer_start(content)
        pages_end = max(footer_start - SIZE, 0)
        stated = bytes(content[pages_end:footer_start])
        if not stated.startswith(MARK):
            return None
        return stated == MARK + _digest(content, pages_end, footer_start)


@contextmanager
def open_parquet(path: Path, expected: str, remedy: str) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file after verifying its checksums.

    Foreign files have none; files of earlier versions have those of pages. Raises UserError when
    the file is missing, damaged or not in Parquet; the message says what was ``expected`` and the
    ``remedy``.
    """
    # ParquetFile, because read_table loads the whole of pyarrow's dataset machinery.
    with (
        reading(path, expected, remedy),
        pq.ParquetFile(path, page_checksum_verification=True) as file,
    ):
        state = path.stat()
        intact = _has_own_digest(path.absolute(), state.st_size, state.st_mtime_ns)
        # MARK is in the metadata too, so a destroyed digest is not taken for a foreign file.
        if intact is False or (intact is None and MARK in (file.metadata.metadata or {})):
            raise ValueError("its bytes have not the checksum that they were written with")
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
