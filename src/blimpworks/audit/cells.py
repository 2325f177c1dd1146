"""Find cells of exhibits by row and column, and the printed numbers that they are compared with.

The cells file of an exhibit (a table or figure) has a row for each number: its row and column, its
formula, and a filter of the rows that it is computed from; ``find_cell`` returns one. A comparison
is a CSV file of printed numbers beside the campaign's; ``find_comparison`` returns a row of it.
"""

import csv
import difflib
import json
import math
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.errors import UserError, reading
from blimpworks.files import sha256_of, sidecar_path
from blimpworks.records import reading as provenance
from blimpworks.tables import open_parquet

CELLS_SUFFIX = ".cells.parquet"
REPRODUCTION = "reproduction"
"""Directory of the comparisons with printed numbers."""
TEXT_UNIT = "text"  # as in campaign.reference, which is slow to import
"""Unit of printed text that is no number."""
EXHIBITS_OF = {"published.csv": "published", "measured.csv": "exhibits"}
"""Directory of the compared exhibits, by name of a comparison. The first compares the printed
numbers with numbers computed again from print or released data, the second with the campaign's."""


def cells_file(exhibit: Path) -> Path:
    """Return the cells file of an exhibit from the path of any of its files."""
    return exhibit.with_name(exhibit.name.split(".")[0] + CELLS_SUFFIX)


