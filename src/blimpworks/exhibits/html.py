"""Write an exhibit as a web page whose numbers carry their keys."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from blimpworks.exhibits.exhibit import Column, Exhibit, sheets
from blimpworks.exhibits.texts import is_rtl

STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 1rem; color: #1b1b1b; background: #fff; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; border-block: 2px solid #1b1b1b; }
th, td { padding: .2em .6em; text-align: start; vertical-align: top; }
td.n { text-align: end; font-variant-numeric: tabular-nums; }
tr:has(> th[scope="col"]) > * { border-bottom: 1px solid #767676; }
tbody + tbody { border-top: 1px solid #767676; }
th[colspan] { text-align: center; }
:lang(ko) { font-family: "Noto Sans KR", "Noto Sans CJK KR", "Malgun Gothic", sans-serif; }
:lang(ur) { font-family: "Noto Naskh Arabic", "Noto Nastaliq Urdu", Amiri; font-size: 1.1em; }
figure { margin: 0; } img { max-width: 100%; } figcaption { max-width: 60em; margin-top: .8em; }
""".strip()


def _attributes(**values: object) -> str:
    pairs = ((k.strip("_").replace("_", "-"), v) for k, v in values.items() if v is not None)
    return "".join(f' {name}="{escape(str(value))}"' for name, value in pairs)


def direction(text: str) -> str:
    """Return the writing direction of most letters of a text, "ltr" or "rtl"."""
    return "rtl" if is_rtl(text) else "ltr"


def _head_rows(columns: Sequence[Column], width: int) -> Iterator[str]:
    empty = "<td></td>" * (width - len(columns))
    if any(column.upper for column in columns):
        groups = [(upper, len(list(group))) for upper, group in groupby(columns, lambda c: c.upper)]
        upper_cells = (
            f'<th colspan="{n}" scope="colgroup">{upper}</th>' if upper else "<td></td>" * n
            for upper, n in groups
        )
        yield f"<tr>{''.join(upper_cells)}{empty}</tr>"
    lower = (
        f'<th scope="col"{_attributes(class_="n" if c.right else None)}>{c.lower}</th>'
        if c.lower
        else "<td></td>"
        for c in columns
    )
    yield f"<tr>{''.join(lower)}{empty}</tr>"


def table_html(exhibit: Exhibit) -> str:
    """Return the ``table`` element: one body per section, headings where they change.

    Every ``td`` of a cell has ``data-cell``, its index in the exhibit's cells, and ``data-row`` and
    ``data-column``, the keys of its printed number. The text is well-formed XML.
    """
    cells = {(cell.row, cell.column): (i, cell) for i, cell in enumerate(exhibit.cells)}
    printed_sheets = list(sheets(exhibit, escape, lambda text: f"<strong>{text}</strong>"))
    width = max(len(sheet.columns) for sheet in printed_sheets)
    html_parts = [f"<thead>{''.join(_head_rows(printed_sheets[0].columns, width))}</thead>"]
    for number, sheet in enumerate(printed_sheets):
        rows = [*_head_rows(sheet.columns, width)] if number and sheet.headed else []
        for texts, cell_keys in zip(sheet.body, sheet.places, strict=True):
            cells_html = []
            for text, cell_key, column in zip(texts, cell_keys, sheet.columns, strict=True):
                if cell_key is None:
                    heading = f'<th scope="row" dir="auto">{text}</th>'
                    cells_html.append(heading if text else "<td></td>")
                    continue
                marks: dict[str, object] = {"class_": "n" if column.right else None}
                if cell_key in cells:
                    index, cell = cells[cell_key]
                    row, name = cell.stands_for or cell_key
                    marks |= {"data_cell": index, "data_row": row, "data_column": name}
                language = exhibit.written_in.get(cell_key)
                auto = None if column.right else "auto"
                marks |= {"dir": direction(text) if language else auto, "lang": language}
                cells_html.append(f"<td{_attributes(**marks)}>{text}</td>")
            # Sections may have fewer columns than the widest one.
            rest = "<td></td>" * (width - len(texts))
            rows.append(f"<tr>{''.join(cells_html)}{rest}</tr>")
        html_parts.append("<tbody>" + "\n".join(rows) + "</tbody>")
    return "<table>" + "\n".join(html_parts) + "</table>"


def html_text(exhibit: Exhibit, picture: str = "") -> str:
    """Write the exhibit as a page; a figure shows ``picture``, an address."""
    title, caption = escape(exhibit.title), escape(exhibit.caption)
    content = ""
    if exhibit.figure is None or exhibit.cells:
        scroll = f'<div class="scroll" role="region" aria-label="{title}" tabindex="0">'
        content = f"{scroll}{table_html(exhibit)}</div>"
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
