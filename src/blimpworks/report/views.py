"""Make the HTML tables of an exhibit: printed, recomputed and measured numbers, and all of them.

A form is a built exhibit in one of its forms (as published, or measured); its document has sheets
of entries, some of which show a cell. Each function returns a table as HTML, or "" without numbers.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from itertools import chain
from typing import NamedTuple

from blimpworks.exhibits.exhibit import Entry, Sheet
from blimpworks.exhibits.render import element, table_html
from blimpworks.report.read import Cell, Evidence, Form, Names, Number
from blimpworks.reproduction.comparisons import NOT_RUN
from blimpworks.reproduction.printed import NumberKey

escaped = partial(escape, quote=False)
"""Escape texts except quotation marks: Sphinx's index would read their codes as words."""
MISSING = "·"
"""Mark for a number that cannot be computed."""


class ShownCell(NamedTuple):
    """A cell, by its index in a form, and the names under which a table shows it."""

    cell: int
    row: str
    column: str


def numbers_of(sheets: Sequence[Sheet]) -> Iterator[ShownCell]:
    """Yield the cells of tables; a row without a name has that of the row before."""
    name = ""
    for sheet in sheets:
        for entries in sheet.body:
            for entry, column in zip(entries, sheet.columns, strict=True):
                if column.names:
                    name = entry.text.strip() or name
                elif entry.cell is not None:
                    yield ShownCell(entry.cell, name, column.heading)


def without(sheets: Sequence[Sheet], dropped: Container[int | None]) -> list[Sheet]:
    """Return sheets without ``dropped`` cells and rows and columns of only such cells."""
    with_numbers: set[int] = set()
    kept_columns: set[int] = set()
    for entries in chain.from_iterable(sheet.body for sheet in sheets):
        cells = [(at, entry.cell) for at, entry in enumerate(entries) if entry.cell is not None]
        with_numbers |= {at for at, _ in cells}
        kept_columns |= {at for at, cell in cells if cell not in dropped}
    if not kept_columns:
        return []
    empty = with_numbers - kept_columns
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
    """Return an HTML table; each of ``rows`` has a class, or None, and the HTML of its cells."""
    heads = "".join(element("th", escaped(t), {"scope": "col", "class": "n"}) for t in titles)
    body = "".join(element("tr", cells, {"class": row_class}) for row_class, cells in rows)
    content = f"<thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody>"
    return element("table", content, {"data-form": name})


def button(content: str, *, bold: bool = False) -> str:
    """Return a button that opens the lineage of a number; "" without content."""
    inner = f"<strong>{content}</strong>" if bold else content
    return f"<button>{inner}</button>" if content else ""


def marks_of(key: NumberKey | None, state: str) -> dict[str, object]:
    """Return attributes with the key of a printed number and its status or verdict."""
    keys = {"data-row": key[1], "data-column": key[2]} if key else {}
    return {**keys, "data-s": state or None}


FAULTS = ("erratum", "garbled", "deviates")
"""Statuses that the table of printed numbers marks."""


def _printed(number: Number, text: str) -> tuple[str, str]:
    """Return a printed number's fault, or "", and its text with the correction."""
    fault, content = number.status if number.status in FAULTS else "", escaped(text)
    if number.row.corrected is not None:
        right = text.replace(number.row.text, number.in_print(number.row.corrected), 1)
        content = f"<del>{content}</del><ins>{escaped(right)}</ins>"
    return fault, content


def _view(
    form: Form,
    names: Names,
    show: Callable[[Entry, Cell], tuple[str, str]],
    dropped: Container[int | None] | None = None,
) -> str:
    """Return a form's table without ``dropped`` cells.

    ``show`` returns the state (status or verdict) and the HTML of an entry.
    """

    def show_entry(entry: Entry, index: int) -> tuple[Mapping[str, object], str]:
        """Return the attributes and the content of an entry's HTML cell."""
        cell = form.cells[index]
        state, content = show(entry, cell)
        about = names.about(cell.facts["filter"], cell.key)
        return marks_of(cell.key, state) | about, button(content, bold=entry.bold)

    sheets = form.document.sheets if dropped is None else without(form.document.sheets, dropped)
    if not sheets:
        return ""
    table = table_html(sheets, show_entry, {"data-form": form.key}, wide_names=True, escape=escaped)
    return f"{table}\n"


