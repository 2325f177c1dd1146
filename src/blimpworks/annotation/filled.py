"""Labels in sheets that people have filled in, checked row by row."""

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from blimpworks.annotation.spreadsheet import Line, plain, read_sheet, refuse, refuse_lines
from blimpworks.errors import UserError

ID = "id"
YES_NO: Mapping[str, bool] = {"yes": True, "no": False, "1": True, "0": False}


class Label(NamedTuple):
    """What an annotator says of a row, and where."""

    row: str
    annotator: str
    value: bool
    where: str


@dataclass(frozen=True, slots=True)
class Form:
    """What filled sheets are checked against."""

    texts: Mapping[str, Mapping[str, str]]
    """Texts by row and column, which people leave as they are."""
    words: Callable[[str], Mapping[str, bool]]
    """What people write into the columns of labels, by row; digits of any script will do."""
    annotators: Callable[[Path, list[str]], Mapping[str, str]]
    """Columns of labels among those of a file, and whose they are."""

    def _problem(self, line: Line, columns: Iterable[str]) -> str:
        """What is wrong with a row of a file, in a sentence; empty if nothing."""
        row = line.cells[ID].strip()
        if row not in self.texts:
            return f"row {row!r} is not in the sheets' key; take rows of this campaign's sheets."
        for column, text in self.texts[row].items():
            if column in line.cells and plain(line.cells[column]) != plain(text):
                return (
                    f"the {column} of row {row} is not the one of the sheet; take the sheet "
                    "again, and do not sort single columns."
                )
        words = self.words(row)
        for column in columns:
            label = line.cells[column].strip()
            if not label:
                return f"{column!r} of row {row} is empty; fill it in, or delete the row."
            if _word(label) not in words:
                expected = ", ".join(words)
                return f"{column!r} of row {row} is {label!r}, expected {expected}; correct it."
        return ""

    def labels(self, path: Path) -> Iterator[Label]:
        """Read the labels of a file.

        Raises UserError, with a sentence for each of the first wrong rows, for an unknown row, an
        altered text, and a label that is missing or another word.
        """
        lines = read_sheet(path)
        if not lines:
            raise UserError(f"{path} has no rows; expected a filled sheet.")
        names = [*lines[0].cells]
        annotators = self.annotators(path, names)
        if ID not in names:
            raise columns_error(path, names, ID)
        refuse_lines(path, ((line, self._problem(line, annotators)) for line in lines))
        for line in lines:
            row = line.cells[ID].strip()
            for column, annotator in annotators.items():
                value = self.words(row)[_word(line.cells[column])]
                yield Label(row, annotator, value, f"{path}:{line.number}")


def columns_error(path: Path, columns: Iterable[str], expected: str) -> UserError:
    """Make the error about a file that lacks a column."""
    return UserError(
        f"{path}:1: columns are {', '.join(columns)}; expected {expected}; fill in the sheet as it "
        "was exported."
    )


def _word(text: str) -> str:
    """A label in lower case, with the digits of any script in ours."""
    digits = (unicodedata.digit(sign, None) for sign in text.strip())
    pairs = zip(text.strip(), digits, strict=True)
    return "".join(s if digit is None else str(digit) for s, digit in pairs).casefold()


def refuse_repeated(labels: Iterable[Label], item: Callable[[Label], Hashable]) -> None:
    """Raise UserError for an ``item`` that one annotator has judged twice."""
    before: dict[tuple[Hashable, str], str] = {}
    again = []
    for label in labels:
        where = before.setdefault((item(label), label.annotator), label.where)
        if where != label.where:
            again.append(
                f"{label.where}: {label.annotator} has judged the item of row {label.row} before, "
                f"in {where}; keep one of the two."
            )
    refuse(again)
