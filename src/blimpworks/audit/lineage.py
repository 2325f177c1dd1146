"""Find the inputs of products, and the products of inputs, from the records of jobs.

``lineage`` returns the tree of all files that a product was made from; ``Jobs`` has the records of
all jobs upstream. A provenance record beside a product says which job made it, from which inputs.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.items import SAMPLED
from blimpworks.records.reading import Record, Records, output_hash, root_hash
from blimpworks.tables import made_by

UNRECORDED = (
    "{} has no provenance record that this directory leads to. Run this in the directory in which "
    "the workflow ran, or rebuild the file."
)


def judged_items(results: Path, benchmark: str, lang: str, model: str) -> Path:
    """Return the path of the items behind judgements: all items, or the sample in their record."""
    items_path = f"items/{benchmark}/{lang}.parquet"
    judgements = results / "judgements" / benchmark / model / f"{lang}.parquet"
    inputs = (made_by(judgements) or {}).get("inputs", [])
    sampled = any(entry["path"].endswith(f"{SAMPLED}/{items_path}") for entry in inputs)
    return results / (SAMPLED if sampled else "") / items_path


def manifest_behind(scores: Path) -> Path | None:
    """Return the manifest of the shards that a table of scores was collected from.

    Prefer the manifest in the same results tree, which may have been moved, to the recorded path.
    None if neither exists.
    """
    for entry in (made_by(scores) or {}).get("inputs", []):
        recorded = Path(entry["path"])
        if recorded.name.endswith("manifest.json"):
            # parents[3] of RESULTS/scores/BENCHMARK/MODEL/LANG.parquet is RESULTS.
            in_tree = scores.absolute().parents[3].joinpath(*recorded.parts[-4:])
            return next(filter(Path.is_file, (in_tree, recorded)), None)
    return None


@dataclass(slots=True, eq=False)
class Node:
    """A version of a file, with the nodes of the files that it was made from."""

    path: Path
    sha256: str
    record: Record | None
    """Record of the job that made this version; None if no job made it, or the record is lost."""
    remade: bool = False
    """Whether the file was made again since, with other content, so that the record is lost."""
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
    """Return whether ``names`` has a component of a path, as "eng" of "scores/eng.parquet"."""
    components = path.split("/")
    return bool(names) and not names.isdisjoint((*components, components[-1].split(".")[0]))


class Lineage:
    """Graph of products and their inputs, without inputs whose path has a name in ``ignored``."""

    def __init__(self, ignored: Collection[str] = (), records: Records | None = None) -> None:
        self._ignored = frozenset(ignored)
        self._records = records or Records()
        self._nodes: dict[tuple[str, str], Node] = {}

    def product(self, path: Path) -> Node | None:
        """Return a product with all that it was made from; None for a file without a record."""
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


def lineage(product: Path, ignored: Collection[str] = (), records: Records | None = None) -> Node:
    """Return the node of a product, with its ancestors. Raises UserError without a record."""
    if not product.exists():
        raise UserError(f"{product} does not exist; build it first: snakemake {product}")
    node = Lineage(ignored, records).product(product)
    if node is None:
        raise UserError(UNRECORDED.format(product))
    return node


class Jobs:
    """Records of some jobs and of all jobs upstream, which made their inputs."""

    def __init__(
        self,
        records: Iterable[Record],
        search: Records | None = None,
        unreadable: Callable[[Path, UserError], None] | None = None,
    ) -> None:
        """Find the jobs upstream of ``records``.

        ``unreadable``: function that gets each product with an unreadable record, and the error.
        Without it, the error is raised.
        """
        self.by_output = {record["outputs"][0]["path"]: record for record in records}
        """Records by first output."""
        self.key = cache(os.path.realpath)
        """Function that returns a file's real path, the same for all links to it."""
        self.search = search or Records()
        waiting = list(self.by_output.values())
        visited = {entry["path"] for record in waiting for entry in record["outputs"]}
        while waiting:
            for path in (entry["path"] for entry in waiting.pop()["inputs"]):
                if path in visited:
                    continue
                visited.add(path)
                try:
                    record = self.search.of(path)
                except UserError as error:
                    if unreadable is None:
                        raise
                    unreadable(Path(path), error)
                    continue
                if record is not None:
                    visited |= {entry["path"] for entry in record["outputs"]}
                    self.by_output[record["outputs"][0]["path"]] = record
                    waiting.append(record)

    @cached_property
    def makers(self) -> dict[str, Record]:
        """Records by the real path of each product."""
        records = self.by_output.values()
        return {self.key(entry["path"]): r for r in records for entry in r["outputs"]}

    @cached_property
    def entries(self) -> dict[str, dict[str, Any]]:
        """Path, SHA-256 and size of each file by real path; from its own job, if one made it."""
        entries: dict[str, dict[str, Any]] = {}
        # Outputs come last, so that they replace the entries of jobs that read the file.
        for section in ("inputs", "outputs"):
            for record in self.by_output.values():
                entries |= {self.key(entry["path"]): entry for entry in record[section]}
        return entries

    def root_hash(self) -> str:
        return root_hash(self.by_output.values())

    def behind(self, *products: Path) -> dict[Path, Record | None]:
        """Return the record of each product and each of its ancestors; None if no job made it."""
        ancestors: dict[Path, Record | None] = {}
        waiting = [*products]
        while waiting:
            path = waiting.pop()
            if path in ancestors:
                continue
            record = ancestors[path] = self.makers.get(self.key(path))
            if record is not None:
                outputs = (Path(entry["path"]) for entry in record["outputs"])
                ancestors |= dict.fromkeys(outputs, record)
                waiting += [Path(entry["path"]) for entry in record["inputs"]]
        return ancestors

    def downstream(self, paths: Iterable[Path]) -> list[str]:
        """Return the jobs downstream of ``paths``, by their first outputs, sorted.

        The jobs that made ``paths`` are left out, but not the jobs that use their other outputs.
        """
        start_keys = {self.key(path) for path in paths}
        outputs_of_job: dict[str, set[str]] = {}
        jobs_by_input: dict[str, list[str]] = defaultdict(list)
        for first, record in self.by_output.items():
            outputs_of_job[first] = {self.key(entry["path"]) for entry in record["outputs"]}
            for entry in record["inputs"]:
                jobs_by_input[self.key(entry["path"])].append(first)
        makers = {first for first, keys in outputs_of_job.items() if keys & start_keys}
        reached, waiting = set[str](), [*start_keys]
        for first in makers:
            waiting += outputs_of_job[first]
        while waiting:
            for first in jobs_by_input.pop(waiting.pop(), []):
                reached.add(first)
                waiting += outputs_of_job[first]
        return sorted(reached - makers)


def jobs_behind(products: Iterable[Path]) -> Jobs:
    """Return the jobs upstream of ``products``. Raises UserError for one without a record."""
    search, records = Records(), []
    for path in products:
        record = search.of(path)
        if record is None:
            raise UserError(UNRECORDED.format(path))
        records.append(record)
    return Jobs(records, search)
