"""Show an exhibit as tables of a page: as printed, recomputed from print, and measured."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from blimpworks.report.evidence import Evidence, Number
from blimpworks.report.names import Names
from blimpworks.report.read import Form
from blimpworks.reproduction.printed import Place

MISSING = "·"
"""Mark in place of a number that cannot be computed."""


def table_of(page: Element) -> Element | None:
    """Return the table of an exhibit's page; None for a figure without numbers."""
    return page.find(".//table")


def caption_of(page: Element) -> str:
    """Return the caption without its title."""
    caption = page.find(".//figcaption")
    if caption is None:
        return ""
    texts = list(caption.itertext())
    return "".join(texts[1:]).strip()


def finished(table: Element, form: str) -> str:
    """Return the table as HTML, named ``form``, with group headings across its whole width."""
    for row in table.iter("tr"):
        first, *other_cells = list(row)
        bare = not any(
            len(cell) or (cell.text or "").strip() or cell.get("data-cell") for cell in other_cells
        )
        if other_cells and bare and first.get("scope") == "row":
            for cell in other_cells:
                row.remove(cell)
            first.attrib.update(
                scope="rowgroup", colspan=str(sum(map(_span, (first, *other_cells))))
            )
    table.set("data-form", form)
    return ElementTree.tostring(table, encoding="unicode", method="html")


def numbers_of(table: Element) -> Iterator[tuple[int, Element]]:
    """Yield the cells of a table that are cells of its exhibit, with their index."""
    for cell in table.iter("td"):
        index = cell.get("data-cell")
        if index is not None:
            yield int(index), cell


def _span(cell: Element) -> int:
    return int(cell.get("colspan", "1"))


def _columns(row: Element) -> Iterator[tuple[int, Element]]:
    """Yield the cells of a row with their first column."""
    at = 0
    for cell in list(row):
        yield at, cell
        at += _span(cell)


def headings_of(table: Element) -> Iterator[tuple[int, str, str]]:
    """Yield the index of each number of a table, and the headings of its row and column.

    A column has its group's heading too; a row without a name has the previous one's.
    """
    heads: dict[int, str] = {}
    name, in_head = "", False
    for row in table.iter("tr"):
        cells = list(_columns(row))
        row_names = ("".join(c.itertext()).strip() for _, c in cells if c.get("scope") == "row")
        name = next(filter(None, row_names), name)
        if any(c.get("scope") in ("col", "colgroup") for _, c in cells):
            # Lines of headings follow one another; one after numbers begins anew.
            heads, in_head = (heads if in_head else {}), True
            for at, cell in cells:
                text = "".join(cell.itertext()).strip()
                for column in range(at, at + _span(cell)):
                    heads[column] = f"{heads.get(column, '')} {text}".strip()
            continue
        in_head = False
        for at, cell in cells:
            if cell.get("data-cell") is not None:
                yield int(cell.get("data-cell", "")), name, heads.get(at, "")


def without(table: Element, dropped: Callable[[Element], bool]) -> Element | None:
    """Return a copy without rows and columns of ``dropped`` numbers; None when nothing is left."""
    kept = copy.deepcopy(table)
    if all(dropped(cell) for _, cell in numbers_of(kept)):
        return None
    dropped_in: dict[int, list[bool]] = {}
    for row in kept.iter("tr"):
        for at, cell in _columns(row):
            if cell.get("data-cell") is not None:
                dropped_in.setdefault(at, []).append(dropped(cell))
    empty = {at for at, verdicts in dropped_in.items() if all(verdicts)}
    for element in kept.iter():
        for row in [child for child in element if child.tag == "tr"]:
            inside = [cell for cell in row if cell.get("data-cell") is not None]
            if inside and all(map(dropped, inside)):
                element.remove(row)
                continue
            for start, cell in list(_columns(row)):
                remaining = len({*range(start, start + _span(cell))} - empty)
                if not remaining:
                    row.remove(cell)
                elif remaining < _span(cell):
                    cell.set("colspan", str(remaining))
    for _, cell in numbers_of(kept):
        if dropped(cell):
            attributes = {"class": cell.get("class", "")}
            cell.clear()
            cell.attrib.update(attributes)
    return kept


def titled_table(titles: Iterable[str], corner: dict[str, str]) -> tuple[Element, Element]:
    """Return a table with titled columns, and its empty body; ``corner`` has its attributes."""
    table = Element("table")
    head = SubElement(SubElement(table, "thead"), "tr")
    SubElement(head, "td", corner)
    for title in titles:
        SubElement(head, "th", {"scope": "col", "class": "n"}).text = title
    return table, SubElement(table, "tbody")


def set_text(cell: Element, parts: Sequence[tuple[str, str]]) -> None:
    """Set a cell's texts (tag or "", text) on a button, bold if the cell was."""
    bold = cell.find("strong") is not None
    for child in list(cell):
        cell.remove(child)
    cell.text = None
    if not any(text for _, text in parts):
        return
    button = SubElement(cell, "button")
    inner = SubElement(button, "strong") if bold else button
    last: Element | None = None
    for tag, text in parts:
        if tag:
            last = SubElement(inner, tag)
            last.text = text
        elif last is None:
            inner.text = (inner.text or "") + text
        else:
            last.tail = (last.tail or "") + text


