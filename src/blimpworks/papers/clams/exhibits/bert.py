"""CLAMS's tables of BERT: by language (2), English in full (3).

Source: Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020).
"""

from collections.abc import Mapping
from dataclasses import replace

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.shared import Tables
from blimpworks.papers.clams.exhibits import describe
from blimpworks.papers.clams.exhibits.common import (
    AGAIN,
    AVERAGE,
    HEADINGS,
    Accuracies,
    Column,
    Grid,
    accuracy,
    average,
    by_phenomenon,
    printed_cells,
    read_accuracies,
    shown_languages,
    table_of,
)
from blimpworks.papers.clams.exhibits.facts import BERT, MBERT, PRINTED
from blimpworks.papers.clams.items.constructions import (
    AGREEMENT,
    ENGLISH,
    ENGLISH_REFLEXIVES,
    REFLEXIVES,
)

ENG = "eng"
NO_MASKED = " No masked model of the campaign has judged any of it."
PARTS = (
    (AGREEMENT, "Subject-verb agreement", ENGLISH),
    (REFLEXIVES, "Reflexive anaphora", ENGLISH_REFLEXIVES),
)
"""Phenomena of English: code, title, constructions."""


def _printed_elsewhere(
    tables: Tables, exhibit: str, grid: Grid, column: str, name: str, stands_for: str
) -> list[Cell]:
    """Numbers of a grid's rows as a ``column`` of another exhibit prints them.

    ``name`` is what their column is called here; ``stands_for`` the key of the column of this
    exhibit that has the same numbers.
    """
    cells = printed_cells(tables, exhibit, grid.rows, {column: name})
    return [
        replace(cell, printed=False, stands_for=(cell.where["row"], stands_for)) for cell in cells
    ]


# Table 2


def table2(tables: Tables, labels: Labels) -> Exhibit:
    """Table 2: accuracy of the multilingual masked model by construction and language."""
    languages = shown_languages(labels)
    grid = Grid([Column(lang, MBERT, ("", name), lang) for lang, name in languages.items()])
    if labels.source == "published":
        cells = grid.printed(tables, "table2")
        cells += _printed_elsewhere(
            tables, "table3", grid, PRINTED[MBERT], "English, Table 3", stands_for=ENG
        )
        caption = "As printed; the CSV file has the same English numbers from Table 3. "
    else:
        cells, caption = grid.cells(read_accuracies(tables, labels), accuracy), ""
    return table_of(
        describe("table2", caption=caption, none="" if cells else NO_MASKED),
        cells,
        [grid],
    )


# Table 3


def _measured(accuracies: Accuracies, grid: Grid, average_row: Mapping[str, str]) -> list[Cell]:
    """Accuracies and their average, column by column."""
    columns = [replace(grid, columns=[column]) for column in grid.columns]
    return [
        cell
        for each in columns
        for cell in (
            *each.cells(accuracies, accuracy),
            *each.cells(accuracies, average, average_row),
        )
    ]


def _printed(accuracies: Accuracies, tables: Tables, grid: Grid, key: str) -> list[Cell]:
    """Printed accuracies, the same from Table 2, and averages with those from the rows above."""
    cells = grid.printed(tables, "table3", {**grid.rows, key: AVERAGE})
    cells += _printed_elsewhere(tables, "table2", grid, ENG, "Multi, Table 2", PRINTED[MBERT])
    return cells + grid.cells(accuracies, average, {key: AGAIN})


def table3(tables: Tables, labels: Labels) -> Exhibit:
    """Table 3: accuracy of English and multilingual masked models on all English sets."""
    accuracies = read_accuracies(tables, labels)
    published = labels.source == "published"
    columns = [Column(ENG, part, ("", HEADINGS[part]), PRINTED[part]) for part in (BERT, MBERT)]
    grids = by_phenomenon(columns, PARTS)
    cells: list[Cell] = []
    for grid in grids:
        key = f"{grid.phenomenon} average"
        if published:
            cells += _printed(accuracies, tables, grid, key)
        else:
            cells += _measured(accuracies, grid, {key: AVERAGE})
    return table_of(
        describe("table3_published" if published else "table3", none="" if cells else NO_MASKED),
        cells,
        grids,
        [grid.section(AVERAGE, *[AGAIN] * published) for grid in grids],
    )
