"""Write declarations: a first one, guessed from files, and one of any benchmark's pairs."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from filecmp import cmp
from pathlib import Path
from typing import Any

import langcodes
import yaml

from blimpworks.benchmarks.declaration import declaration_in
from blimpworks.benchmarks.differences import units
from blimpworks.benchmarks.entries import Files
from blimpworks.benchmarks.files import local_files, rows_in
from blimpworks.benchmarks.paper import NAME
from blimpworks.benchmarks.readers import Account, as_text
from blimpworks.benchmarks.templates import compared
from blimpworks.campaign.catalogue import LanguageRow
from blimpworks.campaign.load import placed
from blimpworks.campaign.registry import benchmarks, paper_of
from blimpworks.campaign.settings.campaign import CatalogueFiles
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.items import Regions
from blimpworks.tables import ITEMS, read_table

SAMPLE = 2000
"""Rows of a file for a guess."""
GOOD = {"good", "grammatical", "correct", "acceptable", "right", "positive", "true"}
BAD = {"bad", "ungrammatical", "incorrect", "unacceptable", "wrong", "negative", "false", "foil"}
BAD |= {"corrupted", "inacceptable", "incorrecte"}
RIGHT = {"1", "true", "yes", "good", "grammatical", "correct", "acceptable", "right", "ok"}
WRONG = {"0", "false", "no", "bad", "ungrammatical", "incorrect", "unacceptable", "wrong", "*"}
NO_HEADINGS = {"0", "1", "true", "false", "*"}
NAMES: Mapping[str, set[str]] = {
    "paradigm": {"paradigm", "uid", "type", "construction", "category", "template", "suite"},
    "phenomenon": {"phenomenon", "phenomena", "linguistics_term", "term", "field"},
    "lang": {"lang", "language", "iso", "iso_code", "language_code"},
    "id": {"id", "item_id", "pair_id", "sentence_id", "sent_id", "idx", "index", "pairid"},
    "item": {"item", "item_id", "pair", "pair_id", "item_number", "group", "set"},
    "condition": {"condition", "cond", "condition_name"},
}
"""Usual headings, by the key of an entry."""
SIDES = (["1", "2"], ["a", "b"], ["first", "second"], ["sentence1", "sentence2"])
"""Values that name the right one of two sentences."""
LONG = 2
"""Mean number of words, marks or unspaced characters that sentences exceed."""
EXPORTED = ("lang", "phenomenon", "paradigm", "good", "bad", *Regions._fields)
PAIRS_FILE = "pairs.jsonl"


@dataclass(slots=True)
class Guess:
    """An entry of ``data``, choices for keys that are not clear, and languages of a column."""

    entry: dict[str, Any]
    open: dict[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()


def _name(column: str) -> str:
    return re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column)).strip("_").lower()


@dataclass(frozen=True, slots=True)
class Columns:
    """Values of some rows by column, without lists and their contents."""

    values: Mapping[str, list[str]]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> "Columns":
        """Take the columns that all rows have."""
        plain = [{k: v for k, v in row.items() if not isinstance(v, list | dict)} for row in rows]
        names = [name for name in plain[0] if all(name in row for row in plain)] if plain else []
        return cls({name: [as_text(row[name]).strip() for row in rows] for name in names})

    def called(self, key: str) -> str | None:
        """Return the first column with a usual heading of a key."""
        return next((name for name in self.values if _name(name) in NAMES[key]), None)

    @property
    def sentences(self) -> list[str]:
        """Columns with sentences: by their heading, else all texts of several words."""
        return [name for name in self.texts if _name(name) in ("sentence", "text")] or self.texts

    @property
    def texts(self) -> list[str]:
        """Columns with texts of several words."""
        names = []
        for name, texts in self.values.items():
            # In scripts without spaces the length is of characters, else of words.
            lengths = (len(text.split() if text.isascii() else units(text)) for text in texts)
            if sum(lengths) / len(texts) > LONG:
                names.append(name)
        return names

    def side(self, words: set[str], not_words: set[str]) -> list[str]:
        """List columns of sentences whose heading has one of ``words``, none of ``not_words``."""
        headings = {name: {*_name(name).split("_")} for name in self.texts}
        return [
            name
            for name, heading in headings.items()
            if heading & words and not heading & not_words
        ]

    @property
    def labels(self) -> dict[str, tuple[list[str], list[str]]]:
        """Columns whose values say right or wrong, with these values."""
        labels = {}
        for name, texts in self.values.items():
            distinct = sorted({*texts})
            right = [text for text in distinct if compared(text) in RIGHT]
            wrong = [text for text in distinct if compared(text) in WRONG]
            if right and wrong and len(right) + len(wrong) == len(distinct):
                labels[name] = (right, wrong)
        return labels

    @property
    def two_valued(self) -> dict[str, list[str]]:
        """Columns with two values, and these."""
        texts = {*self.texts}
        few = {name: sorted({*v}) for name, v in self.values.items() if name not in texts}
        return {name: values for name, values in few.items() if len(values) == 2}


def _choice(names: Sequence[str]) -> str:
    return f"one of {', '.join(names)}" if names else "a column; none looks like it"


def _sample(how: Files, folder: Path) -> list[Mapping[str, Any]]:
    rows = rows_in(how, local_files(folder), folder, Account(str(folder)))
    return [row.cells for row in rows[:SAMPLE]]


def _is_data(headings: Sequence[str]) -> bool:
    """Tell whether the first row has no headings: one cell is a label, a number or a sentence."""
    numbered = [heading for heading in headings if heading]
    if numbered in ([*map(str, range(len(numbered)))], [*map(str, range(1, len(numbered) + 1))]):
        return False
    return any(
        heading.casefold() in NO_HEADINGS
        or heading.replace(".", "").isdigit()
        or (len(heading.split()) > 2 and heading.rstrip()[-1:] in ".?!。।")
        for heading in headings
    )


def _reading(name: str, folder: Path) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    keys: dict[str, Any] = {"files": name}
    rows = _sample(Files(**keys), folder)
    suffix = Path(name).suffix.lower()
    if suffix == ".txt" and "\t" in rows[0]["text"]:
        keys["format"] = "tsv"
        rows = _sample(Files(**keys), folder)
    headings = [*rows[0]]
    table = suffix in (".csv", ".tsv", ".xlsx") or "format" in keys
    if table and _is_data(headings):
        names = [f"column{number}" for number in range(1, len(headings) + 1)]
        rows = _sample(Files(**keys, columns=names), folder)
        columns = Columns.of(rows)
        sentence, label = columns.sentences[:1], [*columns.labels][:1]
        roles = dict([*((c, "sentence") for c in sentence), *((c, "label") for c in label)])
        keys["columns"] = [roles.get(column, column) for column in names]
        rows = _sample(Files(**keys), folder)
    return keys, rows


def _in_turn(columns: Columns, label: str, right: Sequence[str]) -> bool:
    """Tell whether every two rows are a good and a bad sentence with mostly the same words."""
    labels = [value in right for value in columns.values[label]]
    if len(labels) % 2 or any(a == b for a, b in zip(labels[::2], labels[1::2], strict=True)):
        return False
    texts = columns.values[columns.sentences[0]]
    shared = 0
    for first, second in zip(texts[::2], texts[1::2], strict=True):
        sides = Counter(units(first)), Counter(units(second))
        shared += 2 * (sides[0] & sides[1]).total() >= max(sides[0].total(), sides[1].total())
    return shared >= 0.9 * len(texts) / 2


def _labelled(columns: Columns) -> Guess:
    """Guess from a sentence and a label a row: pairs if rows belong together, else sentences."""
    if len(columns.labels) != 1:
        keys = {"label": _choice([*(columns.labels or columns.two_valued)])}
        keys |= {"acceptable": "its values that say so", "unacceptable": "its values that do not"}
        return Guess({"layout": "sentences", "sentence": columns.sentences[0]}, keys)
    [(label, (right, wrong))] = columns.labels.items()
    entry = {"sentence": columns.sentences[0], "label": label}
    item = columns.called("item")
    if item is not None:
        sides: dict[str, set[bool]] = {}
        for key, value in zip(columns.values[item], columns.values[label], strict=True):
            sides.setdefault(key, set()).add(value in right)
        if any(len(both) < 2 for both in sides.values()):
            item = None
    if item or _in_turn(columns, label, right):
        named = {"item": item} if item else {}
        return Guess({"layout": "labelled_rows", **entry, "good": right, "bad": wrong, **named})
    return Guess({"layout": "sentences", **entry, "acceptable": right, "unacceptable": wrong})


def _choices(columns: Columns) -> Guess:
    """Guess from two sentences a row, one of which is right by another column, or always."""
    first, second = columns.sentences
    few = columns.two_valued
    for name, values in few.items():
        if [value.casefold() for value in values] in SIDES:
            sides = {"column": name, "first": values[:1], "second": values[1:]}
            return Guess({"layout": "choices", "first": first, "second": second, "right": sides})
    if not few:
        either = f"{first} or {second}"
        return Guess({"layout": "pairs"}, {"good": either, "bad": either})
    columns_of = "; ".join(f"{name} has {' and '.join(values)}" for name, values in few.items())
    right = f"{{column: …, first: […], second: […]}}, values that say which is right ({columns_of})"
    return Guess({"layout": "choices", "first": first, "second": second}, {"right": right})


def _layout(columns: Columns, rows: Sequence[Mapping[str, Any]]) -> Guess:
    if "items" in rows[0] and "predictions" in rows[0]:
        return Guess({"layout": "suites"})
    condition, item = columns.called("condition"), columns.called("item")
    if condition and item:
        texts = [name for name in columns.values if name not in (condition, item)]
        open_keys = {
            "regions": f"columns with the regions in order, of {', '.join(texts)}",
            "predictions": "formulas such as (verb;%match%) < (verb;%mismatch%)",
        }
        return Guess({"layout": "conditions", "item": item, "condition": condition}, open_keys)
    good, bad = columns.side(GOOD, BAD), columns.side(BAD, GOOD)
    if len(good) == len(bad) == 1:
        return Guess({"layout": "pairs", "good": good[0], "bad": bad[0]})
    if len(columns.sentences) == 1 and columns.labels | columns.two_valued:
        return _labelled(columns)
    if len(columns.sentences) == 2 and not good and not bad:
        return _choices(columns)
    guess = Guess({"layout": "pairs"})
    for key, found in (("good", good), ("bad", bad)):
        if len(found) == 1:
            guess.entry[key] = found[0]
        else:
            guess.open[key] = _choice(found or columns.sentences)
    if columns.labels:
        others = "choices, labelled_rows, sentences (docs/benchmarks.md)"
        guess.open["layout"] = f"or {others}, by the labels in {', '.join(columns.labels)}"
    return guess


def _languages(values: Sequence[str]) -> dict[str, str] | None:
    """Return three-letter codes of a column's values; None where one is no code."""
    codes = {}
    for value in sorted({*values}):
        if not langcodes.tag_is_valid(value):
            return None
        try:
            codes[value] = langcodes.Language.get(value).to_alpha3()
        except LookupError:
            return None
    return codes


