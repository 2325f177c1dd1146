"""Causes of the differences between two runs: differences between their jobs."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from blimpworks.audit.changes import changed_code, changed_values, shortened, texts_of
from blimpworks.audit.lineage import is_about
from blimpworks.audit.run import Run, names_in
from blimpworks.commands.registry import find_command
from blimpworks.errors import UserError
from blimpworks.parquet import read_parquet
from blimpworks.records.digest import reachable
from blimpworks.records.job import REPOSITORY
from blimpworks.records.reading import Record

Kind = Literal["input", "code", "parameter", "model", "engine", "package", "unexplained"]
NO_NAMES: frozenset[str] = frozenset()
KIND_OF_COMMAND: dict[str, Kind] = {
    "retrieve": "input",
    "score": "engine",
    "answer": "engine",
    "retrieve_model": "model",
}
"""Kind of cause of a command's changed parameter; commands that train have the kind model."""
ENGINE_KEY = ("software", "code", "number format", "checkpoint", "first token or template")
"""Parts of an engine's key; changes of code and of checkpoint are separate causes."""


@dataclass(frozen=True, slots=True, order=True)
class Cause:
    """One difference between the runs."""

    kind: Kind
    text: str


def _kind_of(command: str, parameter: str) -> Kind:
    name = command.partition(" ")[0]
    if name.startswith("train_"):
        return "model"
    if name in ("score", "answer") and parameter != "engine":
        return "parameter"
    return KIND_OF_COMMAND.get(name, "parameter")


def same_table(first: Path, second: Path) -> bool:
    """Return whether two Parquet files have the same data, whatever their records."""
    try:
        return bool(read_parquet(first).equals(read_parquet(second), check_metadata=False))
    except UserError:
        return False


class Causes:
    """The differences between two runs, by job, and the products that they change."""

    def __init__(self, first: Run, second: Run) -> None:
        self.first, self.second = first, second
        self._changed: dict[str, bool] = {}
        self._within_job: dict[tuple[str, frozenset[str]], list[Cause]] = {}
        self._with_upstream: dict[tuple[str, frozenset[str]], frozenset[Cause]] = {}
        self._changed_code: dict[tuple[str, str], tuple[list[str], list[str]]] = {}

    def changed(self, key: str) -> bool:
        """Return whether a product of both runs differs, records inside tables ignored."""
        if key not in self._changed:
            # A product's job, and its entry in the job's record.
            (_, old), (_, new) = self.first.products[key], self.second.products[key]
            same = old["sha256"] == new["sha256"] or (
                key.endswith(".parquet")
                and same_table(self.first.file(old["path"]), self.second.file(new["path"]))
            )
            self._changed[key] = not same
        return self._changed[key]

    def causes_within_job(self, job: str, ignored: frozenset[str] = NO_NAMES) -> list[Cause]:
        """Return causes within one job of both runs, without its upstream jobs.

        Inputs about the ``ignored`` names (languages, models) are left out.
        """
        key = (job, ignored)
        if key not in self._within_job:
            old, new = self.first.jobs[job], self.second.jobs[job]
            own_changes = [*self._code_causes(old, new), *_value_causes(old, new)]
            self._within_job[key] = sorted({*own_changes, *self._input_causes(old, new, ignored)})
        return self._within_job[key]

    def _code_causes(self, old: Record, new: Record) -> Iterator[Cause]:
        if old["verb"] != new["verb"]:
            cause_kind: Kind = "engine" if new["verb"].startswith(("score ", "answer ")) else "code"
            yield Cause(cause_kind, f"{old['verb']} → {new['verb']}")
        elif old["code"] != new["code"]:
            key = (old["code"], new["code"])
            if key not in self._changed_code:
                self._changed_code[key] = self._changed_definitions(old, new)
            sure, perhaps = self._changed_code[key]
            for text in sure or perhaps or [f"what {new['verb']} starts from, or a data file"]:
                yield Cause("code", text)

    def _changed_definitions(self, old: Record, new: Record) -> tuple[list[str], list[str]]:
        roots = {REPOSITORY, *(run.base for run in (self.first, self.second) if run.base)}
        before, after = (texts_of(record, sorted(roots)) for record in (old, new))
        command = find_command(new["verb"])
        # Count only definitions that the command reaches; older code cannot be searched for them.
        is_current = command is not None and command.code == new["code"]
        reached = set(reachable(*command.entries)) if command and is_current else None
        return changed_code(old["sources"], new["sources"], before, after, reached)

    def _input_causes(self, old: Record, new: Record, ignored: frozenset[str]) -> Iterator[Cause]:
        before, after = (
            {run.key(e["path"]): e["sha256"] for e in record["inputs"]}
            for run, record in ((self.first, old), (self.second, new))
        )
        for key in sorted(before.keys() ^ after.keys()):
            if not is_about(key, ignored):
                where = "B" if key in after else "A"
                absent = (self.first if where == "B" else self.second).names
                name = next((name for name in names_in(key) if name not in absent), None)
                yield Cause("input", f"{name or key} only in {where}")
        for key in sorted(before.keys() & after.keys()):
            in_both = key in self.first.products and key in self.second.products
            if before[key] != after[key] and not in_both and not is_about(key, ignored):
                yield Cause("input", f"{key} has other content")

    def all_causes(self, job: str, ignored: frozenset[str] = NO_NAMES) -> frozenset[Cause]:
        """Return causes of differences in a job's products: its own, and those upstream."""
        if (job, ignored) in self._with_upstream:
            return self._with_upstream[job, ignored]
        causes = {*self.causes_within_job(job, ignored)}
        for key in {self.second.key(e["path"]) for e in self.second.jobs[job]["inputs"]}:
            in_both = key in self.first.products and key in self.second.products
            if not in_both or is_about(key, ignored) or not self.changed(key):
                continue
            upstream = self.second.products[key][0]
            if upstream in self.first.jobs:
                text = f"{key}: same inputs, code, parameters and packages"
                causes |= self.all_causes(upstream, ignored) or {Cause("unexplained", text)}
        self._with_upstream[job, ignored] = frozenset(causes)
        return self._with_upstream[job, ignored]


def _value_causes(old: Record, new: Record) -> Iterator[Cause]:
    """Yield changed parameters, packages and engines between two records of a job."""
    command = new["verb"]
    for path, (before, after) in changed_values(old["params"], new["params"]).items():
        change = f"{command.partition(' ')[0]} {path}: {shortened(before)} → {shortened(after)}"
        yield Cause(_kind_of(command, path), change)
    for name, (before, after) in changed_values(old["packages"], new["packages"]).items():
        yield Cause("package", f"{name} {before} → {after}")
    engines = [str(record["notes"].get("engine", "")).split("|") for record in (old, new)]
    if all(len(key_parts) == len(ENGINE_KEY) for key_parts in engines):
        for name, before, after in zip(ENGINE_KEY, *engines, strict=True):
            if before != after and name not in ("code", "checkpoint"):
                yield Cause("engine", f"{name}: {before} → {after}")
