"""Build exhibits (tables and figures of papers) and write them as files.

``build_exhibit`` calls the function of a paper that makes an exhibit, and ``render`` writes it:
tables as CSV, Markdown, LaTeX and HTML, figures as PDF, PNG, SVG and HTML, and both as JSON. Most
formats are written from sheets (``exhibit.sheets``): rows of texts, called entries, under headings.
A heading has two lines, upper and lower; columns of one upper heading share it.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Template

from blimpworks.campaign.paper import ExhibitSpec
from blimpworks.errors import UserError
from blimpworks.exhibits import exhibit as layout
from blimpworks.exhibits.exhibit import Entry, Exhibit, Labels, Sheet, SheetColumn
from blimpworks.exhibits.shared import counted
from blimpworks.files import atomic, write_text
from blimpworks.tables import CELLS, write_table

PAGE = Path(__file__).with_name("page.html.jinja").read_text(encoding="utf-8")
STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8").strip()


def element(name: str, content: str, attributes: Mapping[str, object]) -> str:
    """Return an HTML element with escaped attributes; attributes that are None are left out."""
    opening = name
    for key, value in attributes.items():
        if value is not None:
            opening += f' {key}="{escape(str(value))}"'
    return f"<{opening}>{content}</{name}>"


def direction(text: str) -> str:
    """Return the direction in which most letters of a text are written: "ltr" or "rtl"."""
    return "rtl" if layout.is_rtl(text) else "ltr"


Escape = Callable[[str], str]


def _head_rows(columns: Sequence[SheetColumn], width: int, escape: Escape) -> Iterator[str]:
    """Yield the one or two rows of a heading in HTML, with empty cells up to ``width`` columns."""
    padding = "<td></td>" * (width - len(columns))
    if any(column.upper for column in columns):
        cells = []
        for upper, group in groupby(columns, key=lambda column: column.upper):
            span = len(list(group))
            spanning = element("th", escape(upper), {"colspan": span, "scope": "colgroup"})
            cells.append(spanning if upper else "<td></td>" * span)
        yield f"<tr>{''.join(cells)}{padding}</tr>"
    cells = []
    for column in columns:
        marks = {"scope": "col", "class": "n" if column.right else None}
        heading = element("th", escape(column.lower), marks)
        cells.append(heading if column.lower else "<td></td>")
    yield f"<tr>{''.join(cells)}{padding}</tr>"


Show = Callable[[Entry, int], tuple[Mapping[str, object], str]]
"""Function of an entry and its index in ``Exhibit.cells``; returns attributes and content of td."""


def in_bold(entry: Entry, escape: Escape = escape) -> str:
    """Return an entry's text, bold where marked."""
    text = escape(entry.text)
    return f"<strong>{text}</strong>" if entry.bold else text


def table_html(
    printed_sheets: Sequence[Sheet],
    show: Show,
    attributes: Mapping[str, object],
    *,
    wide_names: bool = False,
    escape: Escape = escape,
) -> str:
    """Return the ``table`` element: a body for each sheet, with headings where they change.

    The ``td`` of a number has the index of the cell as ``data-cell``, and the attributes that
    ``show`` returns. With ``wide_names``, a name without numbers spans the row. The table is XML.
    """
    width = max((len(sheet.columns) for sheet in printed_sheets), default=0)
    groups = []
    for number, sheet in enumerate(printed_sheets):
        head_rows = [*_head_rows(sheet.columns, width, escape)]
        if not number:
            groups.append(f"<thead>{''.join(head_rows)}</thead>")
        rows = head_rows if number and sheet.headed else []
        for entries in sheet.body:
            is_name_only = all(e.cell is None and not e.text.strip() for e in entries[1:])
            # The first entry is a name unless the exhibit has no row names.
            has_name = sheet.columns[0].names and entries[0].text
            if wide_names and has_name and is_name_only and width > 1:
                marks = {"scope": "rowgroup", "dir": "auto", "colspan": width}
                rows.append(f"<tr>{element('th', escape(entries[0].text), marks)}</tr>")
                continue
            cells = []
            for entry, column in zip(entries, sheet.columns, strict=True):
                if column.names:
                    name = element("th", escape(entry.text), {"scope": "row", "dir": "auto"})
                    cells.append(name if entry.text else "<td></td>")
                    continue
                td: dict[str, object] = {"class": "n" if column.right else None}
                content = in_bold(entry, escape)
                if entry.cell is not None:
                    attributes_of_cell, content = show(entry, entry.cell)
                    td |= {"data-cell": entry.cell, **attributes_of_cell}
                auto = None if column.right else "auto"  # the browser finds the direction
                td["dir"] = direction(entry.text) if entry.lang else auto
                cells.append(element("td", content, {**td, "lang": entry.lang}))
            # Sections may have fewer columns than the widest one.
            padding = "<td></td>" * (width - len(entries))
            rows.append(f"<tr>{''.join(cells)}{padding}</tr>")
        groups.append("<tbody>" + "\n".join(rows) + "</tbody>")
    return element("table", "\n".join(groups), attributes)


