"""Table 3: the models.

Source: Moroni, Aula-Blasco, Conia and others (2025), section 4.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.analysis.accuracy import ALL
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import KINDS, TOTAL
from blimpworks.exhibits.shared import Tables, printed_cell, read_printed
from blimpworks.papers.lmentry.exhibits.common import (
    cell_of,
    model_name,
    models_of,
    read_accuracies,
    read_exhibit,
    sections_of,
)
from blimpworks.papers.lmentry.exhibits.names import BENCHMARK, HEADS, MODELS

TITLE = "The models, with size and languages"
SIZE, ANSWERS, SPOKEN = "Size", "Answers", "Languages"


def _measured(rows: pd.DataFrame, labels: Labels) -> Iterator[Cell]:
    """How many answers of each model were judged, and in how many languages."""
    for model in models_of(rows):
        where: dict[str, Any] = {"benchmark": BENCHMARK, "model": model, "method": labels.method}
        where |= {"phenomenon": [*HEADS], "paradigm": ALL}
        for column, formula in ((ANSWERS, TOTAL), (SPOKEN, KINDS)):
            cell = cell_of(rows, (model_name(model, labels), column), formula, "accuracies", where)
            yield replace(cell, text=f"{cell.value:,.0f}")


def _size(billions: float | None) -> str:
    return f"{billions:.3g}B" if billions else "unknown"


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: the models, their sizes and languages."""
    if labels.source == "published":
        return _printed(tables, labels)
    rows = read_accuracies(tables, labels)
    sizes = labels.facts["lmentry_sizes"]
    stub = {
        model_name(model, labels): {"Name": model, SIZE: _size(sizes.get(model))}
        for model in models_of(rows)
    }
    columns = ["Name", SIZE, ANSWERS, SPOKEN]
    return Exhibit(
        TITLE,
        "Models of the campaign, and their names in its catalogue: billions of parameters, answers "
        "that were judged (of tasks and subsets), and languages with any.",
        list(_measured(rows, labels)),
        row_title="Model",
        stub=stub,
        sections=sections_of(models_of(rows), labels, columns, {}),
    )


def _printed(tables: Tables, labels: Labels) -> Exhibit:
    own = read_exhibit(read_printed(tables), "table3")
    printed = {(row["row"], row["column"]): row for _, row in own.iterrows()}
    cells, stub, remarks = [], {}, {}
    for model in MODELS:
        name = model_name(model, labels)
        cells.append(printed_cell(printed[model, "size"], (name, SIZE)))
        stub[name] = {"Name": str(printed[model, "name"]["text"])}
        remarks[name] = {SPOKEN: str(printed[model, "languages"]["text"])}
    return Exhibit(
        TITLE,
        "As printed. The names of Llama-3.2 lack their suffix: the models are those tuned on "
        "instructions (Llama-3.2-1B-Instruct and Llama-3.2-3B-Instruct).",
        cells,
        row_title="Model",
        stub=stub,
        remarks=remarks,
        sections=sections_of([*MODELS], labels, ["Name", SIZE, SPOKEN], {}),
    )
