"""Numbers that MultiBLiMP gives in running text: sections 3, 5, 6.2, 7.1 and 8, as a table."""

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.formulas import COUNT, KINDS, Formula, of_row, select_rows
from blimpworks.exhibits.shared import Tables, printed_cell, read_printed
from blimpworks.papers.multiblimp.exhibits.common import read_items
from blimpworks.papers.multiblimp.exhibits.formulas import DIFFERENCE, ENOUGH_PAIRS, LANGUAGES

NAMES = {
    "ud": "Universal Dependencies 2.15",
    "ud candidates": "Languages of UD to begin with",
    "unimorph": "UniMorph 4.0",
    "unimorph in ud": "UniMorph, languages that UD has too",
    "ud lexicon": "Lexicons made from UD",
    "ud lexicon alone": "Lexicons made from UD, languages that UniMorph has not",
    "data": "MultiBLiMP 1.0",
    "sv#": "Subject-verb number agreement",
    "spP": "Subject-participle person agreement",
    "models": "Models evaluated",
    "models discussed": "Models evaluated, in the conclusion",
    "aya": "Aya",
    "eurollm": "EuroLLM",
    "goldfish": "Goldfish",
}
"""Rows by their keys, and what they are about."""
VALUE, PRINTED, AGAIN = "Value", "Printed", "Recomputed"
LARGEST = ("llama-3.1-70b", "gemma-3-27b")
ELSEWHERE: dict[tuple[str, str], tuple[Formula, dict[str, object]]] = {
    ("ud lexicon alone", "languages"): (
        DIFFERENCE,
        {"exhibit": "text", "row": ["ud lexicon", "unimorph in ud"], "column": "languages"},
    ),
    **{
        (phenomenon, "languages"): (
            of_row("value"),
            {"exhibit": "table2", "row": phenomenon, "column": "Total BOTH"},
        )
        for phenomenon in ("sv#", "spP")
    },
    **{
        (model, "all"): (of_row("value"), {"exhibit": "table3", "row": model, "column": "all"})
        for model in LARGEST
    },
    **{
        (model, "best"): (COUNT, {"exhibit": "tableb2", "column": model})
        for model in (*LARGEST, "goldfish")
    },
}
"""Row and column, and the formula and rows of other printed numbers that give the same."""
MEASURED = {
    ("data", "pairs"): (COUNT, {}),
    ("data", "languages"): (KINDS, {}),
    ("sv#", "languages"): (LANGUAGES, {"phenomenon": "sv#"}),
    ("spP", "languages"): (LANGUAGES, {"phenomenon": "spP"}),
}
"""Row and column, and the formula and items that give the campaign's own number."""


def _name(place: tuple[str, str], labels: Labels) -> str:
    row, column = place
    return f"{NAMES.get(row) or labels.models[row]}: {column}"


def _cell(rows: pd.DataFrame, place: tuple[str, str], column: str, labels: Labels) -> Cell:
    """The number at a ``place`` from ``rows`` of printed numbers, or of items."""
    source, (formula, where) = (
        ("published", ELSEWHERE[place]) if column == AGAIN else ("items", MEASURED[place])
    )
    value = formula(select_rows(rows, where))
    text = f"{value:g}" if value % 1 else f"{value:,.0f}"
    name = _name(place, labels)
    return Cell(name, column, value, text, formula, source, where, stands_for=place)


def text(tables: Tables, labels: Labels) -> Exhibit:
    """What the text says of the resources, the pairs and the models, apart from 7.2 and 7.3."""
    title = "Statements about the data and the models"
    if labels.source == "published":
        cells, faults = _published(read_printed(tables), labels)
        caption = "As the paper prints them, beside what its tables make of them. "
        return Exhibit(title, caption + faults, cells, row_title="Statement")
    items = read_items(tables["items"], ["lang", "phenomenon"])
    cells = [_cell(items, place, VALUE, labels) for place in MEASURED]
    caption = "Pairs and languages of this campaign; an agreement type counts where a language "
    caption += f"has at least {ENOUGH_PAIRS} pairs of it."
    return Exhibit(title, caption, cells, row_title="Statement")


def _published(printed: pd.DataFrame, labels: Labels) -> tuple[list[Cell], str]:
    """Printed and recomputed cells, and a sentence on those that are wrong."""
    cells, faults = [], []
    for _, row in printed[printed["exhibit"] == "text"].iterrows():
        place = (row["row"], row["column"])
        name = _name(place, labels)
        cells.append(printed_cell(row, (name, PRINTED)))
        if place in ELSEWHERE:
            cells.append(_cell(printed, place, AGAIN, labels))
        faults += [f"{name}: {row['note']}"] if row["fault"] else []
    return cells, "; ".join(faults) + "."
