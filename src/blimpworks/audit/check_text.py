"""The findings of an audit, for people and for programs."""

import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from blimpworks.audit.check import Audit

FEW = 3
"""Most files with the same thing wrong that are named one by one."""
EVERY = 5.0
"""Seconds between two messages on progress."""


class Meter:
    """Reports on standard error how far a long audit is; a short one has no report."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, files: int, of_files: int, read: int, of_bytes: int) -> None:
        """Report, unless the last report was a moment ago."""
        if time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            done = f"{files} of {of_files} files, {read / 1e9:.1f} of {of_bytes / 1e9:.1f} GB"
            print(f"read {done}", file=sys.stderr, flush=True)


def as_json(audit: Audit) -> str:
    """The audit as one JSON object."""
    document = asdict(audit)
    for finding in document["findings"]:
        finding["path"] = str(finding["path"])
    return json.dumps(document, indent=1, ensure_ascii=False)


def _verdict(audit: Audit, root: Path) -> str:
    kinds = Counter(problem for problem, _ in {(f.problem, f.path) for f in audit.findings})
    said = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())) or "all as recorded"
    return f"{audit.products} products in and behind {root}: {said}."


def as_text(audit: Audit, root: Path, whole: bool = False) -> str:
    """The audit for people; without ``whole`` files with the same thing wrong are counted."""
    alike: dict[tuple[str, str], list[Path]] = {}
    for finding in audit.findings:
        alike.setdefault((finding.problem, finding.detail), []).append(finding.path)
    lines = []
    for (problem, detail), paths in alike.items():
        shown = paths if whole or len(paths) <= FEW else paths[:FEW]
        lines += [f"{problem}: {path}: {detail}" for path in shown]
        if len(shown) < len(paths):
            lines.append(f"{problem}: … and {len(paths) - len(shown)} more for the same reason")
    if audit.downstream:
        lines.append(f"Made from these, and sound themselves: {len(audit.downstream)} products.")
    if audit.planned is not None:
        lines.append(
            f"{audit.planned} of {audit.jobs} jobs compared with what the campaign would do now."
        )
    return "\n".join([*lines, _verdict(audit, root)])
