"""Accuracies over few pairs say over how many, and how many of these were ties."""

from dataclasses import replace

from blimpworks.exhibits.exhibit import Cell, Exhibit

FEW = 30
"""Pairs below which an accuracy needs its number of pairs to be understood: one pair more or less
moves it by more than three points."""
EXPLANATION = (
    f"In parentheses where fewer than {FEW} pairs were judged: their number, and how many of them "
    "are ties."
)


def _over_few(cell: Cell) -> bool:
    return cell.ties is not None and cell.n is not None and cell.n < FEW


def _counted(cell: Cell) -> Cell:
    ties = f", {cell.ties} tie{'s' if cell.ties != 1 else ''}" if cell.ties else ""
    return replace(cell, text=f"{cell.text} (n = {cell.n}{ties})")


def show_few_pairs(exhibit: Exhibit) -> None:
    """Add pairs and ties to each accuracy of a table that is over fewer than ``FEW`` pairs."""
    if exhibit.figure is None and any(_over_few(cell) and cell.printed for cell in exhibit.cells):
        exhibit.cells = [_counted(cell) if _over_few(cell) else cell for cell in exhibit.cells]
        exhibit.caption = f"{exhibit.caption} {EXPLANATION}"
