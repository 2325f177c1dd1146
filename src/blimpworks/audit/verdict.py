"""What an audit found, for people and for programs."""

import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from blimpworks.audit.check import Audit

FEW = 3
"""So many files with the same thing wrong are named one by one."""
EVERY = 5.0
"""Seconds between two words on progress."""


class Meter:
    """Tells on standard error how far a long audit is; of a short one it says nothing."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, files: int, of_files: int, read: int, of_bytes: int) -> None:
        """Tell, unless it was told a moment ago."""
        if time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            done = f"{files} of {of_files} files, {read / 1e9:.1f} of {of_bytes / 1e9:.1f} GB"
            print(f"read {done}", file=sys.stderr, flush=True)


def as_json(found: Audit) -> str:
    """The audit as one JSON object."""
    document = asdict(found)
    for finding in document["findings"]:
        finding["path"] = str(finding["path"])
    return json.dumps(document, indent=1, ensure_ascii=False)


def _verdict(found: Audit, root: Path) -> str:
    kinds = Counter(problem for problem, _ in {(f.problem, f.path) for f in found.findings})
    said = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())) or "all as recorded"
    return f"{found.products} products in and behind {root}: {said}."


def as_text(found: Audit, root: Path, whole: bool = False) -> str:
    """The audit for people; without ``whole`` files with the same thing wrong are counted."""
    alike: dict[tuple[str, str], list[Path]] = {}
    for finding in found.findings:
        alike.setdefault((finding.problem, finding.detail), []).append(finding.path)
    lines = []
    for (problem, detail), paths in alike.items():
        shown = paths if whole or len(paths) <= FEW else paths[:FEW]
        lines += [f"{problem}: {path}: {detail}" for path in shown]
        if len(shown) < len(paths):
            lines.append(f"{problem}: … and {len(paths) - len(shown)} more for the same reason")
    if found.downstream:
        lines.append(f"Made from these, and sound themselves: {len(found.downstream)} products.")
    if found.planned is not None:
        lines.append(
            f"{found.planned} of {found.jobs} jobs compared with what the campaign would do now."
        )
    return "\n".join([*lines, _verdict(found, root)])