def html_text(exhibit: Exhibit, picture: str = "") -> str:
    """Return the exhibit as an HTML page; a figure shows the file ``picture``.

    The ``td`` of a number has the row and column of the number in the paper as attributes.
    """

    def show(entry: Entry, index: int) -> tuple[Mapping[str, object], str]:
        cell = exhibit.cells[index]
        row, column = cell.stands_for or (cell.row, cell.column)
        return {"data-row": row, "data-column": column}, in_bold(entry)

    printed_sheets = layout.sheets(exhibit)
    page: str = Template(PAGE, keep_trailing_newline=True).render(
        title=escape(exhibit.title),
        caption=escape(exhibit.caption),
        table=table_html(printed_sheets, show, {}) if printed_sheets else "",
        picture=escape(picture),
        style=STYLE,
    )
    return page


# LaTeX, for a page of one column or two

# Lines before tables with texts in several scripts: advice, and a macro for right-to-left texts.
SCRIPTS = r"""% Many scripts: compile with LuaLaTeX or XeLaTeX and fonts that have them (Noto).
% With babel, in the preamble: \usepackage[bidi=basic]{babel} \babelprovide[import]{urdu}
% \babelfont[urdu]{rm}{Amiri} \newcommand{\righttoleft}[1]{\foreignlanguage{urdu}{#1}}
\providecommand{\righttoleft}[1]{\ifdefined\textdir{\textdir TRT #1}\else
  \ifdefined\TeXXeTstate{\TeXXeTstate=1\beginR #1\endR}\else#1\fi\fi}
"""
MOST_ROWS = 50
"""Most rows of a table on one page."""
NARROW, WIDE = 4, 7
"""Most columns of a table as wide as one column of a page, and of a table in ``\\small`` type."""
TEXT_COMMANDS = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum", "|": "bar"}
TEXT_COMMANDS |= {"<": "less", ">": "greater", "␣": "visiblespace"}
"""LaTeX's commands for characters, without the "text" before them (``\\textbackslash``)."""
# {character: LaTeX}
LATEX_ESCAPES = (
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {sign: rf"\text{name}{{}}" for sign, name in TEXT_COMMANDS.items()}
    | {"−": "$-$", "²": r"\textsuperscript{2}", "β": r"$\beta$", layout.ABSENT_CELL: "--"}
    | {chr(ord("₀") + digit): f"$_{digit}$" for digit in range(10)}
)
# A number in LaTeX, such as "12", "$-$3.5" and "\textbf{81.5}".
DECIMAL = re.compile(
    r"""(?P<bold>\\textbf\{)?(?P<minus>\$-\$)?(?P<whole>\d+)(?:\.(?P<decimals>\d+))?(?(bold)\})"""
)
NO_NUMBER = {"", LATEX_ESCAPES[layout.ABSENT_CELL]}
"""Texts of empty cells, which may stand in a column of numbers."""
DECIMALS = r"\sisetup{mode=text,detect-weight,group-minimum-digits=99}"
"""Setup of siunitx: numbers in the font of the table, and bold numbers in bold."""


def _latex(text: str) -> str:
    return "".join(LATEX_ESCAPES.get(character, character) for character in layout.one_line(text))


def _decimal_column(texts: Iterable[str]) -> str | None:
    """Return a siunitx column type, or None if a text is no number or no number has decimals."""
    # The type for $-$12.5 and 3.5 is S[table-format=-2.1].
    printed = [text for text in texts if text not in NO_NUMBER]
    numbers = [number for text in printed if (number := DECIMAL.fullmatch(text))]
    decimals = max((len(n["decimals"] or "") for n in numbers), default=0)
    if not decimals or len(numbers) < len(printed):
        return None
    sign = "-" if any(n["minus"] for n in numbers) else ""
    return f"S[table-format={sign}{max(len(n['whole']) for n in numbers)}.{decimals}]"


