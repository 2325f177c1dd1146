"""Lists as files: a sheet for each participant, the key, and a table for PCIbex.

A file has the choices of one participant.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3: the paper's participants judged on
PCIbex (Zehr and Schwarz 2018).
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.annotation.filled import ID, YES_NO, Form, columns_error, refuse_repeated
from blimpworks.annotation.lists import (
    PAIR,
    PRACTICE,
    Row,
    make_lists,
    read_pairs,
)
from blimpworks.annotation.options import ValidationOptions
from blimpworks.annotation.spreadsheet import annotator_of, refuse, write_sheet
from blimpworks.annotation.tables import VALIDATION_KEY
from blimpworks.errors import UserError
from blimpworks.files import atomic
from blimpworks.tables import read_table, write_rows

FIRST, SECOND, SENTENCE, CHOICE, NOTE = "first", "second", "sentence", "choice", "note"
SHEET = (ID, FIRST, SECOND, CHOICE, NOTE)
SINGLE = (ID, SENTENCE, CHOICE, NOTE)
"""Columns of sheets with pairs, and with single sentences."""
PCIBEX = ("Group", "Item", "Part", "First", "Second")
MAIN = "main"
CHOICES = {"1": True, "2": False, FIRST: True, SECOND: False}
"""What stands for the first sentence, and what for the second."""
Key = Mapping[str, Mapping[str, Any]]
"""Rows of the key by their identifier."""


def write_pcibex(rows: Sequence[Row], path: Path) -> None:
    """Write all lists as a table for PennController's ``Template``: UTF-8 CSV without a mark.

    It shows each participant the rows of one ``Group``, in whatever order the experiment says.
    """
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(PCIBEX)
        for row in rows:
            part = PRACTICE if row.part == PRACTICE else MAIN  # not that it is an attention check
            writer.writerow((row.list, row.row, part, row.first, row.second))


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
            "participant (participants); name so many."
        )
    rows = make_lists(read_pairs(items), options)
    for name, path in zip(options.names, sheets, strict=True):
        columns = SHEET if rows[0].second else SINGLE
        lines = [
            {
                ID: row.row,
                CHOICE: "",
                NOTE: PRACTICE if row.part == PRACTICE else "",
                **_texts(asdict(row)),
            }
            for row in rows
            if row.list == name
        ]
        write_sheet(path, columns, lines)
    write_pcibex(rows, pcibex)
    write_rows([asdict(row) | {"lang": lang} for row in rows], VALIDATION_KEY, key)
    return len({row.item_id for row in rows if row.part == PAIR})


# Filled sheets


def read_key(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """The keys of some languages' lists, by row.

    Raises UserError for a table that is missing or of another schema.
    """
    return {
        row["row"]: row for path in paths for row in read_table(VALIDATION_KEY, path).to_pylist()
    }


def _texts(row: Mapping[str, Any]) -> dict[str, str]:
    if not row["second"]:
        return {SENTENCE: row["first"]}
    return {FIRST: row["first"], SECOND: row["second"]}


def _annotators(path: Path, columns: list[str]) -> dict[str, str]:
    if CHOICE not in columns:
        raise columns_error(path, columns, f"{ID!r} and {CHOICE!r}")
    return {CHOICE: annotator_of(path)}


def read_choices(paths: Sequence[Path], key: Key) -> pd.DataFrame:
    """Choices in filled lists: a row each, with the columns of the key and ``participant``.

    ``chose_good`` says whether the choice is right. A participant is called after the file:
    ``urd.anna.csv`` is Anna's. Raises UserError as ``Form.labels`` does, for a file with rows of
    several lists, and for a pair that one participant has judged twice.
    """
    texts = {name: _texts(row) for name, row in key.items()}
    form = Form(texts, lambda row: CHOICES if key[row]["second"] else YES_NO, _annotators)
    labels = []
    for path in paths:
        found = [*form.labels(path)]
        of = key[found[0].row]["list"]
        refuse(
            [
                f"{label.where}: row {label.row} is of list {key[label.row]['list']}, the rows "
                f"above are of {of}; keep one list."
                for label in found
                if key[label.row]["list"] != of
            ]
        )
        labels += found
    refuse_repeated(labels, lambda label: (key[label.row]["part"], key[label.row]["item_id"]))
    frame = pd.DataFrame(
        {**key[label.row], "participant": label.annotator, "chose_first": label.value}
        for label in labels
    )
    return frame.assign(chose_good=frame["chose_first"] == frame["first_is_good"])
