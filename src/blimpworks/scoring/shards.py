"""Keep a store's rows in shards: Parquet files, each named after its own bytes.

Requests are ordered and cut into shards before any is answered; batches never cross shards. So a
killed run, or one that replaces a damaged shard, ends with the same files, byte for byte.
"""

import hashlib
import io
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from blimpworks.files import atomic, sha256_of

log = logging.getLogger(__name__)


OK = "ok"
"""Status of a row with a result."""
NAME = "part-{:.32}.parquet"
"""Name of a shard, by its SHA-256."""
R = TypeVar("R", bound=Hashable)


class ShardStore(ABC, Generic[R]):
    """The shards of one model, in one directory.

    Each class has a ``schema`` with columns ``key`` and ``status``. ``failed`` statuses can change
    on another machine or day; ``retry_setting`` retries them. Messages call a request ``unit`` and
    the work ``task``.
    """

    schema: ClassVar[pa.Schema]
    failed: ClassVar[frozenset[str]]
    unit: ClassVar[str]
    task: ClassVar[str]
    retry_setting: ClassVar[str]

    @staticmethod
    @abstractmethod
    def content(request: R) -> str:
        """Return all that tells a request from others."""

    @classmethod
    def keys(cls, engine_key: str, requests: Iterable[R]) -> dict[R, str]:
        """Return each request's content key under an engine: 32 hexadecimal digits."""
        begun = hashlib.blake2b(f"{engine_key}|".encode(), digest_size=16)
        keys = {}
        for request in requests:
            digest = begun.copy()
            digest.update(cls.content(request).encode())
            keys[request] = digest.hexdigest()
        return keys

    def __init__(self, directory: Path) -> None:
        """Look at the shards; damaged ones are set aside with a warning."""
        self.directory = directory
        self.shard_of: dict[str, Path] = {}
        """Shard of each row by key; of two, one in which it did not fail."""
        self.status_of: dict[str, str] = {}
        for shard in sorted(directory.glob("part-*.parquet")):
            problem = ""
            try:
                if shard.name != NAME.format(sha256_of(shard)):
                    problem = "was altered since it was written: its name is not its digest."
                elif not pq.read_schema(shard).equals(self.schema):
                    problem = "has other columns than a shard."
                else:
                    self._add(shard, pq.read_table(shard, columns=["key", "status"]))
            except (OSError, pa.ArrowException) as error:
                problem = f"is no readable shard ({' '.join(str(error).split())})."
            if problem:
                log.warning("%s %s It is set aside and made again.", shard, problem)
                shard.rename(shard.with_name(f"{shard.name}.corrupt"))

    def _add(self, shard: Path, rows: pa.Table) -> None:
        for key, status in zip(rows["key"].to_pylist(), rows["status"].to_pylist(), strict=True):
            if self.status_of.get(key, OK) in self.failed or key not in self.shard_of:
                self.shard_of[key], self.status_of[key] = shard, status

    def missing(self, keys: Mapping[R, str], *, retry: bool = False) -> list[R]:
        """Return the requests without a row; with ``retry``, failed ones too."""
        return [
            request
            for request, key in keys.items()
            if key not in self.shard_of or (retry and self.status_of[key] in self.failed)
        ]

    def write(self, table: pa.Table, engine_key: str) -> None:
        """Add a shard with the rows of ``table``, whole or not at all."""
        note = {b"blimpworks": json.dumps({"table": "shard", "engine": engine_key}).encode()}
        sink = io.BytesIO()
        pq.write_table(table.replace_schema_metadata(note), sink, compression="zstd")
        content = sink.getvalue()
        path = self.directory / NAME.format(hashlib.sha256(content).hexdigest())
        with atomic(path) as temporary:
            temporary.write_bytes(content)
        self._add(path, table)
