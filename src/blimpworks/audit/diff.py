"""Comparison of two results trees: differences of their jobs, and changed numbers."""

import json
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from blimpworks.audit.causes import Cause, Causes, Run, load_run
from blimpworks.audit.cells import CELLS_SUFFIX, read_cells
from blimpworks.audit.explain import irrelevant_names

TOLERANCE = 1e-9
"""Numbers with a smaller difference are the same."""
FEW = 8
"""Most numbers of a group that are named."""
PLACE = ["row", "column", "index"]


@dataclass(frozen=True, slots=True)
class Move:
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
    def by(self) -> float:
        """Change of the number; NaN where one of the two is NaN."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two runs.

    ``causes``: each with its jobs; ``same``: number of equal numbers; ``only``: counts of numbers
    of one run alone, by exhibit.
    """

    first: Run
    second: Run
    causes: dict[Cause, list[str]]
    same: int
    moves: list[Move]
    only: dict[str, Counter[str]]


def compare_runs(first: Path, second: Path) -> Comparison:
    """Compare two results trees. Raises UserError when one is none, or lacks recorded cells."""
    runs = load_run(first), load_run(second)
    causes = Causes(*runs)
    ours, theirs = (
        {
            key: run.file(entry["path"])
            for key, (_, entry) in run.products.items()
            if key.endswith(CELLS_SUFFIX)
        }
        for run in runs
    )
    same, moves = 0, list[Move]()
    only: dict[str, Counter[str]] = {"A": Counter(), "B": Counter()}
    for key in sorted({*ours, *theirs}):
        name = key.removeprefix("results/").removesuffix(CELLS_SUFFIX)
        cells = [read_cells(files[key]) for files in (ours, theirs) if key in files]
        if len(cells) < 2:
            only["A" if key in ours else "B"][name] += len(cells[0])
            continue
        old, new = (
            frame.assign(index=frame.groupby(PLACE[:2], observed=True).cumcount())
            for frame in cells
        )
        both = old.merge(new, on=PLACE)
        only["A"][name] += len(old) - len(both)
        only["B"][name] += len(new) - len(both)
        before, after = (both[f"value_{side}"].astype(float) for side in "xy")
        apart = ((before - after).abs() > TOLERANCE) | (both["text_x"] != both["text_y"])
        unknown = before.isna() | after.isna()
        moved = apart.where(~unknown, before.isna() != after.isna()).astype(bool)
        same += int((~moved).sum())
        for cell in both[moved].to_dict("records"):
            job, where = runs[1].products[key][0], json.loads(cell["filter_y"])
            irrelevant = (irrelevant_names(run.jobs[job], where) for run in runs)
            behind = causes.all_causes(job, frozenset().union(*irrelevant))
            numbers = cell["value_x"], cell["value_y"], cell["text_x"], cell["text_y"]
            moves.append(Move(name, cell["row"], cell["column"], *numbers, behind))
    alone = {run: +count for run, count in only.items()}
    jobs_by_cause: dict[Cause, list[str]] = {}
    for job in causes.second.jobs:
        for cause in causes.causes_within_job(job) if job in causes.first.jobs else ():
            jobs_by_cause.setdefault(cause, []).append(job)
    return Comparison(*runs, dict(sorted(jobs_by_cause.items())), same, moves, alone)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def as_json(comparison: Comparison) -> str:
    """Return the comparison as one JSON object; moves name their causes by number."""
    number = {cause: position for position, cause in enumerate(comparison.causes)}
    extra = sorted({cause for move in comparison.moves for cause in move.causes} - number.keys())
    number |= {cause: len(number) + position for position, cause in enumerate(extra)}
    moved = Counter(cause for move in comparison.moves for cause in move.causes)
    jobs = comparison.causes
    document = {
        "a": str(comparison.first.root),
        "b": str(comparison.second.root),
        "causes": [
            {"kind": c.kind, "text": c.text, "jobs": jobs.get(c, []), "moved": moved[c]}
            for c in number
        ],
        "same": comparison.same,
        "moved": [
            {
                "exhibit": move.exhibit,
                "row": move.row,
                "column": move.column,
                "before": _number(move.before),
                "after": _number(move.after),
                "text": [move.text_before, move.text_after],
                "causes": sorted(number[cause] for cause in move.causes),
            }
            for move in comparison.moves
        ],
        "only": comparison.only,
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def as_text(comparison: Comparison, whole: bool = False) -> str:
    """Return the comparison for people; without ``whole`` only the largest changes."""
    lines = [f"A {comparison.first.root}", f"B {comparison.second.root}", ""]
    lines.append("Done differently:" if comparison.causes else "No job does anything differently.")
    moved = Counter(cause for move in comparison.moves for cause in move.causes)
    width = max((len(cause.kind) for cause in comparison.causes), default=0)
    for cause, jobs in comparison.causes.items():
        by = f"{len(jobs)} jobs" if len(jobs) > 1 else jobs[0].removeprefix("results/")
        count = moved[cause]
        effect = f"behind {count} of the numbers that moved" if count else "moved no number"
        lines.append(f"   {cause.kind:{width}}  {cause.text}  ({by}; {effect})")
    lines.append("")
    total = comparison.same + len(comparison.moves)
    lines.append(f"{len(comparison.moves)} of {total} numbers that both have moved.")
    groups: dict[frozenset[Cause], list[Move]] = {}
    for move in comparison.moves:
        groups.setdefault(move.causes, []).append(move)
    for causes, moves in sorted(groups.items(), key=lambda group: -len(group[1])):
        names = "; ".join(f"{cause.kind}: {cause.text}" for cause in sorted(causes))
        lines.append(f"   {len(moves)} because of {names or 'nothing known'}")
        largest = sorted(moves, key=lambda move: -abs(move.by) if not math.isnan(move.by) else 0)
        shown = largest if whole else largest[:FEW]
        for move in shown:
            texts = f"{move.text_before} → {move.text_after}"
            if move.text_before == move.text_after:
                texts = f"{move.before:.6g} → {move.after:.6g}"
            by = "" if math.isnan(move.by) else f"  ({move.by:+.4g})"
            lines.append(f"      {move.exhibit}  {move.row} / {move.column}: {texts}{by}")
        if len(shown) < len(moves):
            lines.append(f"      … and {len(moves) - len(shown)} that moved less (--all)")
    for name, counts in comparison.only.items():
        if counts:
            listed = ", ".join(f"{exhibit} {n}" for exhibit, n in counts.items())
            lines.append(f"{counts.total()} numbers only in {name}: {listed}")
    return "\n".join(lines)