def _entry(name: str, folder: Path) -> Guess:
    keys, rows = _reading(name, folder)
    columns = Columns.of(rows)
    guess = _layout(columns, rows)
    guess.entry = {"layout": guess.entry.pop("layout"), **keys, **guess.entry}
    taken = {value for value in guess.entry.values() if isinstance(value, str)}
    for key in ("paradigm", "phenomenon", "id"):
        column = columns.called(key)
        if column is None or column in taken or (column == key != "id"):
            continue
        # An id is of one row, and a paradigm of several.
        values = columns.values[column]
        if (len({*values}) == len(values)) == (key == "id"):
            guess.entry[key] = column
    lang = columns.called("lang")
    codes = _languages(columns.values[lang]) if lang else None
    if lang and codes:
        guess.languages = tuple(sorted({*codes.values()}))
        guess.entry |= {} if lang == "lang" else {"lang": lang}
        changed = {value: code for value, code in codes.items() if value != code}
        guess.entry |= {"rename": {lang: changed}} if changed else {}
    return guess


def _merged(guesses: Sequence[Guess]) -> list[Guess]:
    merged: list[Guess] = []
    for guess in guesses:
        plain = {key: value for key, value in guess.entry.items() if key not in ("files", "rename")}
        for before in merged:
            same = {k: v for k, v in before.entry.items() if k not in ("files", "rename")}
            if same == plain and before.open == guess.open:
                before.entry["files"] = [*_listed(before.entry["files"]), guess.entry["files"]]
                before.languages = tuple(sorted({*before.languages, *guess.languages}))
                for column, names in guess.entry.get("rename", {}).items():
                    before.entry.setdefault("rename", {}).setdefault(column, {}).update(names)
                break
        else:
            merged.append(guess)
    return merged


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _flow(value: Any) -> str:
    text = yaml.safe_dump([value], allow_unicode=True, default_flow_style=True, width=10**6)
    return text.strip()[1:-1]


