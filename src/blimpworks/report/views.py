"""Show an exhibit as tables of a page: printed, recomputed, measured, and all side by side."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape

from blimpworks.exhibits.html import element, table_html
from blimpworks.exhibits.sheets import Entry, Sheet
from blimpworks.report.evidence import Evidence, Number
from blimpworks.report.names import Names
from blimpworks.report.read import Cell, Form
from blimpworks.reproduction.measured import NOT_RUN
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


def _printed(number: Number, text: str) -> tuple[str, str]:
    """Return a printed number's fault, and its text with the one that it should have."""
    fault, content = number.status if number.status in FAULTS else "", PLAIN(text)
    if number.row.corrected is not None:
        right = text.replace(number.row.text, number.in_print(number.row.corrected), 1)
        content = f"<del>{content}</del><ins>{PLAIN(right)}</ins>"
    return fault, content


def _view(
    form: Form,
    names: Names,
    show: Callable[[Entry, Cell], tuple[str, str]],
    others: Container[int | None] | None = None,
) -> str:
    """Return a form's table without ``others``; ``show`` gives state and HTML of an entry."""

    def shown(entry: Entry, index: int) -> tuple[Mapping[str, object], str]:
        cell = form.cells[index]
        state, content = show(entry, cell)
        about = names.about(cell.facts["filter"], cell.place)
        return marks_of(cell.place, state) | about, button(content, bold=entry.bold)

    sheets = form.document.sheets if others is None else without(form.document.sheets, others)
    if not sheets:
        return ""
    table = table_html(sheets, shown, {"data-form": form.key}, wide_names=True, escape=PLAIN)
    return f"{table}\n"


def printed_view(form: Form, names: Names) -> str:
    """Return the published form with only printed numbers, or "" if it has none."""

    def show(entry: Entry, cell: Cell) -> tuple[str, str]:
        assert cell.number is not None
        return _printed(cell.number, entry.text if cell.is_itself else cell.number.row.text)

    others = {*range(len(form.cells))}.difference(form.shown.values())
    return "" if form.figure else _view(form, names, show, others)


def recomputed_view(form: Form, names: Names) -> str:
    """Return the published form with numbers computed from other printed ones, or "" if none is."""
    indices = {*form.shown.values()}
    others = {i for i, cell in enumerate(form.cells) if cell.place and i not in indices}
    numbers = [cell.number for i, cell in enumerate(form.cells) if i not in others]
    if not any(number is None or number.recomputed_text for number in numbers):
        return ""

    def show(entry: Entry, cell: Cell) -> tuple[str, str]:
        if number := cell.number:
            return number.status, PLAIN(number.recomputed_text or MISSING)
        return "", PLAIN(entry.text)

    return _view(form, names, show, others)


def measured_view(form: Form, names: Names) -> str:
    """Return the measured form with verdicts on printed numbers, or "" without numbers."""

    def show(entry: Entry, cell: Cell) -> tuple[str, str]:
        judged = cell.number if form.tree == "measured" else None
        return judged.verdict if judged else "", PLAIN(entry.text)

    return _view(form, names, show)


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
                fault, content = _printed(number, number.row.text)
                marks = {"class": "n"} | marks_of(place, fault) | names.about({}, place)
                cells.append(element("td", button(content), marks))
            else:
                cells.append('<td class="n"></td>')
        lines.append((None, "".join(cells)))
    return titled_table(f"printed/{exhibit}", map(names.of, columns), lines)


# Side by side: printed, recomputed and measured numbers, and their difference

LINES = {name: name for name in ("printed", "recomputed", "measured")}
LINES["difference"] = "measured − printed"
DENSE = 0.4
"""Least share of filled places for a table to keep its rows and columns."""

LONGEST_NUMBER = 40
"""Most characters of a number; longer cells are set as text, from the left in several lines."""


@dataclass(frozen=True, slots=True)
class Line:
    """A number's entry in one line: its text, its state, and a smaller text after it."""

    text: str
    state: str = ""
    small: str = ""


def signed(value: float, decimals: int) -> str:
    """Format a difference with its sign; zero has none."""
    text = f"{value:+.{decimals}f}".replace("-", "−")
    return text[1:] if not text.strip("+−0.") else text


def lines_of(number: Number) -> dict[str, Line]:
    """Return a number's entry in each line; the interval is moved with the difference."""
    row, right = number.row, number.row.corrected
    small = f"should read {number.in_print(right)}" if right is not None else ""
    state = number.status if number.status in FAULTS else ""
    shown_lines = {"printed": Line(row.text or "illegible", state, small)}
    if number.recomputed_text:
        shown_lines["recomputed"] = Line(number.recomputed_text, number.status)
    if number.verdict in ("", NOT_RUN):
        return shown_lines
    # The word stands for the measured text.
    measured = "text" if number.measured is None else number.in_print(number.measured)
    shown_lines["measured"] = Line(measured, number.verdict)
    if number.measured is not None and row.value is not None:
        ends = [end for end in (number.low, number.high) if end is not None]
        limits = [signed(end - row.value, row.decimals) for end in ends]
        interval = f"[{', '.join(limits)}]" if len(limits) == 2 else ""
        text = signed(number.measured - row.value, row.decimals)
        small = " ".join(filter(None, (interval, number.differs)))
        shown_lines["difference"] = Line(text, "", small)
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


def _cell(shown: Line | None, place: Place, names: Names, line: str) -> str:
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
    """Return an exhibit's printed numbers with recomputed and measured ones; "" without any.

    A dense exhibit keeps rows and columns. Statements have a line each, with a column per form.
    """
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
