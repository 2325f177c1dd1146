"""From a product back through the records of the jobs that made it and its inputs."""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.files import RECORD_SUFFIX
from blimpworks.items import SAMPLED
from blimpworks.records.job import sidecar_path
from blimpworks.tables import made_by

Record = dict[str, Any]
HERE = Path()
ABOVE = 3
"""Directories that are searched for the record of a product without one beside it."""


def read_record(path: Path, base: Path = HERE) -> Record:
    """The record in a sidecar, or the one that it points to, from the directory ``base``.

    Raises UserError when there is no readable record.
    """
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} is not a readable record ({error}). Rebuild its product."
        ) from error
    if isinstance(record, dict) and "record" in record:
        return read_record(base / record["record"], base)
    if not isinstance(record, dict) or "outputs" not in record:
        raise UserError(f"{path} is not a job's record: it has no outputs. Rebuild its product.")
    return record


class Records:
    """Records by product, each sidecar read once.

    Paths start from the directory ``base`` that the workflow ran in.
    """

    def __init__(self, base: Path = HERE) -> None:
        self._base = base
        self._read: dict[Path, tuple[Record, frozenset[str]]] = {}
        self._below: dict[Path, list[Path]] = {}

    def _in(self, sidecar: Path) -> tuple[Record, frozenset[str]]:
        """The record in a sidecar, and its products."""
        if sidecar not in self._read:
            record = read_record(sidecar, self._base)
            outputs = frozenset(os.path.normpath(output["path"]) for output in record["outputs"])
            self._read[sidecar] = (record, outputs)
        return self._read[sidecar]

    def _sidecars(self, directory: Path) -> list[Path]:
        if directory not in self._below:
            self._below[directory] = sorted(directory.glob(f"*{RECORD_SUFFIX}"))
        return self._below[directory]

    def _candidates(self, product: Path) -> Iterator[Path]:
        """Sidecars that may be a product's, the one beside it first."""
        own = sidecar_path(product)
        if own.is_file():
            yield own
        for directory in list(product.parents)[:ABOVE]:
            yield from self._sidecars(directory)

    def of(self, product: str | Path) -> Record | None:
        """The record of the job that made ``product``, or None for a file from outside.

        A job with several outputs in a directory keeps its record beside the first one, so
        the records there and above are searched when a product has none of its own.
        """
        path = os.path.normpath(product)
        candidates = (self._in(sidecar) for sidecar in self._candidates(self._base / path))
        return next((record for record, outputs in candidates if path in outputs), None)


def with_upstream(
    records: Iterable[Record],
    search: Records,
    unreadable: Callable[[Path, UserError], None] | None = None,
) -> list[Record]:
    """The ``records``, and those of all jobs upstream of theirs.

    ``unreadable`` is called with each product whose record cannot be read, and the error;
    without it the error is raised.
    """
    complete = list(records)
    waiting = list(complete)
    known = {entry["path"] for record in complete for entry in record["outputs"]}
    while waiting:
        for entry in waiting.pop()["inputs"]:
            if entry["path"] in known:
                continue
            known.add(entry["path"])
            try:
                record = search.of(entry["path"])
            except UserError as error:
                if unreadable is None:
                    raise
                unreadable(Path(entry["path"]), error)
                continue
            if record is not None:
                known |= {output["path"] for output in record["outputs"]}
                complete.append(record)
                waiting.append(record)
    return complete


def record_of(product: Path) -> Record | None:
    """The record of the job that made ``product``, or None for a file from outside."""
    return Records().of(product)


def judged_items(results: Path, benchmark: str, lang: str, model: str) -> Path:
    """The items that a table of judgements below ``results`` is of: all, or a sample.

    By the record that the table carries; without one they are all items. Raises UserError when
    the table is missing or broken.
    """
    place = f"items/{benchmark}/{lang}.parquet"
    judgements = results / "judgements" / benchmark / lang / f"{model}.parquet"
    inputs = (made_by(judgements) or {}).get("inputs", [])
    sampled = any(entry["path"].endswith(f"{SAMPLED}/{place}") for entry in inputs)
    return results / (SAMPLED if sampled else "") / place


@dataclass(slots=True, eq=False)
class Node:
    """A product in a lineage: its record (None if it comes from outside) and its inputs.

    ``remade``: the file has since been made anew with other content, so that the record it
    carries is not this version's.
    """

    path: Path
    sha256: str
    record: Record | None
    remade: bool = False
    inputs: list["Node"] = field(default_factory=list)

    def walk(self) -> Iterator["Node"]:
        """The node and all below it, each product once, the nearest first."""
        seen = {self.path}
        waiting = [self]
        for node in waiting:
            yield node
            for child in node.inputs:
                if child.path not in seen:
                    seen.add(child.path)
                    waiting.append(child)


def concerns(path: str, others: frozenset[str]) -> bool:
    """Whether a path is about none of the names in ``others`` (other languages, models)."""
    parts = path.split("/")
    return others.isdisjoint((*parts, parts[-1].split(".")[0])) if others else True


def lineage(product: Path, others: Collection[str] = (), records: Records | None = None) -> Node:
    """The product's ancestry, without inputs that are about the names in ``others``.

    Raises UserError when the product does not exist or carries no record.
    """
    if not product.exists():
        raise UserError(f"{product} does not exist; build it first: snakemake {product}")
    records = records or Records()
    record = records.of(product)
    if record is None:
        raise UserError(f"{product} carries no record of what made it. Rebuild it.")
    return _node(str(product), output_hash(record, product), frozenset(others), {}, records)


def output_hash(record: Record, product: str | Path) -> str:
    """SHA-256 of one of a record's outputs."""
    path = os.path.normpath(product)
    return str(next(o["sha256"] for o in record["outputs"] if os.path.normpath(o["path"]) == path))


def _node(
    path: str, sha256: str, others: frozenset[str], known: dict[str, Node], records: Records
) -> Node:
    if path not in known:
        record = records.of(path)
        remade = record is not None and output_hash(record, path) != sha256
        record = None if remade else record
        node = known[path] = Node(Path(path), sha256, record, remade)
        for entry in record["inputs"] if record else []:
            if concerns(entry["path"], others):
                node.inputs.append(_node(entry["path"], entry["sha256"], others, known, records))
    return known[path]
