"""Faults of records: edits since their job wrote them.

A record contains its own SHA-256 and those of its inputs' records.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from blimpworks.files import sidecar_path
from blimpworks.records.reading import OWN_HASH, Record, record_hash


def _path(record: Record) -> Path:
    return sidecar_path(Path(record["outputs"][0]["path"]))


def _own(record: Record, right: str) -> str | None:
    if OWN_HASH not in record:
        return (
            "the record has no hash of itself: an earlier version wrote it, or it was edited; "
            "make its product anew"
        )
    if record[OWN_HASH] != right:
        return "the record was edited: it has not the hash of itself that its job wrote"
    return None


def record_faults(
    records: Mapping[str, Record], makers: Mapping[str, Record]
) -> Iterator[tuple[Path, str]]:
    """Yield edited records, with a sentence each; ``makers`` are records by products' real paths.

    An edit that also corrects the record's own hash shows in records of later jobs. A job that ran
    again later, with the same result, may have another record.
    """
    hashes = {path: record_hash(record) for path, record in records.items()}
    edited: dict[Path, str] = {}
    for first, record in records.items():
        if fault := _own(record, hashes[first]):
            edited.setdefault(_path(record), fault)
        for product, expected in record.get("input_records", {}).items():
            maker = makers.get(os.path.realpath(product))
            if maker is None or hashes[maker["outputs"][0]["path"]] == expected:
                continue
            if maker["started"] <= record["started"]:
                fault = f"the record was edited since {first} was made from {product}"
                edited.setdefault(_path(maker), fault)
    yield from edited.items()
