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
    recomputed = Shown(number.again, number.status) if number.again else None
    shown_lines = {
        "printed": Shown(text, number.status if number.status in FAULTS else "", small),
        "recomputed": recomputed,
        "measured": _measured(number),
        "difference": _difference(number),
    }
    return {line: shown_line for line, shown_line in shown_lines.items() if shown_line is not None}


class Labels:
    """Names of an exhibit's rows and columns: its headings where these tell the keys apart."""

    def __init__(self, forms: Sequence[Form], names: Names) -> None:
        self._names = names
        self._rows: dict[Place, str] = {}
        self._headings: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
        for form in forms:
            table = table_of(form.page)
            for index, row, column in () if table is None else headings_of(table):
                cell_key = form.cells[index].place
                # Not the headings of rows that have the same numbers computed.
                if cell_key is not None and form.shown[cell_key] == index:
                    self._rows.setdefault(cell_key, row)
                    for axis, heading in enumerate((row, column)):
                        self._headings[axis].setdefault(cell_key[axis + 1], set()).add(heading)
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
        cell_key: lines_of(number)
        for cell_key, number in evidence.items()
        if cell_key[0] == exhibit and (number.status or number.verdict)
    }
    if not any(len(shown_lines) > 1 for shown_lines in numbers.values()):
        return ""
    labels = Labels([*forms.values()], names)
    rows, columns = ({cell_key[at] for cell_key in numbers} for at in (1, 2))
    # Class and heading of each line, and the place and form of each of its numbers.
    lines: list[tuple[str, str, list[tuple[Place, str]]]] = []
    if len(numbers) >= DENSE * len(rows) * len(columns):
        titles = {cell_key[2]: labels.of(cell_key)[1] for cell_key in numbers}
        for row in dict.fromkeys(cell_key[1] for cell_key in numbers):
            row_places = [(exhibit, row, column) for column in titles]
            present = {form for cell_key in row_places for form in numbers.get(cell_key, ())}
            for form in (form for form in LINES if form in present):
                title = f"{labels.of(row_places[0])[0]} " if form == "printed" else ""
                lines.append((form, title, [(cell_key, form) for cell_key in row_places]))
    else:
        titles = {
            form: title
            for form, title in LINES.items()
            if any(form in shown_lines for shown_lines in numbers.values())
        }
        for cell_key in numbers:
            lines.append(("", labels.statement(cell_key), [(cell_key, form) for form in titles]))
    table, body = titled_table(titles.values(), {})
    for css, title, cells in lines:
        element = SubElement(body, "tr", {"class": f"bw-line {css}"} if css else {})
        head = SubElement(element, "th", scope="row")
        head.text = title
        if css:
            SubElement(head, "small").text = LINES[css]
        for cell_key, form in cells:
            cell = SubElement(element, "td", {"class": "n"})
            if shown_lines := numbers.get(cell_key, {}).get(form):
                _fill(cell, shown_lines, cell_key, names.about({}, cell_key), form)
    return finished(table, f"together/{exhibit}")
