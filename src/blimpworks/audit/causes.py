"""Two runs side by side: their jobs, and the differences that cause other products."""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from blimpworks.audit.lineage import Jobs, is_about
from blimpworks.commands.registry import find_command
from blimpworks.errors import UserError
from blimpworks.files import RECORD_SUFFIX
from blimpworks.json_files import load_json
from blimpworks.parquet import read_parquet
from blimpworks.records.digest import definitions, module_path, reachable
from blimpworks.records.job import REPOSITORY, run_git
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
        starts = [components.index(folder) for folder in RESOURCES if folder in components]
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


def load_run(root: Path) -> Run:
    """Return the run behind a results tree. Raises UserError when it is none."""
    records: list[Record] = []
    inside = ""
    for path in sorted(root.rglob(f"*{RECORD_SUFFIX}")):
        try:
            record = load_json(path.read_bytes())
        except ValueError as error:
            raise UserError(f"{path} is not a readable record ({error}). Run `check`.") from error
        # Some sidecars only point to the record of their job.
        if isinstance(record, dict) and "outputs" in record:
            inside = inside or str(path.relative_to(root)).removesuffix(RECORD_SUFFIX)
            records.append(record)
    if not records:
        raise UserError(f"{root} holds no job records (*{RECORD_SUFFIX}); expected a results tree.")
    product = records[0]["outputs"][0]["path"]
    recorded = os.path.normpath(product).removesuffix(f"/{inside}")
    if recorded == os.path.normpath(product):
        raise UserError(
            f"{root}: the record beside {inside} is about {product}; expected a whole results "
            "tree. Name the directory that the campaign calls its results."
        )
    whole = str(root.resolve())
    base = None
    if whole == recorded:
        base = Path("/")
    elif whole.endswith(f"/{recorded}"):
        base = Path(whole.removesuffix(f"/{recorded}"))
    run = Run(root, recorded, base)
    if base is not None:
        records = list(Jobs(records, Records(base)).by_output.values())
    run.jobs = {run.key(record["outputs"][0]["path"]): record for record in records}
    return run


ABSENT = "absent"
LONGEST = 70
SOURCES = Path("src")
Text = Callable[[str], str | None]
"""Returns the source of a module as one run had it, or None if it is lost."""


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Return leaves of nested objects by dotted path; lists are leaves."""
    if not isinstance(value, Mapping) or not value:
        return {prefix: value}
    leaves: dict[str, Any] = {}
    for key, inner in value.items():
        leaves |= flatten(inner, f"{prefix}.{key}" if prefix else str(key))
    return leaves


def shortened(value: Any) -> str:
    """Return a value as JSON, cut if it is long."""
    text = value if value is ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def changed_values(before: Any, after: Any) -> dict[str, tuple[Any, Any]]:
    """Return leaves that differ, by dotted path, with both values."""
    old, new = flatten(before), flatten(json.loads(json.dumps(after)))
    return {
        path: (old.get(path, ABSENT), new.get(path, ABSENT))
        for path in [*old, *(new.keys() - old.keys())]
        if old.get(path, ABSENT) != new.get(path, ABSENT)
    }


@cache
def _shown(repository: Path, commit: str, path: str) -> bytes | None:
    return run_git(repository, "show", f"{commit}:{path}")


def texts_of(record: Mapping[str, Any], repositories: Collection[Path] = (REPOSITORY,)) -> Text:
    """Return a function for the sources of modules, from copies with the recorded SHA-256."""

    def text(module: str) -> str | None:
        recorded_hash, commit = record["sources"].get(module), record["git"]["commit"]
        base = str(SOURCES.joinpath(*module.split(".")))
        for repository in repositories:
            for path in (f"{base}.py", f"{base}/__init__.py"):
                file = repository / path
                contents = [file.read_bytes() if file.is_file() else None]
                contents += [_shown(repository, commit, path)] if commit else []
                for content in contents:
                    if content and hashlib.sha256(content).hexdigest() == recorded_hash:
                        return content.decode("utf-8")
        return None

    return text


def text_now(module: str) -> str | None:
    """Return the module's source in the working tree of this code."""
    path = module_path(module)
    return path.read_text(encoding="utf-8") if path else None


def changed_code(
    before: Mapping[str, str],
    after: Mapping[str, str],
    old: Text,
    new: Text,
    reached: Collection[tuple[str, str]] | None = None,
) -> tuple[list[str], list[str]]:
    """Return modules that differ between two jobs (SHA-256 by module), with their definitions.

    ``reached``: existing definitions that count. Modules with changed comments alone are left out.
    The second list has modules that perhaps differ, because a source is lost.
    """
    changed: list[str] = []
    perhaps: list[str] = []
    for module in sorted({*before, *after}):
        if before.get(module) == after.get(module):
            continue
        if module not in before or module not in after:
            changed.append(f"{module} ({'new' if module not in before else 'no longer used'})")
            continue
        old_text, new_text = old(module), new(module)
        if old_text is None or new_text is None:
            perhaps.append(f"{module} (perhaps)")
            continue
        first, second = definitions(old_text), definitions(new_text)
        names = [
            name or "statements run on import"
            for name in {**first, **second}
            if first.get(name) != second.get(name)
            and (not name or reached is None or name not in second or (module, name) in reached)
        ]
        if names:
            changed.append(f"{module} ({', '.join(names)})")
    return changed, perhaps