def _latex_row(texts: Sequence[str], alignments: Sequence[str]) -> str:
    r"""Return a row of a table in LaTeX, from texts and column types: ``a & b \\``.

    ``{}`` before a bracket or star separates it from the ``\\`` of the previous row.
    """
    cells = []
    # A section may have fewer columns than the table.
    for text, alignment in zip(texts, alignments, strict=False):
        cell = text
        if alignment.startswith("S"):
            # siunitx reads -12.5, or \bfseries -12.5 if bold; other texts need braces.
            cell = f"{{{text}}}" if text else ""
            if number := DECIMAL.fullmatch(text):
                weight = r"\bfseries " if number["bold"] else ""
                minus = "-" if number["minus"] else ""
                point = f".{number['decimals']}" if number["decimals"] else ""
                cell = f"{weight}{minus}{number['whole']}{point}"
        elif alignment.startswith(">"):
            # In a column of running text, lines may break after "_" in names (anaphor_gender).
            cell = text.replace(r"\_", r"\_\allowbreak{}")
        cells.append(cell)
    line = " & ".join(cells)
    return (f"{{}}{line}" if line.startswith(("[", "*")) else line) + r" \\"


def _latex_body(printed_sheets: Sequence[Sheet], alignments: Sequence[str]) -> list[str]:
    lines = [r"\toprule"]
    for number, sheet in enumerate(printed_sheets):
        if number:
            lines.append(r"\midrule")
        if sheet.headed and any(column.upper for column in sheet.columns):
            # Upper headings span their columns, with a rule below each; ``first`` counts from 1.
            cells, rules, first = [], [], 1
            for upper, group in groupby(sheet.columns, key=lambda column: column.upper):
                span = len(list(group))
                empty_cells = "& " * (span - 1)
                cells.append(rf"\multicolumn{{{span}}}{{c}}{{{upper}}}" if upper else empty_cells)
                rules += [rf"\cmidrule(lr){{{first}-{first + span - 1}}}"] if upper else []
                first += span
            lines += [" & ".join(cells) + r" \\", "".join(rules)]
        if sheet.headed:
            lower = [column.lower for column in sheet.columns]
            lines += [_latex_row(lower, alignments), r"\midrule"]
        lines += [_latex_row([e.text for e in entries], alignments) for entries in sheet.body]
    return [*lines, r"\bottomrule"]


def latex_text(exhibit: Exhibit) -> str:
    """Return the table in LaTeX, split into tables of at most ``MOST_ROWS`` rows.

    LaTeX needs the packages booktabs, array, siunitx and adjustbox for it.
    """

    def escape(text: str) -> str:
        escaped = _latex(text)
        return layout.isolated(escaped, r"\righttoleft{", "}") if exhibit.textual else escaped

    printed_sheets = layout.in_notation(layout.sheets(exhibit), escape, r"\textbf{{{}}}".format)
    widest = max((sheet.columns for sheet in printed_sheets), key=len)
    caption = f"{_latex(exhibit.title)}. {_latex(exhibit.caption)}"
    is_broad = len(widest) > NARROW or any(column.width for column in widest)
    alignments = []
    for index, column in enumerate(widest):
        if column.width:
            alignments.append(rf">{{\raggedright\arraybackslash}}p{{{column.width:g}\linewidth}}")
        elif column.right:
            rows = (entries for sheet in printed_sheets for entries in sheet.body)
            texts = (entries[index].text for entries in rows if index < len(entries))
            alignments.append(_decimal_column(texts) or "r")
        else:
            alignments.append("l")

    # Each page has a ``table``, or a ``table*`` over both columns, with a caption below it.
    name, width = ("table*", r"\textwidth") if is_broad else ("table", r"\columnwidth")
    size = r"\small" if len(alignments) <= WIDE else r"\footnotesize\setlength{\tabcolsep}{3pt}"
    decimals = [DECIMALS] if any(a.startswith("S") for a in alignments) else []
    pages = list(_pages(printed_sheets))
    lines = []
    for number, page in enumerate(pages, start=1):
        lines += [rf"\begin{{{name}}}", r"\centering" + size, *decimals]
        lines += [rf"\begin{{adjustbox}}{{max width={width},max totalheight=0.8\textheight}}"]
        lines += [rf"\begin{{tabular}}{{{''.join(alignments)}}}"]
        lines += _latex_body(page, alignments)
        lines += [r"\end{tabular}", r"\end{adjustbox}"]
        continued = rf"\par\smallskip (continued: part {number} of {len(pages)})"
        lines += [rf"\caption{{{caption}}}" if number == 1 else continued, rf"\end{{{name}}}"]
    return (SCRIPTS if exhibit.textual else "") + "\n".join(lines) + "\n"


