"""Tables about UrBLiMP's data and models: Tables 1, 2, 3 and 10.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025).
"""

from collections.abc import Mapping
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Description, Exhibit, Labels, language_tag
from blimpworks.exhibits.formulas import COUNT, PARADIGM_COUNT, TOTAL
from blimpworks.exhibits.shared import (
    Place,
    Tables,
    formula_cell,
    printed_cell,
    read_plain,
    read_printed,
    size_text,
    where_of,
)
from blimpworks.files import read_cells
from blimpworks.papers.urblimp.exhibits import accuracies as acc
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.formulas import IMPLIED, PAPER_TOTAL
from blimpworks.papers.urblimp.exhibits.models import is_instructed, names_of
from blimpworks.papers.urblimp.phenomena import BENCHMARK, LANG, PARADIGMS, PHENOMENA
from blimpworks.tables import ITEMS

DATASETS = {
    row.pop("key"): tuple(row.values())
    for row in read_cells(Path(__file__).with_name("datasets.tsv"))
}
"""Name, language and method of the data sets of Table 1."""
SIZE, KINDS, TUNING = "Pairs", "Paradigms", "Instruction-tuned"
EXAMPLE = {"good": "Grammatical", "bad": "Ungrammatical"}
WIDTHS = dict.fromkeys(EXAMPLE.values(), 0.3)


def _items(tables: Tables) -> pd.DataFrame:
    columns = ["item_id", "lang", "phenomenon", "paradigm", "good", "bad"]
    items = read_plain(ITEMS, tables["items"], columns)
    return items[(items["lang"] == LANG) & items["paradigm"].isin(PARADIGMS)]


def _of(items: pd.DataFrame) -> dict[str, Any]:
    return {"lang": LANG, "paradigm": list(dict.fromkeys(items["paradigm"]))}


def _beside_examples(
    description: Description, cells: list[Cell], items: Mapping[str, pd.DataFrame]
) -> Exhibit:
    """Make a table with a pair of each row's ``items`` beside its cells.

    The pair is as good as random: it has the lowest id, and ids are content hashes.
    """
    tag = language_tag(LANG)
    firsts = {row: of_row.sort_values("item_id").iloc[0] for row, of_row in items.items()}
    return Exhibit(
        **description,
        cells=cells,
        remarks={
            row: {name: str(first[column]) for column, name in EXAMPLE.items()}
            for row, first in firsts.items()
        },
        widths=WIDTHS,
        textual=True,
        written_in={(row, column): tag for row in firsts for column in EXAMPLE.values()},
    )


def kinds_cell(rows: pd.DataFrame, place: Place, key: Place) -> Cell:
    """Count the paradigms among ``rows`` of items or accuracies."""
    if "accuracy" in rows:
        source, where = "accuracies", where_of(rows)
    else:
        source, where = "items", _of(rows)
    return formula_cell(rows, place, PARADIGM_COUNT, source, where, stands_for=key)


def table_models(tables: Tables, labels: Labels) -> pd.DataFrame:
    """Read accuracies of the models with all paradigms: those of Tables 7 and 8."""
    rows = acc.read_models(tables, labels)
    return rows[rows["model"].isin(acc.complete(rows))]


