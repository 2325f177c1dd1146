"""The products behind the report's numbers, as a graph that a page can walk."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blimpworks.audit.lineage import Record, output_hash, record_of

NOTED = ("origin", "source", "engine")
"""What jobs note that says where a file from outside comes from, or what scored."""


def _noted(record: Record) -> dict[str, str]:
    """Notes of a job that name its source or its engine; of a job that names none, none."""
    notes = record.get("notes") or {}
    noted: dict[str, str] = {}
    for name in NOTED:
        note = notes.get(name)
        inner = note.items() if isinstance(note, dict) else [(name, note)]
        noted |= {str(key): str(value) for key, value in inner if value}
    return noted


@dataclass
class Products:
    """Products and the jobs that made them, each once, whatever number leads there.

    A product is [path, SHA-256, job, inputs]: ``job`` counts in ``jobs``, or is -1 for a file
    from outside; ``inputs`` count in ``products``. A job is [command, code, date, commit,
    whether the working tree was clean, notes].
    """

    products: list[list[Any]] = field(default_factory=list)
    jobs: list[list[Any]] = field(default_factory=list)
    _known: dict[tuple[Path, str], int] = field(default_factory=dict)
    _jobs: dict[str, int] = field(default_factory=dict)

    def add(self, path: Path) -> int | None:
        """The number of a product, added with all that it was made from; None if unrecorded.

        Raises UserError for a record that cannot be read.
        """
        record = record_of(path)
        if record is None:
            return None
        waiting = [(path, output_hash(record, path))]
        while waiting:
            waiting += self._visit(*waiting.pop())
        return self._known[path, output_hash(record, path)]

    def _number(self, path: Path, sha256: str) -> tuple[int, bool]:
        """The number of one version of a product, and whether it is new."""
        key = (path, sha256)
        if key in self._known:
            return self._known[key], False
        self._known[key] = len(self.products)
        self.products.append([str(path), sha256, -1, None])
        return self._known[key], True

    def _visit(self, path: Path, sha256: str) -> Iterator[tuple[Path, str]]:
        """Fill in one product; its inputs that are still to be visited."""
        number, _ = self._number(path, sha256)
        if self.products[number][3] is not None:
            return
        self.products[number][3] = inputs = []
        record = record_of(path)
        # Made anew since, with other content: the record is not this version's.
        if record is None or output_hash(record, path) != sha256:
            return
        self.products[number][2] = self._job(record)
        for entry in record["inputs"]:
            source = (Path(entry["path"]), entry["sha256"])
            other, new = self._number(*source)
            inputs.append(other)
            if new:
                yield source

    def _job(self, record: Record) -> int:
        first = record["outputs"][0]["path"]
        key = f"{record['verb']} {first} {record['started']}"
        if key not in self._jobs:
            self._jobs[key] = len(self.jobs)
            git = record["git"]
            self.jobs.append(
                [
                    record["verb"],
                    record["code"],
                    record["ended"][:10],
                    (git["commit"] or "")[:12],
                    git["clean"],
                    _noted(record),
                ]
            )
        return self._jobs[key]
