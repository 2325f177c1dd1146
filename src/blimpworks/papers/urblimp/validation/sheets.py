"""Lists as files: a sheet for each participant, the key, and a table for PCIbex.

Filled sheets are checked row by row; a file has the choices of one participant.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3: the paper's participants judged on
PCIbex (Zehr and Schwarz 2018).
"""

import csv
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from blimpworks.annotation.spreadsheet import (
    Line,
    annotator_of,
    plain,
    read_sheet,
    refuse,
    refuse_lines,
    write_sheet,
)
from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.papers.urblimp.settings import ValidationOptions
from blimpworks.papers.urblimp.tables import VALIDATION_KEY
from blimpworks.papers.urblimp.validation.lists import (
    PAIR,
    PRACTICE,
    Row,
    make_lists,
    read_pairs,
)
from blimpworks.tables import read_table, write_rows

ID, FIRST, SECOND, CHOICE, NOTE = "id", "first", "second", "choice", "note"
SHEET = (ID, FIRST, SECOND, CHOICE, NOTE)
PCIBEX = ("Group", "Item", "Part", "First", "Second")
MAIN = "main"
CHOICES = {"1": True, "2": False, FIRST: True, SECOND: False}
"""What stands for the first sentence, and what for the second; digits of any script will do."""
Key = Mapping[str, Mapping[str, Any]]
"""Rows of the key by their identifier."""


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
    write_rows([asdict(row) | {"lang": lang} for row in rows], VALIDATION_KEY, key)
    return len({row.item_id for row in rows if row.part == PAIR})


# Filled sheets


class Choice(NamedTuple):
    """What a participant chose in a row, and where that is said."""

    participant: str
    row: str
    first: bool
    where: str


def read_key(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """The keys of some languages' lists, by row.

    Raises UserError for a table that is missing or of another schema.
    """
    return {
        row["row"]: row for path in paths for row in read_table(VALIDATION_KEY, path).to_pylist()
    }


def _word(text: str) -> str:
    """A choice as ``CHOICES`` has it, with the digits of any script in ours."""
    digits = (unicodedata.digit(sign, None) for sign in text.strip())
    pairs = zip(text.strip(), digits, strict=True)
    return "".join(s if digit is None else str(digit) for s, digit in pairs).casefold()


def _check_columns(path: Path, columns: Sequence[str]) -> None:
    if ID not in columns or CHOICE not in columns:
        raise UserError(
            f"{path}:1: columns are {', '.join(columns)}; expected {ID!r} and {CHOICE!r}; fill in "
            "the sheet as it was exported."
        )


def _problem(line: Line, key: Key, of: str) -> str:
    """What is wrong with a row of a file with the list ``of``, in a sentence; empty if nothing."""
    row, choice = line.cells[ID].strip(), line.cells[CHOICE].strip()
    if row not in key:
        return f"row {row!r} is not in the lists' key; take rows of this campaign's lists."
    if key[row]["list"] != of:
        return (
            f"row {row} is of list {key[row]['list']}, the rows above are of {of}; keep one list."
        )
    for column in (FIRST, SECOND):
        if column in line.cells and plain(line.cells[column]) != plain(key[row][column]):
            return (
                f"the {column} sentence of row {row} is not the one of the list; take the list "
                "again, and do not sort single columns."
            )
    if not choice:
        return f"{CHOICE!r} of row {row} is empty; fill it in, or delete the row."
    if _word(choice) not in CHOICES:
        return f"{CHOICE!r} of row {row} is {choice!r}, expected 1 or 2; correct it."
    return ""


def _choices(path: Path, key: Key) -> Iterator[Choice]:
    lines = [*read_sheet(path)]
    if not lines:
        raise UserError(f"{path} has no rows; expected a filled list.")
    _check_columns(path, [*lines[0].cells])
    known = (key[row]["list"] for line in lines if (row := line.cells[ID].strip()) in key)
    of = next(known, "")
    refuse_lines(path, ((line, _problem(line, key, of)) for line in lines))
    for line in lines:
        chosen = CHOICES[_word(line.cells[CHOICE])]
        where = f"{path}:{line.number}"
        yield Choice(annotator_of(path), line.cells[ID].strip(), chosen, where)


def read_choices(paths: Sequence[Path], key: Key) -> pd.DataFrame:
    """Choices in filled lists: a row each, with the columns of the key and ``participant``.

    ``chose_good`` says whether the grammatical sentence was chosen. A participant is called after
    the file: ``urd.anna.csv`` is Anna's. Raises UserError, with a sentence for each of the first
    wrong rows, for an unknown row, one of another list, an altered sentence, a choice that is
    missing or another word, and for a pair that one participant has judged twice.
    """
    choices = [choice for path in paths for choice in _choices(path, key)]
    before: dict[tuple[str, str, str], str] = {}
    again = []
    for choice in choices:
        part, item_id = (key[choice.row][name] for name in ("part", "item_id"))
        place = before.setdefault((choice.participant, part, item_id), choice.where)
        if place != choice.where:
            again.append(
                f"{choice.where}: {choice.participant} has judged this pair (row {choice.row}) "
                f"before, in {place}; keep one of the two."
            )
    refuse(again)
    frame = pd.DataFrame(
        {**key[choice.row], "participant": choice.participant, "chose_first": choice.first}
        for choice in choices
    )
    return frame.assign(chose_good=frame["chose_first"] == frame["first_is_good"])
