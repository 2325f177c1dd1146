"""Re-hashing a results tree against the records of the jobs that made it, and what comes of it.

Stale are products that the working tree would now make otherwise: by other code, or with other
parameters or inputs.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from blimpworks.audit.changes import changed_code, changed_values, shortened, text_now, texts_of
from blimpworks.audit.lineage import Record, Records, read_record, with_upstream
from blimpworks.audit.plan import PlannedJob
from blimpworks.commands.registry import find_command
from blimpworks.errors import UserError
from blimpworks.files import RECORD_SUFFIX, expand, sha256_of
from blimpworks.records.digest import reachable

Problem = Literal["altered", "missing", "stale", "unaccounted", "unreadable"]
Progress = Callable[[int, int, int, int], None]
"""Called with how many files of how many, and bytes of how many, have been read."""
READERS = 8
"""Files read at a time: hashing leaves the interpreter free."""
SHOWN = 3
"""Inputs that a finding names."""
FEW = 5
"""Definitions, parameters or inputs that a reason names."""
ALIKE = 3
"""Most files with the same thing wrong that are named one by one."""
EVERY = 5.0
"""Seconds between two messages on progress."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a file, and the sentence that says so."""

    problem: Problem
    path: Path
    detail: str


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings of an audit in and behind a results tree.

    ``products``: files that jobs made; ``planned``: how many of their jobs the campaign has
    too (None for an audit without a plan); ``downstream``: products that are sound themselves, but
    were made from altered, missing or stale ones.
    """

    products: int
    findings: list[Finding]
    planned: int | None
    jobs: int
    downstream: list[str]


def _key(path: str | Path) -> str:
    """One spelling of a path: records have it as the campaign does, relative or absolute."""
    return os.path.realpath(path)


def _first(record: Record) -> Path:
    return Path(record["outputs"][0]["path"])


def _records(root: Path) -> tuple[dict[str, Record], list[Finding]]:
    """Readable records below ``root`` by first output, and findings for unreadable ones."""
    records: dict[str, Record] = {}
    broken = []
    for path in sorted(root.rglob(f"*{RECORD_SUFFIX}")):
        try:
            record = read_record(path)
            records[record["outputs"][0]["path"]] = record
        except UserError as error:
            broken.append(Finding("unreadable", path, str(error)))
    return records, broken


def _outside(
    records: Mapping[str, Record], products: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Inputs that no job made, by path, with what the first record that names them says."""
    inputs: dict[str, dict[str, Any]] = {}
    for record in records.values():
        for entry in record["inputs"]:
            if _key(entry["path"]) not in products:
                inputs.setdefault(_key(entry["path"]), entry)
    return inputs


def _hash(entry: Mapping[str, Any]) -> str | None:
    """SHA-256 of a file as it is now, None where it is gone or cannot be read."""
    path = Path(entry["path"])
    try:
        return sha256_of(path) if path.is_file() else None
    except OSError:
        return None


def _hashes(entries: list[dict[str, Any]], progress: Progress | None) -> list[str | None]:
    """Hashes of files as they are now, in order."""
    total, read = sum(entry["bytes"] for entry in entries), 0
    hashes = []
    with ThreadPoolExecutor(READERS) as pool:
        for number, (entry, now) in enumerate(zip(entries, pool.map(_hash, entries), strict=True)):
            hashes.append(now)
            read += entry["bytes"]
            if progress:
                progress(number + 1, len(entries), read, total)
    return hashes


def _file_finding(entry: Mapping[str, Any], now: str | None) -> Finding | None:
    """Whether a product is still what its record says."""
    path = Path(entry["path"])
    if now is None:
        return Finding("missing", path, "its record exists, the file does not")
    if now == entry["sha256"]:
        return None
    detail = f"SHA-256 is {now[:16]}…, the record says {entry['sha256'][:16]}…"
    return Finding("altered", path, detail)


def _input_findings(
    record: Record, products: Mapping[str, str], outside: Mapping[str, str | None]
) -> Iterator[Finding]:
    """Products made from an input that now has other content, and inputs that are gone."""
    earlier = []
    for entry in record["inputs"]:
        key = _key(entry["path"])
        now = products.get(key, outside.get(key))
        if now is None:
            yield Finding("missing", Path(entry["path"]), "products were made from it")
        elif now != entry["sha256"]:
            earlier.append(f"{entry['path']} ({entry['sha256'][:16]}…)")
    if earlier:
        # A report is made from hundreds of files: one line says that it is stale.
        more = f" and {len(earlier) - SHOWN} more" if len(earlier) > SHOWN else ""
        detail = f"made from an earlier {', '.join(earlier[:SHOWN])}{more}"
        yield Finding("stale", _first(record), detail)


def _few(texts: list[str]) -> str:
    rest = len(texts) - FEW
    return ", ".join(texts[:FEW]) + (f" and {rest} more" if rest > 0 else "")


