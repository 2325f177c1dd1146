"""Building any exhibit of the catalogue from the tables it needs."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from blimpworks.campaign.exhibit_spec import ExhibitSpec
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels
from blimpworks.exhibits.render import render
from blimpworks.tables import CELLS, write_table

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


def _make(spec: ExhibitSpec, tables: Mapping[str, Sequence[Path]], labels: Labels) -> Exhibit:
    module, _, name = spec.function.partition(":")
    function: Callable[..., Exhibit] = getattr(importlib.import_module(module), name)
    arguments = (tables, labels, *filter(None, [spec.argument]))
    if spec.kind == "table":
        return function(*arguments)
    # Slow to import, and tables need none of it.
    from blimpworks.exhibits.style import house_style

    with house_style():
        return function(*arguments)


def build_exhibit(
    spec: ExhibitSpec,
    tables: Mapping[str, Sequence[Path]],
    labels: Labels,
    cells: Path,
    outputs: Sequence[Path],
) -> Exhibit:
    """Write an exhibit's cells and its files, one per format; return it.

    Raises UserError when a table it needs is absent or broken.
    """
    published = labels.source == "published"
    if published and not spec.published:
        raise UserError(f"exhibit {spec.key} has no published form: the paper prints none of it.")
    needs = spec.published if published else spec.needs
    missing = [need for need in needs if not tables.get(need)]
    if missing:
        raise UserError(f"exhibit {spec.key} needs {', '.join(missing)}; pass --input NEED=PATH.")
    exhibit = _make(spec, tables, labels)
    show_few_pairs(exhibit)
    if labels.items:
        exhibit.caption += f" Items: {labels.items}."
    write_table(exhibit.table(), CELLS, cells)
    render(exhibit, outputs)
    return exhibit
