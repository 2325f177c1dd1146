"""Parquet files of which every byte is checked on reading.

Pages have the checksums that Parquet itself defines, which other readers verify too. These leave
out the headers of pages and the footer, so a SHA-256 of all the rest of the file stands between
the pages and the footer, where no reader looks: offsets lead from the footer to the pages.
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
"""Stands before the SHA-256 of the rest of the file; also a key of the table's metadata."""
SIZE = len(MARK) + hashlib.sha256().digest_size
TAIL = 8
"""Bytes at the end of every Parquet file: the footer's size in four, and a magic word."""


def _split(content: mmap.mmap | bytes) -> int:
    """Where the footer of a Parquet file begins, 0 where its end says nothing sensible."""
    footer = int.from_bytes(content[-TAIL : -TAIL // 2], "little") + TAIL
    return max(len(content) - footer, 0)


def _digest(content: mmap.mmap | bytes, pages: int, footer: int) -> bytes:
    """SHA-256 of all before ``pages`` and all from ``footer``."""
    with memoryview(content) as view:
        digest = hashlib.sha256(view[:pages])
        digest.update(view[footer:])
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
        footer = _split(content)
        with temporary.open("r+b") as file:
            file.seek(footer)
            file.write(MARK + _digest(content, footer, footer) + content[footer:])


@lru_cache(maxsize=1024)
def _has_own_digest(path: Path, _size: int, _changed: int) -> bool | None:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        footer = _split(content)
        pages = max(footer - SIZE, 0)
        stated = bytes(content[pages:footer])
        if not stated.startswith(MARK):
            return None
        return stated == MARK + _digest(content, pages, footer)


@contextmanager
def open_parquet(path: Path, expected: str, remedy: str) -> Iterator[pq.ParquetFile]:
    """A Parquet file, after its bytes were compared with their checksums.

    Files from elsewhere, and from earlier versions, have none, or those of pages alone. Raises
    UserError when the file is missing, damaged or not in Parquet; the message says what was
    ``expected`` and the ``remedy``.
    """
    # ParquetFile, because read_table loads the whole of pyarrow's dataset machinery.
    with (
        reading(path, expected, remedy),
        pq.ParquetFile(path, page_checksum_verification=True) as file,
    ):
        state = path.stat()
        intact = _has_own_digest(path.absolute(), state.st_size, state.st_mtime_ns)
        # One of two places says that there is a digest, should the other be damaged.
        if intact is False or (intact is None and MARK in (file.metadata.metadata or {})):
            raise ValueError("its bytes have not the checksum that they were written with")
        yield file


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A table in a Parquet file; ``columns`` restricts what is loaded.

    Raises UserError when the file is missing, damaged or not in Parquet.
    """
    with open_parquet(path, "a table in Parquet", "Build it.") as file:
        return file.read(columns=None if columns is None else [*columns])


def count_rows(path: Path) -> int:
    """Number of rows of the table in a Parquet file. Raises UserError as ``read_parquet`` does."""
    with open_parquet(path, "a table in Parquet", "Build it.") as file:
        rows: int = file.metadata.num_rows
    return rows