def guess_declaration(
    files: Sequence[Path], folder: Path, authors: str, languages: Sequence[str]
) -> Iterator[str]:
    """Write a first declaration of some files; yield lines about clear and unclear guesses.

    ``languages`` are codes, or CODE=NAME. Files outside the folder are copied to it. Raises
    UserError for a folder with a declaration, a name that is taken there, and unreadable files.
    """
    path = declaration_in(folder)
    if path.exists():
        raise UserError(f"{path} exists; name another folder, or remove it.")
    if not NAME.fullmatch(folder.name):
        raise UserError(
            f"{folder}: a benchmark is called like its folder; name it in lower-case letters, "
            "digits and underscores."
        )
    folder.mkdir(parents=True, exist_ok=True)
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
    guesses = _merged([_entry(name, folder) for name in names])
    titles = {code: title for code, _, title in (lang.partition("=") for lang in languages)}
    named = sorted({lang for guess in guesses for lang in guess.languages}) or [*titles]
    rows = read_rows(LanguageRow, placed(CatalogueFiles()).languages)
    table = {row.lang: row.name for row in rows} | {k: v for k, v in titles.items() if v}
    unnamed = [lang for lang in named if lang not in table]
    head: dict[str, Any] = {"label": folder.name, "title": folder.name, "authors": authors}
    if named:
        names_of = {lang: table.get(lang, lang) for lang in named}
        head["languages"] = names_of if unnamed or any(titles.values()) else named
    lines = [f"{key}: {_flow(value)}" for key, value in head.items()]
    if not named:
        lines.append("# languages: [zho]  # ISO 639-3 codes, or a mapping with names")
    lines.append("data:")
    for guess in guesses:
        entry = [f"    {key}: {_flow(value)}" for key, value in guess.entry.items()]
        lines += [f"  - {entry[0].strip()}", *entry[1:]]
        lines += [f"    # {key}: {choices}" for key, choices in guess.open.items()]
    write_text(path, "".join(f"{line}\n" for line in lines))
    for guess in guesses:
        listed = (f"{key} {value}" for key, value in guess.entry.items() if key != "files")
        yield f"{', '.join(_listed(guess.entry['files']))}: {', '.join(listed)}"
        yield from (f"  not clear: {key}: {choices}" for key, choices in guess.open.items())
    if unnamed:
        yield f"{path}: write the names of languages that tables show: {', '.join(unnamed)}."
    open_keys = [key for guess in guesses for key in guess.open]
    open_keys += [] if named else ["languages"]
    if open_keys:
        keys = ", ".join(dict.fromkeys(open_keys))
        yield f"{path} is not complete: set what stands there as comments, {keys}."


