"""Show an exhibit's printed, recomputed and measured numbers, and their difference, in one view.

A dense exhibit keeps rows and columns. Statements have a line each, with a column per form.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from blimpworks.report.evidence import Evidence, Number
from blimpworks.report.names import Names
from blimpworks.report.read import Form
from blimpworks.report.views import FAULTS, finished, headings_of, set_text, table_of, titled_table
from blimpworks.reproduction.measured import NOT_RUN
from blimpworks.reproduction.printed import Place

LINES = {
    "printed": "printed",
    "recomputed": "recomputed",
    "measured": "measured",
    "difference": "measured − printed",
}
DENSE = 0.4
"""Least share of filled places for a table to keep its rows and columns."""

LONGEST_NUMBER = 40
"""Most characters of a number; longer cells are set as text, from the left in several lines."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A number's entry in one line: its text, its state, and a smaller text after it."""

    text: str
    state: str = ""
    small: str = ""


def signed(value: float, decimals: int) -> str:
    """Format a difference with its sign; zero has none."""
    text = f"{value:+.{decimals}f}".replace("-", "−")
    return text[1:] if not text.strip("+−0.") else text


def _measured(number: Number) -> Shown | None:
    if number.verdict in ("", NOT_RUN):
        return None
    if number.measured is None:
        return Shown("text", number.verdict)
    return Shown(number.in_print(number.measured), number.verdict)


def _difference(number: Number) -> Shown | None:
    """Return measured minus printed, with the measured number's interval moved likewise."""
    printed = number.row.value
    if number.measured is None or printed is None or number.verdict in ("", NOT_RUN):
        return None
    digits = number.row.decimals
    ends = (number.low, number.high)
    limits = [signed(end - printed, digits) for end in ends if end is not None]
    interval = f"[{', '.join(limits)}]" if len(limits) == len(ends) else ""
    small = " ".join(filter(None, (interval, number.differs)))
    return Shown(signed(number.measured - printed, digits), "", small)


def lines_of(number: Number) -> dict[str, Shown]:
    """Return a number's entry in each line, without empty ones."""
    text = number.row.text or "illegible"
    right = number.row.corrected
    small = f"should read {number.in_print(right)}" if right is not None else ""
    again = Shown(number.again, number.status) if number.again else None
    shown = {
        "printed": Shown(text, number.status if number.status in FAULTS else "", small),
        "recomputed": again,
        "measured": _measured(number),
        "difference": _difference(number),
    }
    return {line: each for line, each in shown.items() if each is not None}


class Labels:
    """Names of an exhibit's rows and columns: its headings where these tell the keys apart."""

    def __init__(self, forms: Sequence[Form], names: Names) -> None:
        self._names = names
        self._rows: dict[Place, str] = {}
        self._headings: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
        for form in forms:
            table = table_of(form.page)
            for index, row, column in () if table is None else headings_of(table):
                place = form.cells[index].place
                # Not the headings of rows that have the same numbers computed.
                if place is not None and form.shown[place] == index:
                    self._rows.setdefault(place, row)
                    for axis, heading in enumerate((row, column)):
                        self._headings[axis].setdefault(place[axis + 1], set()).add(heading)
        self._owners = [
            Counter(each for texts in headings.values() for each in texts)
            for headings in self._headings
        ]
        self._alike = Counter(self._rows.values())

    def _heading(self, axis: int, key: str) -> str:
        """Return the only and unique heading of a row (axis 0) or column (1), else its key."""
        headings = self._headings[axis].get(key, set())
        name = next(iter(headings)) if len(headings) == 1 else ""
        if name and self._owners[axis][name] == 1:
            return name
        return self._names.of(key).replace("_", " ")

    def of(self, place: Place) -> tuple[str, str]:
        """Return the names of a printed number's row and column."""
        return self._heading(0, place[1]), self._heading(1, place[2])

    def statement(self, place: Place) -> str:
        """Return a number's name in one line: its table's row if that has no other number."""
        row = self._rows.get(place, "")
        return row if row and self._alike[row] == 1 else ": ".join(dict.fromkeys(self.of(place)))


def _fill(cell: Element, shown: Shown, place: Place, about: Mapping[str, str], line: str) -> None:
    """Set a cell's texts, and the attributes by which it is found and filtered."""
    cell.attrib.update({"data-row": place[1], "data-column": place[2], **about})
    if len(shown.text) > LONGEST_NUMBER:
        cell.attrib.update({"class": "t", "dir": "auto"})
    if shown.state:
        cell.set("data-s", shown.state)
    if line == "difference":
        cell.text = shown.text
    else:
        set_text(cell, [("", shown.text)])
    if shown.small:
        SubElement(cell, "small").text = shown.small


def together_view(exhibit: str, forms: Mapping[str, Form], evidence: Evidence, names: Names) -> str:
    """Return an exhibit's printed numbers with recomputed and measured ones; "" without any."""
    numbers = {
        place: lines_of(number)
        for place, number in evidence.items()
        if place[0] == exhibit and (number.status or number.verdict)
    }
    if not any(len(shown) > 1 for shown in numbers.values()):
        return ""
    labels = Labels([*forms.values()], names)
    rows, columns = ({place[at] for place in numbers} for at in (1, 2))
    # Class and heading of each line, and the place and form of each of its numbers.
    lines: list[tuple[str, str, list[tuple[Place, str]]]] = []
    if len(numbers) >= DENSE * len(rows) * len(columns):
        titles = {place[2]: labels.of(place)[1] for place in numbers}
        for row in dict.fromkeys(place[1] for place in numbers):
            row_places = [(exhibit, row, column) for column in titles]
            present = {form for place in row_places for form in numbers.get(place, ())}
            for form in (form for form in LINES if form in present):
                title = f"{labels.of(row_places[0])[0]} " if form == "printed" else ""
                lines.append((form, title, [(place, form) for place in row_places]))
    else:
        titles = {
            form: title
            for form, title in LINES.items()
            if any(form in shown for shown in numbers.values())
        }
        for place in numbers:
            lines.append(("", labels.statement(place), [(place, form) for form in titles]))
    table, body = titled_table(titles.values())
    for css, title, cells in lines:
        element = SubElement(body, "tr", {"class": f"bw-line {css}"} if css else {})
        head = SubElement(element, "th", scope="row")
        head.text = title
        if css:
            SubElement(head, "small").text = LINES[css]
        for place, form in cells:
            cell = SubElement(element, "td", {"class": "n"})
            if shown := numbers.get(place, {}).get(form):
                _fill(cell, shown, place, names.about({}, place), form)
    return finished(table, f"together/{exhibit}")
