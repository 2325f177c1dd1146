"""From a product back through the records of the jobs that made it and its inputs."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.files import RECORD_SUFFIX
from blimpworks.provenance.record import sidecar_path

Record = dict[str, Any]


def read_record(path: Path) -> Record:
    """The record in a sidecar, or the one that it points to.

    Raises UserError when there is no readable record.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} is not a readable record ({error}). Rebuild its product."
        ) from error
    if isinstance(record, dict) and "record" in record:
        return read_record(Path(record["record"]))
    if not isinstance(record, dict) or "outputs" not in record:
        raise UserError(f"{path} is not a job's record: it has no outputs. Rebuild its product.")
    return record


def _lists(record: Record, product: Path) -> bool:
    return any(Path(output["path"]) == product for output in record["outputs"])


def record_of(product: Path) -> Record | None:
    """The record of the job that made ``product``, or None for a file from outside.

    A job with several outputs in a directory keeps its record beside the first one, so the
    records there and above are searched when a product has none of its own.
    """
    own = sidecar_path(product)
    if own.is_file():
        record = read_record(own)
        if _lists(record, product):
            return record
    for directory in (product.parent, *list(product.parents)[1:3]):
        for path in sorted(directory.glob(f"*{RECORD_SUFFIX}")):
            record = read_record(path)
            if _lists(record, product):
                return record
    return None


@dataclass(slots=True)
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
        """The node and all below it, each product once."""
        seen: set[Path] = set()
        waiting = [self]
        while waiting:
            node = waiting.pop(0)
            if node.path not in seen:
                seen.add(node.path)
                yield node
                waiting += node.inputs


def _concerns(path: Path, others: Collection[str]) -> bool:
    """Whether a path is about none of the names in ``others`` (other languages, models)."""
    return not {*path.parts, path.name.split(".")[0]} & {*others}


def lineage(product: Path, others: Collection[str] = ()) -> Node:
    """The product's ancestry, without inputs that are about the names in ``others``.

    Raises UserError when the product does not exist or carries no record.
    """
    if not product.exists():
        raise UserError(f"{product} does not exist; build it first: snakemake {product}")
    record = record_of(product)
    if record is None:
        raise UserError(f"{product} carries no record of what made it. Rebuild it.")
    known: dict[Path, Node] = {}
    return _node(product, output_hash(record, product), others, known)


def output_hash(record: Record, product: Path) -> str:
    """SHA-256 of one of a record's outputs."""
    return str(next(o["sha256"] for o in record["outputs"] if Path(o["path"]) == product))


def _node(path: Path, sha256: str, others: Collection[str], known: dict[Path, Node]) -> Node:
    if path not in known:
        record = record_of(path)
        remade = record is not None and output_hash(record, path) != sha256
        record = None if remade else record
        node = known[path] = Node(path, sha256, record, remade)
        for entry in record["inputs"] if record else []:
            source = Path(entry["path"])
            if _concerns(source, others):
                node.inputs.append(_node(source, entry["sha256"], others, known))
    return known[path]
