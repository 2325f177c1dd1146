"""The lineage of products, from the records of jobs."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.items import SAMPLED
from blimpworks.records.reading import Record, Records, output_hash, root_hash
from blimpworks.tables import made_by

UNRECORDED = "{} carries no record of what made it. Rebuild it."


def judged_items(results: Path, benchmark: str, lang: str, model: str) -> Path:
    """Return the items of a table of judgements below ``results``: all, or a sample.

    The table's record decides; without one they are all items. Raises UserError when the table is
    missing or broken.
    """
    items_path = f"items/{benchmark}/{lang}.parquet"
    judgements = results / "judgements" / benchmark / model / f"{lang}.parquet"
    inputs = (made_by(judgements) or {}).get("inputs", [])
    sampled = any(entry["path"].endswith(f"{SAMPLED}/{items_path}") for entry in inputs)
    return results / (SAMPLED if sampled else "") / items_path


@dataclass(slots=True, eq=False)
class Node:
    """A product in a lineage: its record (None from outside) and its inputs.

    ``remade``: the file has since been made with other content, so its record is another version's.
    """

    path: Path
    sha256: str
    record: Record | None
    remade: bool = False
    inputs: list["Node"] = field(default_factory=list)

    def walk(self) -> Iterator["Node"]:
        """Yield the node and all its ancestors, each product once, the nearest first."""
        seen = {self.path}
        waiting = [self]
        for node in waiting:
            yield node
            for child in node.inputs:
                if child.path not in seen:
                    seen.add(child.path)
                    waiting.append(child)


def is_about(path: str, names: frozenset[str]) -> bool:
    """Return whether a path is about one of the ``names`` (languages, models)."""
    components = path.split("/")
    return bool(names) and not names.isdisjoint((*components, components[-1].split(".")[0]))


class Lineage:
    """The graph of products and their inputs; each record is read once.

    Inputs about the ``ignored`` names (languages, models) are left out.
    """

    def __init__(self, ignored: Collection[str] = (), records: Records | None = None) -> None:
        self._ignored = frozenset(ignored)
        self._records = records or Records()
        self._nodes: dict[tuple[str, str], Node] = {}

    def product(self, path: Path) -> Node | None:
        """Return a product with its ancestry; None for a file without a record."""
        record = self._records.of(path)
        return None if record is None else self._version(str(path), output_hash(record, path))

    def _version(self, path: str, sha256: str) -> Node:
        if (path, sha256) not in self._nodes:
            record = self._records.of(path)
            remade = record is not None and output_hash(record, path) != sha256
            record = None if remade else record
            node = self._nodes[path, sha256] = Node(Path(path), sha256, record, remade)
            for entry in record["inputs"] if record else []:
                if not is_about(entry["path"], self._ignored):
                    node.inputs.append(self._version(entry["path"], entry["sha256"]))
        return self._nodes[path, sha256]


def lineage(product: Path, others: Collection[str] = (), records: Records | None = None) -> Node:
    """Return a product's ancestry without ``others``. Raises UserError for one without a record."""
    if not product.exists():
        raise UserError(f"{product} does not exist; build it first: snakemake {product}")
    node = Lineage(others, records).product(product)
    if node is None:
        raise UserError(UNRECORDED.format(product))
    return node


class Jobs:
    """Jobs with all upstream ones, and their files."""

    def __init__(
        self,
        records: Iterable[Record],
        search: Records | None = None,
        unreadable: Callable[[Path, UserError], None] | None = None,
    ) -> None:
        """Add the jobs upstream of ``records``.

        ``unreadable`` gets each product with an unreadable record, and the error; without it the
        error is raised.
        """
        self.by_output = {record["outputs"][0]["path"]: record for record in records}
        """Records by first output."""
        self.key = cache(os.path.realpath)
        """Returns the real path of a file, by which links to it are the same."""
        self.search = search = search or Records()
        waiting = list(self.by_output.values())
        known = {entry["path"] for record in waiting for entry in record["outputs"]}
        while waiting:
            for path in (entry["path"] for entry in waiting.pop()["inputs"]):
                if path in known:
                    continue
                known.add(path)
                try:
                    record = search.of(path)
                except UserError as error:
                    if unreadable is None:
                        raise
                    unreadable(Path(path), error)
                    continue
                if record is not None:
                    known |= {entry["path"] for entry in record["outputs"]}
                    self.by_output[record["outputs"][0]["path"]] = record
                    waiting.append(record)

    @cached_property
    def makers(self) -> dict[str, Record]:
        """Records by the real path of each product."""
        records = self.by_output.values()
        return {self.key(entry["path"]): r for r in records for entry in r["outputs"]}

    @cached_property
    def entries(self) -> dict[str, dict[str, Any]]:
        """Path, SHA-256 and size of each file, by its real path, as its own job recorded them."""
        records = self.by_output.values()
        return {
            self.key(entry["path"]): entry
            for part in ("inputs", "outputs")
            for record in records
            for entry in record[part]
        }

    def root_hash(self) -> str:
        return root_hash(self.by_output.values())

    def behind(self, *products: Path) -> dict[Path, Record | None]:
        """Return products and all that they were made from; the record is None from outside."""
        found: dict[Path, Record | None] = {}
        waiting = [*products]
        while waiting:
            path = waiting.pop()
            if path in found:
                continue
            record = found[path] = self.makers.get(self.key(path))
            if record is not None:
                found |= dict.fromkeys((Path(entry["path"]) for entry in record["outputs"]), record)
                waiting += [Path(entry["path"]) for entry in record["inputs"]]
        return found

    def downstream(self, paths: Iterable[Path]) -> list[str]:
        """Return first outputs of jobs that come after files, but made none of them, sorted."""
        bad = {self.key(path) for path in paths}
        outputs: dict[str, set[str]] = {}
        users: dict[str, list[str]] = {}
        for first, record in self.by_output.items():
            outputs[first] = {self.key(entry["path"]) for entry in record["outputs"]}
            for entry in record["inputs"]:
                users.setdefault(self.key(entry["path"]), []).append(first)
        direct = {first for first, keys in outputs.items() if keys & bad}
        waiting, reached = [*bad, *(key for first in direct for key in outputs[first])], set[str]()
        while waiting:
            for first in users.pop(waiting.pop(), []):
                reached.add(first)
                waiting += outputs[first]
        return sorted(reached - direct)


def jobs_behind(products: Iterable[Path]) -> Jobs:
    """Return the jobs behind products. Raises UserError for a product without a record."""
    search, records = Records(), []
    for path in products:
        record = search.of(path)
        if record is None:
            raise UserError(UNRECORDED.format(path))
        records.append(record)
    return Jobs(records, search)
