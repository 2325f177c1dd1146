"""The lineage of products, from the records of jobs."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from blimpworks.errors import UserError
from blimpworks.items import SAMPLED
from blimpworks.records.reading import Record, Records, output_hash
from blimpworks.tables import made_by


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
    """Return the product's ancestry, without inputs about the names in ``others``.

    Raises UserError when the product does not exist or has no record.
    """
    if not product.exists():
        raise UserError(f"{product} does not exist; build it first: snakemake {product}")
    node = Lineage(others, records).product(product)
    if node is None:
        raise UserError(f"{product} carries no record of what made it. Rebuild it.")
    return node