def read_cells(source: Path) -> pd.DataFrame:
    """Read a cells file. Raises UserError, with the names of existing ones, when it is missing."""
    if not source.exists():
        name, folder = source.name.removesuffix(CELLS_SUFFIX), source.parent
        paths = folder.glob(f"*{CELLS_SUFFIX}")
        exhibit_names = sorted(path.name.removesuffix(CELLS_SUFFIX) for path in paths)
        if not exhibit_names:
            raise UserError(
                f"{folder}/{name} is no file of an exhibit; expected one such as "
                "RESULTS/exhibits/PAPER/table1.csv. `snakemake` builds those of a campaign."
            )
        close = difflib.get_close_matches(name, exhibit_names, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise UserError(
            f"{folder} has no exhibit {name!r}; {hint}There are: {', '.join(exhibit_names)}."
        )
    with open_parquet(source, "the cells of an exhibit", "Build it.") as file:
        frame: pd.DataFrame = file.read().to_pandas()
    return frame


def _matches(cells: pd.DataFrame, column: str, name: str) -> pd.Series:
    """Return whether each cell is in the row (or column) that ``name`` means.

    ``name`` is a full name in any letter case, or a code in the cell's filter ("eng"). If no cell
    has it, it is a key of printed numbers, or else the end of a name ("High" of "Resources High").
    """
    names = cells[column].str.casefold()
    matches = names == name.casefold()
    matches |= cells["filter"].map(lambda text: name in json.loads(text).values()).astype(bool)
    if f"printed_{column}" in cells and not matches.any():
        matches |= cells[f"printed_{column}"] == name
    return matches if matches.any() else names.str.endswith(f" {name.casefold()}")


def _cells_in(
    cells: pd.DataFrame, row: str | None, column: str | None, source: Path
) -> pd.DataFrame:
    """Return the cells in a row and column, None for any. Raises UserError if there are none."""
    for name, label in (("row", row), ("column", column)):
        matches = cells if label is None else cells[_matches(cells, name, label)]
        if matches.empty:
            choice = ", ".join(dict.fromkeys(cells[name]))
            raise UserError(f"{source}: no {name} {label!r}; there are: {choice}.")
        cells = matches
    return cells


def find_cell(cells: pd.DataFrame, row: str, column: str, source: Path) -> dict[str, Any]:
    """Return the only cell in a row and column, by name or code.

    Of several, return the one whose row and column are exactly these. Raises UserError without one.
    """
    cells = _cells_in(cells, row, column, source)
    if len(cells) > 1:
        exact = cells[(cells["row"] == row) & (cells["column"] == column)]
        if len(exact) != 1:
            labels = zip(cells["row"], cells["column"], strict=True)
            choice = "; ".join(f"{r} / {c}" for r, c in labels)
            raise UserError(f"{source}: row {row!r}, column {column!r} means several: {choice}.")
        cells = exact
    return {str(key): value for key, value in cells.astype(object).iloc[0].items()}


def read_rows_with_lines(path: Path, **allowed: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a CSV file whose columns have ``allowed`` values: ``row=["GPT-2"]``.

    Each row also has the file as ``path`` and the number of its first line as ``line``. Cells of
    ``value`` and ``corrected`` become numbers (printed texts stay texts), or None if empty. Raises
    UserError without the file.
    """
    with reading(path, "a table of printed numbers", "Build it."):
        status = path.stat()
        # Another file at the path has another inode, even if its time of change is the same.
        version = (status.st_mtime_ns, status.st_size, status.st_ino)
        header, rows = _read_csv(path.absolute(), version)
        column_texts = [(header.index(name), texts) for name, texts in allowed.items()]
        for line, row in rows:
            if all(row[column] in texts for column, texts in column_texts):
                facts: dict[str, Any] = dict(zip(header, row, strict=True))
                value_type: type[float | str] = str if facts.get("unit") == TEXT_UNIT else float
                for name in {"value", "corrected"} & facts.keys():
                    facts[name] = value_type(facts[name]) if facts[name] else None
                yield facts | {"path": str(path), "line": line}


@lru_cache(maxsize=64)
def _read_csv(
    path: Path, _version: tuple[int, int, int]
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return header, and rows with their first lines; cached by path and version of the file."""
    with path.open(encoding="utf-8", newline="") as handle:
        reader = csv.reader(handle)
        header, rows = next(reader, []), []
        line = reader.line_num + 1
        for row in reader:
            rows.append((line, row))
            line = reader.line_num + 1
    return header, rows


def list_cells(exhibit: Path, row: str | None, column: str | None) -> list[str]:
    """Return a line with row, column and text of each cell of an exhibit, or of a row or column."""
    source = cells_file(exhibit)
    cells = _cells_in(read_cells(source), row, column, source)
    cell_texts = zip(cells["row"], cells["column"], cells["text"], strict=True)
    return [f"{r} / {c} = {text}" for r, c, text in cell_texts]


def find_comparison(path: Path, requested: dict[str, str | None]) -> dict[str, Any]:
    """Return the row with the ``requested`` values; None is any. Raises UserError if not one."""
    rows = [*read_rows_with_lines(path)]
    for column, value in requested.items():
        matching = [row for row in rows if value is None or row[column] == value]
        if not matching:
            choice = ", ".join(dict.fromkeys(row[column] for row in rows))
            raise UserError(f"{path}: no {column} {value!r}; there are: {choice}.")
        rows = matching
    if len(rows) > 1:
        locations = dict.fromkeys(
            f"{row['paper']} {row['exhibit']} {row['row']} / {row['column']}" for row in rows
        )
        raise UserError(
            f"{path}: {len(rows)} numbers are meant: {'; '.join(list(locations)[:9])}"
            f"{'; …' if len(locations) > 9 else ''}. Give --paper, --exhibit, --row and --column."
        )
    return rows[0]


def compared_cell(path: Path, row: dict[str, Any]) -> tuple[Path, dict[str, Any] | None]:
    """Return the cells file of a comparison's row, and the cell that it compares; None without one.

    ``path``: the comparison. In published.csv, skip cells that only repeat the printed number.
    """
    root = path.parent.parent / EXHIBITS_OF[path.name]
    source = root / row["paper"] / f"{row['exhibit']}{CELLS_SUFFIX}"
    is_published = "rule" in row  # a column of published.csv only
    is_computed = row["rule"] if is_published else row.get("measured")
    if not source.is_file() or not is_computed:
        return source, None
    # A cell that repeats the printed number has this filter, which selects the number itself.
    printed_filter = {name: row[name] for name in ("exhibit", "row", "column")}
    for cell in read_cells(source).astype(object).to_dict("records"):
        if (cell["printed_row"], cell["printed_column"]) != (row["row"], row["column"]):
            continue
        from_printed = is_published and cell["source"] == "published"
        cell_filter = json.loads(cell["filter"])
        if not (from_printed and printed_filter.items() <= cell_filter.items()):
            return source, {str(name): value for name, value in cell.items()}
    return source, None


def printed_location(record: provenance.Record | None, row: dict[str, Any]) -> dict[str, Any]:
    """Return file and line of a printed number, from the inputs of the comparison's job."""
    path_end = f"/{row['paper']}/{row['exhibit']}.csv"
    position = {name: [row[name]] for name in ("row", "column")}
    for entry in record["inputs"] if record else []:
        path = Path(entry["path"])
        if entry["path"].endswith(path_end) and path.is_file():
            for printed in read_rows_with_lines(path, **position):
                return {"path": printed["path"], "line": printed["line"]}
    return {}


def comparisons_of(
    source: Path, cell: dict[str, Any], records: provenance.Records
) -> list[dict[str, Any]]:
    """Return the rows of comparisons about a cell, with file and line of the printed number."""
    folder, rows = source.parent.parent, []
    position = {"paper": [source.parent.name], "exhibit": [source.name.removesuffix(CELLS_SUFFIX)]}
    position |= {name: [cell[f"printed_{name}"]] for name in ("row", "column")}
    for name, exhibits_folder in EXHIBITS_OF.items():
        path = folder.parent / REPRODUCTION / name
        if folder.name == exhibits_folder and path.is_file():
            numbers = read_rows_with_lines(path, **position)
            rows += [row | printed_location(records.of(path), row) for row in numbers]
    return rows


def require_as_recorded(path: Path) -> None:
    """Raise UserError if a product or its record was edited since its job wrote it."""
    record = provenance.record_of(path) if path.is_file() else None
    if record is None:
        return
    own_hash = record.get(provenance.OWN_HASH)
    if own_hash is not None and provenance.record_hash(record) != own_hash:
        record_path = sidecar_path(Path(record["outputs"][0]["path"]))
        raise UserError(
            f"{record_path} was edited since its job wrote it. Make {path} again: remove it."
        )
    actual, recorded = sha256_of(path), provenance.output_hash(record, path)
    if actual != recorded:
        raise UserError(
            f"{path} is not what its job wrote: its SHA-256 is {actual[:16]}…, the record says "
            f"{recorded[:16]}…. Remove it and run snakemake again."
        )


def require_same_in_csv(path: Path, cell: Mapping[str, Any]) -> None:
    """Raise UserError if an exhibit's CSV table contradicts a cell."""
    # Users may name a figure as FIGURE.csv, which does not exist.
    if path.suffix != ".csv" or not path.is_file():
        return
    expected = reading(path, "a table of an exhibit", "Build it.")
    with expected, path.open(encoding="utf-8", newline="") as file:
        header, *lines = [*csv.reader(file)] or [[]]
    rows = [line for line in lines if cell["row"] in line and len(line) == len(header)]
    # A row or column whose name occurs several times, or that is not shown, is not compared.
    if len(rows) != 1 or header.count(cell["column"]) != 1:
        return
    field = rows[0][header.index(cell["column"])]
    try:
        same = field == cell["text"] or math.isclose(float(field), cell["value"], rel_tol=1e-9)
    except ValueError:
        return
    if not same:
        raise UserError(
            f"{path} has {field} in row {cell['row']}, column {cell['column']}, but its cells "
            f"have {cell['value']:.10g}. It was edited: remove it and run snakemake again."
        )
