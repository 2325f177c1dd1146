"""Compare two results trees: differences of their jobs, and the numbers that changed.

A provenance record beside each product says which job made it, from what. ``compare_runs`` compares
the jobs of both trees by these records. It lists each changed number with the possible causes,
which are differences of code, parameters, inputs or software in the jobs that it comes from:

    3 because of parameter: score near_tie: 0.1 → 0.2
       exhibits/mine/table5  gpt2 / English: 81.5 → 81.7  (+0.2)
"""

import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from blimpworks.audit.cells import CELLS_SUFFIX, read_cells
from blimpworks.audit.evidence import irrelevant_names
from blimpworks.audit.lineage import Jobs, is_about
from blimpworks.audit.stale import changed_code, changed_values, same_table, shortened, texts_of
from blimpworks.commands.declare import find_command
from blimpworks.errors import UserError
from blimpworks.files import RECORD_SUFFIX, load_json
from blimpworks.records.digest import reachable
from blimpworks.records.job import REPOSITORY
from blimpworks.records.reading import Record, Records

RESOURCES = ("sources", "models")
"""Directories of a campaign's resources, below a root of any name."""


@dataclass(frozen=True)
class Run:
    """The jobs that made a results tree.

    Products of two campaigns are compared by key: their path below ``results/`` or ``resources/``,
    whatever these directories are called. Other files have their path as key.
    """

    root: Path
    recorded: str
    """Path of the results in the records, such as "results/demo"."""
    base: Path | None
    """Directory of the workflow; None for results that were moved away from it."""
    records: Sequence[Record] = ()
    """Records of the jobs, in the order of their files."""

    @cached_property
    def jobs(self) -> dict[str, Record]:
        """Records by the key of their first output."""
        return {self.key(record["outputs"][0]["path"]): record for record in self.records}

    def key(self, path: str) -> str:
        """Return a product's key, such as "results/items/a" for "out/items/a" in results "out"."""
        normalised = os.path.normpath(path)
        if normalised.startswith(f"{self.recorded}/"):
            return f"results{normalised[len(self.recorded) :]}"
        components = normalised.split("/")
        starts = [components.index(folder) for folder in RESOURCES if folder in components]
        return "/".join(["resources", *components[min(starts) :]]) if starts else normalised

    def file(self, path: str) -> Path:
        key = self.key(path)
        if key.startswith("results/"):
            return self.root / key.removeprefix("results/")
        return (self.base or Path()) / path

    @cached_property
    def products(self) -> dict[str, tuple[str, dict[str, str]]]:
        """Job and entry in the job's record by product: {key: (key of the job, entry)}."""
        products = {}
        for job, record in self.jobs.items():
            for entry in record["outputs"]:
                products[self.key(entry["path"])] = job, entry
        return products

    @cached_property
    def names(self) -> set[str]:
        """Names of languages, models, benchmarks, … in the keys of products."""
        return {name for key in self.products for name in _names_in(key)}


def _names_in(key: str) -> list[str]:
    """Return ["results", "scores", …, "eng"] for "results/scores/mine/gpt2/eng.parquet"."""
    *components, last = key.split("/")
    return [*components, last.removesuffix(".parquet").removesuffix(".json").removesuffix(".cells")]


def load_run(root: Path) -> Run:
    """Read the jobs of a results tree. Raises UserError when ``root`` is none."""
    records: list[Record] = []
    first_file = ""
    for path in sorted(root.rglob(f"*{RECORD_SUFFIX}")):
        try:
            record = load_json(path.read_bytes())
        except ValueError as error:
            raise UserError(f"{path} is not a readable record ({error}). Run `check`.") from error
        # Some files beside products only name their job's record.
        if isinstance(record, dict) and "outputs" in record:
            first_file = first_file or str(path.relative_to(root)).removesuffix(RECORD_SUFFIX)
            records.append(record)
    if not records:
        raise UserError(f"{root} holds no job records (*{RECORD_SUFFIX}); expected a results tree.")

    # The tree may have been moved. Its path when it was made is the recorded path of one product,
    # without the product's path below ``root``.
    product = records[0]["outputs"][0]["path"]
    recorded = os.path.normpath(product).removesuffix(f"/{first_file}")
    if recorded == os.path.normpath(product):
        raise UserError(
            f"{root}: the record beside {first_file} is about {product}; expected a whole results "
            "tree. Name the directory that the campaign calls its results."
        )
    resolved = str(root.resolve())
    base = None
    if resolved == recorded:
        base = Path("/")
    elif resolved.endswith(f"/{recorded}"):
        base = Path(resolved.removesuffix(f"/{recorded}"))
    if base is not None:
        records = [*Jobs(records, Records(base)).by_output.values()]
    return Run(root, recorded, base, records)


