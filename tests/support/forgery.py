"""Edits of products and of their records, as a forger would make them."""

import json
import re
from pathlib import Path

from blimpworks.files import RECORD_SUFFIX, sha256_of
from blimpworks.records.reading import OWN_HASH, record_hash


def embellished(text):
    """Return a table with another number in its last cell."""
    return re.sub(r"[^,]+$", "95.5", text.rstrip()) + "\n"


def alter_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def rewrite(sidecar, edit):
    """Edit a record, and update its hash of itself."""
    record = json.loads(sidecar.read_text("utf-8"))
    edit(record)
    record[OWN_HASH] = record_hash(record)
    sidecar.write_text(json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def forge(path, edit):
    """Edit a product's text, its hash in the record of its job, and the record's own hash."""
    text = path.read_text("utf-8")
    assert edit(text) != text
    path.write_text(edit(text), "utf-8")

    def enter(record):
        [entry] = [e for e in record["outputs"] if Path(e["path"]) == path]
        entry |= {"sha256": sha256_of(path), "bytes": path.stat().st_size}

    [sidecar] = [
        p for p in path.parent.glob(f"*{RECORD_SUFFIX}") if str(path) in p.read_text("utf-8")
    ]
    rewrite(sidecar, enter)
