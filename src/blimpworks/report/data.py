"""Write the panel's data on each number as scripts, since a page from a file reads no others."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

from blimpworks.audit.lineage import Lineage, Node
from blimpworks.records.reading import Record
from blimpworks.report.names import exhibit_label
from blimpworks.report.read import Cell, PaperInputs
from blimpworks.reproduction.printed import Place

FEW = 24
"""Most printed inputs of a number that the panel shows."""
NOTED = ("origin", "source", "engine")
"""Notes of jobs on an outside file's source, or on the scoring engine."""


@dataclass
class Products:
    """Products and the jobs that made them, each once.

    A product is [path, SHA-256, job, inputs]: ``job`` is an index of ``jobs``, or -1 for a file
    from outside; ``inputs`` are indices of ``products``. A job is [command, code, date, commit,
    whether the working tree was clean, notes].
    """

    products: list[list[Any]] = field(default_factory=list)
    jobs: list[list[Any]] = field(default_factory=list)
    _lineage: Lineage = field(default_factory=Lineage)
    _numbers: dict[tuple[Path, str], int] = field(default_factory=dict)
    _jobs: dict[str, int] = field(default_factory=dict)

    def add(self, path: Path) -> int | None:
        """Add a product with all its inputs; return its index, None if unrecorded."""
        node = self._lineage.product(path)
        if node is None:
            return None
        number = self._number(node)
        waiting = [node]
        while waiting:
            node = waiting.pop()
            product = self.products[self._number(node)]
            if product[3] is None:
                product[2] = self._job(node.record) if node.record else -1
                waiting += [n for n in node.inputs if (n.path, n.sha256) not in self._numbers]
                product[3] = [self._number(source) for source in node.inputs]
        return number

    def _number(self, node: Node) -> int:
        key = (node.path, node.sha256)
        if key not in self._numbers:
            self._numbers[key] = len(self.products)
            self.products.append([str(node.path), node.sha256, -1, None])
        return self._numbers[key]

    def _job(self, record: Record) -> int:
        first = record["outputs"][0]["path"]
        key = f"{record['verb']} {first} {record['started']}"
        if key not in self._jobs:
            self._jobs[key] = len(self.jobs)
            git = record["git"]
            notes = record.get("notes") or {}
            noted: dict[str, str] = {}
            for name in NOTED:
                note = notes.get(name)
                inner = note.items() if isinstance(note, dict) else [(name, note)]
                noted |= {str(key): str(value) for key, value in inner if value}
            made = [record["verb"], record["code"], record["ended"][:10]]
            self.jobs.append([*made, (git["commit"] or "")[:12], git["clean"], noted])
        return self._jobs[key]


def _cell(cell: Cell, known: Mapping[str, Place]) -> dict[str, Any]:
    """Return a cell for the panel; one that only shows a printed number has just its place."""
    row, cell_key = cell.facts, cell.place
    if cell_key and cell.is_itself:
        return {"row": row["row"], "column": row["column"], "place": cell_key[1:], "itself": True}
    facts: dict[str, Any] = {}
    for key in ("value", "low", "high"):
        if row[key] is not None and not isnan(row[key]):
            facts[key] = float(f"{row[key]:.10g}")
    facts |= {key: row[key] for key in ("row", "column", "text", "n", "formula", "source")}
    facts |= {"where": row["filter"], "place": list(cell_key[1:]) if cell_key else None}
    facts["of"] = len(cell.origins) or None
    facts["from"] = [known[origin] for origin in cell.origins[:FEW] if origin in known]
    return {key: value for key, value in facts.items() if value is not None}


def paper_script(paper: PaperInputs, products: Products) -> str:
    """Return the script with all numbers of one paper; adds their inputs to ``products``."""
    printed: dict[str, dict[str, dict[str, Any]]] = {}
    for (exhibit, row, column), number in paper.evidence.items():
        printed.setdefault(exhibit, {}).setdefault(row, {})[column] = number.facts()
    number_keys = {"/".join(cell_key): cell_key for cell_key in paper.evidence}
    forms = {}
    for form in (form for exhibit in paper.exhibits for form in exhibit.forms.values()):
        suffix = ".svg" if form.figure else ".csv"
        forms[form.key] = {
            "file": str(form.files) + suffix,
            "product": products.add(form.files.with_name(f"{form.files.name}.cells.parquet")),
            "cells": [_cell(cell, number_keys) for cell in form.cells],
        }
    labels = {e.name: exhibit_label(e.name) or e.title for e in paper.exhibits}
    names = {"languages": paper.names.known["lang"], "models": paper.names.known["model"]}
    return script("paper", {"printed": printed, "forms": forms, "labels": labels, "names": names})


def script(kind: str, content: dict[str, Any]) -> str:
    """Return a script that hands its content to the panel."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f'blimpworks.receive("{kind}",{text});\n'