def printed_view(form: Form, names: Names) -> str:
    """Return the table of printed numbers of the published form; "" if it has none."""

    def show(entry: Entry, cell: Cell) -> tuple[str, str]:
        assert cell.number is not None
        return _printed(cell.number, entry.text if cell.is_copy else cell.number.row.text)

    dropped = {*range(len(form.cells))}.difference(form.cell_of.values())
    return "" if form.figure else _view(form, names, show, dropped)


def recomputed_view(form: Form, names: Names) -> str:
    """Return the table of numbers recomputed from other printed ones; "" if there are none."""
    indices = {*form.cell_of.values()}
    dropped = {i for i, cell in enumerate(form.cells) if cell.key and i not in indices}
    numbers = [cell.number for i, cell in enumerate(form.cells) if i not in dropped]
    if not any(number is None or number.recomputed_text for number in numbers):
        return ""

    def show(entry: Entry, cell: Cell) -> tuple[str, str]:
        if number := cell.number:
            return number.status, escaped(number.recomputed_text or MISSING)
        return "", escaped(entry.text)

    return _view(form, names, show, dropped)


def measured_view(form: Form, names: Names) -> str:
    """Return the table of measured numbers with their verdicts; "" without numbers."""

    def show(entry: Entry, cell: Cell) -> tuple[str, str]:
        judged = cell.number if form.tree == "measured" else None
        return judged.verdict if judged else "", escaped(entry.text)

    return _view(form, names, show)


def plain_view(form: Form | None, exhibit: str, evidence: Evidence, names: Names) -> str:
    """Return a table, by keys, of printed numbers that the published form lacks; "" without any."""
    in_form: set[NumberKey] = set()
    if form and not form.figure:
        indices = {shown.cell for shown in numbers_of(form.document.sheets)}
        in_form = {key for key, index in form.cell_of.items() if index in indices}
    keys = [key for key in evidence if key[0] == exhibit and key not in in_form]
    if not keys:
        return ""
    columns = dict.fromkeys(column for _, _, column in keys)
    lines = []
    for row in dict.fromkeys(row for _, row, _ in keys):
        cells = [element("th", escaped(names.of(row)), {"scope": "row"})]
        for column in columns:
            key = (exhibit, row, column)
            if number := evidence.get(key):
                fault, content = _printed(number, number.row.text)
                marks = {"class": "n"} | marks_of(key, fault) | names.about({}, key)
                cells.append(element("td", button(content), marks))
            else:
                cells.append('<td class="n"></td>')
        lines.append((None, "".join(cells)))
    return titled_table(f"printed/{exhibit}", map(names.of, columns), lines)


# Side by side: printed, recomputed and measured numbers, and their difference

LINES = {name: name for name in ("printed", "recomputed", "measured")}
LINES["difference"] = "measured − printed"
DENSE = 0.4
"""Least share of filled cells for a table to keep its rows and columns."""
LONGEST_NUMBER = 40
"""Most characters of a number; longer cells are aligned to the left and wrapped, as texts."""


@dataclass(frozen=True, slots=True)
class LineEntry:
    """Entry of a number in a line: its text, its status or verdict, and a remark in small type."""

    text: str
    state: str = ""
    small: str = ""


def signed(value: float, decimals: int) -> str:
    """Format a difference with its sign; zero has no sign."""
    text = f"{value:+.{decimals}f}".replace("-", "−")
    return text[1:] if not text.strip("+−0.") else text


def lines_of(number: Number) -> dict[str, LineEntry]:
    """Return a number's entry in each line that it has.

    The interval beside a difference is that of the difference.
    """
    row, right = number.row, number.row.corrected
    small = f"should read {number.in_print(right)}" if right is not None else ""
    state = number.status if number.status in FAULTS else ""
    entries = {"printed": LineEntry(row.text or "illegible", state, small)}
    if number.recomputed_text:
        entries["recomputed"] = LineEntry(number.recomputed_text, number.status)
    if number.verdict in ("", NOT_RUN):
        return entries
    # A measured text is only marked as agreeing or not.
    measured = "text" if number.measured is None else number.in_print(number.measured)
    entries["measured"] = LineEntry(measured, number.verdict)
    if number.measured is not None and row.value is not None:
        ends = [end for end in (number.low, number.high) if end is not None]
        limits = [signed(end - row.value, row.decimals) for end in ends]
        interval = f"[{', '.join(limits)}]" if len(limits) == 2 else ""
        text = signed(number.measured - row.value, row.decimals)
        small = " ".join(filter(None, (interval, number.differs)))
        entries["difference"] = LineEntry(text, "", small)
    return entries


