"""Make the HTML tables of an exhibit: printed, recomputed and measured numbers, and all together.

``…_view`` functions return HTML, or "" if there is nothing to show. An exhibit (a table or figure)
is built in up to three forms: from printed numbers, from the campaign's, and from a corrected
campaign's. A form has sheets: tables of texts (entries). A text may show a cell, a number.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
"""Function that escapes a text, but no quotation marks: Sphinx would index their codes as words."""
MISSING = "·"
"""Mark for a number that cannot be computed."""


class ShownCell(NamedTuple):
    """Index of a cell in a form, and the names of its row and column in a table."""

    cell: int
    row: str
    column: str


def cells_shown(sheets: Sequence[Sheet]) -> Iterator[ShownCell]:
    """Yield the cells that sheets show; a row without a name has the name of the row above."""
    name = ""
    for sheet in sheets:
        for entries in sheet.body:
            for entry, column in zip(entries, sheet.columns, strict=True):
                if column.names:
                    name = entry.text.strip() or name
                elif entry.cell is not None:
                    yield ShownCell(entry.cell, name, column.heading)


def without_cells(sheets: Sequence[Sheet], dropped: Container[int | None]) -> list[Sheet]:
    """Return sheets without the cells whose indices are in ``dropped``; [] if no cell remains.

    A row or column of numbers is left out if all of its cells are dropped.
    """
    number_columns, kept_columns = set[int](), set[int]()
    for entries in chain.from_iterable(sheet.body for sheet in sheets):
        for i, entry in enumerate(entries):
            if entry.cell is not None:
                number_columns.add(i)
                if entry.cell not in dropped:
                    kept_columns.add(i)
    if not kept_columns:
        return []
    empty_columns = number_columns - kept_columns
    kept_sheets = []
    for sheet in sheets:
        body = []
        for entries in sheet.body:
            cells_of_row = [entry.cell for entry in entries if entry.cell is not None]
            if not cells_of_row or any(cell not in dropped for cell in cells_of_row):
                kept = [entry for i, entry in enumerate(entries) if i not in empty_columns]
                body.append([Entry("") if entry.cell in dropped else entry for entry in kept])
        columns = tuple(c for i, c in enumerate(sheet.columns) if i not in empty_columns)
        kept_sheets.append(replace(sheet, columns=columns, body=body))
    return kept_sheets


def titled_table(name: str, titles: Iterable[str], rows: Iterable[tuple[str | None, str]]) -> str:
    """Return an HTML table; ``rows`` are (CSS class or None, HTML of the cells)."""
    heads = "".join(element("th", escaped(t), {"scope": "col", "class": "n"}) for t in titles)
    body = "".join(element("tr", cells, {"class": row_class}) for row_class, cells in rows)
    content = f"<thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody>"
    return element("table", content, {"data-form": name})


def button(content: str, *, bold: bool = False) -> str:
    """Return a button that opens the lineage of a number; "" without content."""
    inner = f"<strong>{content}</strong>" if bold else content
    return f"<button>{inner}</button>" if content else ""


def key_attributes(key: NumberKey | None, state: str) -> dict[str, object]:
    """Return HTML attributes: the key of a printed number, and its status or verdict."""
    attributes: dict[str, object] = {"data-row": key[1], "data-column": key[2]} if key else {}
    return attributes | {"data-s": state or None}


NumberHtml = tuple[str, str]
"""Status or verdict by which a number is coloured ("" for none), and HTML of the number."""
FAULTS = ("erratum", "garbled", "deviates")
"""Statuses that the table of printed numbers marks."""


def _show_printed(number: Number, text: str) -> NumberHtml:
    """Return a printed number, with its correction if it is a misprint."""
    html = escaped(text)
    if number.row.corrected is not None:
        corrected = text.replace(number.row.text, number.formatted(number.row.corrected), 1)
        html = f"<del>{html}</del><ins>{escaped(corrected)}</ins>"
    return number.status if number.status in FAULTS else "", html


def _table_of(
    form: Form,
    names: Names,
    show: Callable[[Entry, Cell], NumberHtml],
    dropped: Container[int | None] | None = None,
) -> str:
    """Return a form's table, whole or without the cells ``dropped`` (indices); "" without cells."""

    def show_entry(entry: Entry, index: int) -> tuple[Mapping[str, object], str]:
        """Return the attributes and the content of an entry's HTML cell."""
        cell = form.cells[index]
        state, html = show(entry, cell)
        about = names.about(cell.facts["filter"], cell.key)
        return key_attributes(cell.key, state) | about, button(html, bold=entry.bold)

    sheets = form.document.sheets
    if dropped is not None:
        sheets = without_cells(sheets, dropped)
    if not sheets:
        return ""
    table = table_html(sheets, show_entry, {"data-form": form.key}, wide_names=True, escape=escaped)
    return f"{table}\n"