NO_NAMES: frozenset[str] = frozenset()
Kind = Literal["input", "code", "parameter", "model", "engine", "package", "unexplained"]
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
        # Many numbers come from the same jobs.
        self.changed = cache(self._changed)
        self.causes_within_job = cache(self._causes_within_job)
        self.all_causes = cache(self._all_causes)
        self._definitions: dict[tuple[str, str], tuple[list[str], list[str]]] = {}

    def _in_both(self, key: str) -> bool:
        return key in self.first.products and key in self.second.products

    def _changed(self, key: str) -> bool:
        (_, old), (_, new) = self.first.products[key], self.second.products[key]
        return old["sha256"] != new["sha256"] and not (
            key.endswith(".parquet")
            and same_table(self.first.file(old["path"]), self.second.file(new["path"]))
        )

    def _causes_within_job(self, job: str, ignored: frozenset[str] = NO_NAMES) -> list[Cause]:
        """Return causes within a job; inputs about the ``ignored`` names are left out."""
        old, new = self.first.jobs[job], self.second.jobs[job]
        causes = {*_value_causes(old, new)}
        if old["verb"] != new["verb"]:
            is_engine = new["verb"].startswith(("score ", "answer "))
            change = f"{old['verb']} → {new['verb']}"
            causes.add(Cause("engine" if is_engine else "code", change))
        elif old["code"] != new["code"]:
            codes = (old["code"], new["code"])
            if codes not in self._definitions:
                roots = {REPOSITORY, *(r.base for r in (self.first, self.second) if r.base)}
                old_text, new_text = (texts_of(record, sorted(roots)) for record in (old, new))
                command = find_command(new["verb"])
                # Count only definitions that the command reaches, where its code is the present.
                is_current = command is not None and command.code == new["code"]
                reached = set(reachable(*command.entries)) if command and is_current else None
                self._definitions[codes] = changed_code(
                    old["sources"], new["sources"], old_text, new_text, reached
                )
            sure, perhaps = self._definitions[codes]
            changes = sure or perhaps or [f"what {new['verb']} starts from, or a data file"]
            causes |= {Cause("code", text) for text in changes}
        before, after = (
            {run.key(e["path"]): e["sha256"] for e in record["inputs"]}
            for run, record in ((self.first, old), (self.second, new))
        )
        for key in {*before, *after}:
            if is_about(key, ignored) or before.get(key) == after.get(key):
                continue
            if key in before and key in after:
                if not self._in_both(key):
                    causes.add(Cause("input", f"{key} has other content"))
                continue
            where, other = ("B", self.first) if key in after else ("A", self.second)
            name = next((name for name in names_in(key) if name not in other.names), key)
            causes.add(Cause("input", f"{name} only in {where}"))
        return sorted(causes)

    def _all_causes(self, job: str, ignored: frozenset[str] = NO_NAMES) -> frozenset[Cause]:
        """Return causes of differences in a job's products: its own, and those upstream."""
        causes = {*self.causes_within_job(job, ignored)}
        for key in {self.second.key(e["path"]) for e in self.second.jobs[job]["inputs"]}:
            if not self._in_both(key) or is_about(key, ignored) or not self.changed(key):
                continue
            upstream = self.second.products[key][0]
            if upstream in self.first.jobs:
                text = f"{key}: same inputs, code, parameters and packages"
                causes |= self.all_causes(upstream, ignored) or {Cause("unexplained", text)}
        return frozenset(causes)


def _value_causes(old: Record, new: Record) -> Iterator[Cause]:
    """Yield changed parameters, packages and engines between two records of a job."""
    command = new["verb"].partition(" ")[0]
    for path, (before, after) in changed_values(old["params"], new["params"]).items():
        kind = KIND_OF_COMMAND.get(command, "parameter")
        if command.startswith("train_"):
            kind = "model"
        elif kind == "engine" and path != "engine":
            kind = "parameter"
        yield Cause(kind, f"{command} {path}: {shortened(before)} → {shortened(after)}")
    for name, (before, after) in changed_values(old["packages"], new["packages"]).items():
        yield Cause("package", f"{name} {before} → {after}")
    engines = [str(record["notes"].get("engine", "")).split("|") for record in (old, new)]
    if all(len(key_parts) == len(ENGINE_KEY) for key_parts in engines):
        for name, before, after in zip(ENGINE_KEY, *engines, strict=True):
            if before != after and name not in ("code", "checkpoint"):
                yield Cause("engine", f"{name}: {before} → {after}")
