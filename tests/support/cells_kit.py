"""Compute the cells of exhibits again, from the tables that they name."""

import json
from functools import cache
from xml.etree import ElementTree

import pandas as pd
import pytest

from blimpworks.campaign.paper import FORMATS
from blimpworks.exhibits.formulas import formula_of
from blimpworks.exhibits.render import build_exhibit
from blimpworks.exhibits.shared import read_printed
from blimpworks.reproduction.comparisons import Selection

SOURCES = {
    "margins": "regressions",
    "curves": "regressions",
    "people": "accuracies",
    "model_perplexities": "perplexities",
}
"""Source that cells name, by kind of table, if the two differ."""


@cache
def plain(path):
    """Return rows with plain strings, and with language and model from the path if they lack."""
    rows = pd.read_parquet(path)
    rows = rows.astype(dict.fromkeys(rows.select_dtypes("category"), object))
    judged = {"item_id", "correct"} <= {*rows.columns}
    said = {"lang": path.stem, "model": path.parent.name} if judged else {"lang": path.stem}
    return rows.assign(**{name: value for name, value in said.items() if name not in rows})


def by_place(exhibit):
    return {(cell.row, cell.column): cell for cell in exhibit.cells}


def values(exhibit, row=None):
    """Return an exhibit's values by row and column, or those of one row by column."""
    places = by_place(exhibit).items()
    if row is None:
        return {place: cell.value for place, cell in places}
    return {column: cell.value for (name, column), cell in places if name == row}


def sources_of(tables):
    """Return rows by the name that cells have for their table."""
    rows = {"published": [read_printed(tables)]} if "printed" in tables else {}
    for kind in [kind for kind in tables if kind != "printed"]:
        rows.setdefault(SOURCES.get(kind, kind), []).extend(map(plain, tables[kind]))
    return {source: pd.concat(frames) for source, frames in rows.items() if frames}


def check_cells(cells, rows):
    """Check that each cell is the value that its formula gives for the rows it selects."""
    assert cells
    sources = {cell.source for cell in cells}
    tables = {source: Selection(rows[source].assign(origin="")) for source in sources}
    for cell in cells:
        where = json.loads(json.dumps(dict(cell.where)))
        again = formula_of(cell.formula.sentence)(tables[cell.source].select(where))
        assert again == pytest.approx(cell.value, abs=1e-9), cell


def write_exhibit(spec, tables, labels, root):
    """Write an exhibit in each of its formats and return it."""
    outputs = {suffix: root / f"{spec.name}.{suffix}" for suffix in FORMATS[spec.kind]}
    exhibit = build_exhibit(spec, tables, labels, root / "cells.parquet", [*outputs.values()])
    assert all(path.stat().st_size for path in outputs.values())
    page = outputs["html"].read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>\n")
    ElementTree.fromstring(page)
    return exhibit
