"""Write and read CSV files (sheets) that people fill in with a spreadsheet, and check their labels.

A sheet has a column ``id``, columns of texts to judge, and columns of labels, which people fill in.
``write_sheet`` writes a sheet with empty labels. ``Form.labels`` reads filled sheets, and checks
that their texts are unchanged.

A spreadsheet takes a cell that starts with "=" or "+" for a formula. So an apostrophe is written
before such a text, and removed when the sheet is read.
"""

import csv
import io
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from blimpworks.errors import UserError, reading
from blimpworks.files import atomic, cells_of_any_size, text_of

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n")
GUARD = "'"  # apostrophe before texts that begin like a formula
SEPARATORS = ",;\t"  # spreadsheets write one of these between cells, depending on the language
MOST_NAMED_ROWS = 5  # number of wrong rows that a message names
ID = "id"
YES_NO: Mapping[str, bool] = {"yes": True, "no": False, "1": True, "0": False}
"""{label: its value}."""


class SheetRow(NamedTuple):
    """A row of a sheet: the number of its first line in the file, and its cells by column."""

    number: int
    cells: dict[str, str]


def guarded(text: str) -> str:
    """Put an apostrophe before a text that begins like a formula, or with an apostrophe.

    >>> guarded("=1+1"), guarded("'tis")
    ("'=1+1", "''tis")
    """
    return GUARD + text if text.startswith((*FORMULA_SIGNS, GUARD)) else text


def digest(*facts: object) -> str:
    """Return a digest of values that JSON can hold, as 16 hexadecimal digits."""
    return blake2b(json.dumps(facts).encode(), digest_size=8).hexdigest()


def row_id(*facts: object) -> str:
    """Return a row's id: a letter, since spreadsheets change numbers, and a digest of ``facts``."""
    return f"r{digest(*facts)}"


def write_sheet(path: Path, columns: Sequence[str], rows: Iterable[Mapping[Any, str]]) -> None:
    """Write a sheet as UTF-8 CSV with a byte order mark, so that spreadsheets recognise UTF-8."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(columns)
        writer.writerows([guarded(row[column]) for column in columns] for row in rows)


def read_sheet(path: Path) -> list[SheetRow]:
    """Read the rows of a sheet with commas, semicolons or tabs between cells; skip empty lines.

    Raises UserError for a file that is not UTF-8, for repeated columns, and unequal rows.
    """
    with reading(path, "a filled annotation sheet", "Save the sheet as CSV in UTF-8."):
        text = text_of(path, "utf-8-sig")
    head = text.partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    lines = []
    with cells_of_any_size():
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        columns = [name.strip().removeprefix(GUARD) for name in next(rows, [])]
        if len({*columns}) < len(columns):
            raise UserError(f"{path}:1: a column is named twice; expected a name for each.")
        start = rows.line_num + 1
        for row in rows:
            if len(row) != len(columns) and any(row):
                raise UserError(
                    f"{path}:{start}: {len(row)} cells, expected {len(columns)} as in line 1; "
                    "save the sheet as CSV again."
                )
            if any(cell.strip() for cell in row):
                cells = (cell.removeprefix(GUARD) for cell in row)
                lines.append(SheetRow(start, dict(zip(columns, cells, strict=True))))
            start = rows.line_num + 1
    return lines


def annotator_of(path: Path) -> str:
    """Return the annotator of a file: the last word of its name (``anna`` of ``eng.anna.csv``)."""
    return path.stem.rpartition(".")[2]


def refuse(problems: Sequence[str]) -> None:
    """Raise UserError with the first ``problems``, one on each line; without any, do nothing."""
    if problems:
        more = len(problems) - MOST_NAMED_ROWS
        remaining = [f"{more} more rows are wrong."] if more > 0 else []
        raise UserError("\n".join([*problems[:MOST_NAMED_ROWS], *remaining]))


def columns_error(path: Path, columns: Iterable[str], expected: str) -> UserError:
    """Return the error about a file whose ``columns`` lack the ``expected`` columns."""
    return UserError(
        f"{path}:1: columns are {', '.join(columns)}; expected {expected}; fill in the sheet as it "
        "was exported."
    )


class Label(NamedTuple):
    """An annotator's judgement of a row; ``where`` is its file and line."""

    row: str
    annotator: str
    value: bool
    where: str


