"""Re-hashing a results tree against the records of the jobs that made it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from blimpworks.errors import UserError
from blimpworks.files import RECORD_SUFFIX, expand, sha256_of
from blimpworks.provenance.lineage import read_record, record_of

Problem = Literal["altered", "missing", "stale", "unaccounted", "unreadable"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a file, and the sentence that says so."""

    problem: Problem
    path: Path
    detail: str


def _key(path: str | Path) -> Path:
    """One spelling of a path: records have it as the campaign does, relative or absolute."""
    return Path(path).resolve()


def _check_output(entry: dict[str, Any]) -> Iterator[Finding]:
    path = Path(entry["path"])
    if not path.is_file():
        yield Finding("missing", path, "its record exists, the file does not")
        return
    found = sha256_of(path)
    if found != entry["sha256"]:
        detail = f"SHA-256 is {found[:16]}…, the record says {entry['sha256'][:16]}…"
        yield Finding("altered", path, detail)


def _check_inputs(record: dict[str, Any], made: dict[Path, str]) -> Iterator[Finding]:
    """Products made from an input that has since been made anew, with other content."""
    first = Path(record["outputs"][0]["path"])
    for entry in record["inputs"]:
        now = made.get(_key(entry["path"]))
        if now is not None and now != entry["sha256"]:
            detail = f"made from an earlier {entry['path']} ({entry['sha256'][:16]}…)"
            yield Finding("stale", first, detail)


def _records(root: Path) -> tuple[dict[str, dict[str, Any]], list[Finding]]:
    """Readable records below ``root`` by first output, and findings for unreadable ones."""
    records: dict[str, dict[str, Any]] = {}
    broken = []
    for path in sorted(root.rglob(f"*{RECORD_SUFFIX}")):
        try:
            record = read_record(path)
            records[record["outputs"][0]["path"]] = record
        except UserError as error:
            broken.append(Finding("unreadable", path, str(error)))
    return records, broken


def _with_ancestors(records: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The records, and those of all inputs upstream, wherever they lie."""
    found = dict(records)
    waiting = list(records.values())
    known = {Path(e["path"]) for record in waiting for e in record["outputs"]}
    while waiting:
        for entry in waiting.pop()["inputs"]:
            path = Path(entry["path"])
            record = None if path in known else record_of(path)
            known.add(path)
            if record is not None:
                found[record["outputs"][0]["path"]] = record
                known |= {Path(e["path"]) for e in record["outputs"]}
                waiting.append(record)
    return found


def check_tree(root: Path) -> tuple[int, list[Finding]]:
    """Re-hash every product below ``root`` and all that it was made from.

    Returns how many products there are, and what is wrong. Files below ``root`` without a
    record are unaccounted for. Relative paths in records start from the directory that the
    workflow ran in, which must be the current one. Raises UserError when there is nothing
    to check.
    """
    inside, findings = _records(root)
    if not inside and not findings:
        raise UserError(f"{root} holds no job records (*{RECORD_SUFFIX}); expected a results tree.")
    records = _with_ancestors(inside).values()
    made = {_key(e["path"]): e["sha256"] for record in records for e in record["outputs"]}
    for record in records:
        for entry in record["outputs"]:
            findings += _check_output(entry)
        findings += _check_inputs(record, made)
    for path in expand([root]):
        if _key(path) not in made:
            findings.append(Finding("unaccounted", path, "no job's record lists it"))
    return len(made), findings