Category = Literal["input", "code", "parameter", "model", "engine", "package", "unexplained"]
ENGINE_KEY = ("software", "code", "number format", "checkpoint", "first token or template")
"""Fields of an engine's key; changes of code and of checkpoint are separate causes."""


class Cause(NamedTuple):
    """One difference between the runs."""

    category: Category
    text: str


class Causes:
    """Finds differences of jobs in two runs, and products that they change, by key (``Run``)."""

    def __init__(self, first: Run, second: Run) -> None:
        self.first, self.second = first, second
        # Many numbers come from the same jobs, so results of these methods are cached.
        self.changed = cache(self._changed)
        self.causes_within_job = cache(self._causes_within_job)
        self.all_causes = cache(self._all_causes)
        # (Modules that changed, modules that may have changed), by both jobs' digests of code.
        self._definitions: dict[tuple[str, str], tuple[list[str], list[str]]] = {}

    def _in_both(self, key: str) -> bool:
        return key in self.first.products and key in self.second.products

    def _changed(self, key: str) -> bool:
        """Return whether a product differs; tables are compared by their data."""
        (_, old), (_, new) = self.first.products[key], self.second.products[key]
        if old["sha256"] == new["sha256"]:
            return False
        files = self.first.file(old["path"]), self.second.file(new["path"])
        return not (key.endswith(".parquet") and same_table(*files))

    def _causes_within_job(self, job: str, ignored: frozenset[str] = frozenset()) -> list[Cause]:
        """Return causes within a job of both runs; inputs about ``ignored`` names are left out."""
        old, new = self.first.jobs[job], self.second.jobs[job]
        causes = {*_value_causes(old, new)}
        if old["verb"] != new["verb"]:
            is_engine = new["verb"].startswith(("score ", "answer "))
            change = f"{old['verb']} → {new['verb']}"
            causes.add(Cause("engine" if is_engine else "code", change))
        elif old["code"] != new["code"]:
            causes |= {Cause("code", text) for text in self._code_changes(old, new)}
        before = {self.first.key(entry["path"]): entry["sha256"] for entry in old["inputs"]}
        after = {self.second.key(entry["path"]): entry["sha256"] for entry in new["inputs"]}
        for key in {*before, *after}:
            if is_about(key, ignored) or before.get(key) == after.get(key):
                continue
            if key in before and key in after:
                # For an input that a job made in both runs, the causes are in that job.
                if not self._in_both(key):
                    causes.add(Cause("input", f"{key} has other content"))
                continue
            # Name the language, model, … that only one run has.
            run, other_run = ("B", self.first) if key in after else ("A", self.second)
            name = next((name for name in _names_in(key) if name not in other_run.names), key)
            causes.add(Cause("input", f"{name} only in {run}"))
        return sorted(causes)

    def _code_changes(self, old: Record, new: Record) -> list[str]:
        """Return the changed modules of a command with their definitions (see ``changed_code``)."""
        codes = (old["code"], new["code"])
        if codes not in self._definitions:
            roots = {REPOSITORY, *(r.base for r in (self.first, self.second) if r.base)}
            old_text, new_text = (texts_of(record, sorted(roots)) for record in (old, new))
            command = find_command(new["verb"])
            # Ignore definitions that the command does not use, if its current code is known.
            is_current = command is not None and command.code == new["code"]
            reached = set(reachable(*command.entries)) if command and is_current else None
            sources = old["sources"], new["sources"]
            self._definitions[codes] = changed_code(*sources, old_text, new_text, reached)
        changed, perhaps = self._definitions[codes]
        return changed or perhaps or [f"what {new['verb']} starts from, or a data file"]

    def _all_causes(self, job: str, ignored: frozenset[str] = frozenset()) -> frozenset[Cause]:
        """Return causes of differences in a job's products, in this job and upstream."""
        causes = {*self.causes_within_job(job, ignored)}
        for key in {self.second.key(e["path"]) for e in self.second.jobs[job]["inputs"]}:
            if not self._in_both(key) or is_about(key, ignored) or not self.changed(key):
                continue
            upstream = self.second.products[key][0]
            if upstream in self.first.jobs:
                text = f"{key}: same inputs, code, parameters and packages"
                causes |= self.all_causes(upstream, ignored) or {Cause("unexplained", text)}
        return frozenset(causes)

    def causes_of_cell(self, key: str, row_filter: dict[str, Any]) -> frozenset[Cause]:
        """Return causes of a difference in a cell of the file ``key`` with this ``row_filter``."""
        job, job_in_second = (run.products[key][0] for run in (self.first, self.second))
        # Another version of a command may have another first output, and so another key.
        if job != job_in_second:
            return frozenset()
        records = self.first.jobs[job], self.second.jobs[job]
        irrelevant = (irrelevant_names(record, row_filter) for record in records)
        return self.all_causes(job, frozenset().union(*irrelevant))


