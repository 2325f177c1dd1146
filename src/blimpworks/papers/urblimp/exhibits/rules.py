"""What the rules make of the treebanks: matches, pairs, why others gave none, and pairs to read.

Exhibits of ours, about section 2 of Adeeba, Dillon, Sajjad and Bhatt (2025): the paper's
linguists reviewed their pairs, and ours want the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT, TOTAL
from blimpworks.exhibits.shared import (
    Tables,
    formula_cell,
    marked,
    printed_cell,
    read_plain,
    read_printed,
    row_cell,
)
from blimpworks.exhibits.texts import language_tag
from blimpworks.items import evenly
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.accuracies import languages_of
from blimpworks.papers.urblimp.phenomena import LANG, PARADIGMS
from blimpworks.papers.urblimp.tables import RULE_COUNTS
from blimpworks.tables import ITEMS, read_table

SOURCE = "rules"
KEPT, DROPPED = "kept", "rejected"
MATCHES, PAIRS, CONSTRUCTED = "Matches", "Pairs", "Constructed"
PRINTED, IMPLIED = "Paper", "Paper, implied"
HEADS = {
    PAIRS: ("Pairs", "kept"),
    CONSTRUCTED: ("Pairs", "constructed"),
    PRINTED: ("N of the paper", "printed"),
    IMPLIED: ("N of the paper", "implied"),
}
REASONS = {
    "excluded by the rule": "excluded",
    "no form by rule": "no form",
    "not in the table": "no form",
    "not in the lexicon": "no such word",
    "made before": "repeated",
    "the same sentence": "same",
    "differs in several places": "several places",
    "the treebank has it beside the same words": "attested",
    "a sentence of the treebank": "attested",
    "beyond per_paradigm": "beyond limit",
    "faulty in the treebank": "faulty",
}
"""Columns of the reasons up to a colon, some together; others stand under "other"."""
OTHER = "other"
ALL = "All paradigms"


def _column(reason: str) -> str:
    return f"Rejected: {REASONS.get(reason.partition(':')[0], OTHER)}"


def _counts(
    rows: pd.DataFrame, items: pd.DataFrame, row: str, where: Mapping[str, Any]
) -> Iterator[Cell]:
    """Matches of some rules, their pairs, and those whose grammatical sentence is constructed."""
    kept = {**where, "outcome": KEPT}
    constructed = {**where, "constructed": True}
    yield formula_cell(rows, (row, MATCHES), TOTAL, SOURCE, where)
    yield formula_cell(rows[rows["outcome"] == KEPT], (row, PAIRS), TOTAL, SOURCE, kept)
    own = items[items["constructed"].astype(bool)]
    yield formula_cell(own, (row, CONSTRUCTED), COUNT, "items", constructed)


def _rejected(rows: pd.DataFrame, row: str, where: Mapping[str, Any]) -> Iterator[Cell]:
    """The matches of some rules that gave no pair, by reason."""
    dropped = rows[rows["outcome"] == DROPPED]
    for column in dict.fromkeys([*map(_column, REASONS), _column(OTHER)]):
        inside = dropped[dropped["reason"].map(_column) == column]
        reasons = sorted({*inside["reason"]})
        if reasons:
            chosen = {**where, "outcome": DROPPED, "reason": reasons}
            yield formula_cell(inside, (row, column), TOTAL, SOURCE, chosen)


def _printed(printed: pd.DataFrame, paradigm: str, row: str) -> Iterator[Cell]:
    """The paper's number of pairs, and where it differs the one that its accuracies imply."""
    numbers = printed[(printed["exhibit"] == "table10") & (printed["row"] == paradigm)]
    for _, number in numbers[numbers["column"] == "n"].iterrows():
        if not pd.isna(number["value"]):
            yield replace(printed_cell(number, (row, PRINTED)), stands_for=None)
        if not pd.isna(number["corrected"]):
            keys, place = ("exhibit", "row", "column"), (row, IMPLIED)
            text = f"{float(number['corrected']):,.0f}"
            yield row_cell("published", number, keys, "corrected", place, text)


def _language(
    rows: pd.DataFrame, items: pd.DataFrame, printed: pd.DataFrame, lang: str, prefix: str
) -> Iterator[Cell]:
    """Rows of a language: its paradigms, each with its rules below (in data alone), and all."""
    for paradigm, name in PARADIGMS.items():
        inside, own = (table[table["paradigm"] == paradigm] for table in (rows, items))
        if inside.empty and lang != LANG:
            continue
        row, where = f"{prefix}{name}", {"lang": lang, "paradigm": paradigm}
        yield from _counts(inside, own, row, where)
        if lang == LANG:
            yield from _printed(printed, paradigm, row)
        yield from _rejected(inside, row, where)
        for rule in dict.fromkeys(inside["rule"]):
            matches, pairs = (table[table["rule"] == rule] for table in (inside, own))
            below, of_rule = f"{row}, rule {rule}", {**where, "rule": rule}
            for cell in (
                *_counts(matches, pairs, below, of_rule),
                *_rejected(matches, below, of_rule),
            ):
                yield replace(cell, printed=False)
    yield from _counts(rows, items, f"{prefix}{ALL}", {"lang": lang})
    yield from _rejected(rows, f"{prefix}{ALL}", {"lang": lang})


