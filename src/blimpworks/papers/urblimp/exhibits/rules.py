"""Outcomes of the rules over treebanks: matches, pairs, reasons for none, and pairs to read.

Exhibits of ours on section 2 of Adeeba, Dillon, Sajjad and Bhatt (2025), whose linguists reviewed
all pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from blimpworks.exhibits import shared
from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section, language_tag
from blimpworks.exhibits.formulas import COUNT, TOTAL
from blimpworks.exhibits.shared import Tables, formula_cell
from blimpworks.items import evenly
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.accuracies import languages_of
from blimpworks.papers.urblimp.phenomena import LANG, PARADIGMS
from blimpworks.papers.urblimp.tables import DROPPED, KEPT, RULE_COUNTS
from blimpworks.tables import ITEMS, read_table

SOURCE = "rules"
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
"""Columns of reasons (up to a colon), some together."""
OTHER = "other"
REJECTED = tuple(f"Rejected: {name}" for name in dict.fromkeys((*REASONS.values(), OTHER)))
COLUMNS = (MATCHES, PAIRS, CONSTRUCTED, PRINTED, IMPLIED, *REJECTED)
ALL = "All paradigms"
MOST = 20
"""Pairs of each paradigm to read, taken evenly."""
PAIR, RULE, CHANGE, ORIGIN, PARADIGM = "Pair", "Rule", "Change", "Source", "Paradigm"
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
SHOWN = ("item_id", "lang", "paradigm", "good", "bad", *SPANS, "file", "line", "rule", "change")


def _counts(
    rows: pd.DataFrame,
    items: pd.DataFrame,
    row: str,
    where: Mapping[str, Any],
    printed: Sequence[Cell] = (),
) -> Iterator[Cell]:
    """Count some rules' matches, pairs, constructed pairs, and matches without a pair by reason."""
    kept = {**where, "outcome": KEPT}
    constructed = {**where, "constructed": True}
    yield formula_cell(rows, (row, MATCHES), TOTAL, SOURCE, where)
    yield formula_cell(rows[rows["outcome"] == KEPT], (row, PAIRS), TOTAL, SOURCE, kept)
    built = items[items["constructed"].astype(bool)]
    yield formula_cell(built, (row, CONSTRUCTED), COUNT, "items", constructed)
    yield from printed
    dropped = rows[rows["outcome"] == DROPPED]
    names = dropped["reason"].map(lambda reason: REASONS.get(reason.partition(":")[0], OTHER))
    for column in REJECTED:
        inside = dropped["Rejected: " + names == column]
        if not inside.empty:
            chosen = {**where, "outcome": DROPPED, "reason": sorted({*inside["reason"]})}
            yield formula_cell(inside, (row, column), TOTAL, SOURCE, chosen)


def rules(tables: Tables, labels: Labels) -> Exhibit:
    """Matches of each paradigm's rules, pairs kept, and the others by reason."""
    counts = shared.read_plain(RULE_COUNTS, tables[SOURCE])
    keys = ["lang", "paradigm", "rule"]
    items = shared.read_plain(ITEMS, tables["items"], [*keys, "constructed"])
    items = items.astype(dict.fromkeys(keys, str))
    printed = shared.read_printed(tables, exhibit="table10", column="n")
    langs = languages_of({*counts["lang"]}, labels)
    cells: list[Cell] = []
    titles: list[dict[str, str]] = []
    for lang in langs:
        language = labels.languages.get(lang, lang)
        prefix = f"{language}: " if len(langs) > 1 else ""
        of_lang, lang_items = (table[table["lang"] == lang] for table in (counts, items))
        of_language: list[Cell] = []
        for paradigm, name in PARADIGMS.items():
            matches, pairs = (
                table[table["paradigm"] == paradigm] for table in (of_lang, lang_items)
            )
            if matches.empty and lang != LANG:
                continue
            row, where = f"{prefix}{name}", {"lang": lang, "paradigm": paradigm}
            # The paper's accuracies imply another number of pairs than it prints for some.
            of_paper: list[Cell] = []
            numbers = printed[(printed["row"] == paradigm) & (lang == LANG)]
            for _, number in numbers.iterrows():
                if not pd.isna(number["value"]):
                    cell = shared.printed_cell(number, (row, PRINTED))
                    of_paper.append(replace(cell, stands_for=None))
                if not pd.isna(number["corrected"]):
                    implied, text = (row, IMPLIED), f"{float(number['corrected']):,.0f}"
                    cell_keys = ("exhibit", "row", "column")
                    of_paper.append(
                        shared.row_cell("published", number, cell_keys, "corrected", implied, text)
                    )
            of_language += _counts(matches, pairs, row, where, of_paper)
            # Rules are in data alone.
            for rule in dict.fromkeys(matches["rule"]):
                of_rule, its_pairs = (table[table["rule"] == rule] for table in (matches, pairs))
                of_where = {**where, "rule": rule}
                for cell in _counts(of_rule, its_pairs, f"{row}, rule {rule}", of_where):
                    of_language.append(replace(cell, printed=False))
        of_language += _counts(of_lang, lang_items, f"{prefix}{ALL}", {"lang": lang})
        cells += of_language
        rows = {c.row: c.row.removeprefix(prefix) for c in of_language if c.printed}
        titles.append({language: language, **rows} if prefix else rows)
    present = {cell.column for cell in cells if cell.printed}
    columns = [column for column in COLUMNS if column in present]
    matched = {*counts["paradigm"][counts["n"] > 0]}
    none = [name for paradigm, name in PARADIGMS.items() if paradigm not in matched]
    without = f" No place matches: {', '.join(none)}." if none else ""
    heads = {column: ("Rejected", column.partition(": ")[2]) for column in columns if ":" in column}
    return Exhibit(
        **describe("rules", without=without),
        cells=cells,
        heads=HEADS | heads,
        sections=[Section(PARADIGM, rows, columns) for rows in titles],
    )


def samples(tables: Tables, labels: Labels) -> Exhibit:
    """Twenty pairs of each paradigm; the cell's filter names the very item."""
    by_lang: dict[str, list[dict[str, Any]]] = {}
    for path in tables["items"]:
        items = read_table(ITEMS, path, [*SHOWN, "constructed"]).to_pylist()
        by_lang |= {items[0]["lang"]: items} if items else {}
    cells: list[Cell] = []
    sections: list[Section] = []
    stub, remarks, written = {}, {}, {}
    for lang in languages_of(by_lang, labels):
        prefix = f"{labels.languages.get(lang, lang)}: " if len(by_lang) > 1 else ""
        for paradigm, name in PARADIGMS.items():
            pairs = [item for item in by_lang[lang] if item["paradigm"] == paradigm]
            if not pairs:
                continue
            sample, title = [*evenly(pairs, MOST)], f"{prefix}{name}"
            head = f"{title} ({len(sample)} of {len(pairs):,})"
            rows = {head: head}
            for number, item in enumerate(sample, start=1):
                row = f"{item['item_id']} {item['paradigm']}"
                where = {key: item[key] for key in ("lang", "item_id", "paradigm")}
                cells.append(Cell(row, PAIR, 1, shared.marked(item), COUNT, "items", where, n=1))
                constructed = ", constructed" if item["constructed"] else ""
                stub[row] = {PARADIGM: title}
                remarks[row] = {
                    RULE: item["rule"],
                    CHANGE: f"{item['change']}{constructed}",
                    ORIGIN: f"{item['file']}:{item['line']}",
                }
                written[row, PAIR] = language_tag(lang)
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