def printed_view(form: Form, names: Names) -> str:
    """Return the published form's table with the numbers as printed; "" if it has none."""

    def show(entry: Entry, cell: Cell) -> NumberHtml:
        assert cell.number is not None
        return _show_printed(cell.number, entry.text if cell.is_copy else cell.number.row.text)

    printed_cells = {*form.cell_of.values()}  # indices
    not_printed = {*range(len(form.cells))} - printed_cells
    return "" if form.figure else _table_of(form, names, show, not_printed)


def recomputed_view(form: Form, names: Names) -> str:
    """Return the table of numbers recomputed from other printed ones; "" if there are none."""
    # Several cells may have the same printed number; show one of them.
    shown_indices = {*form.cell_of.values()}
    dropped = {i for i, cell in enumerate(form.cells) if cell.key and i not in shown_indices}
    numbers = [cell.number for i, cell in enumerate(form.cells) if i not in dropped]
    if not any(number is None or number.recomputed_text for number in numbers):
        return ""

    def show(entry: Entry, cell: Cell) -> NumberHtml:
        if number := cell.number:
            return number.status, escaped(number.recomputed_text or MISSING)
        return "", escaped(entry.text)

    return _table_of(form, names, show, dropped)


def measured_view(form: Form, names: Names) -> str:
    """Return the table of measured numbers with their verdicts; "" without numbers."""

    def show(entry: Entry, cell: Cell) -> NumberHtml:
        number = cell.number if form.tree == "measured" else None
        return number.verdict if number else "", escaped(entry.text)

    return _table_of(form, names, show)


def plain_view(form: Form | None, exhibit: str, evidence: Evidence, names: Names) -> str:
    """Return a table of an exhibit's printed numbers that its published form lacks; "" if none.

    Only the form has the headings in print, so the names of rows and columns are made from keys.
    """
    keys_in_form: set[NumberKey] = set()
    if form and not form.figure:
        shown_cells = {shown_cell.cell for shown_cell in cells_shown(form.document.sheets)}
        keys_in_form = {key for key, index in form.cell_of.items() if index in shown_cells}
    keys = [key for key in evidence if key[0] == exhibit and key not in keys_in_form]
    if not keys:
        return ""
    columns = dict.fromkeys(column for _, _, column in keys)
    table_rows = []
    for row in dict.fromkeys(row for _, row, _ in keys):
        cells = [element("th", escaped(names.of(row)), {"scope": "row"})]
        for column in columns:
            key = (exhibit, row, column)
            if number := evidence.get(key):
                fault, html = _show_printed(number, number.row.text)
                attributes = {"class": "n"} | key_attributes(key, fault) | names.about({}, key)
                cells.append(element("td", button(html), attributes))
            else:
                cells.append('<td class="n"></td>')
        table_rows.append((None, "".join(cells)))
    return titled_table(f"printed/{exhibit}", map(names.of, columns), table_rows)


# The view of printed, recomputed and measured numbers together, with their difference

LINES = {name: name for name in ("printed", "recomputed", "measured")}
LINES["difference"] = "measured − printed"
"""Titles of the lines in which a table shows a number, by name."""
DENSE = 0.4
"""Least share of cells with numbers for which a table keeps its rows and columns."""
LONGEST_NUMBER = 40
"""Most characters of a number; longer cells are aligned to the left and wrapped, as texts."""


class LineEntry(NamedTuple):
    """Text of a number in one line (a key of LINES), its status or verdict, and a small remark."""

    text: str
    state: str = ""
    small: str = ""


def signed(value: float, decimals: int) -> str:
    """Format a difference with its sign, and zero without a sign."""
    text = f"{value:+.{decimals}f}".replace("-", "−")
    is_zero = not text.strip("+−0.")
    return text[1:] if is_zero else text


def lines_of(number: Number) -> dict[str, LineEntry]:
    """Return the entry of each line (key of ``LINES``) that a number has."""
    row = number.row
    correction = "" if row.corrected is None else f"should read {number.formatted(row.corrected)}"
    state = number.status if number.status in FAULTS else ""
    entries = {"printed": LineEntry(row.text or "illegible", state, correction)}
    if number.recomputed_text:
        entries["recomputed"] = LineEntry(number.recomputed_text, number.status)
    if number.verdict in ("", NOT_RUN):
        return entries

    # Of a measured text, only the verdict is shown.
    measured = "text" if number.measured is None else number.formatted(number.measured)
    entries["measured"] = LineEntry(measured, number.verdict)
    if number.measured is not None and row.value is not None:
        interval = ""
        if number.low is not None and number.high is not None:
            low, high = (signed(x - row.value, row.decimals) for x in (number.low, number.high))
            interval = f"[{low}, {high}]"
        remark = " ".join(filter(None, (interval, number.differs)))
        difference = signed(number.measured - row.value, row.decimals)
        entries["difference"] = LineEntry(difference, "", remark)
    return entries