def _order(cells: Iterable[Cell]) -> list[str]:
    """Columns that there are, in the order of reading."""
    first = (MATCHES, PAIRS, CONSTRUCTED, PRINTED, IMPLIED)
    order = dict.fromkeys([*first, *map(_column, REASONS), _column(OTHER)])
    present = {cell.column for cell in cells if cell.printed}
    return [column for column in order if column in present]


def _sections(cells: Iterable[Cell], columns: list[str], names: list[str]) -> list[Section]:
    """A section of each language, under its name; without one where there is one language."""
    rows = list(dict.fromkeys(cell.row for cell in cells if cell.printed))
    if len(names) < 2:
        return [Section("Paradigm", {row: row for row in rows}, columns)]
    sections = []
    for name in names:
        own = {row: row.removeprefix(f"{name}: ") for row in rows if row.startswith(f"{name}: ")}
        sections.append(Section("Paradigm", {name: name, **own}, columns))
    return sections


def rules(tables: Tables, labels: Labels) -> Exhibit:
    """Matches of each paradigm's rules, pairs kept, and the others by reason."""
    counts = read_plain(RULE_COUNTS, tables[SOURCE])
    keys = ["lang", "paradigm", "rule"]
    items = read_plain(ITEMS, tables["items"], [*keys, "constructed"])
    items = items.astype(dict.fromkeys(keys, str))
    printed = read_printed(tables)
    langs = languages_of({*counts["lang"]}, labels)
    names = [labels.languages.get(lang, lang) for lang in langs]
    cells = [
        cell
        for lang, name in zip(langs, names, strict=True)
        for cell in _language(
            counts[counts["lang"] == lang],
            items[items["lang"] == lang],
            printed,
            lang,
            f"{name}: " if len(langs) > 1 else "",
        )
    ]
    columns = _order(cells)
    matched = {*counts["paradigm"][counts["n"] > 0]}
    none = [name for paradigm, name in PARADIGMS.items() if paradigm not in matched]
    without = f" No place matches: {', '.join(none)}." if none else ""
    heads = {column: ("Rejected", column.partition(": ")[2]) for column in columns if ":" in column}
    return Exhibit(
        **describe("rules", without=without),
        cells=cells,
        heads=HEADS | heads,
        sections=_sections(cells, columns, names),
    )


MOST = 20
"""Pairs of each paradigm, evenly from all of it."""
PAIR, RULE, CHANGE, ORIGIN, PARADIGM = "Pair", "Rule", "Change", "Source", "Paradigm"
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
COLUMNS = ("item_id", "lang", "paradigm", "good", "bad", *SPANS, "file", "line", "rule", "change")
Item = dict[str, Any]


def _items_of(tables: Tables, labels: Labels) -> dict[str, list[Item]]:
    """Items by language, of those that have any: the paper's language first."""
    by_lang: dict[str, list[Item]] = {}
    for path in tables["items"]:
        items = read_table(ITEMS, path, [*COLUMNS, "constructed"]).to_pylist()
        by_lang |= {items[0]["lang"]: items} if items else {}
    return {lang: by_lang[lang] for lang in languages_of(by_lang, labels)}


def _beside(item: Item) -> dict[str, str]:
    """Where a pair comes from, in words."""
    own = ", constructed" if item["constructed"] else ""
    origin = f"{item['file']}:{item['line']}"
    return {RULE: item["rule"], CHANGE: f"{item['change']}{own}", ORIGIN: origin}


def _parts(
    items: Mapping[str, Sequence[Item]], labels: Labels
) -> Iterator[tuple[str, list[Item], int]]:
    """Name of each paradigm, with its language if there are several; its sample; all its pairs."""
    for lang, own in items.items():
        name = f"{labels.languages.get(lang, lang)}: " if len(items) > 1 else ""
        for paradigm, title in PARADIGMS.items():
            inside = [item for item in own if item["paradigm"] == paradigm]
            if inside:
                yield f"{name}{title}", [*evenly(inside, MOST)], len(inside)


def samples(tables: Tables, labels: Labels) -> Exhibit:
    """Twenty pairs of each paradigm; the cell's filter names the very item."""
    cells: list[Cell] = []
    sections: list[Section] = []
    stub, remarks, written = {}, {}, {}
    for title, sample, n in _parts(_items_of(tables, labels), labels):
        head = f"{title} ({len(sample)} of {n:,})"
        rows = {head: head}
        for number, item in enumerate(sample, start=1):
            row = f"{item['item_id']} {item['paradigm']}"
            where = {key: item[key] for key in ("lang", "item_id", "paradigm")}
            cells.append(Cell(row, PAIR, 1, marked(item), COUNT, "items", where, n=1))
            stub[row], remarks[row] = {PARADIGM: title}, _beside(item)
            written[row, PAIR] = language_tag(item["lang"])
            rows[row] = str(number)
        sections.append(Section("", rows, [PAIR, RULE, CHANGE, ORIGIN]))
    return Exhibit(
        **describe("samples", most=MOST),
        cells=cells,
        stub=stub,
        remarks=remarks,
        widths={PAIR: 0.5, ORIGIN: 0.15},
        sections=sections,
        textual=True,
        written_in=written,
    )