def _value_causes(old: Record, new: Record) -> Iterator[Cause]:
    """Yield changed parameters, packages and engines between two records of a job."""
    command = new["verb"].partition(" ")[0]
    category: Category = "input" if command == "retrieve" else "parameter"
    if command == "retrieve_model" or command.startswith("train_"):
        category = "model"
    for path, (before, after) in changed_values(old["params"], new["params"]).items():
        is_engine = path == "engine" and command in ("score", "answer")
        text = f"{command} {path}: {shortened(before)} → {shortened(after)}"
        yield Cause("engine" if is_engine else category, text)
    for name, (before, after) in changed_values(old["packages"], new["packages"]).items():
        yield Cause("package", f"{name} {before} → {after}")
    engines = [str(record["notes"].get("engine", "")).split("|") for record in (old, new)]
    if all(len(key_parts) == len(ENGINE_KEY) for key_parts in engines):
        for name, before, after in zip(ENGINE_KEY, *engines, strict=True):
            if before != after and name not in ("code", "checkpoint"):
                yield Cause("engine", f"{name}: {before} → {after}")


TOLERANCE = 1e-9
"""Numbers with a smaller difference are the same."""
MOST_LISTED_NUMBERS = 8
"""Most numbers with the same causes that are listed."""
CELL_KEY = ["row", "column", "index"]
"""Columns that identify a cell; the index counts cells with the same row and column."""


class Move(NamedTuple):
    """A number that differs between the runs, and its possible causes."""

    exhibit: str
    row: str
    column: str
    before: float
    after: float
    text_before: str
    text_after: str
    causes: frozenset[Cause]

    @property
    def change(self) -> float:
        """Change of the number; NaN where one of the two is NaN."""
        return self.after - self.before


class RunComparison(NamedTuple):
    """The differences between two runs, A and B."""

    first: Run
    second: Run
    causes: dict[Cause, list[str]]
    """Keys of the jobs with each cause."""
    same: int
    """Number of equal numbers."""
    moves: list[Move]
    only: dict[str, Counter[str]]
    """Numbers of cells that only run "A" (or "B") has, by exhibit."""