class Codes:
    """Reasons why recorded jobs are stale by the code that their commands run now."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str | None] = {}

    def reason(self, record: Mapping[str, Any]) -> str | None:
        """A sentence on changes in the code of a job's command since, or None."""
        key = (record["verb"], record["code"])
        if key not in self._known:
            self._known[key] = self._changed(record)
        return self._known[key]

    def _changed(self, record: Mapping[str, Any]) -> str | None:
        command = find_command(record["verb"])
        if command is None:
            return f"there is no command {record['verb']!r} any more"
        if command.code == record["code"]:
            return None
        reached = set(reachable(*command.entries))
        definitions = changed_code(
            record["sources"], command.sources(), texts_of(record), text_now, reached
        )
        what = _few(definitions) or "what it starts from, or a data file beside it"
        return f"the code of {command.name} has changed: {what}"


def plan_reasons(record: Mapping[str, Any], planned: PlannedJob) -> Iterator[str]:
    """Parameters and inputs that differ between a product's record and its planned job."""
    if planned.command != record["verb"]:
        yield f"the campaign makes it by {planned.command!r}, it was made by {record['verb']!r}"
    changed = changed_values(record["params"], planned.params)
    if changed:
        changes = [
            f"{path} is now {shortened(new)}, was {shortened(old)}"
            for path, (old, new) in changed.items()
        ]
        yield f"parameters have changed: {_few(changes)}"
    before = {os.path.normpath(entry["path"]) for entry in record["inputs"]}
    after = {os.path.normpath(path) for path in expand([*map(Path, planned.inputs)])}
    if added := sorted(after - before):
        yield f"the campaign now makes it from {_few(added)} too"
    if gone := sorted(before - after):
        yield f"the campaign no longer makes it from {_few(gone)}"


def _stale(
    records: Mapping[str, Record], plan: Mapping[str, PlannedJob] | None
) -> Iterator[Finding]:
    """Products that the working tree's code, or the campaign, would make otherwise."""
    codes = Codes()
    for record in records.values():
        if reason := codes.reason(record):
            yield Finding("stale", _first(record), reason)
        planned = (plan or {}).get(os.path.normpath(_first(record)))
        for reason in plan_reasons(record, planned) if planned else ():
            yield Finding("stale", _first(record), reason)


def _downstream(records: Mapping[str, Record], findings: list[Finding]) -> list[str]:
    """First outputs of jobs that come, however indirectly, after a file with a finding."""
    bad = {_key(finding.path) for finding in findings}
    direct = {p for p, r in records.items() if any(_key(e["path"]) in bad for e in r["outputs"])}
    users: dict[str, list[str]] = {}
    for path, record in records.items():
        for entry in record["inputs"]:
            users.setdefault(_key(entry["path"]), []).append(path)
    waiting = [*bad, *(_key(e["path"]) for p in direct for e in records[p]["outputs"])]
    reached: set[str] = set()
    while waiting:
        for path in users.get(waiting.pop(), []):
            if path not in reached:
                reached.add(path)
                waiting += [_key(e["path"]) for e in records[path]["outputs"]]
    return sorted(reached - direct)


def audit(
    root: Path,
    plan: Mapping[str, PlannedJob] | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Re-hash every product below ``root`` and all that it was made from.

    Files below ``root`` without a record are unaccounted for. A product is stale when an
    input has changed since, or the code of its command, or when the ``plan`` (the campaign's
    jobs by first output) has other parameters or inputs. Relative paths in records start
    from the directory that the workflow ran in, which must be the current one. Raises
    UserError when there is nothing to check.
    """
    inside, findings = _records(root)
    if not inside and not findings:
        raise UserError(f"{root} holds no job records (*{RECORD_SUFFIX}); expected a results tree.")
    broken: list[Finding] = []
    complete = with_upstream(
        inside.values(),
        Records(),
        lambda path, error: broken.append(Finding("unreadable", path, str(error))),
    )
    records = {record["outputs"][0]["path"]: record for record in complete}
    recorded = {_key(e["path"]): e["sha256"] for r in records.values() for e in r["outputs"]}
    products = [e for record in records.values() for e in record["outputs"]]
    outside = _outside(records, recorded)
    now = _hashes([*products, *outside.values()], progress)
    file_findings = map(_file_finding, products, now)
    findings += broken + [finding for finding in file_findings if finding]
    changed = dict(zip(outside, now[len(products) :], strict=True))
    for record in records.values():
        findings += _input_findings(record, recorded, changed)
    findings += _stale(records, plan)
    strangers = [path for path in expand([root]) if _key(path) not in recorded]
    downstream = _downstream(records, findings)
    findings += [Finding("unaccounted", path, "no job's record lists it") for path in strangers]
    planned = None if plan is None else sum(os.path.normpath(path) in plan for path in records)
    return Audit(len(recorded), list(dict.fromkeys(findings)), planned, len(records), downstream)


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
        shown = paths if whole or len(paths) <= ALIKE else paths[:ALIKE]
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