def _pages(printed_sheets: Sequence[Sheet]) -> Iterator[list[Sheet]]:
    """Yield the sheets of each page: at most ``MOST_ROWS`` rows; the first sheet has headings."""
    page: list[Sheet] = []
    free_rows = MOST_ROWS
    for sheet in printed_sheets:
        rows = sheet.body
        while len(rows) > free_rows:  # cut the sheet where the page is full
            if free_rows:
                page.append(replace(sheet, body=rows[:free_rows], headed=sheet.headed or not page))
            yield page
            page, rows, free_rows = [], rows[free_rows:], MOST_ROWS
        page.append(replace(sheet, body=rows, headed=sheet.headed or not page))
        free_rows -= len(rows)
    yield page


# Markdown, CSV, and pictures

PNG_DPI = 300
MARGIN = 0.1
"""Margin of figures, in inches."""
MARKDOWN_SIGNS = "\\|*_`<&~[]"
# Characters that would be markup of Markdown or of formulas: "*" before a word, but not in "2 * 3".
MARKUP = re.compile(
    r"""[|`] | [\\](?=[!-/:-@\[-`{-~]) | <(?=[a-z/!?]) | &(?=\#?\w+;) | \$(?=.*\$) | \*(?=\w)
    | (?<![^\W_])\*(?=\S) | (?<![^\W_])_ | _(?![^\W_]) | ~(?=~) | \[(?=[^\]]*\]\()""",
    re.IGNORECASE | re.VERBOSE,
)
RIGHT_TO_LEFT, END_OF_ISOLATE = "\u2067", "\u2069"
"""Unicode's marks before and after a right-to-left text in a line."""
# Without dates, and with a fixed salt for ids in SVG, a rerun gives the same bytes. PDF has fonts
# of type 42 (TrueType), because journals refuse type 3.
FILE_SETTINGS: dict[Any, Any] = {"pdf.fonttype": 42, "svg.fonttype": "none"}
FILE_SETTINGS |= {"svg.hashsalt": "blimpworks", "text.parse_math": False}
METADATA = {"pdf": {"CreationDate": None}, "png": {"Software": None}, "svg": {"Date": None}}


def _markdown(text: str) -> str:
    return MARKUP.sub(lambda sign: f"\\{sign[0]}", layout.one_line(text))


def csv_text(exhibit: Exhibit) -> str:
    """Return the table as CSV: values with fifteen digits, or texts if the exhibit is textual."""
    frame = exhibit.layout("text" if exhibit.textual else "value")
    shorter = frame.map(lambda entry: float(f"{entry:.15g}") if isinstance(entry, float) else entry)
    return shorter.to_csv(index=False, lineterminator="\n")


def markdown_text(exhibit: Exhibit) -> str:
    """Return the table as printed, with title and caption, as Markdown."""

    def escape(text: str) -> str:
        if not exhibit.textual:
            return _markdown(text)
        escaped = "".join(f"\\{c}" if c in MARKDOWN_SIGNS else c for c in layout.one_line(text))
        return layout.isolated(escaped, RIGHT_TO_LEFT, END_OF_ISOLATE)

    printed_sheets = layout.in_notation(layout.sheets(exhibit), escape, "**{}**".format)
    columns = printed_sheets[0].columns
    # If all columns have the same upper heading, it repeats the title, so leave it out. But lower
    # headings may need it: if two are equal, or if a column's name is "UPPER LOWER".
    heads = exhibit.heads.items()
    is_in_names = any(upper and f"{upper} {lower}" == name for name, (upper, lower) in heads)
    has_distinct_lowers = len({column.lower for column in columns}) == len(columns)
    uppers = {column.upper for sheet in printed_sheets for column in sheet.columns} - {""}
    if has_distinct_lowers and not is_in_names and len(uppers) == 1:
        columns = tuple(replace(column, upper="") for column in columns)
    rows: list[list[str]] = []
    for number, sheet in enumerate(printed_sheets):
        # Markdown has one line of headings; later headings are rows in bold.
        if number and sheet.headed:
            rows.append([f"**{column.heading}**" for column in sheet.columns])
        rows += [[entry.text for entry in entries] for entries in sheet.body]
    # Sections may have fewer columns than the widest one.
    width = max(len(sheet.columns) for sheet in printed_sheets)
    padded = [row + [""] * (width - len(row)) for row in rows]
    added = width - len(columns)  # columns that the first section does not have
    headings = [column.heading for column in columns] + [""] * added
    alignments = ["right" if column.right else "left" for column in columns] + ["right"] * added
    frame = pd.DataFrame(padded, columns=headings)
    table = frame.to_markdown(index=False, colalign=alignments, disable_numparse=True)
    return f"# {_markdown(exhibit.title)}\n\n{table}\n\n{_markdown(exhibit.caption)}\n"