@dataclass(frozen=True, slots=True)
class Form:
    """Expected contents of filled sheets. Keys of mappings are row ids."""

    texts: Mapping[str, Mapping[str, str]]
    """Texts by column, which people must not change."""
    answers: Callable[[str], Mapping[str, bool]]
    """Function of a row's id that returns {allowed label: its value}."""
    annotators: Callable[[Path, Sequence[str]], Mapping[str, str]]
    """Function of a file and its columns that returns {column of labels: annotator}."""
    items: Mapping[str, Hashable] = field(default_factory=dict)
    """{row: item}; an annotator may judge an item only once. By default, each row is an item."""
    lists: Mapping[str, str] = field(default_factory=dict)
    """List of each row. If there are lists, each file must have rows of only one list."""

    def labels(self, paths: Iterable[Path]) -> list[Label]:
        """Read the labels of filled sheets.

        Raises UserError with a sentence for each of the first wrong rows: unknown or changed rows,
        invalid labels, rows of several lists in a file, and items that were judged before.
        """
        labels: list[Label] = []
        for path in paths:
            new_labels = [*self._read_labels(path)]
            first_list = self.lists.get(new_labels[0].row)
            problems = [
                f"{label.where}: row {label.row} is of list {self.lists[label.row]}, the rows "
                f"above are of {first_list}; keep one list."
                for label in new_labels
                if self.lists.get(label.row) != first_list
            ]
            refuse(problems)
            labels += new_labels
        # {(item, annotator): file and line of the first label}
        first_line: dict[tuple[Hashable, str], str] = {}
        repeated = []
        for label in labels:
            key = (self.items.get(label.row, label.row), label.annotator)
            earlier = first_line.setdefault(key, label.where)
            if earlier != label.where:
                repeated.append(
                    f"{label.where}: {label.annotator} has judged the item of row {label.row} "
                    f"before, in {earlier}; keep one of the two."
                )
        refuse(repeated)
        return labels

    def _problem(self, line: SheetRow, columns: Iterable[str]) -> str:
        """Return a sentence on what is wrong in a row, with labels in ``columns``; or no text."""
        row = line.cells[ID].strip()
        if row not in self.texts:
            return f"row {row!r} is not in the sheets' key; take rows of this campaign's sheets."
        for column, text in self.texts[row].items():
            if column in line.cells and _plain(line.cells[column]) != _plain(text):
                return (
                    f"the {column} of row {row} is not the one of the sheet; take the sheet "
                    "again, and do not sort single columns."
                )
        for column in columns:
            label = line.cells[column].strip()
            if not label:
                return f"{column!r} of row {row} is empty; fill it in, or delete the row."
            if _label(label) not in self.answers(row):
                expected = ", ".join(self.answers(row))
                return f"{column!r} of row {row} is {label!r}, expected {expected}; correct it."
        return ""

    def _read_labels(self, path: Path) -> Iterator[Label]:
        lines = read_sheet(path)
        if not lines:
            raise UserError(f"{path} has no rows; expected a filled sheet.")
        names = [*lines[0].cells]
        annotators = self.annotators(path, names)
        if ID not in names:
            raise columns_error(path, names, ID)
        problems = {line.number: self._problem(line, annotators) for line in lines}
        refuse([f"{path}:{number}: {text}" for number, text in problems.items() if text])
        for line in lines:
            row = line.cells[ID].strip()
            for column, annotator in annotators.items():
                value = self.answers(row)[_label(line.cells[column])]
                yield Label(row, annotator, value, f"{path}:{line.number}")


def _plain(text: str) -> str:
    # Undo what spreadsheets may change: spaces, and the composition of letters.
    return " ".join(unicodedata.normalize("NFC", text).split())


def _label(text: str) -> str:
    # Digits of any script, such as Urdu's, become 0 to 9.
    signs = (str(unicodedata.digit(sign, sign)) for sign in text.strip())
    return "".join(signs).casefold()


def count_missing(labels: Collection[tuple[str, str]], lists: Mapping[str, str]) -> Counter[str]:
    """Count each annotator's rows without a label, in the lists that the annotator has begun.

    ``labels``: (row, annotator) of each label; ``lists``: {row: list}.
    """
    sizes = Counter(lists.values())
    begun_lists = {(annotator, lists[row]) for row, annotator in labels}
    counts = Counter[str]()
    for annotator, list_name in begun_lists:
        counts[annotator] += sizes[list_name]
    counts.subtract(annotator for _, annotator in labels)
    return counts
