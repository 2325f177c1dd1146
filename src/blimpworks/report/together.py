"""Show an exhibit's printed, recomputed and measured numbers, and their difference, in one view.

A dense exhibit keeps rows and columns. Statements have a line each, with a column per form.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from blimpworks.exhibits.html import element
from blimpworks.report.evidence import Evidence, Number
from blimpworks.report.names import Names
from blimpworks.report.read import Form
from blimpworks.report.views import FAULTS, PLAIN, button, marks_of, numbers_of, titled_table
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


def lines_of(number: Number) -> dict[str, Shown]:
    """Return a number's entry in each line; the interval is moved with the difference."""
    row, right = number.row, number.row.corrected
    small = f"should read {number.in_print(right)}" if right is not None else ""
    state = number.status if number.status in FAULTS else ""
    shown_lines = {"printed": Shown(row.text or "illegible", state, small)}
    if number.recomputed_text:
        shown_lines["recomputed"] = Shown(number.recomputed_text, number.status)
    if number.verdict in ("", NOT_RUN):
        return shown_lines
    # The word stands for the measured text.
    measured = "text" if number.measured is None else number.in_print(number.measured)
    shown_lines["measured"] = Shown(measured, number.verdict)
    if number.measured is not None and row.value is not None:
        ends = [end for end in (number.low, number.high) if end is not None]
        limits = [signed(end - row.value, row.decimals) for end in ends]
        interval = f"[{', '.join(limits)}]" if len(limits) == 2 else ""
        text = signed(number.measured - row.value, row.decimals)
        small = " ".join(filter(None, (interval, number.differs)))
        shown_lines["difference"] = Shown(text, "", small)
    return shown_lines


class Labels:
    """Names of an exhibit's rows and columns: its headings where these tell the keys apart."""

    def __init__(self, forms: Sequence[Form], names: Names) -> None:
        self._names = names
        self._rows: dict[Place, str] = {}
        headings: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
        for form in forms:
            for index, *texts in numbers_of(form.document.sheets):
                place = form.cells[index].place
                # A number may be in several cells; the form shows it in one of them.
                if place is not None and form.shown[place] == index:
                    self._rows.setdefault(place, texts[0])
                    for key, text, of_axis in zip(place[1:], texts, headings, strict=True):
                        of_axis.setdefault(key, set()).add(text)
        self._headings = []
        for of_axis in headings:
            keys = Counter(text for texts in of_axis.values() for text in texts)
            single = {key: min(texts) for key, texts in of_axis.items() if len(texts) == 1}
            self._headings.append({key: text for key, text in single.items() if keys[text] == 1})
        self._numbers_with_row = Counter(self._rows.values())

    def of(self, place: Place) -> tuple[str, str]:
        """Return the only and unique headings of a number's row and column, else their keys."""
        row, column = (
            headings.get(key) or self._names.of(key).replace("_", " ")
            for headings, key in zip(self._headings, place[1:], strict=True)
        )
        return row, column

    def statement(self, place: Place) -> str:
        """Return a number's name in one line: its row's heading if that names no other number."""
        row = self._rows.get(place, "")
        if row and self._numbers_with_row[row] == 1:
            return row
        return ": ".join(dict.fromkeys(self.of(place)))


def _cell(shown: Shown | None, place: Place, names: Names, line: str) -> str:
    """Return a number's cell, with the attributes by which it is found and filtered."""
    if shown is None:
        return '<td class="n"></td>'
    marks = marks_of(place, shown.state) | names.about({}, place)
    is_long = len(shown.text) > LONGEST_NUMBER
    kind = {"class": "t", "dir": "auto"} if is_long else {"class": "n"}
    text = PLAIN(shown.text)
    content = text if line == "difference" else button(text)
    small = element("small", PLAIN(shown.small), {}) if shown.small else ""
    return element("td", content + small, kind | marks)


def together_view(exhibit: str, forms: Mapping[str, Form], evidence: Evidence, names: Names) -> str:
    """Return an exhibit's printed numbers with recomputed and measured ones; "" without any."""
    numbers = {
        place: lines_of(number)
        for place, number in evidence.items()
        if place[0] == exhibit and (number.status or number.verdict)
    }
    if not any(len(shown_lines) > 1 for shown_lines in numbers.values()):
        return ""
    labels = Labels([*forms.values()], names)
    rows, columns = ({place[at] for place in numbers} for at in (1, 2))
    lines = []

    def add(line: str, title: str, entries: Iterable[tuple[Place, str]]) -> None:
        name = element("small", LINES[line], {}) if line else ""
        head = element("th", PLAIN(title) + name, {"scope": "row"})
        cells = [
            _cell(numbers.get(place, {}).get(key), place, names, key) for place, key in entries
        ]
        lines.append((f"bw-line {line}" if line else None, head + "".join(cells)))

    if len(numbers) >= DENSE * len(rows) * len(columns):
        titles = {place[2]: labels.of(place)[1] for place in numbers}
        for row in dict.fromkeys(place[1] for place in numbers):
            places = [(exhibit, row, column) for column in titles]
            present = {line for place in places for line in numbers.get(place, ())}
            for line in (line for line in LINES if line in present):
                title = f"{labels.of(places[0])[0]} " if line == "printed" else ""
                add(line, title, [(place, line) for place in places])
    else:
        present = {line for shown_lines in numbers.values() for line in shown_lines}
        titles = {line: title for line, title in LINES.items() if line in present}
        for place in numbers:
            add("", labels.statement(place), [(place, line) for line in titles])
    return titled_table(f"together/{exhibit}", titles.values(), lines)
