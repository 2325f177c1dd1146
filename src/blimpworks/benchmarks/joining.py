"""Join rows of an entry with rows of aligned files and of tables of lookup."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from blimpworks.benchmarks.declaration import declaration_in
from blimpworks.benchmarks.entries import Files, Lookup, PlainFiles
from blimpworks.benchmarks.readers import as_text
from blimpworks.benchmarks.templates import Row, cell
from blimpworks.errors import UserError, reading
from blimpworks.files import BadLine, below, table_rows

Captures = Mapping[str, str]
"""Columns that a file's name gives."""
Tabled = tuple[Captures, Sequence[Row]]
"""Captures and rows of a file."""


def side_by_side(
    tables: Iterable[Tabled], aligned: Sequence[tuple[PlainFiles, Sequence[Tabled]]]
) -> Iterator[Row]:
    """Join rows of files with the same rows of their aligned files.

    Raises UserError for an aligned file that is absent, not needed, or not as long.
    """
    used: set[str] = set()
    for captures, rows in tables:
        joined = rows
        for entry, files in aligned:
            fitting = [
                (said, more)
                for said, more in files
                if all(said[name] == captures[name] for name in said.keys() & captures.keys())
            ]
            if len(fitting) != 1:
                raise UserError(
                    f"{joined[0].file}: 'aligned' {', '.join(map(repr, entry.patterns))} has "
                    f"{len(fitting)} files beside it; expected one. The columns in braces that "
                    "both patterns have must say the same."
                )
            used.add(fitting[0][1][0].file)
            joined = [*_beside(joined, fitting[0][1], captures)]
        yield from joined
    for name in (rows[0].file for _, files in aligned for _, rows in files):
        if name not in used:
            raise UserError(
                f"{name} is 'aligned', but beside no file of the entry; correct one of the "
                "patterns."
            )


def _beside(rows: Sequence[Row], more: Sequence[Row], captures: Captures) -> Iterator[Row]:
    if len(rows) != len(more):
        raise UserError(
            f"{rows[0].file} has {len(rows):,} rows, and {more[0].file} beside it {len(more):,}; "
            "expected as many. Retrieve both again, or correct 'aligned'."
        )
    for row, beside in zip(rows, more, strict=True):
        twice = (row.cells.keys() & beside.cells.keys()) - captures.keys()
        if twice:
            raise UserError(
                f"{beside.place}: column {min(twice)!r} stands in {row.file} too; name the columns "
                "of one of them with 'columns'."
            )
        yield replace(row, cells={**beside.cells, **row.cells})


def looked_up(rows: Iterable[Row], how: Files, folder: Path) -> Iterator[Row]:
    """Add the columns of tables of lookup to rows.

    Raises UserError for a row that a table lacks, and for a row of a table that none needs.
    """
    if not how.lookup:
        yield from rows
        return
    tables = [(lookup, *_read(lookup, folder)) for lookup in how.lookup]
    used: list[set[tuple[str, ...]]] = [set() for _ in tables]
    for row in rows:
        cells = dict(row.cells)
        for (lookup, path, table), keys in zip(tables, used, strict=True):
            key = tuple(as_text(cell(row, name)).strip() for name in lookup.by)
            if key not in table:
                raise UserError(
                    f"{row.place}: {path} has no row for {_named(lookup, key)}; add it, or "
                    "leave such rows out with 'where'."
                )
            keys.add(key)
            more = table[key][1]
            twice = more.keys() & cells.keys()
            if twice:
                raise UserError(
                    f"{path}: column {min(twice)!r} stands in {row.file} too; rename it."
                )
            cells |= more
        yield replace(row, cells=cells)
    for (lookup, path, table), keys in zip(tables, used, strict=True):
        for key in table.keys() - keys:
            raise UserError(
                f"{path}:{table[key][0]}: no row of {', '.join(how.patterns)} has "
                f"{_named(lookup, key)}; correct the line, or take it out."
            )


def _named(lookup: Lookup, key: Sequence[str]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in zip(lookup.by, key, strict=True))


def _read(
    lookup: Lookup, folder: Path
) -> tuple[Path, dict[tuple[str, ...], tuple[int, Mapping[str, str]]]]:
    """Read a table of lookup: its path, and line and further cells by the values of its keys."""
    path = below(folder, lookup.table, f"{declaration_in(folder)}: a table of 'lookup'")
    rows: dict[tuple[str, ...], tuple[int, Mapping[str, str]]] = {}
    with reading(path, "a tab-separated table with headings", "Add it, or correct 'lookup'."):
        for line, cells in table_rows(path, lookup.by, delimiter="\t", quoting=csv.QUOTE_NONE):
            key = tuple(cells.pop(name).strip() for name in lookup.by)
            if key in rows:
                raise BadLine(line, f"{_named(lookup, key)} stands in line {rows[key][0]} already")
            rows[key] = line, cells
    return path, rows
