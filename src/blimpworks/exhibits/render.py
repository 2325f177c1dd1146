"""Exhibits as files: CSV, Markdown, LaTeX and HTML for tables; PDF, PNG and SVG for figures."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.exhibits.exhibit import Exhibit
from blimpworks.exhibits.html import html_text
from blimpworks.exhibits.sheets import ABSENT, Column, Sheet, sheets
from blimpworks.exhibits.texts import take_literally
from blimpworks.files import atomic, write_text

PNG_DPI = 300
MARKDOWN_SIGNS = "\\|*_`<&~[]"
# Signs where they would mean something to Markdown or the mathematics in it: inside words, before
# digits or spaces they stay as they are.
MEANING = re.compile(
    r"""[|`] | [\\](?=[!-/:-@\[-`{-~]) | <(?=[a-z/!?]) | &(?=\#?\w+;) | \$(?=.*\$) | \*(?=\w)
    | (?<![^\W_])\*(?=\S) | (?<![^\W_])_ | _(?![^\W_]) | ~(?=~) | \[(?=[^\]]*\]\()""",
    re.IGNORECASE | re.VERBOSE,
)
BREAKS = re.compile(r"\s*[\n\r\v\f\x85\u2028\u2029]\s*")
RIGHT_TO_LEFT, END_OF_ISOLATE = "\u2067", "\u2069"
SCRIPTS = r"""% Many scripts: compile with LuaLaTeX or XeLaTeX and fonts that have them (Noto).
% With babel, in the preamble: \usepackage[bidi=basic]{babel} \babelprovide[import]{urdu}
% \babelfont[urdu]{rm}{Amiri} \newcommand{\righttoleft}[1]{\foreignlanguage{urdu}{#1}}
\providecommand{\righttoleft}[1]{\ifdefined\textdir{\textdir TRT #1}\else
  \ifdefined\TeXXeTstate{\TeXXeTstate=1\beginR #1\endR}\else#1\fi\fi}
"""
# Rows of a LaTeX table that a page holds; columns that it holds in small type, and that one of two
# columns of a page holds.
LONG, WIDE, NARROW = 50, 7, 4
LATEX_ESCAPES = (
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": "$-$",
        "²": r"\textsuperscript{2}",
        "β": r"$\beta$",
        "␣": r"\textvisiblespace{}",
        ABSENT: "--",
    }
    | {chr(ord("₀") + digit): f"$_{digit}$" for digit in range(10)}
)
# Fixed, so that a rerun gives the same bytes.
# Matplotlib reads these when it writes; journals refuse Type 3 fonts, hence 42 (TrueType).
FILE_SETTINGS: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "blimpworks",
    "text.parse_math": False,
}
METADATA = {"pdf": {"CreationDate": None}, "png": {"Software": None}, "svg": {"Date": None}}


def _latex(text: str) -> str:
    line = BREAKS.sub(" ", text)
    return "".join(LATEX_ESCAPES.get(character, character) for character in line)


def _markdown(text: str) -> str:
    """A label or number: what would mean something to Markdown stands for itself."""
    return MEANING.sub(lambda sign: f"\\{sign[0]}", BREAKS.sub(" ", text))


def _isolated(text: str, before: str, after: str) -> str:
    """``text`` within two marks if it is written from right to left, so that it stands alone."""
    kinds = (unicodedata.bidirectional(c) for c in text)
    first = next((kind for kind in kinds if kind in ("L", "R", "AL")), "L")
    return text if first == "L" else f"{before}{text}{after}"


def _markdown_text(text: str) -> str:
    """Running text: no character of it means anything to Markdown."""
    line = BREAKS.sub(" ", text)
    escaped = "".join(f"\\{c}" if c in MARKDOWN_SIGNS else c for c in line)
    return _isolated(escaped, RIGHT_TO_LEFT, END_OF_ISOLATE)


def _latex_text(text: str) -> str:
    return _isolated(_latex(text), r"\righttoleft{", "}")


def _clean(value: object) -> object:
    """A number without what floating point adds to it: 99.4, not 99.40000000000002."""
    return float(f"{value:.15g}") if isinstance(value, float) else value


def csv_text(exhibit: Exhibit) -> str:
    """Values to fifteen digits (or texts, of an exhibit of texts), one line per row."""
    frame = exhibit.layout("text" if exhibit.textual else "value")
    return frame.map(_clean).to_csv(index=False, lineterminator="\n")


def markdown_text(exhibit: Exhibit) -> str:
    """The table as printed, with its title and caption, as a Markdown page."""
    escape = _markdown_text if exhibit.textual else _markdown
    printed_sheets = list(sheets(exhibit, escape, lambda text: f"**{text}**"))
    columns = printed_sheets[0].columns
    named = any(upper and f"{upper} {lower}" == n for n, (upper, lower) in exhibit.heads.items())
    distinct = len({c.lower for c in columns}) == len(columns)
    uppers = {c.upper for s in printed_sheets for c in s.columns} - {""}
    if distinct and not named and len(uppers) == 1:
        # One heading over all columns, and no part of their names, says no more than the title.
        columns = tuple(replace(c, upper="") for c in columns)
    rows = list(printed_sheets[0].body)
    for sheet in printed_sheets[1:]:
        # Markdown knows one line of headings; further ones are rows in bold.
        rows += [[f"**{c.heading}**" for c in sheet.columns]] if sheet.headed else []
        rows += sheet.body
    # Sections may have fewer columns than the widest one.
    width = max(len(s.columns) for s in printed_sheets)
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    missing = width - len(columns)
    table = pd.DataFrame(
        padded, columns=[*(c.heading for c in columns), *[""] * missing]
    ).to_markdown(
        index=False,
        colalign=["right" if c.right else "left" for c in columns] + ["right"] * missing,
        disable_numparse=True,
    )
    return f"# {_markdown(exhibit.title)}\n\n{table}\n\n{_markdown(exhibit.caption)}\n"


def _latex_column(column: Column) -> str:
    if column.width:
        return rf">{{\raggedright\arraybackslash}}p{{{column.width:g}\linewidth}}"
    return "r" if column.right else "l"


def _latex_headings(columns: Sequence[Column]) -> list[str]:
    """One line of headings, or two: the upper ones span their columns, with a rule below."""
    lines = []
    if any(c.upper for c in columns):
        cells, rules, at = [], [], 1
        for upper, group in groupby(columns, key=lambda c: c.upper):
            span = len(list(group))
            cells.append(rf"\multicolumn{{{span}}}{{c}}{{{upper}}}" if upper else "& " * (span - 1))
            rules += [rf"\cmidrule(lr){{{at}-{at + span - 1}}}"] if upper else []
            at += span
        lines += [" & ".join(cells) + r" \\", "".join(rules)]
    return [*lines, _latex_row([c.lower for c in columns])]


def _latex_row(cells: Sequence[str]) -> str:
    r"""A line of a table; ``\\\\`` before it would take a bracket or a star as its own."""
    line = " & ".join(cells)
    return (f"{{}}{line}" if line.startswith(("[", "*")) else line) + r" \\"


def _breakable(text: str, column: Column) -> str:
    """A cell of running text, whose lines may end within names like ``anaphor_gender``."""
    return text.replace(r"\_", r"\_\allowbreak{}") if column.width else text


def _latex_body(printed_sheets: Sequence[Sheet]) -> list[str]:
    """Headings and rows, with a rule around each part."""
    lines = [r"\toprule"]
    for number, sheet in enumerate(printed_sheets):
        lines += [r"\midrule"] if number else []
        if sheet.headed:
            lines += [*_latex_headings(sheet.columns), r"\midrule"]
        for row in sheet.body:
            pairs = zip(row, sheet.columns, strict=True)
            lines.append(_latex_row([_breakable(text, column) for text, column in pairs]))
    return [*lines, r"\bottomrule"]


def latex_text(exhibit: Exhibit) -> str:
    r"""The table as printed, as LaTeX for a page of one column or two.

    It needs ``booktabs``, ``array`` and ``adjustbox``, which makes a table smaller where it would
    be wider than the line or higher than the page. A table of many columns, or of running text,
    takes the width of the page (``table*``). One of more than ``LONG`` rows comes in several parts,
    with the headings on each: ``longtable`` does not work in two columns.
    """
    escape = _latex_text if exhibit.textual else _latex
    printed_sheets = list(sheets(exhibit, escape, lambda text: f"\\textbf{{{text}}}"))
    widest = max((sheet.columns for sheet in printed_sheets), key=len)
    caption = f"{_latex(exhibit.title)}. {_latex(exhibit.caption)}"
    broad = len(widest) > NARROW or any(column.width for column in widest)
    parts = list(_parts(printed_sheets))
    floats = [
        _latex_float(_latex_body(part), widest, _part_caption(caption, number, len(parts)), broad)
        for number, part in enumerate(parts)
    ]
    return (SCRIPTS if exhibit.textual else "") + "\n".join(floats) + "\n"


def _parts(printed_sheets: Sequence[Sheet]) -> Iterator[list[Sheet]]:
    """Sections in parts of at most ``LONG`` rows; the first of each part has its headings."""
    part: list[Sheet] = []
    room = LONG
    for sheet in printed_sheets:
        rows = sheet.body
        while len(rows) > room:
            if room:
                part.append(replace(sheet, body=rows[:room], headed=sheet.headed or not part))
            yield part
            part, rows, room = [], rows[room:], LONG
        part.append(replace(sheet, body=rows, headed=sheet.headed or not part))
        room -= len(rows)
    yield part


def _part_caption(caption: str, number: int, count: int) -> str:
    """LaTeX below a part of a table: its caption, or which part it is of the table before it."""
    if number == 0:
        return rf"\caption{{{caption}}}"
    return rf"\par\smallskip (continued: part {number + 1} of {count})"


def _latex_float(body: Sequence[str], columns: Sequence[Column], caption: str, broad: bool) -> str:
    """A table or ``table*`` no larger than its place, with a caption below it."""
    name, width = ("table*", r"\textwidth") if broad else ("table", r"\columnwidth")
    size = r"\small" if len(columns) <= WIDE else r"\footnotesize\setlength{\tabcolsep}{3pt}"
    limits = rf"max width={width},max totalheight=0.8\textheight"
    lines = [rf"\begin{{{name}}}", r"\centering" + size, rf"\begin{{adjustbox}}{{{limits}}}"]
    lines += [rf"\begin{{tabular}}{{{''.join(map(_latex_column, columns))}}}", *body]
    lines += [r"\end{tabular}", r"\end{adjustbox}", caption, rf"\end{{{name}}}"]
    return "\n".join(lines)


TEXT_FORMATS: dict[str, Callable[[Exhibit], str]] = {
    "csv": csv_text,
    "md": markdown_text,
    "tex": latex_text,
    "html": html_text,
}


def render(exhibit: Exhibit, output: Path) -> None:
    """Write the exhibit in the format that the file's suffix names.

    Raises KeyError for a suffix that is no format of its kind.
    """
    suffix = output.suffix[1:]
    if exhibit.figure is None:
        write_text(output, TEXT_FORMATS[suffix](exhibit))
        return
    if suffix == "html":
        write_text(output, html_text(exhibit, output.with_suffix(".svg").name))
        return
    import matplotlib as mpl  # slow, and tables need none of it

    with (
        atomic(output) as temporary,
        mpl.rc_context(FILE_SETTINGS),
    ):
        take_literally(exhibit.figure)
        exhibit.figure.savefig(
            temporary, format=suffix, dpi=PNG_DPI, metadata=METADATA[suffix], bbox_inches="tight"
        )
