"""A comparison of two runs, for people and for programs."""

import json
import math
from collections import Counter
from collections.abc import Sequence

from blimpworks.audit.causes import Cause
from blimpworks.audit.diff import Comparison, Move

FEW = 8
"""Most numbers of a group that are named."""


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def as_json(comparison: Comparison) -> str:
    """The comparison as one JSON object; moves name their causes by number."""
    number = {cause: place for place, cause in enumerate(comparison.causes)}
    extra = sorted({cause for move in comparison.moves for cause in move.causes} - number.keys())
    number |= {cause: len(number) + place for place, cause in enumerate(extra)}
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


def _cause_lines(comparison: Comparison) -> list[str]:
    """Lines on causes, the jobs that have them, and how many numbers they may have moved."""
    if not comparison.causes:
        return ["No job does anything differently."]
    moved = Counter(cause for move in comparison.moves for cause in move.causes)
    width = max(len(cause.kind) for cause in comparison.causes)
    return [
        "Done differently:",
        *(
            f"   {cause.kind:{width}}  {cause.text}  ({_jobs(jobs)}; {_effect(moved[cause])})"
            for cause, jobs in comparison.causes.items()
        ),
    ]


def _jobs(jobs: Sequence[str]) -> str:
    return f"{len(jobs)} jobs" if len(jobs) > 1 else jobs[0].removeprefix("results/")


def _effect(moved: int) -> str:
    return f"behind {moved} of the numbers that moved" if moved else "moved no number"


def _move_line(move: Move) -> str:
    texts = f"{move.text_before} → {move.text_after}"
    if move.text_before == move.text_after:
        texts = f"{move.before:.6g} → {move.after:.6g}"
    by = "" if math.isnan(move.by) else f"  ({move.by:+.4g})"
    return f"      {move.exhibit}  {move.row} / {move.column}: {texts}{by}"


def _group_lines(causes: frozenset[Cause], moves: list[Move], whole: bool) -> list[str]:
    moves = sorted(moves, key=lambda move: -abs(move.by) if not math.isnan(move.by) else 0)
    shown = moves if whole else moves[:FEW]
    names = "; ".join(f"{cause.kind}: {cause.text}" for cause in sorted(causes)) or "nothing known"
    lines = [f"   {len(moves)} because of {names}", *map(_move_line, shown)]
    rest = len(moves) - len(shown)
    return [*lines, f"      … and {rest} that moved less (--all)"] if rest else lines


def as_text(comparison: Comparison, whole: bool = False) -> str:
    """The comparison for people; without ``whole`` only the numbers that moved most."""
    lines = [f"A {comparison.first.root}", f"B {comparison.second.root}", ""]
    lines += [*_cause_lines(comparison), ""]
    total = comparison.same + len(comparison.moves)
    lines.append(f"{len(comparison.moves)} of {total} numbers that both have moved.")
    groups: dict[frozenset[Cause], list[Move]] = {}
    for move in comparison.moves:
        groups.setdefault(move.causes, []).append(move)
    for causes, moves in sorted(groups.items(), key=lambda group: -len(group[1])):
        lines += _group_lines(causes, moves, whole)
    for name, counts in comparison.only.items():
        if counts:
            listed = ", ".join(f"{exhibit} {n}" for exhibit, n in counts.items())
            lines.append(f"{counts.total()} numbers only in {name}: {listed}")
    return "\n".join(lines)
