"""Draft ``benchmark.yaml`` from files, or from a benchmark's pairs.

``guess_declaration`` (command ``new-benchmark``) guesses from headings and values of files; keys
that stay unclear become comments. A file with the headings correct, wrong and type gives ``{layout:
pairs, files: pairs.csv, good: correct, bad: wrong, paradigm: type}``. ``export_benchmark`` writes
the pairs of items tables as a declared benchmark.
"""

import json
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from filecmp import cmp
from pathlib import Path
from typing import Any

import langcodes
import yaml

from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.declaration import declaration_in
from blimpworks.benchmarks.differences import units
from blimpworks.benchmarks.entries import Files, as_list
from blimpworks.benchmarks.files import local_files, rows_in
from blimpworks.benchmarks.paper import check_folder_name
from blimpworks.benchmarks.readers import as_text
from blimpworks.benchmarks.templates import comparable
from blimpworks.campaign.catalogue import LanguageRow
from blimpworks.campaign.load import with_repository_paths
from blimpworks.campaign.registry import benchmarks, paper_of
from blimpworks.campaign.settings.campaign import CatalogueFiles
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.items import Regions
from blimpworks.tables import ITEMS, read_table
from blimpworks.yaml_files import read_yaml

SAMPLE_ROWS = 2000
GUESSES: dict[str, Any] = read_yaml(Path(__file__).parent / "assets/guesses.yaml", "usual names")
"""Words and values from which the meaning of columns is guessed."""
SENTENCE_UNITS = 2
"""Mean number of words (or characters without spaces) of a column; sentences have more."""
INCOMPLETE = "is not complete"
"""Words of the line about a draft with keys that the user must set."""
EXPORTED = ("lang", "phenomenon", "paradigm", "good", "bad", *Regions._fields)
PAIRS_FILE = "pairs.jsonl"


@dataclass(slots=True)
class Guess:
    """A guessed entry of ``data``: its keys, and keys that the user must set."""

    entry: dict[str, Any]
    unclear: dict[str, str] = field(default_factory=dict)
    """Keys that the user must set, with the choices, such as ``{"label": "one of a, b"}``."""
    languages: tuple[str, ...] = ()
    """Languages in the entry's column ``lang``."""


def _snake(column: str) -> str:
    return re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column)).strip("_").lower()


