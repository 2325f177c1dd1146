"""Items of BLiMP: the pairs of its paradigms, with the critical regions of prefix methods.

Source: Warstadt et al. (2020), sections 3, 4.1 and 6.4.
"""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blimpworks.items import evenly, item_id
from blimpworks.papers.blimp.items.release import Record, read_records, span_of
from blimpworks.papers.blimp.paradigms import LANG, PHENOMENON_OF
from blimpworks.papers.blimp.tables import ITEM_SCHEMA
from blimpworks.tables import write_rows

log = logging.getLogger(__name__)

FIELDS = {"syntax/semantics": "syntax_semantics"}
"""The one spelling that differs, and what the other files have."""


def _regions(record: Record) -> dict[str, int | None]:
    """Columns of the critical regions; null where no prefix method is allowed."""
    sentences = {"good": record.sentence_good, "bad": record.sentence_bad}
    critical = record.critical() or (None, None)
    regions: dict[str, int | None] = {}
    for (side, sentence), words in zip(sentences.items(), critical, strict=True):
        start, end = span_of(sentence, *words) if words else (None, None)
        regions |= {f"{side}_start": start, f"{side}_end": end}
    return regions


def _row(record: Record, path: Path) -> dict[str, Any]:
    pair = record.sentence_good, record.sentence_bad
    return {
        "item_id": item_id("blimp", record.UID, *pair),
        "lang": LANG,
        "phenomenon": PHENOMENON_OF.get(record.UID, record.linguistics_term),
        "paradigm": record.UID,
        **dict(zip(("good", "bad"), pair, strict=True)),
        **_regions(record),
        "treebank": None,
        "file": path.name,
        "sent_id": record.pairID,
        "prefix_methods": [record.method] if record.method else [],
        "field": FIELDS.get(record.field, record.field),
        "linguistics_term": record.linguistics_term,
        "lexically_identical": record.lexically_identical,
        "identical": record.identical,
        "line": int(record.pairID) + 1,
    }


def _rows(path: Path, pairs: int, most: int | None) -> Iterator[dict[str, Any]]:
    for record in evenly(list(read_records(path, pairs)), most):
        yield _row(record, path)


def build_items(files: Sequence[Path], output: Path, pairs: int, most: int | None = None) -> int:
    """Write the items of paradigms, in the order of the files, which are called after them.

    ``pairs``: how many each file must have; ``most``: at most so many are taken of each, evenly
    from all of it. Phenomena are those of Tables 2 and 4, which count the two paradigms of
    selectional restrictions ("s-selection") as argument structure. Returns the number of rows.

    Raises UserError for a missing or malformed file.
    """
    rows = [row for path in files for row in _rows(path, pairs, most)]
    same = sum(row["identical"] for row in rows)
    if same:
        log.warning("%s: %d of %d pairs are twice the same sentence", output, same, len(rows))
    write_rows(rows, ITEM_SCHEMA, output)
    return len(rows)
