"""The views of an exhibit: as printed, recomputed from print, and measured."""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pyarrow.parquet as pq

from blimpworks.report.evidence import Evidence, Number, Place
from blimpworks.report.grid import (
    Page,
    as_html,
    numbers_of,
    pivot,
    read_page,
    set_text,
    table_of,
    without,
)
from blimpworks.report.names import Names
from blimpworks.reproduction.published import Paper, selected_rows
from blimpworks.tables import CELLS

MISSING = "·"
"""Stands where a number can't be computed."""


@dataclass(frozen=True)
class Form:
    """One form of an exhibit, measured or published: its page, its cells, its files."""

    exhibit: str
    tree: str
    """Which tree it is of: "published", "measured", "corrected"."""
    origins: list[list[str]]
    """Places of the printed numbers that each cell is computed from, as far as it is."""
    page: Page
    cells: list[dict[str, Any]]
    files: Path
    """Path of its files without their suffixes."""
    figure: bool

    @property
    def key(self) -> str:
        """Its name in the page: tree and exhibit."""
        return f"{self.tree}/{self.exhibit}"


def _origins(cell: Mapping[str, Any], paper: Paper) -> list[str]:
    """Places of the printed numbers that a cell of a published form is computed from."""
    rows = selected_rows(cell, paper)
    return [] if rows is None else [str(origin) for origin in rows["origin"] if origin]


def read_form(exhibit: str, tree: str, files: Path, paper: Paper, *, figure: bool) -> Form:
    """One form of an exhibit from its files. Raises UserError when one is missing or broken."""
    page = read_page(files.with_name(f"{files.name}.html"))
    cells = pq.read_table(files.with_name(f"{files.name}.cells.parquet"), schema=CELLS.arrow())
    rows = cells.to_pylist()
    printed = tree == "published"
    origins = [_origins(row, paper) if printed else [] for row in rows]
    for row in rows:
        row["filter"] = json.loads(row["filter"])
    return Form(exhibit, tree, origins, page, rows, files, figure)


@dataclass(frozen=True)
class Numbers:
    """The printed numbers that the cells of a form stand for or only repeat."""

    form: Form
    evidence: Evidence

    @cached_property
    def known(self) -> dict[str, Place]:
        """The places of printed numbers, by what origins call them."""
        return {"/".join(place): place for place in self.evidence}

    def place(self, index: int) -> Place | None:
        """The printed number that a cell stands for, if there is such a number."""
        cell = self.form.cells[index]
        place = (self.form.exhibit, cell["printed_row"], cell["printed_column"])
        return place if place in self.evidence else None

    def is_itself(self, index: int) -> bool:
        """Whether a cell does no more than show the printed number that it stands for."""
        place = self.place(index)
        return place is not None and self.form.origins[index] == ["/".join(place)]

    def shown(self) -> dict[Place, int]:
        """The cell that shows each printed number: that which is it, before one computed."""
        cells: dict[Place, int] = {}
        for own in (True, False):
            for index in range(len(self.form.cells)):
                place = self.place(index)
                if place and self.is_itself(index) is own:
                    cells.setdefault(place, index)
        return cells


def _mark(cell: Element, place: Place | None, state: str) -> None:
    """Set the attributes that name the printed number of a table's cell and its status."""
    for name in ("data-row", "data-column"):
        cell.attrib.pop(name, None)
    if place:
        cell.attrib.update({"data-row": place[1], "data-column": place[2]})
    if state:
        cell.set("data-s", state)


def _printed_parts(number: Number, text: str) -> list[tuple[str, str]]:
    """Tags and texts of a printed number, and of its correction if it has one.

    ``text`` is what stands in print: the number, perhaps with another in brackets.
    """
    if number.row.corrected is None:
        return [("", text)]
    right = number.in_print(number.row.corrected)
    return [("del", text), ("ins", text.replace(number.row.text, right, 1))]


FAULTS = ("erratum", "garbled", "deviates")
"""Statuses that a view of printed numbers shows; it leaves out those without fault."""


def _show_printed(
    cell: Element, number: Number, text: str, place: Place, about: Mapping[str, str]
) -> None:
    _mark(cell, place, number.status if number.status in FAULTS else "")
    cell.attrib.update(about)
    set_text(cell, _printed_parts(number, text))


