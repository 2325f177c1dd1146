"""Read and verify the provenance records of jobs, and find the record of a product.

``record_of(product)`` returns the record of the job that made a file. A record is the JSON file
``<product>.prov.json`` beside a job's first output (the sidecar):

    {"verb": "judge", "inputs": [{"path": …, "sha256": …, "bytes": …}], "outputs": […], …}

It contains its own SHA-256, and the SHA-256 of the records of its inputs. An edited record
therefore differs from its hash, and from the hash in the records of jobs that used its products.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from blimpworks.errors import UserError
from blimpworks.files import RECORD_SUFFIX, load_json, sidecar_path

Record = dict[str, Any]
WORKING_DIRECTORY = Path()  # of the workflow, from which relative paths in records start
SEARCHED_FOLDERS = 3
"""Directories, from a product's upward, that are searched for its record."""
OWN_HASH = "sha256"
"""Key of a record's SHA-256 of itself without this key."""
TYPES: dict[str, type] = {
    **dict.fromkeys(("verb", "code", "started", "ended"), str),
    **dict.fromkeys(("params", "packages", "notes", "sources", "git", "host"), dict),
    **dict.fromkeys(("inputs", "outputs"), list),
}
"""Keys of all records, and the types of their values."""
LATER_TYPES: dict[str, type] = {"arguments": list, "input_records": dict, OWN_HASH: str}
"""Keys that records of earlier versions lack, and the types of their values."""
COMMANDS_SHOWING_THE_HASH = ("build_report", "export_")
"""Prefixes of the commands whose products show the hash of the results tree (``root_hash``)."""
_HEXADECIMAL = re.compile(r"[0-9a-f]{64}")


def record_hash(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record without its key ``sha256``, as 64 hexadecimal digits."""
    content = {key: value for key, value in record.items() if key != OWN_HASH}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def root_hash(records: Iterable[Record]) -> str:
    """Return one SHA-256 over the records of a results tree, in the order of products' paths.

    Records of reports and exports are left out, because these products show the hash.
    """
    lines = {
        f"{record['outputs'][0]['path']} {record_hash(record)}\n"
        for record in records
        if not record["verb"].startswith(COMMANDS_SHOWING_THE_HASH)
    }
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def _check(record: Any) -> None:
    """Raise ValueError with a record's first fault."""
    if not isinstance(record, dict) or not record.get("outputs"):
        raise ValueError("it has no outputs")
    later_types = {key: value_type for key, value_type in LATER_TYPES.items() if key in record}
    for key, value_type in (TYPES | later_types).items():
        if not isinstance(record.get(key), value_type) or record[key] == "":
            fault = f"its {key!r} is {record.get(key)!r:.40}, expected a {value_type.__name__}"
            raise ValueError(fault)
    for key in ("inputs", "outputs"):
        for entry in record[key]:
            path = entry.get("path") if isinstance(entry, dict) else None
            has_path = isinstance(path, str) and path and "\0" not in path
            has_hash = has_path and _HEXADECIMAL.fullmatch(str(entry.get("sha256")))
            if not has_hash or type(entry.get("bytes")) is not int:
                raise ValueError(f"one of its {key!r} lacks a path, SHA-256 or size")
    if not ({"commit", "clean"} <= record["git"].keys() and "platform" in record["host"]):
        raise ValueError("its 'git' or 'host' is incomplete")


def read_record(path: Path, base: Path = WORKING_DIRECTORY) -> Record:
    """Return the record in a sidecar, or of its pointer. Raises UserError for a damaged one."""
    try:
        record: Record = load_json(path.read_bytes())
        if isinstance(record, dict) and isinstance(record.get("record"), str):
            path = base / record["record"]
            record = load_json(path.read_bytes())
        _check(record)
    except (OSError, ValueError, RecursionError) as error:
        fault = str(error) or type(error).__name__
        raise UserError(f"damaged record {path}: {fault}. Rebuild its product.") from error
    return record


def records_below(
    root: Path, unreadable: Callable[[Path, UserError], object] = lambda *_: None
) -> dict[str, Record]:
    """Return records below a directory by first output; ``unreadable`` gets faulty ones."""
    records: dict[str, Record] = {}
    for path in sorted(root.rglob(f"*{RECORD_SUFFIX}")):
        try:
            record = read_record(path)
            records[record["outputs"][0]["path"]] = record
        except UserError as error:
            unreadable(path, error)
    return records


def _spellings(path: str | Path, base: Path) -> set[str]:
    """Return a path as it is, absolute, and relative to ``base``; records may have any of them."""
    root = os.path.abspath(base)  # noqa: PTH100  (links stay)
    absolute = os.path.normpath(os.path.join(root, path))  # noqa: PTH118
    return {os.path.normpath(path), absolute, absolute.removeprefix(f"{root}/")}


class Records:
    """Finds the record of a product, by paths relative to ``base``; each sidecar is read once."""

    def __init__(self, base: Path = WORKING_DIRECTORY) -> None:
        self._base = base
        self._read = cache(self._read_sidecar)
        self._sidecars = cache(lambda folder: sorted(folder.glob(f"*{RECORD_SUFFIX}")))

    def _read_sidecar(self, sidecar: Path) -> tuple[Record, set[str]]:
        """Return a record, and the paths of its outputs."""
        record = read_record(sidecar, self._base)
        return record, {os.path.normpath(output["path"]) for output in record["outputs"]}

    def of(self, product: str | Path) -> Record | None:
        """Return the record of the job that made a product, None for a file that no job made."""
        spellings = _spellings(product, self._base)
        # First the sidecar of the product itself. If the product is not the job's first output, the
        # record is beside that output, in the product's directory or in one above.
        sidecar = sidecar_path(self._base / os.path.normpath(product))
        folders = list(sidecar.parents)[:SEARCHED_FOLDERS]
        sidecars = chain.from_iterable(map(self._sidecars, folders))
        for candidate in chain([sidecar] if sidecar.is_file() else [], sidecars):
            record, outputs = self._read(candidate)
            if spellings & outputs:
                return record
        return None


def record_of(product: Path) -> Record | None:
    """Return the record of the job that made a product; None for a file that no job made."""
    return Records().of(product)


def output_hash(record: Record, product: str | Path) -> str:
    """Return the SHA-256 that a record has of its output ``product``."""
    spellings = _spellings(product, WORKING_DIRECTORY)
    outputs = (entry for entry in record["outputs"] if os.path.normpath(entry["path"]) in spellings)
    return str(next(outputs)["sha256"])
