"""Show an exhibit as tables of a page: as printed, recomputed from print, and measured."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape

from blimpworks.exhibits.html import Shown, element, table_html
from blimpworks.exhibits.sheets import Entry, Sheet
from blimpworks.report.evidence import Evidence, Number
from blimpworks.report.names import Names
from blimpworks.report.read import Cell, Form
from blimpworks.reproduction.printed import Place

PLAIN = partial(escape, quote=False)
"""Escapes texts but quotation marks, whose codes Sphinx's index would take for words."""
MISSING = "·"
"""Mark in place of a number that cannot be computed."""


def numbers_of(sheets: Sequence[Sheet]) -> Iterator[tuple[int, str, str]]:
    """Yield each cell's index and headings; a row without a name has the previous one's."""
    name = ""
    for sheet in sheets:
        for entries in sheet.body:
            for entry, column in zip(entries, sheet.columns, strict=True):
                if column.names:
                    name = entry.text.strip() or name
                elif entry.cell is not None:
                    yield entry.cell, name, column.heading


def without(sheets: Sequence[Sheet], dropped: Container[int | None]) -> list[Sheet]:
    """Return sheets without rows and columns of ``dropped`` cells; none when nothing is left."""
    numbers = {
        (at, entry.cell)
        for sheet in sheets
        for entries in sheet.body
        for at, entry in enumerate(entries)
        if entry.cell is not None
    }
    left = {at for at, cell in numbers if cell not in dropped}
    if not left:
        return []
    empty = {at for at, _ in numbers} - left
    made = []
    for sheet in sheets:
        body = []
        for entries in sheet.body:
            inside = [entry.cell for entry in entries if entry.cell is not None]
            if not inside or any(cell not in dropped for cell in inside):
                kept = (e for at, e in enumerate(entries) if at not in empty)
                body.append([Entry("") if e.cell in dropped else e for e in kept])
        columns = tuple(c for at, c in enumerate(sheet.columns) if at not in empty)
        made.append(replace(sheet, columns=columns, body=body))
    return made


def titled_table(name: str, titles: Iterable[str], rows: Iterable[tuple[str | None, str]]) -> str:
    """Return a table of rows (class, HTML) under titled columns."""
    heads = "".join(element("th", PLAIN(t), {"scope": "col", "class": "n"}) for t in titles)
    body = "".join(element("tr", cells, {"class": kind}) for kind, cells in rows)
    content = f"<thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody>"
    return element("table", content, {"data-form": name})


def button(content: str, *, bold: bool = False) -> str:
    """Return a button that opens a number's lineage; nothing without content."""
    inner = f"<strong>{content}</strong>" if bold else content
    return f"<button>{inner}</button>" if content else ""


def marks_of(place: Place | None, state: str) -> dict[str, object]:
    """Return the attributes of a cell's printed number and its status."""
    keys = {"data-row": place[1], "data-column": place[2]} if place else {}
    return {**keys, "data-s": state or None}


FAULTS = ("erratum", "garbled", "deviates")
"""Statuses that a view of printed numbers shows."""


def _printed(
    number: Number, text: str, place: Place, about: Mapping[str, str], *, bold: bool = False
) -> tuple[dict[str, object], str]:
    marks = {**marks_of(place, number.status if number.status in FAULTS else ""), **about}
    content = PLAIN(text)
    if number.row.corrected is not None:
        right = text.replace(number.row.text, number.in_print(number.row.corrected), 1)
        content = f"<del>{content}</del><ins>{PLAIN(right)}</ins>"
    return marks, button(content, bold=bold)


def _table(form: Form, sheets: Sequence[Sheet], show: Shown) -> str:
    if not sheets:
        return ""
    table = table_html(sheets, show, {"data-form": form.key}, wide_names=True, escape=PLAIN)
    return f"{table}\n"


def printed_view(form: Form, names: Names) -> str:
    """Return the published form with only printed numbers, or "" if it has none."""
    places = {index: place for place, index in form.shown.items()}
    if form.figure:
        return ""

    def show(entry: Entry, index: int) -> tuple[Mapping[str, object], str]:
        cell, place = form.cells[index], places[index]
        assert cell.number is not None
        text = entry.text if cell.is_itself else cell.number.row.text
        about = names.about(cell.facts["filter"], place)
        return _printed(cell.number, text, place, about, bold=entry.bold)

    others = {*range(len(form.cells))} - places.keys()
    return _table(form, without(form.document.sheets, others), show)


def _shown(
    entry: Entry, cell: Cell, names: Names, state: str, text: str
) -> tuple[Mapping[str, object], str]:
    about = names.about(cell.facts["filter"], cell.place)
    return marks_of(cell.place, state) | about, button(PLAIN(text), bold=entry.bold)


def recomputed_view(form: Form, names: Names) -> str:
    """Return the published form with numbers computed from other printed ones, or "" if none is."""
    indices = {*form.shown.values()}
    others = {i for i, cell in enumerate(form.cells) if cell.place and i not in indices}
    numbers = [cell.number for i, cell in enumerate(form.cells) if i not in others]
    if not any(number is None or number.recomputed_text for number in numbers):
        return ""

    def show(entry: Entry, index: int) -> tuple[Mapping[str, object], str]:
        cell = form.cells[index]
        number = cell.number
        text = number.recomputed_text or MISSING if number else entry.text
        return _shown(entry, cell, names, number.status if number else "", text)

    return _table(form, without(form.document.sheets, others), show)


def measured_view(form: Form, names: Names) -> str:
    """Return the measured form with verdicts on printed numbers, or "" without numbers."""

    def show(entry: Entry, index: int) -> tuple[Mapping[str, object], str]:
        cell = form.cells[index]
        judged = cell.number if form.tree == "measured" else None
        return _shown(entry, cell, names, judged.verdict if judged else "", entry.text)

    return _table(form, form.document.sheets, show)


def plain_view(form: Form | None, exhibit: str, evidence: Evidence, names: Names) -> str:
    """Return printed numbers that no published form shows, by their keys; "" without any."""
    shown: set[Place] = set()
    if form and not form.figure:
        inside = {index for index, _, _ in numbers_of(form.document.sheets)}
        shown = {place for place, index in form.shown.items() if index in inside}
    places = [place for place in evidence if place[0] == exhibit and place not in shown]
    if not places:
        return ""
    columns = dict.fromkeys(column for _, _, column in places)
    lines = []
    for row in dict.fromkeys(row for _, row, _ in places):
        cells = [element("th", PLAIN(names.of(row)), {"scope": "row"})]
        for column in columns:
            place = (exhibit, row, column)
            if number := evidence.get(place):
                about = names.about({}, place)
                marks, content = _printed(number, number.row.text, place, about)
                cells.append(element("td", content, {"class": "n", **marks}))
            else:
                cells.append('<td class="n"></td>')
        lines.append((None, "".join(cells)))
    return titled_table(f"printed/{exhibit}", map(names.of, columns), lines)