def _mark(cell: Element, place: Place | None, state: str) -> None:
    """Set the attributes of a cell's printed number and its status."""
    for name in ("data-row", "data-column"):
        cell.attrib.pop(name, None)
    if place:
        cell.attrib.update({"data-row": place[1], "data-column": place[2]})
    if state:
        cell.set("data-s", state)


FAULTS = ("erratum", "garbled", "deviates")
"""Statuses that a view of printed numbers shows."""


def _show_printed(
    cell: Element, number: Number, text: str, place: Place, about: Mapping[str, str]
) -> None:
    _mark(cell, place, number.status if number.status in FAULTS else "")
    cell.attrib.update(about)
    parts = [("", text)]
    if number.row.corrected is not None:
        right = number.in_print(number.row.corrected)
        parts = [("del", text), ("ins", text.replace(number.row.text, right, 1))]
    set_text(cell, parts)


def printed_view(form: Form, names: Names) -> str:
    """Return the published form with only printed numbers, or "" if it has none."""
    table, indices = (
        table_of(form.page),
        {index: cell_key for cell_key, index in form.shown.items()},
    )
    if table is None or not indices or form.figure:
        return ""
    printed_table = without(table, lambda cell: int(cell.get("data-cell", "-1")) not in indices)
    if printed_table is None:
        return ""
    for index, cell in numbers_of(printed_table):
        shown_cell = form.cells[index]
        assert shown_cell.number is not None
        about = names.about(shown_cell.facts["filter"], indices[index])
        text = "".join(cell.itertext()) if shown_cell.is_itself else shown_cell.number.row.text
        _show_printed(cell, shown_cell.number, text, indices[index], about)
    return finished(printed_table, form.key)


def recomputed_view(form: Form, names: Names) -> str:
    """Return the published form with numbers computed from other printed ones, or "" if none is."""
    table, indices = table_of(form.page), {*form.shown.values()}
    if table is None:
        return ""
    recomputed_indices = {i for i, cell in enumerate(form.cells) if cell.place and i not in indices}
    numbers = [cell.number for i, cell in enumerate(form.cells) if i not in recomputed_indices]
    if not any(number is None or number.recomputed_text for number in numbers):
        return ""
    recomputed_table = without(
        table, lambda cell: int(cell.get("data-cell", "-1")) in recomputed_indices
    )
    assert recomputed_table is not None
    for index, cell in numbers_of(recomputed_table):
        shown_cell = form.cells[index]
        _mark(cell, shown_cell.place, shown_cell.number.status if shown_cell.number else "")
        cell.attrib.update(names.about(shown_cell.facts["filter"], shown_cell.place))
        text = (
            shown_cell.number.recomputed_text or MISSING
            if shown_cell.number
            else "".join(cell.itertext())
        )
        set_text(cell, [("", text)])
    return finished(recomputed_table, form.key)


def measured_view(form: Form, names: Names) -> str:
    """Return the measured form with verdicts on printed numbers, or "" without numbers."""
    table = copy.deepcopy(table_of(form.page))
    if table is None:
        return ""
    for index, cell in numbers_of(table):
        shown_cell = form.cells[index]
        judged = shown_cell.number if form.tree == "measured" else None
        _mark(cell, shown_cell.place, judged.verdict if judged else "")
        cell.attrib.update(names.about(shown_cell.facts["filter"], shown_cell.place))
        set_text(cell, [("", "".join(cell.itertext()))])
    return finished(table, form.key)


def plain_view(form: Form | None, exhibit: str, evidence: Evidence, names: Names) -> str:
    """Return printed numbers that no published form shows, by their keys; "" without any."""
    table = table_of(form.page) if form and not form.figure else None
    shown = set()
    if form and table is not None:
        inside = {index for index, _ in numbers_of(table)}
        shown = {cell_key for cell_key, index in form.shown.items() if index in inside}
    cell_keys = [
        cell_key for cell_key in evidence if cell_key[0] == exhibit and cell_key not in shown
    ]
    if not cell_keys:
        return ""
    columns = dict.fromkeys(cell_key[2] for cell_key in cell_keys)
    table, body = titled_table(map(names.of, columns), {"class": "n"})
    for row in dict.fromkeys(cell_key[1] for cell_key in cell_keys):
        line = SubElement(body, "tr")
        SubElement(line, "th", scope="row").text = names.of(row)
        for column in columns:
            cell, cell_key = SubElement(line, "td", {"class": "n"}), (exhibit, row, column)
            if cell_key in evidence:
                number = evidence[cell_key]
                _show_printed(cell, number, number.row.text, cell_key, names.about({}, cell_key))
    return finished(table, f"printed/{exhibit}")