TEXT_FORMATS = {"csv": csv_text, "md": markdown_text, "tex": latex_text, "html": html_text}
TEXT_FORMATS |= {"json": layout.json_text}


def render(exhibit: Exhibit, outputs: Sequence[Path]) -> None:
    """Write the exhibit to ``outputs``, by their suffix. Raises KeyError for an unknown suffix."""
    pictures = []
    for output in outputs:
        suffix = output.suffix[1:]
        if exhibit.figure is None or suffix == "json":
            write_text(output, TEXT_FORMATS[suffix](exhibit))
        elif suffix == "html":
            write_text(output, html_text(exhibit, output.with_suffix(".svg").name))
        else:
            pictures.append(output)
    if exhibit.figure is not None and pictures:
        import matplotlib as mpl  # slow, and tables need none of it

        from blimpworks.exhibits.style import take_literally

        with mpl.rc_context(FILE_SETTINGS):
            take_literally(exhibit.figure)
            # Arrange the figure once, so that all files have the same layout and bounds.
            exhibit.figure.draw_without_rendering()
            exhibit.figure.set_layout_engine(None)
            bounds = exhibit.figure.get_tightbbox().padded(MARGIN)
            for picture in pictures:
                suffix = picture.suffix[1:]
                options: dict[str, Any] = {"format": suffix, "metadata": METADATA[suffix]}
                with atomic(picture) as temporary:
                    exhibit.figure.savefig(temporary, dpi=PNG_DPI, bbox_inches=bounds, **options)


ENOUGH_PAIRS = 30
"""Number of pairs below which one pair moves an accuracy by more than three points."""
EXPLANATION = (
    f"If fewer than {ENOUGH_PAIRS} pairs were judged, parentheses show the numbers of pairs and of "
    "ties."
)


def show_few_pairs(exhibit: Exhibit) -> None:
    """Add the numbers of pairs and ties to accuracies of fewer than ``ENOUGH_PAIRS`` pairs."""
    few = {
        index: cell
        for index, cell in enumerate(exhibit.cells)
        if cell.ties is not None and cell.n is not None and cell.n < ENOUGH_PAIRS
    }
    if exhibit.figure is None and any(cell.printed for cell in few.values()):
        exhibit.caption = f"{exhibit.caption} {EXPLANATION}"
        for index, cell in few.items():
            ties = f", {counted(cell.ties, 'tie')}" if cell.ties else ""
            exhibit.cells[index] = replace(cell, text=f"{cell.text} (n = {cell.n}{ties})")


def build_exhibit(
    spec: ExhibitSpec,
    tables: Mapping[str, Sequence[Path]],
    labels: Labels,
    cells: Path,
    outputs: Sequence[Path],
) -> Exhibit:
    """Make an exhibit; write its cells and files; return it. Raises UserError for faulty tables."""
    published = labels.source == "published"
    if published and not spec.published:
        raise UserError(f"exhibit {spec.key} has no published form: the paper prints none of it.")
    needs = spec.published if published else spec.needs
    missing = [need for need in needs if not tables.get(need)]
    if missing:
        raise UserError(f"exhibit {spec.key} needs {', '.join(missing)}; pass --input NEED=PATH.")
    module, _, name = spec.function.partition(":")
    function: Callable[..., Exhibit] = getattr(importlib.import_module(module), name)
    arguments = (tables, labels, *filter(None, [spec.argument]))
    if spec.kind == "table":
        exhibit = function(*arguments)
    else:
        from blimpworks.exhibits.style import house_style  # slow, and tables need none of it

        with house_style():
            exhibit = function(*arguments)
    show_few_pairs(exhibit)
    if labels.items:
        exhibit.caption += f" Items: {labels.items}."
    write_table(exhibit.table(), CELLS, cells)
    render(exhibit, outputs)
    return exhibit