class Headings:
    """Names of rows and columns: the headings, where each heading belongs to one key only."""

    def __init__(self, forms: Sequence[Form], names: Names) -> None:
        self._names = names
        self._rows: dict[NumberKey, str] = {}
        # All headings of each key, of rows and of columns.
        rows: dict[str, set[str]] = {}
        columns: dict[str, set[str]] = {}
        for form in forms:
            for shown in numbers_of(form.document.sheets):
                key = form.cells[shown.cell].key
                # Several cells may have the same number, of which the form shows one.
                if key is not None and form.cell_of[key] == shown.cell:
                    self._rows.setdefault(key, shown.row)
                    rows.setdefault(key[1], set()).add(shown.row)
                    columns.setdefault(key[2], set()).add(shown.column)
        self._headings = []
        for of_axis in (rows, columns):
            uses = Counter(text for texts in of_axis.values() for text in texts)
            unique = {key: min(texts) for key, texts in of_axis.items() if len(texts) == 1}
            self._headings.append({key: text for key, text in unique.items() if uses[text] == 1})
        self._numbers_with_row = Counter(self._rows.values())

    def of(self, number: NumberKey) -> tuple[str, str]:
        """Return the names of a number's row and column: unique headings, else the keys."""
        row, column = (
            headings.get(key) or self._names.of(key).replace("_", " ")
            for headings, key in zip(self._headings, number[1:], strict=True)
        )
        return row, column

    def statement(self, key: NumberKey) -> str:
        """Return a name of a number in one line: the row name if no other number has it."""
        row = self._rows.get(key, "")
        if row and self._numbers_with_row[row] == 1:
            return row
        return ": ".join(dict.fromkeys(self.of(key)))


def _cell(entry: LineEntry | None, key: NumberKey, names: Names, line: str) -> str:
    """Return an entry's HTML cell, with the attributes by which it is found and filtered."""
    if entry is None:
        return '<td class="n"></td>'
    marks = marks_of(key, entry.state) | names.about({}, key)
    is_long = len(entry.text) > LONGEST_NUMBER
    alignment = {"class": "t", "dir": "auto"} if is_long else {"class": "n"}
    text = escaped(entry.text)
    content = text if line == "difference" else button(text)
    small = element("small", escaped(entry.small), {}) if entry.small else ""
    return element("td", content + small, alignment | marks)


def together_view(exhibit: str, forms: Mapping[str, Form], evidence: Evidence, names: Names) -> str:
    """Return a table of printed, recomputed and measured numbers; "" if all are only printed.

    A dense exhibit keeps its rows and columns. Statements have a line each, with a column for
    printed, recomputed and measured numbers and for the difference.
    """
    compared = {key: n for key, n in evidence.items() if n.status or n.verdict}
    numbers = {key: lines_of(n) for key, n in compared.items() if key[0] == exhibit}
    if not any(len(entries) > 1 for entries in numbers.values()):
        return ""
    labels = Headings([*forms.values()], names)
    rows, columns = ({key[at] for key in numbers} for at in (1, 2))
    table_rows = []

    def add(line: str, title: str, cells: Iterable[tuple[NumberKey, str]]) -> None:
        """Add a row; each of its cells is one line ("printed", "measured", …) of a number."""
        name = element("small", LINES[line], {}) if line else ""
        head = element("th", escaped(title) + name, {"scope": "row"})
        contents = [_cell(numbers.get(key, {}).get(of), key, names, of) for key, of in cells]
        table_rows.append((f"bw-line {line}" if line else None, head + "".join(contents)))

    if len(numbers) >= DENSE * len(rows) * len(columns):
        titles = {key[2]: labels.of(key)[1] for key in numbers}
        for row in dict.fromkeys(key[1] for key in numbers):
            keys = [(exhibit, row, column) for column in titles]
            present = {line for key in keys for line in numbers.get(key, ())}
            for line in (line for line in LINES if line in present):
                title = f"{labels.of(keys[0])[0]} " if line == "printed" else ""
                add(line, title, [(key, line) for key in keys])
    else:
        present = {line for entries in numbers.values() for line in entries}
        titles = {line: title for line, title in LINES.items() if line in present}
        for key in numbers:
            add("", labels.statement(key), [(key, line) for line in titles])
    return titled_table(f"together/{exhibit}", titles.values(), table_rows)
