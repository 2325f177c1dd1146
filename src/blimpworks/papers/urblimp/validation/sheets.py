"""Lists as files: a sheet for each participant, the key, and a table for PCIbex.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3: the paper's participants judged on
PCIbex (Zehr and Schwarz 2018).
"""

import csv
from collections.abc import Sequence
from pathlib import Path

from blimpworks.annotation.spreadsheet import write_sheet
from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.urblimp.settings import ValidationOptions
from blimpworks.papers.urblimp.tables import VALIDATION_KEY
from blimpworks.papers.urblimp.validation.lists import (
    PAIR,
    PRACTICE,
    Row,
    key_table,
    make_lists,
    read_pairs,
)
from blimpworks.tables import write_table

ID, FIRST, SECOND, CHOICE, NOTE = "id", "first", "second", "choice", "note"
SHEET = (ID, FIRST, SECOND, CHOICE, NOTE)
PCIBEX = ("Group", "Item", "Part", "First", "Second")
MAIN = "main"


def _part(row: Row) -> str:
    """What a participant may know of a row: not that it is an attention check."""
    return row.part if row.part == PRACTICE else MAIN


def _line(row: Row) -> dict[str, str]:
    note = PRACTICE if row.part == PRACTICE else ""
    return dict(zip(SHEET, (row.row, row.first, row.second, "", note), strict=True))


def write_pcibex(rows: Sequence[Row], path: Path) -> None:
    """Write all lists as a table for PennController's ``Template``: UTF-8 CSV without a mark.

    It shows each participant the rows of one ``Group``, in whatever order the experiment says.
    """
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(PCIBEX)
        writer.writerows((row.list, row.row, _part(row), row.first, row.second) for row in rows)


def write_lists(
    items: Path,
    lang: str,
    sheets: Sequence[Path],
    key: Path,
    pcibex: Path,
    options: ValidationOptions,
) -> int:
    """Write the lists of a language: sheets, key and PCIbex table; return the number of pairs.

    ``sheets`` are as many files as there are participants. A sheet says neither which sentence is
    grammatical nor which rows are attention checks. Raises UserError for an items table that
    ``read_pairs`` refuses, for too few pairs, and for another number of sheets.
    """
    if len(sheets) != options.participants:
        raise UserError(
            f"{len(sheets)} sheets are named, expected {options.participants}, one for each "
            "participant (urblimp.validation.participants); name so many."
        )
    rows = make_lists(read_pairs(items), options)
    for name, path in zip(options.names, sheets, strict=True):
        write_sheet(path, SHEET, [_line(row) for row in rows if row.list == name])
    write_pcibex(rows, pcibex)
    write_table(key_table(rows, lang), VALIDATION_KEY, key)
    return len({row.item_id for row in rows if row.part == PAIR})
