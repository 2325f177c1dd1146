"""Deal pairs of UrBLiMP to simulated participants, who fill in the lists."""

import numpy as np

from blimpworks.annotation.lists import CHECK
from blimpworks.annotation.options import ValidationOptions
from blimpworks.annotation.sheets import SHEET, VALIDATION_KEY, read_validation, write_lists
from blimpworks.annotation.spreadsheet import read_sheet, write_sheet
from blimpworks.papers.urblimp.phenomena import PARADIGMS, PHENOMENON_OF
from blimpworks.tables import ITEMS, read_table, write_rows

# With an invisible joiner, and a mark of the reading direction.
WORDS = [
    *("وہ", "لڑکی", "کل", "بازار", "سے", "نئی", "کتاب", "لے\u200cکر"),
    *("گھر", "آئی\u200f", "تھی", "اور", "سب", "نے", "پڑھی"),
]
END = "۔"


def item(paradigm, number, source):
    """Return a pair from a sentence that other paradigms use too."""
    # Each sentence has a word that no other has, in Urdu's letters.
    own = "".join(chr(ord("ا") + int(digit)) for digit in str(source))
    good = " ".join([own, *WORDS[: 6 + source % 6]])
    return {
        **{"item_id": f"{paradigm}-{number:03}", "lang": "urd", "paradigm": paradigm},
        **{"phenomenon": PHENOMENON_OF[paradigm], "sent_id": f"s{source}"},
        **{"good": f"{good} {paradigm}{END}", "bad": f"{good} غلط{paradigm}{END}"},
    }


def items(per_paradigm, sentences=4000, paradigms=PARADIGMS, seed=0):
    random = np.random.default_rng(seed)
    return [
        item(paradigm, number, int(random.integers(sentences)))
        for paradigm in paradigms
        for number in range(per_paradigm)
    ]


def write_items(path, rows):
    write_rows(rows, ITEMS, path)
    return path


def key_of(path):
    return {row["row"]: row for row in read_table(VALIDATION_KEY, path).to_pylist()}


def rows_of(sheet):
    return [line.cells for line in read_sheet(sheet)]


def fill(sheet, key, right=bool, path=None):
    """Fill in a copy of a sheet; ``right`` tells whether a row of the key is answered rightly."""
    known, filled = key_of(key), []
    for cells in rows_of(sheet):
        row = known[cells["id"]]
        first = row["first_is_good"] == bool(right(row))
        filled.append(cells | {"choice": "1" if first else "2"})
    path = path or sheet.with_name(f"filled.{sheet.name}")
    write_sheet(path, SHEET, filled)
    return path


OPTIONS = ValidationOptions(participants=6, per_paradigm=8, checks=4, practice=2)


def skilled(person):
    """Return a function that says whether a person's answer is right; p06 fails the checks."""

    def right(row):
        if row["part"] == CHECK:
            return person != "p06"
        number = int(row["item_id"][-3:])
        return number % 7 != 3 or (row["place"] + number) % 3 == 0

    return right


def deal(folder, options=OPTIONS):
    sheets, key = [folder / f"urd.{name}.csv" for name in options.names], folder / "urd.key.parquet"
    pairs = write_items(folder / "urd.parquet", items(12))
    write_lists(pairs, "urd", sheets, key, folder / "urd.pcibex.csv", options)
    return sheets, key


def measured_people(root):
    """Write tables of six people's ratings, of these people, and of their accuracies."""
    sheets, key = deal(root)
    sheet_of = dict(zip(OPTIONS.names, sheets, strict=True))
    filled = [fill(sheet, key, skilled(name)) for name, sheet in sheet_of.items()]
    names = ("validation_ratings", "validation_participants", "people")
    paths = tuple(root / f"{name}.parquet" for name in names)
    read_validation(filled, [key], "urblimp", paths, OPTIONS)
    return {name: [path] for name, path in zip(names, paths, strict=True)}
