"""A results tree in any place as one run, for comparison with another."""

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from blimpworks.audit.lineage import Jobs
from blimpworks.errors import UserError
from blimpworks.files import RECORD_SUFFIX
from blimpworks.json_files import load_json
from blimpworks.records.reading import Record, Records

RESOURCES = ("sources", "models")
"""Directories of a campaign's resources, below a root of any name."""


@dataclass
class Run:
    """The jobs behind a results tree.

    Keys of products are common to campaigns: below ``results/`` and ``resources/`` whatever their
    names, other files by path. ``recorded``: the tree's path in the records; ``base``: the
    workflow's directory, None for a tree that was moved away, whose resources are unknown.
    """

    root: Path
    recorded: str
    base: Path | None
    jobs: dict[str, Record] = field(default_factory=dict)
    """Records by the key of their first output."""

    def key(self, path: str) -> str:
        """Return the key of a product by its recorded path."""
        normalised = os.path.normpath(path)
        if normalised.startswith(f"{self.recorded}/"):
            return f"results{normalised[len(self.recorded) :]}"
        components = normalised.split("/")
        starts = [
            components.index(resource_folder)
            for resource_folder in RESOURCES
            if resource_folder in components
        ]
        return "/".join(["resources", *components[min(starts) :]]) if starts else normalised

    def file(self, path: str) -> Path:
        """Return the path of a product's file, from its recorded path."""
        key = self.key(path)
        if key.startswith("results/"):
            return self.root / key.removeprefix("results/")
        return (self.base or Path()) / path

    @cached_property
    def products(self) -> dict[str, tuple[str, dict[str, str]]]:
        """Key of its job, and its entry in the record, by key of a product."""
        return {
            self.key(entry["path"]): (job, entry)
            for job, record in self.jobs.items()
            for entry in record["outputs"]
        }

    @cached_property
    def names(self) -> set[str]:
        """Names in the paths of its products: languages, models, benchmarks, …."""
        return {name for key in self.products for name in names_in(key)}


def names_in(key: str) -> list[str]:
    """Return names of directories and of the file in a key, without its suffixes."""
    *components, last = key.split("/")
    return [*components, last.removesuffix(".parquet").removesuffix(".json").removesuffix(".cells")]


def _placed(root: Path, inside: str, recorded: str) -> tuple[str, Path | None]:
    """Return the recorded path of a results tree, and the workflow's directory."""
    path = os.path.normpath(recorded)
    if not path.endswith(f"/{inside}"):
        raise UserError(
            f"{root}: the record beside {inside} is about {recorded}; expected a whole results "
            "tree. Name the directory that the campaign calls its results."
        )
    called = path.removesuffix(f"/{inside}")
    root_path = str(root.resolve())
    if root_path == called:
        return called, Path("/")
    if root_path.endswith(f"/{called}"):
        return called, Path(root_path.removesuffix(f"/{called}"))
    return called, None


def load_run(root: Path) -> Run:
    """Return the run behind a results tree, with readable records of upstream jobs.

    Raises UserError when it is no results tree.
    """
    records: list[Record] = []
    beside = ""
    for path in sorted(root.rglob(f"*{RECORD_SUFFIX}")):
        try:
            record = load_json(path.read_bytes())
        except ValueError as error:
            raise UserError(f"{path} is not a readable record ({error}). Run `check`.") from error
        # Some sidecars only point to the record of their job.
        if isinstance(record, dict) and "outputs" in record:
            beside = beside or str(path.relative_to(root)).removesuffix(RECORD_SUFFIX)
            records.append(record)
    if not records:
        raise UserError(f"{root} holds no job records (*{RECORD_SUFFIX}); expected a results tree.")
    recorded, base = _placed(root, beside, records[0]["outputs"][0]["path"])
    run = Run(root, recorded, base)
    if base is not None:
        records = list(Jobs(records, Records(base)).by_output.values())
    run.jobs = {run.key(record["outputs"][0]["path"]): record for record in records}
    return run