def table1(tables: Tables, labels: Labels) -> Exhibit:
    """Table 1: data sets of minimal pairs, their size and number of paradigms."""
    heads = {"size": SIZE, "paradigms": KINDS}
    cells = [
        printed_cell(number, (DATASETS[row][0], heads[column]))
        for (row, column), number in acc.printed_of(tables, labels, "table1").items()
    ]
    name, size = DATASETS[BENCHMARK][0], (BENCHMARK, "size")
    if labels.source == "published":
        name = f"{name}, Tables 7, 8 and 10"
        rows = table_models(tables, labels)
        # Some printed numbers are illegible: the total takes the implied ones for them.
        where: dict[str, Any] = {"exhibit": "table10", "column": "n"}
        numbers = read_printed(tables, **where)
        formula, source, form = PAPER_TOTAL, "published", ",.0f"
    else:
        rows = numbers = _items(tables)
        where, formula, source, form = _of(numbers), COUNT, "items", ","
    place = (name, SIZE)
    cells.append(formula_cell(numbers, place, formula, source, where, form, stands_for=size))
    cells.append(kinds_cell(rows, (name, KINDS), (BENCHMARK, "paradigms")))
    names = {cell.row for cell in cells}
    about = {name: facts for name, *facts in DATASETS.values() if name in names}
    return Exhibit(
        **describe("table1"),
        cells=cells,
        stub={name: {"Language": language} for name, (language, _) in about.items()},
        remarks={name: {"Method": method} for name, (_, method) in about.items()},
    )


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: the phenomena with their number of paradigms; measured, with a pair of each."""
    measured = labels.source == "measured"
    rows = _items(tables) if measured else table_models(tables, labels)
    cells: list[Cell] = []
    items: dict[str, pd.DataFrame] = {}
    for phenomenon, (name, _) in PHENOMENA.items():
        inside = rows[rows["phenomenon"] == phenomenon]
        if not inside.empty:
            cells.append(kinds_cell(inside, (name, KINDS), (phenomenon, "n")))
            items[name] = inside
    and_more = ", and one pair of it." if measured else ", as many as Tables 7 and 8 have."
    description = describe("table2", and_more=and_more)
    if measured:
        return _beside_examples(description, cells, items)
    return Exhibit(**description, cells=cells, widths=WIDTHS)


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: the models with their sizes and instruction tuning; measured, with pairs judged."""
    names = names_of(labels.models)
    if labels.source == "published":
        printed = read_printed(tables, exhibit="table3").set_index("row", drop=False)
        sizes = {row["row"]: row for _, row in printed[printed["column"] == "size"].iterrows()}
        tuning = printed[printed["column"] == "it"]["text"].str.lower()
        names = {model: name for model, name in names.items() if model in sizes}
        return Exhibit(
            **describe("table3_published"),
            cells=[printed_cell(sizes[model], (name, "Size")) for model, name in names.items()],
            remarks={name: {TUNING: tuning[model]} for model, name in names.items()},
        )
    facts = labels.facts["urblimp_models"]
    rows = acc.read_paradigms(tables, labels)
    cells, stub, tuned = [], {}, {}
    for model, name in names.items():
        of_model = rows[rows["model"] == model]
        if of_model.empty:
            continue
        where, n = where_of(of_model), int(of_model["n"].sum())
        cells.append(formula_cell(of_model, (name, SIZE), TOTAL, "accuracies", where, n=n))
        size = facts[model]["parameters"]
        stub[name] = {"Size": "" if size is None else size_text(size)}
        tuned[name] = {TUNING: "yes" if is_instructed(model, facts) else "no"}
    return Exhibit(**describe("table3"), cells=cells, stub=stub, remarks=tuned)


def table10(tables: Tables, labels: Labels) -> Exhibit:
    """Table 10: pairs of each paradigm; measured, with one of them."""
    cells: list[Cell] = []
    if labels.source == "published":
        rows = table_models(tables, labels)
        printed = acc.printed_of(tables, labels, "table10")
        implied = 0.0
        for paradigm, name in PARADIGMS.items():
            key, place = (paradigm, "n"), (name, "N, implied")
            if key in printed:
                cells.append(printed_cell(printed[key], (name, "N")))
            inside = rows[rows["paradigm"] == paradigm]
            if not isnan(n := IMPLIED(inside)):
                where = where_of(inside)
                cell = formula_cell(inside, place, IMPLIED, "accuracies", where, "d")
                cells.append(replace(cell, stands_for=key))
                implied += int(n)
        return Exhibit(**describe("table10_published", implied=int(implied)), cells=cells)
    items = _items(tables)
    pairs: dict[str, pd.DataFrame] = {}
    for paradigm, name in PARADIGMS.items():
        inside = items[items["paradigm"] == paradigm]
        if not inside.empty:
            where, n = {"lang": LANG, "paradigm": paradigm}, len(inside)
            fields: dict[str, Any] = {"n": n, "stands_for": (paradigm, "n")}
            cells.append(formula_cell(inside, (name, "N"), COUNT, "items", where, "d", **fields))
            pairs[name] = inside
    return _beside_examples(describe("table10", pairs=len(items)), cells, pairs)