class Headings:
    """Names of rows and columns, for numbers that are shown outside of their table.

    The name is the heading in the table, if heading and key belong to each other alone.
    """

    def __init__(self, forms: Sequence[Form], names: Names) -> None:
        self._names = names
        self._row_names: dict[NumberKey, str] = {}
        # (key, heading) of rows and of columns
        rows, columns = set[tuple[str, str]](), set[tuple[str, str]]()
        for form in forms:
            for shown_cell in cells_shown(form.document.sheets):
                key = form.cells[shown_cell.cell].key
                # Several cells may have the same printed number; use the one that the form shows.
                if key is not None and form.cell_of[key] == shown_cell.cell:
                    self._row_names.setdefault(key, shown_cell.row)
                    rows.add((key[1], shown_cell.row))
                    columns.add((key[2], shown_cell.column))
        self._headings = []  # {key: heading} of rows, then of columns
        for pairs in (rows, columns):
            key_counts = Counter(key for key, _ in pairs)
            heading_counts = Counter(heading for _, heading in pairs)
            unique = {k: text for k, text in pairs if key_counts[k] == heading_counts[text] == 1}
            self._headings.append(unique)
        self._uses_of_row_names = Counter(self._row_names.values())

    def of(self, number: NumberKey) -> tuple[str, str]:
        """Return the names of a number's row and column: unique headings, else the keys."""
        row, column = (
            headings.get(key) or self._names.of(key).replace("_", " ")
            for headings, key in zip(self._headings, number[1:], strict=True)
        )
        return row, column

    def statement(self, key: NumberKey) -> str:
        """Return the name of a number's row if no other row has it; else "German: GPT-2"."""
        row = self._row_names.get(key, "")
        if row and self._uses_of_row_names[row] == 1:
            return row
        return ": ".join(dict.fromkeys(self.of(key)))


def together_view(exhibit: str, forms: Mapping[str, Form], evidence: Evidence, names: Names) -> str:
    """Return a table of printed, recomputed and measured numbers; "" if all are only printed.

    If most cells of the exhibit have numbers (``DENSE``), the table has its rows and columns, with
    up to four lines per row (``LINES``). Else each number has a row, and the lines are columns.
    """
    # {key of a number: {line: entry}}
    entries_by_key: dict[NumberKey, dict[str, LineEntry]] = {}
    for key, number in evidence.items():
        if key[0] == exhibit and (number.status or number.verdict):
            entries_by_key[key] = lines_of(number)
    if not any(len(entries) > 1 for entries in entries_by_key.values()):
        return ""
    headings = Headings([*forms.values()], names)
    table_rows = []

    def add_row(line: str, title: str, cells: Iterable[tuple[NumberKey, str]]) -> None:
        """Add a row, whose head names ``line`` if any; ``cells`` are (key of a number, line)."""
        name = element("small", LINES[line], {}) if line else ""
        html = element("th", escaped(title) + name, {"scope": "row"})
        for key, shown_line in cells:
            entry = entries_by_key.get(key, {}).get(shown_line)
            if entry is None:
                html += '<td class="n"></td>'
                continue
            # Attributes by which the number is found and filtered.
            attributes = key_attributes(key, entry.state) | names.about({}, key)
            is_long = len(entry.text) > LONGEST_NUMBER
            alignment = {"class": "t", "dir": "auto"} if is_long else {"class": "n"}
            text = escaped(entry.text)
            content = text if shown_line == "difference" else button(text)
            content += element("small", escaped(entry.small), {}) if entry.small else ""
            html += element("td", content, alignment | attributes)
        table_rows.append((f"bw-line {line}" if line else None, html))

    rows = dict.fromkeys(row for _, row, _ in entries_by_key)
    titles = {key[2]: headings.of(key)[1] for key in entries_by_key}  # by column
    if len(entries_by_key) >= DENSE * len(rows) * len(titles):
        for row in rows:
            keys = [(exhibit, row, column) for column in titles]
            present = {line for key in keys for line in entries_by_key.get(key, ())}
            for line in (line for line in LINES if line in present):
                row_name, _column_name = headings.of(keys[0])
                title = f"{row_name} " if line == "printed" else ""
                add_row(line, title, [(key, line) for key in keys])
    else:
        present = {line for entries in entries_by_key.values() for line in entries}
        titles = {line: title for line, title in LINES.items() if line in present}
        for key in entries_by_key:
            add_row("", headings.statement(key), [(key, line) for line in titles])
    return titled_table(f"together/{exhibit}", titles.values(), table_rows)
