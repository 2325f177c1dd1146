"""Data of the panel on each number, as scripts that a page loads on first use.

Scripts, because a page opened from a file may not read other files.
"""

import json
from collections.abc import Sequence
from math import isnan
from typing import Any

from blimpworks.report.evidence import Evidence
from blimpworks.report.names import Names
from blimpworks.report.products import Products
from blimpworks.report.sections import Section
from blimpworks.report.views import Form, Numbers

FEW = 24
"""Of more printed numbers that one is computed from, the panel shows so many."""


def _rounded(value: float | None) -> float | None:
    return None if value is None or isnan(value) else float(f"{value:.10g}")


def _cell(form: Form, index: int, numbers: Numbers) -> dict[str, Any]:
    """One cell as the panel shows it, without empty values.

    Of one that does no more than show a printed number, what says which.
    """
    cell = form.cells[index]
    place = numbers.place(index)
    if place and numbers.is_itself(index):
        return {"row": cell["row"], "column": cell["column"], "place": place[1:], "itself": True}
    facts: dict[str, Any] = {key: _rounded(cell[key]) for key in ("value", "low", "high")}
    facts |= {key: cell[key] for key in ("row", "column", "text", "n", "formula", "source")}
    facts |= {"where": cell["filter"], "place": list(place[1:]) if place else None}
    origins = form.origins[index]
    facts["of"] = len(origins) or None
    facts["from"] = [numbers.known[origin] for origin in origins[:FEW] if origin in numbers.known]
    return {key: value for key, value in facts.items() if value is not None}


def _form(form: Form, evidence: Evidence, products: Products) -> dict[str, Any]:
    numbers = Numbers(form, evidence)
    cells = form.files.with_name(f"{form.files.name}.cells.parquet")
    suffix = ".svg" if form.figure else ".csv"
    return {
        "file": str(form.files) + suffix,
        "product": products.add(cells),
        "cells": [_cell(form, index, numbers) for index in range(len(form.cells))],
    }


def paper_script(
    sections: Sequence[Section], evidence: Evidence, names: Names, products: Products
) -> str:
    """The script with all numbers of one paper; adds what they were made from to ``products``."""
    printed: dict[str, dict[str, dict[str, Any]]] = {}
    for (exhibit, row, column), number in evidence.items():
        printed.setdefault(exhibit, {}).setdefault(row, {})[column] = number.facts()
    forms = {
        form.key: _form(form, evidence, products)
        for section in sections
        for form in section.forms.values()
    }
    labels = {section.name: section.label or section.title for section in sections}
    known = {"languages": names.known["lang"], "models": names.known["model"]}
    return _script("paper", {"printed": printed, "forms": forms, "labels": labels, "names": known})


def products_script(products: Products) -> str:
    """The script with all products that the numbers of the site were made from."""
    return _script("products", {"products": products.products, "jobs": products.jobs})


def _script(kind: str, content: dict[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f'blimpworks.receive("{kind}",{text});\n'
