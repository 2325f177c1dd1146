"""Shards: Parquet files that a store keeps its rows in, each named after its own bytes.

A store holds what a model said of some requests, one row for each, found by a key that digests
the request and all that decides the row. Shards are written whole or not at all, so a killed
run loses at most the one that it was at; one that was altered is found by its name and set
aside. What is in a row is the business of the store of its kind.
"""

import hashlib
import io
import json
import logging
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from blimpworks.errors import UserError
from blimpworks.files import atomic, sha256_of

log = logging.getLogger(__name__)

OK = "ok"
"""Status of a row that has what was asked for."""
R = TypeVar("R", bound=Hashable)


def shard_name(sha256: str) -> str:
    """File name of the shard whose bytes have that SHA-256."""
    return f"part-{sha256[:32]}.parquet"


def read_statuses(shard: Path, schema: pa.Schema) -> dict[str, str]:
    """Status of each row of ``shard``, by key. Raises UserError when it is unreadable."""
    try:
        if not pq.read_schema(shard).equals(schema):
            raise UserError(f"{shard} has other columns than a shard.")
        table = pq.read_table(shard, columns=["key", "status"])
        return dict(zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True))
    except (OSError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{shard} is no readable shard ({reason}).") from error


def _whole(shard: Path, schema: pa.Schema) -> dict[str, str]:
    """Statuses of a shard that still holds the bytes it was written with."""
    if shard.name != shard_name(sha256_of(shard)):
        raise UserError(f"{shard} was altered since it was written: its name is not its digest.")
    return read_statuses(shard, schema)


def set_aside(shard: Path) -> None:
    """Rename a damaged shard to ``*.corrupt``, so that its rows are made again."""
    shard.rename(shard.with_name(f"{shard.name}.corrupt"))


class ShardStore(Generic[R]):
    """The shards of one model, as they lie in one directory.

    Those of a kind have a ``schema`` with columns ``key`` and ``status``; statuses that are
    ``failed`` can change with another machine or day; ``what`` is done again where one is
    damaged.
    """

    schema: ClassVar[pa.Schema]
    failed: ClassVar[frozenset[str]]
    what: ClassVar[str]

    def __init__(self, directory: Path) -> None:
        """Look at the shards present; damaged ones are set aside with a warning."""
        self.directory = directory
        self.shard_of: dict[str, Path] = {}
        """Shard of each row by key; of two, one in which it did not fail."""
        self.status_of: dict[str, str] = {}
        for shard in sorted(directory.glob("part-*.parquet")):
            try:
                self._add(shard, _whole(shard, self.schema))
            except UserError as error:
                log.warning("%s It is set aside and its %s again.", error, self.what)
                set_aside(shard)

    def _add(self, shard: Path, statuses: Mapping[str, str]) -> None:
        for key, status in statuses.items():
            if self.status_of.get(key, OK) in self.failed or key not in self.shard_of:
                self.shard_of[key], self.status_of[key] = shard, status

    def _lacks(self, key: str, *, retry: bool) -> bool:
        return key not in self.shard_of or (retry and self.status_of[key] in self.failed)

    def missing(self, keys: Mapping[R, str], *, retry: bool = False) -> list[R]:
        """The requests whose keys have no row here; with ``retry``, failed ones count too."""
        return [request for request, key in keys.items() if self._lacks(key, retry=retry)]

    def tidy(self) -> None:
        """Remove what a run left that was killed while it wrote."""
        for cut_off in self.directory.glob(".part-*.tmp"):
            cut_off.unlink(missing_ok=True)

    def write(self, table: pa.Table, engine_key: str) -> None:
        """Add a shard with the rows of ``table``, whole or not at all."""
        note = {b"blimpworks": json.dumps({"table": "shard", "engine": engine_key}).encode()}
        sink = io.BytesIO()
        pq.write_table(table.replace_schema_metadata(note), sink, compression="zstd")
        content = sink.getvalue()
        path = self.directory / shard_name(hashlib.sha256(content).hexdigest())
        with atomic(path) as temporary:
            temporary.write_bytes(content)
        statuses = zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True)
        self._add(path, dict(statuses))
