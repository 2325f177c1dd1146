"""Declare benchmarks in a folder of their own, and build them as a campaign does."""

import json
from pathlib import Path
from typing import Any

import yaml

from blimpworks.benchmarks.build import build_items
from blimpworks.tables import ITEMS, read_table

HEAD = {"label": "Toy", "title": "A toy", "authors": "Nobody (2026)", "languages": ["eng"]}
PAIRS = {"layout": "pairs", "files": "*.csv", "good": "good", "bad": "bad"}
CSV = "good,bad\nThe cats sleep.,The cats sleeps.\nHe runs.,He run.\n"


def declare(folder: Path, files: dict[str, str | bytes], **declaration: Any) -> Path:
    """Write a declaration and its files; return the declaration's path."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path = folder / "benchmark.yaml"
    text = yaml.safe_dump({**HEAD, **declaration}, allow_unicode=True)
    path.write_text(text, encoding="utf-8")
    return path


def built(
    folder: Path, files: dict[str, str | bytes], *, lang: str = "eng", **declaration: Any
) -> list[dict[str, Any]]:
    path = declare(folder, files, **declaration)
    output = folder.parent / "items.parquet"
    build_items(path, [], folder, "toy", lang, output)
    rows: list[dict[str, Any]] = read_table(ITEMS, output).to_pylist()
    return rows


def pairs_of(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["good"], row["bad"]) for row in rows]


def regions_of(row: dict[str, Any]) -> tuple[str, str]:
    sides = ("good", "bad")
    good, bad = (row[side][row[f"{side}_start"] : row[f"{side}_end"]] for side in sides)
    return good, bad


def jsonl(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def suite(**changes: Any) -> dict[str, Any]:
    """Return a test suite of one item with two conditions of two regions."""

    def condition(name: str, verb: str) -> dict[str, Any]:
        contents = ["The cats", verb]
        regions = [{"region_number": n, "content": c} for n, c in enumerate(contents, start=1)]
        return {"condition_name": name, "regions": regions}

    conditions = [condition("match", "sleep"), condition("mismatch", "sleeps")]
    item = {"item_number": 1, "conditions": conditions}
    formula = "(2;%match%) < (2;%mismatch%)"
    predictions = [{"type": "formula", "formula": formula}]
    return {"meta": {"name": "verbs"}, "predictions": predictions, "items": [item], **changes}
