"""Keep the results of one model in shards, Parquet files that are named after their SHA-256.

A *request* is a sentence to score, or a prompt to answer. Each row of a shard has a request with
its result and its key, a hash. ``ShardStore`` finds and writes the rows in a model's directory; the
manifest of a job lists the shards that it used.

Requests are sorted and divided into shards before the model runs, and no batch has requests of two
shards. So each result is computed in the same batch. A run that goes on after it was killed, or
that replaces a damaged shard, ends with the same files as an undisturbed run.
"""

import hashlib
import io
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from blimpworks.errors import reading
from blimpworks.files import atomic, sha256_of, write_text
from blimpworks.strict import Strict, Within

log = logging.getLogger(__name__)
OK = "ok"
"""Status of a row with a result."""
NAME = "part-{:.32}.parquet"
"""Pattern for the name of a shard, from its SHA-256."""
R = TypeVar("R", bound=tuple[Any, ...])
"""A request: a tuple with the sentence or prompt first."""


class ShardStore(ABC, Generic[R]):
    """Shards of one model, in one directory. Subclasses set the class variables."""

    schema: ClassVar[pa.Schema]
    """Columns of a shard, among them ``key`` and ``status``."""
    failed: ClassVar[frozenset[str]]
    """Statuses of failures that another machine, or a later run, may not have."""
    unit: ClassVar[str]
    """Word for a request in messages."""
    task: ClassVar[str]
    """Word for the work in messages."""
    retry_setting: ClassVar[str]
    """Setting under which requests with a failed status are tried again."""

    @staticmethod
    @abstractmethod
    def content(request: R) -> str:
        """Return a text that identifies a request."""

    @classmethod
    def keys(cls, engine_key: str, requests: Iterable[R]) -> dict[R, str]:
        """Return the key of each request for an engine: 32 hexadecimal digits."""
        engine_digest = hashlib.blake2b(f"{engine_key}|".encode(), digest_size=16)
        keys = {}
        for request in requests:
            digest = engine_digest.copy()
            digest.update(cls.content(request).encode())
            keys[request] = digest.hexdigest()
        return keys

    def __init__(self, directory: Path) -> None:
        """Read the keys of all shards; damaged shards are renamed, with a warning."""
        self.directory = directory
        self.shard_of: dict[str, Path] = {}
        """File with each key's row; if several have one, a file in which it has not failed."""
        self.status_of: dict[str, str] = {}
        """Status of each key's row in this file."""
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
            # Of several rows with a key, the first counts, unless it has failed.
            if self.status_of.get(key, OK) in self.failed or key not in self.shard_of:
                self.shard_of[key], self.status_of[key] = shard, status

    def missing(self, keys: Mapping[R, str], *, retry: bool = False) -> list[R]:
        """Return the requests without a row; with ``retry``, also requests with a failed row."""
        return [
            request
            for request, key in keys.items()
            if key not in self.shard_of or (retry and self.status_of[key] in self.failed)
        ]

    def write(self, table: pa.Table, engine_key: str) -> None:
        """Write the rows of ``table`` as a shard. An interrupted write leaves no shard."""
        note = {b"blimpworks": json.dumps({"table": "shard", "engine": engine_key}).encode()}
        sink = io.BytesIO()
        pq.write_table(table.replace_schema_metadata(note), sink, compression="zstd")
        content = sink.getvalue()
        path = self.directory / NAME.format(hashlib.sha256(content).hexdigest())
        with atomic(path) as temporary:
            temporary.write_bytes(content)
        self._add(path, table)


class Manifest(Strict):
    """Content of a manifest, which describes the scores or answers of one job."""

    engine: str
    checkpoint: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the model's checkpoint.json."""
    sentences: int
    """Number of distinct requests: sentences, regions or prompts."""
    statuses: dict[str, int]
    """Number of these requests by status."""
    checks: dict[str, str] = Field(default_factory=dict)
    """Finding of the self-test in words by check; see ``selftest``."""
    shards: dict[Within, str]
    """SHA-256 of each shard, by file name."""
    system: bool | None = None
    """Whether system prompts were sent, which needs a chat template; None for scores."""


def read_manifest(path: Path) -> Manifest:
    """Read a manifest. Raises UserError if it is missing or malformed."""
    with reading(path, "a manifest of scores", "Score again."):
        return Manifest.model_validate_json(path.read_bytes())


def write_manifest(result: Manifest, path: Path) -> None:
    """Write a manifest; its job counts as done when the file exists."""
    fields = result.model_dump(exclude_none=True)
    text = json.dumps(fields, indent=1, ensure_ascii=False, sort_keys=True)
    write_text(path, text + "\n")


class Failed(Strict):
    """File in place of a manifest, for a model that cannot be scored in a job of several models."""

    failed: str
    """Reason in one sentence."""
    log: str