def printed_view(form: Form, evidence: Evidence, names: Names) -> str:
    """The published form with nothing but printed numbers, or "" if it has none."""
    numbers, table = Numbers(form, evidence), table_of(form.page)
    indices = {index: place for place, index in numbers.shown().items()}
    if table is None or not indices or form.figure:
        return ""
    printed_table = without(table, lambda cell: int(cell.get("data-cell", "-1")) not in indices)
    if printed_table is None:
        return ""
    for index, cell in numbers_of(printed_table):
        place = indices[index]
        about = names.about(form.cells[index]["filter"], place)
        number = evidence[place]
        text = "".join(cell.itertext()) if numbers.is_itself(index) else number.row.text
        _show_printed(cell, number, text, place, about)
    printed_table.set("data-form", form.key)
    return as_html(printed_table)


def _show_recomputed(cell: Element, text: str, number: Number | None) -> None:
    set_text(cell, [("", text if number is None else number.again or MISSING)])


def recomputed_view(form: Form, evidence: Evidence, names: Names) -> str:
    """The published form with each number computed from other printed ones, or "" if none is.

    Numbers that the paper does not print, but which are computed from those that it does,
    stand there as they are.
    """
    numbers, table = Numbers(form, evidence), table_of(form.page)
    if table is None:
        return ""
    indices = {index: place for place, index in numbers.shown().items()}
    places = {i: numbers.place(i) for i in range(len(form.cells))}
    again = {i for i, place in places.items() if place and i not in indices}
    derived = [i for i, place in places.items() if not place]
    if not derived and not any(evidence[place].again for place in indices.values()):
        return ""
    recomputed_table = without(table, lambda cell: int(cell.get("data-cell", "-1")) in again)
    assert recomputed_table is not None
    for index, cell in numbers_of(recomputed_table):
        place = places[index]
        number = evidence[place] if place else None
        _mark(cell, place, number.status if number else "")
        cell.attrib.update(names.about(form.cells[index]["filter"], place))
        _show_recomputed(cell, "".join(cell.itertext()), number)
    recomputed_table.set("data-form", form.key)
    return as_html(recomputed_table)


def measured_view(form: Form, evidence: Evidence, names: Names) -> str:
    """The measured form; numbers that are printed too have their verdict. "" without any."""
    table = copy.deepcopy(table_of(form.page))
    if table is None:
        return ""
    numbers = Numbers(form, evidence)
    for index, cell in numbers_of(table):
        place = numbers.place(index)
        judged = place is not None and form.tree == "measured"
        verdict = evidence[place].verdict if place and judged else ""
        _mark(cell, place, verdict)
        cell.attrib.update(names.about(form.cells[index]["filter"], place))
        set_text(cell, [("", "".join(cell.itertext()))])
    table.set("data-form", form.key)
    return as_html(table)


def _left_out(form: Form | None, exhibit: str, evidence: Evidence) -> Iterator[Place]:
    """Printed numbers of an exhibit that its published form does not show."""
    table = table_of(form.page) if form and not form.figure else None
    shown = set()
    if form and table is not None:
        inside = {index for index, _ in numbers_of(table)}
        shown = {p for p, index in Numbers(form, evidence).shown().items() if index in inside}
    return (place for place in evidence if place[0] == exhibit and place not in shown)


def plain_view(form: Form | None, exhibit: str, evidence: Evidence, names: Names) -> str:
    """Printed numbers that no published form shows, by their keys; "" without any."""
    places = list(_left_out(form, exhibit, evidence))
    if not places:
        return ""
    rows = {place[1]: names.of(place[1]) for place in places}
    columns = {place[2]: names.of(place[2]) for place in places}
    table = pivot("", rows, columns)
    for cell in table.iter("td"):
        place = (exhibit, cell.get("data-row", ""), cell.get("data-column", ""))
        if place in evidence:
            number = evidence[place]
            _show_printed(cell, number, number.row.text, place, names.about({}, place))
        else:
            cell.attrib = {"class": "n"}
    table.set("data-form", f"printed/{exhibit}")
    return as_html(table)
