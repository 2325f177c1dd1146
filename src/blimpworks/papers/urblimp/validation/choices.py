"""Filled validation sheets, checked row by row: a file has the choices of one participant."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
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
)
from blimpworks.errors import UserError
from blimpworks.papers.urblimp.validation.sheets import CHOICE, FIRST, ID, SECOND
from blimpworks.papers.urblimp.validation.tables import VALIDATION_KEY
from blimpworks.tables import read_table

CHOICES = {"1": True, "2": False, FIRST: True, SECOND: False}
"""What stands for the first sentence, and what for the second; digits of any script will do."""
Key = Mapping[str, Mapping[str, Any]]
"""Rows of the key by their identifier."""


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
    shown = zip(text.strip(), digits, strict=True)
    return "".join(s if digit is None else str(digit) for s, digit in shown).casefold()


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
    found = [choice for path in paths for choice in _choices(path, key)]
    before: dict[tuple[str, str, str], str] = {}
    again = []
    for choice in found:
        about = key[choice.row]
        place = before.setdefault(
            (choice.participant, about["part"], about["item_id"]), choice.where
        )
        if place != choice.where:
            again.append(
                f"{choice.where}: {choice.participant} has judged this pair (row {choice.row}) "
                f"before, in {place}; keep one of the two."
            )
    refuse(again)
    rows = [
        {**key[choice.row], "participant": choice.participant, "chose_first": choice.first}
        for choice in found
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(chose_good=frame["chose_first"] == frame["first_is_good"])