def export_benchmark(items: Sequence[Path], folder: Path, label: str, authors: str) -> int:
    """Write a declaration and its pairs from items tables; return the number of pairs.

    Each table is of a language. Licence, BibTeX and contact are the benchmark's. Phenomena,
    paradigms and critical regions stay, so that all methods give the same judgements. Raises
    UserError for items that are no pairs, and a folder with a declaration.
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
    regions = all(field in record for record in records for field in Regions._fields)
    entry: dict[str, Any] = {
        "layout": "pairs",
        "files": PAIRS_FILE,
        "good": "good",
        "bad": "bad",
        "id": "id",
    }
    if regions:
        entry["critical"] = {name: name for name in Regions._fields}
    languages = sorted({record["lang"] for record in records})
    declaration: dict[str, Any] = {
        "label": label,
        "title": label,
        "authors": authors,
        "languages": languages,
        "data": [entry],
    }
    names = {table.resolve().parent.name for table in items} & benchmarks().keys()
    if len(names) == 1:
        citation = paper_of(*names).citation
        stated = {name: getattr(citation, name) for name in ("licence", "bibtex", "contact")}
        declaration |= {name: text for name, text in stated.items() if text}
    lines = (json.dumps(record, ensure_ascii=False) for record in records)
    write_text(folder / PAIRS_FILE, "".join(f"{line}\n" for line in lines))
    write_text(path, yaml.safe_dump(declaration, allow_unicode=True, sort_keys=False))
    return len(records)
