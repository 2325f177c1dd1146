"""Pairs of each paradigm to read by eye, with the rule and the line that each comes from.

An exhibit of ours: the paper's linguists reviewed their pairs (Adeeba, Dillon, Sajjad and Bhatt
2025, section 2), and ours want the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from blimpworks.exhibits.exhibit import Cell, Exhibit, Labels, Section
from blimpworks.exhibits.formulas import COUNT
from blimpworks.exhibits.shared import Tables, marked
from blimpworks.items import evenly
from blimpworks.papers.urblimp.exhibits import describe
from blimpworks.papers.urblimp.exhibits.accuracies import languages_of
from blimpworks.papers.urblimp.phenomena import PARADIGMS
from blimpworks.tables import ITEMS, read_table

MOST = 20
"""Pairs of each paradigm, evenly from all of it."""
PAIR, RULE, CHANGE, SOURCE, PARADIGM = "Pair", "Rule", "Change", "Source", "Paradigm"
SPANS = ("good_start", "good_end", "bad_start", "bad_end")
COLUMNS = ("item_id", "lang", "paradigm", "good", "bad", *SPANS, "file", "line", "rule", "change")
TAGS = {"urd": "ur", "hin": "hi"}
"""Languages as HTML has them (BCP 47); others by their own codes."""
Item = dict[str, Any]


def tag_of(lang: str) -> str:
    """A language as HTML has it."""
    return TAGS.get(lang, lang)


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
    return {RULE: item["rule"], CHANGE: f"{item['change']}{own}", SOURCE: origin}


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
            written[row, PAIR] = tag_of(item["lang"])
            rows[row] = str(number)
        sections.append(Section("", rows, [PAIR, RULE, CHANGE, SOURCE]))
    return Exhibit(
        **describe("samples", most=MOST),
        cells=cells,
        stub=stub,
        remarks=remarks,
        widths={PAIR: 0.5, SOURCE: 0.15},
        sections=sections,
        textual=True,
        written_in=written,
    )