def _join_cells(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that both runs have, with columns such as "value_before" and "value_after".

    The column "unchanged" says whether value and text of a cell are the same.
    """
    # Cells with the same row and column are joined in their order.
    old, new = (
        frame.assign(index=frame.groupby(CELL_KEY[:2], observed=True).cumcount())
        for frame in (old, new)
    )
    joined = old.merge(new, on=CELL_KEY, suffixes=("_before", "_after"))
    before, after = (joined[f"value_{run}"].astype(float) for run in ("before", "after"))
    # Infinite values have no difference, but they can be equal. NaN is never equal.
    same_number = (before == after) | ((before - after).abs() <= TOLERANCE)
    same_text = joined["text_before"] == joined["text_after"]
    both_absent = before.isna() & after.isna()
    return joined.assign(unchanged=(same_number & same_text) | both_absent)


def compare_runs(first: Path, second: Path) -> RunComparison:
    """Compare two results trees. Raises UserError when one is none, or has broken cells."""
    runs = load_run(first), load_run(second)
    causes = Causes(*runs)
    number_of_same, moves = 0, list[Move]()
    only: dict[str, Counter[str]] = {"A": Counter(), "B": Counter()}
    keys = {key for run in runs for key in run.products if key.endswith(CELLS_SUFFIX)}
    for key in sorted(keys):  # of the files with the numbers (cells) of exhibits
        exhibit = key.removeprefix("results/").removesuffix(CELLS_SUFFIX)
        entries = [(run, run.products[key][1]) for run in runs if key in run.products]
        cells = [read_cells(run.file(entry["path"])) for run, entry in entries]
        if len(cells) < 2:
            only["A" if key in runs[0].products else "B"][exhibit] += len(cells[0])
            continue
        joined = _join_cells(*cells)
        only["A"][exhibit] += len(cells[0]) - len(joined)
        only["B"][exhibit] += len(cells[1]) - len(joined)
        number_of_same += int(joined["unchanged"].sum())
        for cell in joined[~joined["unchanged"]].to_dict("records"):
            position = exhibit, cell["row"], cell["column"]
            values = cell["value_before"], cell["value_after"]
            texts = cell["text_before"], cell["text_after"]
            causes_of_cell = causes.causes_of_cell(key, json.loads(cell["filter_after"]))
            moves.append(Move(*position, *values, *texts, causes_of_cell))
    only = {run: +count for run, count in only.items()}  # "+" drops exhibits with zero cells
    jobs_by_cause: dict[Cause, list[str]] = defaultdict(list)
    for job in runs[1].jobs:
        if job in runs[0].jobs:
            for cause in causes.causes_within_job(job):
                jobs_by_cause[cause].append(job)
    return RunComparison(*runs, dict(sorted(jobs_by_cause.items())), number_of_same, moves, only)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def as_json(comparison: RunComparison) -> str:
    """Return the comparison as a JSON object; moves name their causes by number."""
    moved = Counter(cause for move in comparison.moves for cause in move.causes)
    jobs = comparison.causes
    causes = [*jobs, *sorted(moved.keys() - jobs.keys())]
    cause_numbers = {cause: number for number, cause in enumerate(causes)}
    moves = []
    for move in comparison.moves:
        entry: dict[str, Any] = {"exhibit": move.exhibit, "row": move.row, "column": move.column}
        entry |= {"before": _or_none(move.before), "after": _or_none(move.after)}
        entry["text"] = [move.text_before, move.text_after]
        entry["causes"] = sorted(cause_numbers[cause] for cause in move.causes)
        moves.append(entry)
    document: dict[str, Any] = {"a": str(comparison.first.root), "b": str(comparison.second.root)}
    document["causes"] = [
        {"kind": c.category, "text": c.text, "jobs": jobs.get(c, []), "moved": moved[c]}
        for c in causes
    ]
    document |= {"same": comparison.same, "moved": moves, "only": comparison.only}
    return json.dumps(document, indent=1, ensure_ascii=False)


def as_text(comparison: RunComparison, list_all: bool = False) -> str:
    """Return the comparison as text; without ``list_all`` only the largest changes."""
    lines = [f"A {comparison.first.root}", f"B {comparison.second.root}", ""]
    lines.append("Done differently:" if comparison.causes else "No job does anything differently.")
    moved = Counter(cause for move in comparison.moves for cause in move.causes)
    width = max((len(cause.category) for cause in comparison.causes), default=0)
    for cause, jobs in comparison.causes.items():
        by = f"{len(jobs)} jobs" if len(jobs) > 1 else jobs[0].removeprefix("results/")
        count = moved[cause]
        effect = f"behind {count} of the numbers that changed" if count else "changed no number"
        lines.append(f"   {cause.category:{width}}  {cause.text}  ({by}; {effect})")
    total = comparison.same + len(comparison.moves)
    lines += ["", f"{len(comparison.moves)} of {total} numbers that both have changed."]
    moves_by_causes: dict[frozenset[Cause], list[Move]] = defaultdict(list)
    for move in comparison.moves:
        moves_by_causes[move.causes].append(move)
    for causes, moves in sorted(moves_by_causes.items(), key=lambda group: -len(group[1])):
        names = "; ".join(f"{cause.category}: {cause.text}" for cause in sorted(causes))
        lines.append(f"   {len(moves)} because of {names or 'nothing known'}")
        # Moves from or to NaN, whose change is unknown, are last.
        largest = sorted(
            moves, key=lambda move: 0 if math.isnan(move.change) else -abs(move.change)
        )
        listed = largest if list_all else largest[:MOST_LISTED_NUMBERS]
        for move in listed:
            texts = f"{move.text_before} → {move.text_after}"
            if move.text_before == move.text_after:
                texts = f"{move.before:.6g} → {move.after:.6g}"
            change = "" if math.isnan(move.change) else f"  ({move.change:+.4g})"
            lines.append(f"      {move.exhibit}  {move.row} / {move.column}: {texts}{change}")
        if len(listed) < len(moves):
            lines.append(f"      … and {len(moves) - len(listed)} that changed less (--all)")
    for name, counts in comparison.only.items():
        if counts:
            by_exhibit = ", ".join(f"{exhibit} {n}" for exhibit, n in counts.items())
            lines.append(f"{counts.total()} numbers only in {name}: {by_exhibit}")
    return "\n".join(lines)
