"""Write items of any benchmark of pairs as a declared benchmark."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from blimpworks.campaign.registry import benchmarks, paper_of
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.items import Regions
from blimpworks.tables import ITEMS, read_table

COLUMNS = ("lang", "phenomenon", "paradigm", "good", "bad", *Regions._fields)
PAIRS = "pairs.jsonl"


def export_benchmark(items: Sequence[Path], folder: Path, label: str, authors: str) -> int:
    """Write a declaration and its pairs from items tables; return the number of pairs.

    Each table is of a language. Licence, BibTeX and contact are the benchmark's. Phenomena,
    paradigms and critical regions stay, so that all methods give the same judgements. Raises
    UserError for items that are no pairs, and a folder with a declaration.
    """
    path = folder / "benchmark.yaml"
    if path.exists():
        raise UserError(f"{path} exists; expected a new folder. Name another one, or remove it.")
    records: list[dict[str, Any]] = []
    for table in items:
        arrow = read_table(ITEMS, table)
        if {"condition", "acceptable"} & {*arrow.column_names}:
            raise UserError(
                f"{table} has items of conditions, or single sentences; expected pairs. Name "
                "tables of a benchmark of pairs."
            )
        for item in arrow.select([*COLUMNS, "sent_id", "item_id"]).to_pylist():
            kept = {name: item[name] for name in COLUMNS if item[name] is not None}
            records.append({"id": item["sent_id"] or item["item_id"], **kept})
    regions = all(field in record for record in records for field in Regions._fields)
    declaration = {
        "label": label,
        "title": label,
        "authors": authors,
        "languages": sorted({record["lang"] for record in records}),
        "data": [
            {
                "layout": "pairs",
                "files": PAIRS,
                "good": "good",
                "bad": "bad",
                "id": "id",
                **({"critical": {name: name for name in Regions._fields}} if regions else {}),
            }
        ],
    }
    names = {table.resolve().parent.name for table in items} & benchmarks().keys()
    if len(names) == 1:
        citation = paper_of(*names).citation
        stated = {name: getattr(citation, name) for name in ("licence", "bibtex", "contact")}
        declaration |= {name: text for name, text in stated.items() if text}
    lines = (json.dumps(record, ensure_ascii=False) for record in records)
    write_text(folder / PAIRS, "".join(f"{line}\n" for line in lines))
    write_text(path, yaml.safe_dump(declaration, allow_unicode=True, sort_keys=False))
    return len(records)
