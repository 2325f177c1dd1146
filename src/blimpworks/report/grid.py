"""Tables as elements of a page: reading them, and taking rows and columns out of them."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from blimpworks.errors import UserError

Page = Element


def read_page(path: Path) -> Page:
    """The page of an exhibit. Raises UserError when it is missing or not such a page."""
    try:
        return ElementTree.fromstring(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; build the exhibit: snakemake {path}") from error
    except ElementTree.ParseError as error:
        raise UserError(f"{path} is not the page of an exhibit ({error}). Rebuild it.") from error


def table_of(page: Page) -> Element | None:
    """The table of an exhibit's page; None for a figure without numbers."""
    return page.find(".//table")


def caption_of(page: Page) -> str:
    """The caption, without the title that it starts with."""
    caption = page.find(".//figcaption")
    if caption is None:
        return ""
    texts = list(caption.itertext())
    return "".join(texts[1:]).strip()


def as_html(element: Element) -> str:
    """The element as HTML."""
    return ElementTree.tostring(element, encoding="unicode", method="html")


def numbers_of(table: Element) -> Iterator[tuple[int, Element]]:
    """The cells of a table that are cells of its exhibit, with their number there."""
    for cell in table.iter("td"):
        index = cell.get("data-cell")
        if index is not None:
            yield int(index), cell


def _span(cell: Element) -> int:
    return int(cell.get("colspan", "1"))


def _columns(row: Element) -> Iterator[tuple[int, Element]]:
    """Cells of a row with the column that they begin in."""
    at = 0
    for cell in list(row):
        yield at, cell
        at += _span(cell)


def _empty_columns(table: Element, dropped: Callable[[Element], bool]) -> set[int]:
    """Columns in which there are numbers, and all of them are ``dropped``."""
    dropped_in: dict[int, list[bool]] = {}
    for row in table.iter("tr"):
        for at, cell in _columns(row):
            if cell.get("data-cell") is not None:
                dropped_in.setdefault(at, []).append(dropped(cell))
    return {at for at, verdicts in dropped_in.items() if all(verdicts)}


def _drop_columns(row: Element, empty: set[int]) -> None:
    for at, cell in list(_columns(row)):
        left = sum(place not in empty for place in range(at, at + _span(cell)))
        if not left:
            row.remove(cell)
        elif left < _span(cell):
            cell.set("colspan", str(left))


def without(table: Element, dropped: Callable[[Element], bool]) -> Element | None:
    """A copy without the rows and columns whose numbers are all ``dropped``.

    Dropped ones in other rows and columns are left empty. None when nothing is left.
    """
    kept = copy.deepcopy(table)
    if all(dropped(cell) for _, cell in numbers_of(kept)):
        return None
    empty = _empty_columns(kept, dropped)
    for part in kept.iter():
        for row in [child for child in part if child.tag == "tr"]:
            inside = [cell for cell in row if cell.get("data-cell") is not None]
            if inside and all(map(dropped, inside)):
                part.remove(row)
            else:
                _drop_columns(row, empty)
    for _, cell in numbers_of(kept):
        if dropped(cell):
            attributes = {"class": cell.get("class", "")}
            cell.clear()
            cell.attrib.update(attributes)
    return kept


def pivot(title: str, rows: Mapping[str, str], columns: Mapping[str, str]) -> Element:
    """A table of empty cells, by keys of rows and columns, under their names."""
    table = Element("table")
    head = SubElement(SubElement(table, "thead"), "tr")
    SubElement(head, "th", scope="col").text = title
    for name in columns.values():
        SubElement(head, "th", {"scope": "col", "class": "n"}).text = name
    body = SubElement(table, "tbody")
    for row, name in rows.items():
        line = SubElement(body, "tr")
        SubElement(line, "th", scope="row").text = name
        for column in columns:
            SubElement(line, "td", {"class": "n", "data-row": row, "data-column": column})
    return table


def set_text(cell: Element, parts: Sequence[tuple[str, str]]) -> None:
    """Give a cell the texts of ``parts`` (tag or "", text) on a button, bold as it was."""
    bold = cell.find("strong") is not None
    for child in list(cell):
        cell.remove(child)
    cell.text = None
    # Arrow keys move between the numbers of a table, so that Tab goes past it in one step.
    button = SubElement(cell, "button", type="button", tabindex="-1")
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