class Columns(dict[str, list[str]]):
    """Texts of the columns that all rows have, without columns of lists and objects."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        super().__init__()
        for name in rows[0] if rows else ():
            cells = [row.get(name, []) for row in rows]
            if not any(isinstance(value, list | dict) for value in cells):
                self[name] = [as_text(value).strip() for value in cells]

    def for_key(self, key: str) -> str | None:
        """Return the first column with a usual heading of a key, such as "uid" of paradigm."""
        return next((name for name in self if _snake(name) in GUESSES["headings"][key]), None)

    @property
    def sentences(self) -> list[str]:
        """Columns with the heading sentence or text, else all with texts of several words."""
        return [name for name in self.texts if _snake(name) in ("sentence", "text")] or self.texts

    @property
    def texts(self) -> list[str]:
        """Columns with texts of several words."""
        names = []
        for name, texts in self.items():
            # Units are words, or characters in scripts without spaces.
            lengths = (len(text.split() if text.isascii() else units(text)) for text in texts)
            if sum(lengths) / len(texts) > SENTENCE_UNITS:
                names.append(name)
        return names

    def side(self, expected: Collection[str], excluded: Collection[str]) -> list[str]:
        """List text columns with an ``expected`` and no ``excluded`` word in their heading."""
        words_of = {name: {*_snake(name).split("_")} for name in self.texts}
        fitting = [name for name in words_of if words_of[name] & {*expected}]
        return [name for name in fitting if not words_of[name] & {*excluded}]

    @property
    def labels(self) -> dict[str, tuple[list[str], list[str]]]:
        """Values that mean right, and values that mean wrong, of columns without other values."""
        labels = {}
        for name, texts in self.items():
            distinct = sorted({*texts})
            right = [text for text in distinct if comparable(text) in GUESSES["right"]]
            wrong = [text for text in distinct if comparable(text) in GUESSES["wrong"]]
            if right and wrong and len(right) + len(wrong) == len(distinct):
                labels[name] = (right, wrong)
        return labels

    @property
    def two_valued(self) -> dict[str, list[str]]:
        """Values of each column with two distinct values, but no sentences."""
        texts = {*self.texts}
        distinct = {name: sorted({*values}) for name, values in self.items() if name not in texts}
        return {name: values for name, values in distinct.items() if len(values) == 2}


def _either_of(names: Sequence[str]) -> str:
    return f"one of {', '.join(names)}" if names else "a column; none looks like it"


def _sample(files: Files, folder: Path) -> list[Mapping[str, Any]]:
    rows = rows_in(files, local_files(folder), folder, Account(str(folder)))
    return [row.cells for row in rows[:SAMPLE_ROWS]]


def _is_data(headings: Sequence[str]) -> bool:
    """Tell whether the first row is data: one cell is a label, a number or a sentence."""
    filled = [heading for heading in headings if heading]
    # Columns may be numbered: the headings 0, 1, 2, or 1, 2, 3.
    numbers = [str(number) for number in range(len(filled) + 1)]
    if filled in (numbers[:-1], numbers[1:]):
        return False
    return any(
        heading.casefold() in GUESSES["no_headings"]
        or heading.replace(".", "").isdigit()
        or (len(heading.split()) > 2 and heading.rstrip()[-1:] in ".?!。।")
        for heading in headings
    )


def _alternates(columns: Columns, label: str, right: Sequence[str]) -> bool:
    """Tell whether rows 1 and 2, rows 3 and 4, and so on, are pairs of a good and a bad sentence.

    In nine of ten pairs, the sentences must have half of their words (``units``) in common.
    ``right`` has the labels of good sentences.
    """
    is_good = [value in right for value in columns[label]]
    texts = columns[columns.sentences[0]]
    if len(texts) % 2:
        return False
    similar = []
    for first in range(0, len(texts), 2):
        if is_good[first] == is_good[first + 1]:
            return False
        first_units, second_units = Counter(units(texts[first])), Counter(units(texts[first + 1]))
        longer = max(first_units.total(), second_units.total())
        similar.append((first_units & second_units).total() >= longer / 2)
    return sum(similar) >= 0.9 * len(similar)


def _labelled_sentences(columns: Columns) -> Guess:
    """Guess from rows of a sentence and a label: pairs if rows belong together, else sentences."""
    if len(columns.labels) != 1:
        keys = {"label": _either_of([*(columns.labels or columns.two_valued)])}
        keys |= {"acceptable": "its values that say so", "unacceptable": "its values that do not"}
        return Guess({"layout": "sentences", "sentence": columns.sentences[0]}, keys)
    [(label, (right, wrong))] = columns.labels.items()
    entry = {"sentence": columns.sentences[0], "label": label}
    item = columns.for_key("item")
    if item is not None:
        rows = [*zip(columns[item], columns[label], strict=True)]
        with_right = {name for name, value in rows if value in right}
        with_wrong = {name for name, value in rows if value not in right}
        if with_right != with_wrong:  # an item lacks a right or a wrong row
            item = None
    if item or _alternates(columns, label, right):
        named = {"item": item} if item else {}
        return Guess({"layout": "labelled_rows", **entry, "good": right, "bad": wrong, **named})
    return Guess({"layout": "sentences", **entry, "acceptable": right, "unacceptable": wrong})


def _two_sentences(columns: Columns) -> Guess:
    """Guess from rows of two sentences. A column with two values may name the right one."""
    first, second = columns.sentences
    two_valued = columns.two_valued
    for name, values in two_valued.items():
        if [value.casefold() for value in values] in GUESSES["sides"]:
            sides = {"column": name, "first": values[:1], "second": values[1:]}
            return Guess({"layout": "choices", "first": first, "second": second, "right": sides})
    if not two_valued:
        either = f"{first} or {second}"
        return Guess({"layout": "pairs"}, {"good": either, "bad": either})
    listed = "; ".join(f"{name} has {' and '.join(values)}" for name, values in two_valued.items())
    right = f"{{column: …, first: […], second: […]}}, values that say which is right ({listed})"
    return Guess({"layout": "choices", "first": first, "second": second}, {"right": right})


def _guess_layout(columns: Columns, rows: Sequence[Mapping[str, Any]]) -> Guess:
    if "items" in rows[0] and "predictions" in rows[0]:
        return Guess({"layout": "suites"})
    condition, item = columns.for_key("condition"), columns.for_key("item")
    if condition and item:
        texts = [name for name in columns if name not in (condition, item)]
        unclear = {
            "regions": f"columns with the regions in order, of {', '.join(texts)}",
            "predictions": "formulas such as (verb;%match%) < (verb;%mismatch%)",
        }
        return Guess({"layout": "conditions", "item": item, "condition": condition}, unclear)
    good = columns.side(GUESSES["good"], GUESSES["bad"])
    bad = columns.side(GUESSES["bad"], GUESSES["good"])
    if len(good) == len(bad) == 1:
        return Guess({"layout": "pairs", "good": good[0], "bad": bad[0]})
    if len(columns.sentences) == 1 and columns.labels | columns.two_valued:
        return _labelled_sentences(columns)
    if len(columns.sentences) == 2 and not good and not bad:
        return _two_sentences(columns)
    guess = Guess({"layout": "pairs"})
    for key, names in (("good", good), ("bad", bad)):
        if len(names) == 1:
            guess.entry[key] = names[0]
        else:
            guess.unclear[key] = _either_of(names or columns.sentences)
    if columns.labels:
        layouts = "choices, labelled_rows, sentences (docs/benchmarks.md)"
        guess.unclear["layout"] = f"or {layouts}, by the labels in {', '.join(columns.labels)}"
    return guess


def _guess_entry(name: str, folder: Path) -> Guess:
    """Guess how to read a file, then the meaning of its columns."""
    keys: dict[str, Any] = {"files": name}
    rows = _sample(Files(**keys), folder)
    suffix = Path(name).suffix.lower()
    if suffix == ".txt" and "\t" in rows[0]["text"]:
        keys["format"] = "tsv"
        rows = _sample(Files(**keys), folder)
    is_table = suffix in (".csv", ".tsv", ".xlsx") or "format" in keys
    if is_table and _is_data([*rows[0]]):
        keys["columns"] = _guess_headings(keys, len(rows[0]), folder)
        rows = _sample(Files(**keys), folder)
    columns = Columns(rows)
    guess = _guess_layout(columns, rows)
    guess.entry = {"layout": guess.entry.pop("layout"), **keys, **guess.entry}
    _add_labels(guess, columns)
    _add_languages(guess, columns)
    return guess


def _guess_headings(keys: Mapping[str, Any], number: int, folder: Path) -> list[str]:
    """Return headings for a table that lacks them, such as ["sentence", "column2", "label"]."""
    names = [f"column{position}" for position in range(1, number + 1)]
    columns = Columns(_sample(Files(**keys, columns=names), folder))
    new_names = dict.fromkeys(columns.sentences[:1], "sentence")
    new_names |= dict.fromkeys([*columns.labels][:1], "label")
    return [new_names.get(name, name) for name in names]


def _add_labels(guess: Guess, columns: Columns) -> None:
    """Add keys for columns with usual headings of paradigm, phenomenon and id, such as uid."""
    taken = {value for value in guess.entry.values() if isinstance(value, str)}
    for key in ("paradigm", "phenomenon", "id"):
        column = columns.for_key(key)
        if column is None or column in taken:
            continue
        has_copies = len({*columns[column]}) < len(columns[column])
        is_id = key == "id"
        # Rows share a paradigm, but no id. Columns paradigm and phenomenon are read without a key.
        if has_copies != is_id and (is_id or column != key):
            guess.entry[key] = column


def _add_languages(guess: Guess, columns: Columns) -> None:
    """Add the column of languages, and rename tags to ISO 639-3 codes, such as de to deu."""
    column = columns.for_key("lang")
    tags = sorted({*columns[column]}) if column else []
    if column is None or not all(map(langcodes.tag_is_valid, tags)):
        return
    with suppress(LookupError):  # a tag may have no code of three letters
        codes = {tag: langcodes.Language.get(tag).to_alpha3() for tag in tags}
        guess.languages = tuple(sorted({*codes.values()}))
        if column != "lang":  # a column called lang is read without a key
            guess.entry["lang"] = column
        if changed := {tag: code for tag, code in codes.items() if tag != code}:
            guess.entry["rename"] = {column: changed}


def _merged(guesses: Sequence[Guess]) -> list[Guess]:
    """Make one guess of guesses that differ only in files, languages and renamed values."""
    merged: dict[str, Guess] = {}  # by keys and values that must not differ
    for guess in guesses:
        fixed = {key: value for key, value in guess.entry.items() if key not in ("files", "rename")}
        first = merged.setdefault(repr((sorted(fixed.items()), guess.unclear)), guess)
        if first is not guess:
            first.entry["files"] = [*as_list(first.entry["files"]), guess.entry["files"]]
            first.languages = tuple(sorted({*first.languages, *guess.languages}))
            for column, codes in guess.entry.get("rename", {}).items():
                renamed = first.entry.setdefault("rename", {})
                renamed[column] = renamed.get(column, {}) | codes
    return [*merged.values()]


def _inline_yaml(mapping: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, value in mapping.items():
        # A text alone would get a line "..." below it, so write a list, and take off its brackets.
        text = yaml.safe_dump([value], allow_unicode=True, default_flow_style=True, width=10**6)
        lines.append(f"{key}: {text.strip()[1:-1]}")
    return lines


def _names_inside(folder: Path, files: Sequence[Path]) -> list[str]:
    """Return the names of files in a folder; files outside of it are copied into it."""
    names = []
    for file in files:
        if file.resolve().is_relative_to(folder.resolve()):
            names.append(file.resolve().relative_to(folder.resolve()).as_posix())
            continue
        if not file.is_file():
            raise UserError(f"{file} does not exist; name files with items.")
        copy = folder / file.name
        if copy.exists() and not cmp(file, copy, shallow=False):
            raise UserError(f"{copy} is another file; rename one of the two.")
        shutil.copyfile(file, copy)
        names.append(file.name)
    return names


def guess_declaration(
    files: Sequence[Path], folder: Path, authors: str, languages: Sequence[str]
) -> Iterator[str]:
    """Write a first declaration of some files; yield lines about the guesses.

    ``languages`` are ISO 639-3 codes, or CODE=NAME. Files outside the folder are copied into it.
    Raises UserError for a folder with a declaration, two files of one name, and unreadable files.
    """
    path = declaration_in(folder)
    if path.exists():
        raise UserError(f"{path} exists; name another folder, or remove it.")
    check_folder_name(folder)
    folder.mkdir(parents=True, exist_ok=True)
    guesses = _merged([_guess_entry(name, folder) for name in _names_inside(folder, files)])
    stated_names = {code: name for code, _, name in (lang.partition("=") for lang in languages)}
    codes = sorted({lang for guess in guesses for lang in guess.languages}) or [*stated_names]
    rows = read_rows(LanguageRow, with_repository_paths(CatalogueFiles()).languages)
    names = {row.lang: row.name for row in rows}
    names |= {code: name for code, name in stated_names.items() if name}
    unnamed = [code for code in codes if code not in names]
    head: dict[str, Any] = {"label": folder.name, "title": folder.name, "authors": authors}
    if codes:
        # A mapping with names is needed for languages without a row, and for names of the user.
        has_names = unnamed or any(stated_names.values())
        head["languages"] = {code: names.get(code, code) for code in codes} if has_names else codes
    lines = _inline_yaml(head)
    if not codes:
        lines.append("# languages: [zho]  # ISO 639-3 codes, or a mapping with names")
    lines.append("data:")
    for guess in guesses:
        first, *further = _inline_yaml(guess.entry)
        # Comments ask for what is not clear.
        further += [f"# {key}: {choices}" for key, choices in guess.unclear.items()]
        lines += [f"  - {first}", *(f"    {line}" for line in further)]
    write_text(path, "".join(f"{line}\n" for line in lines))
    for guess in guesses:
        listed = (f"{key} {value}" for key, value in guess.entry.items() if key != "files")
        yield f"{', '.join(as_list(guess.entry['files']))}: {', '.join(listed)}"
        yield from (f"  not clear: {key}: {choices}" for key, choices in guess.unclear.items())
    if unnamed:
        yield f"{path}: write the names of languages that tables show: {', '.join(unnamed)}."
    unclear_keys = [key for guess in guesses for key in guess.unclear]
    if not codes:
        unclear_keys.append("languages")
    if unclear_keys:
        keys = ", ".join(dict.fromkeys(unclear_keys))
        yield f"{path} {INCOMPLETE}: set the keys that are comments there, {keys}."


def export_benchmark(items: Sequence[Path], folder: Path, label: str, authors: str) -> int:
    """Write a declaration and its pairs from items tables of languages; return how many pairs.

    Licence, BibTeX and contact are copied from the tables' benchmark, and also phenomena, paradigms
    and critical regions, so that all methods give the same judgements. Raises UserError for items
    that are no pairs, and a folder with a declaration.
    """
    path = declaration_in(folder)
    if path.exists():
        raise UserError(f"{path} exists; expected a new folder. Name another one, or remove it.")
    records: list[dict[str, Any]] = []
    for table in items:
        arrow = read_table(ITEMS, table)
        if {"condition", "acceptable"} & {*arrow.column_names}:
            raise UserError(
                f"{table} has items of conditions, or single sentences; expected pairs. Name "
                "tables of a benchmark of pairs."
            )
        for item in arrow.select([*EXPORTED, "sent_id", "item_id"]).to_pylist():
            kept = {name: item[name] for name in EXPORTED if item[name] is not None}
            records.append({"id": item["sent_id"] or item["item_id"], **kept})
    entry: dict[str, Any] = {"layout": "pairs", "files": PAIRS_FILE}
    entry |= {name: name for name in ("good", "bad", "id")}
    if all(name in record for record in records for name in Regions._fields):
        entry["critical"] = {name: name for name in Regions._fields}
    declaration: dict[str, Any] = {"label": label, "title": label, "authors": authors}
    declaration |= {"languages": sorted({record["lang"] for record in records}), "data": [entry]}
    names = {table.resolve().parent.name for table in items} & benchmarks().keys()
    if len(names) == 1:
        citation = paper_of(*names).citation
        stated = {name: getattr(citation, name) for name in ("licence", "bibtex", "contact")}
        declaration |= {name: text for name, text in stated.items() if text}
    lines = (f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    write_text(folder / PAIRS_FILE, "".join(lines))
    write_text(path, yaml.safe_dump(declaration, allow_unicode=True, sort_keys=False))
    return len(records)
