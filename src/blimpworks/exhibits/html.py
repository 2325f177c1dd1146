"""Write an exhibit as a web page whose numbers carry their keys."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from blimpworks.exhibits.exhibit import Exhibit
from blimpworks.exhibits.sheets import Column, Entry, Sheet, sheets
from blimpworks.exhibits.texts import is_rtl

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8").strip()


def element(name: str, content: str, attributes: Mapping[str, object]) -> str:
    """Return an element with escaped attributes, without those that are None."""
    pairs = ((key, value) for key, value in attributes.items() if value is not None)
    opening = "".join(f' {key}="{escape(str(value))}"' for key, value in pairs)
    return f"<{name}{opening}>{content}</{name}>"


def direction(text: str) -> str:
    """Return the writing direction of most letters of a text, "ltr" or "rtl"."""
    return "rtl" if is_rtl(text) else "ltr"


Escape = Callable[[str], str]


def _head_rows(columns: Sequence[Column], width: int, escape: Escape) -> Iterator[str]:
    empty = "<td></td>" * (width - len(columns))
    if any(column.upper for column in columns):
        groups = [(upper, len(list(group))) for upper, group in groupby(columns, lambda c: c.upper)]
        upper_cells = (
            element("th", escape(upper), {"colspan": n, "scope": "colgroup"})
            if upper
            else "<td></td>" * n
            for upper, n in groups
        )
        yield f"<tr>{''.join(upper_cells)}{empty}</tr>"
    lower = (
        element("th", escape(c.lower), {"scope": "col", "class": "n" if c.right else None})
        if c.lower
        else "<td></td>"
        for c in columns
    )
    yield f"<tr>{''.join(lower)}{empty}</tr>"


Shown = Callable[[Entry, int], tuple[Mapping[str, object], str]]
"""Gives the further attributes, and the content, of an entry and the index of its cell."""


def in_bold(entry: Entry, escape: Escape = escape) -> str:
    """Return an entry's text, bold where marked."""
    text = escape(entry.text)
    return f"<strong>{text}</strong>" if entry.bold else text


def table_html(
    printed_sheets: Sequence[Sheet],
    show: Shown,
    attributes: Mapping[str, object],
    *,
    wide_names: bool = False,
    escape: Escape = escape,
) -> str:
    """Return the ``table`` element: one body per sheet, headings where they change.

    Every ``td`` of a cell has ``data-cell``, its index, and what ``show`` adds. With
    ``wide_names`` the name of a row without anything else spans it. The text is well-formed XML.
    """
    width = max((len(sheet.columns) for sheet in printed_sheets), default=0)
    parts = []
    for number, sheet in enumerate(printed_sheets):
        heads = _head_rows(sheet.columns, width, escape)
        if not number:
            parts.append(f"<thead>{''.join(heads)}</thead>")
        rows = [*heads] if number and sheet.headed else []
        for entries in sheet.body:
            bare = all(e.cell is None and not e.text.strip() for e in entries[1:])
            if wide_names and bare and width > 1 and sheet.columns[0].names and entries[0].text:
                marks = {"scope": "rowgroup", "dir": "auto", "colspan": width}
                rows.append(f"<tr>{element('th', escape(entries[0].text), marks)}</tr>")
                continue
            cells = []
            for entry, column in zip(entries, sheet.columns, strict=True):
                if column.names:
                    name = element("th", escape(entry.text), {"scope": "row", "dir": "auto"})
                    cells.append(name if entry.text else "<td></td>")
                    continue
                marks = {"class": "n" if column.right else None, "data-cell": entry.cell}
                added: Mapping[str, object]
                added, content = {}, in_bold(entry, escape)
                if entry.cell is not None:
                    added, content = show(entry, entry.cell)
                auto = None if column.right else "auto"
                marks |= {**added, "dir": direction(entry.text) if entry.lang else auto}
                cells.append(element("td", content, marks | {"lang": entry.lang}))
            # Sections may have fewer columns than the widest one.
            rest = "<td></td>" * (width - len(entries))
            rows.append(f"<tr>{''.join(cells)}{rest}</tr>")
        parts.append("<tbody>" + "\n".join(rows) + "</tbody>")
    return element("table", "\n".join(parts), attributes)


def html_text(exhibit: Exhibit, picture: str = "") -> str:
    """Write the exhibit as a page whose numbers have their keys; a figure shows ``picture``."""

    def show(entry: Entry, index: int) -> tuple[Mapping[str, object], str]:
        cell = exhibit.cells[index]
        row, column = cell.stands_for or (cell.row, cell.column)
        return {"data-row": row, "data-column": column}, in_bold(entry)

    title, caption = escape(exhibit.title), escape(exhibit.caption)
    content = ""
    if printed_sheets := sheets(exhibit):
        scroll = f'<div class="scroll" role="region" aria-label="{title}" tabindex="0">'
        content = f"{scroll}{table_html(printed_sheets, show, {})}</div>"
    if exhibit.figure is not None:
        summary = "<summary>Numbers of this figure</summary>"
        content = f"<details>{summary}{content}</details>" if content else ""
        alternative = f"{title}: its numbers are in the table below"
        content = f'<img src="{escape(picture)}" alt="{alternative}"/>{content}'
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{title}</title><style>{STYLE}</style></head>\n"
        f"<body><figure>{content}\n"
        f"<figcaption><strong>{title}.</strong> {caption}</figcaption></figure></body></html>\n"
    )
