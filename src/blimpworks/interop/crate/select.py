"""Choice of a crate's contents: exhibits and their inputs, checked to be unaltered."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from blimpworks.audit.cells import CELLS_SUFFIX
from blimpworks.audit.check import record_faults
from blimpworks.audit.repeat import repeat_jobs
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.exhibits.shared import counted
from blimpworks.files import sha256_of
from blimpworks.records.reading import Record, Records, root_hash

FORMS = {"measured": "exhibits", "published": "published"}
"""Directory of exhibits, by form."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An exhibit in one form, and the table of its cells."""

    paper: str
    name: str
    form: str
    cells: Path

    @property
    def key(self) -> str:
        """Name of the exhibit with its paper: ``PAPER/NAME``."""
        return f"{self.paper}/{self.name}"


@dataclass(slots=True)
class Trace:
    """Products with all files that they were made from, and their records.

    ``records``: the record of a file's job, None from outside; ``versions``: who recorded each
    SHA-256 of a file.
    """

    records: dict[Path, Record | None] = field(default_factory=dict)
    versions: dict[Path, dict[str, str]] = field(default_factory=dict)
    bytes: dict[Path, int] = field(default_factory=dict)
    gone: list[Path] = field(default_factory=list)
    """Files that are known by their SHA-256 only."""

    def sha256(self, path: Path) -> str:
        """Return the recorded SHA-256 of a file."""
        return next(iter(self.versions[path]))

    def jobs(self) -> list[Record]:
        """Return the record of each job once, in the order of their starts."""
        records = {r["outputs"][0]["path"]: r for r in self.records.values() if r is not None}
        return sorted(records.values(), key=lambda r: (r["started"], r["outputs"][0]["path"]))

    def root_hash(self) -> str:
        """Return one SHA-256 for the records of all jobs of the trace."""
        return root_hash(self.jobs())

    def inputs(self, path: Path) -> list[Path]:
        """Return the inputs of the job that made a file."""
        record = self.records[path]
        return [Path(entry["path"]) for entry in record["inputs"]] if record else []

    def behind(self, path: Path) -> set[Path]:
        """Return the inputs of the job that made a file, and of all upstream jobs."""
        waiting, seen = self.inputs(path), set[Path]()
        while waiting:
            source = waiting.pop()
            if source not in seen:
                seen.add(source)
                waiting += self.inputs(source)
        return seen


def results_of(campaign: Campaign, source: Path, results: Path) -> Path:
    """Return the results directory as the campaign, and so every record, spells it.

    Raises UserError when there are no results, or when they are not the campaign's.
    """
    campaign_results = Path(campaign.pathvars.results)
    if not results.is_dir():
        raise UserError(
            f"{results} does not exist; expected the results of a campaign, as `snakemake` "
            "leaves them. Build them first."
        )
    if campaign_results.resolve() != results.resolve():
        raise UserError(
            f"{source} puts its results in {campaign_results}, which from here is not {results}; "
            "give the results and the campaign file that belong together, in the directory that "
            "the workflow ran in."
        )
    return campaign_results


def find_exhibits(results: Path, chosen: Collection[str]) -> list[Shown]:
    """Return exhibits built below ``results``, or those ``chosen`` by paper/name.

    Raises UserError when there are none, or not the chosen one.
    """
    shown_exhibits = [
        Shown(path.parent.name, path.name.removesuffix(CELLS_SUFFIX), form, path)
        for form, folder in FORMS.items()
        for path in sorted((results / folder).glob(f"*/*{CELLS_SUFFIX}"))
    ]
    if not shown_exhibits:
        raise UserError(
            f"{results} has no exhibits (expected {results}/exhibits/PAPER/EXHIBIT{CELLS_SUFFIX}); "
            "build them with snakemake."
        )
    keys = list(dict.fromkeys(exhibit.key for exhibit in shown_exhibits))
    if unknown := [key for key in chosen if key not in keys]:
        raise UserError(f"{results} has no exhibit {unknown[0]!r}; there are: {', '.join(keys)}.")
    return [exhibit for exhibit in shown_exhibits if not chosen or exhibit.key in chosen]


def _note(trace: Trace, entry: dict[str, Any], who: str) -> Path:
    path = Path(entry["path"])
    trace.versions.setdefault(path, {}).setdefault(entry["sha256"], who)
    trace.bytes.setdefault(path, entry["bytes"])
    return path


def trace_back(products: Iterable[Path]) -> Trace:
    """Return the products and all their recorded ancestors.

    Raises UserError for a product without a record.
    """
    trace, search = Trace(), Records()
    waiting = list(products)
    for path in waiting:
        if search.of(path) is None:
            raise UserError(f"{path} carries no record of what made it. Rebuild it.")
    while waiting:
        path = waiting.pop()
        if path in trace.records:
            continue
        record = trace.records[path] = search.of(path)
        if record is not None:
            for entry in record["outputs"]:
                trace.records[_note(trace, entry, f"the record of {record['verb']}")] = record
            first = record["outputs"][0]["path"]
            waiting += [_note(trace, entry, first) for entry in record["inputs"]]
    return trace


def _findings(trace: Trace, results: Path) -> Iterator[str]:
    for path, versions in tqdm(trace.versions.items(), "checking", unit="file", disable=None):
        if not path.is_file():
            if path.is_relative_to(results):
                yield f"{path} is missing"
            trace.gone.append(path)
            continue
        actual = sha256_of(path)
        sha, who = next(iter(versions.items()))
        if actual not in versions and trace.records[path] is None:
            yield f"{path} has changed since {who} was made from it"
        elif actual not in versions:
            yield f"{path} was altered (SHA-256 {actual[:12]}…, in {who} {sha[:12]}…)"
        elif len(versions) > 1:
            stale = next(who for sha, who in versions.items() if sha != actual)
            yield f"{path} was made anew since {stale} was made from it"


def require_unaltered(trace: Trace, results: Path, run: Callable[[list[str]], object]) -> None:
    """Hash all files of a trace, and make its cheap products again.

    A missing file outside the results, such as a large model, is noted as gone. ``run`` runs a
    command line of this package in this process. Raises UserError when a file differs from the
    records or from what is made again, a record was edited, or a result is missing.
    """
    makers = {os.path.realpath(p): r for p, r in trace.records.items() if r is not None}
    records = {record["outputs"][0]["path"]: record for record in trace.jobs()}
    findings = [*_findings(trace, results)]
    findings += [f"{path}: {fault}" for path, fault in record_faults(records, makers)]
    if not findings:
        repeated = repeat_jobs(records, run, set())
        findings = [f"{path}: {fault}" for path, fault in repeated.differing]
    if findings:
        further_files = counted(len(findings) - 1, "more file")
        more = f" ({further_files} not as recorded)" if findings[1:] else ""
        raise UserError(
            f"{findings[0]}{more}; a crate would not be what its records say. "
            f"`blimpworks check {results}` lists what is wrong; rebuild it with snakemake."
        )
