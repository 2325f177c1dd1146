"""Exhibits as files: CSV, Markdown, LaTeX and HTML for tables; PDF, PNG and SVG for figures."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from blimpworks.exhibits.exhibit import Exhibit
from blimpworks.exhibits.html import html_text
from blimpworks.exhibits.latex import latex_text
from blimpworks.exhibits.sheets import sheets
from blimpworks.exhibits.texts import isolated, one_line, take_literally
from blimpworks.files import atomic, write_text

if TYPE_CHECKING:  # slow to import, and tables need none of it
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

PNG_DPI = 300
MARGIN = 0.1
"""Around figures, in inches."""
MARKDOWN_SIGNS = "\\|*_`<&~[]"
# Signs where they would mean something to Markdown or the mathematics in it: inside words, before
# digits or spaces they stay as they are.
MEANING = re.compile(
    r"""[|`] | [\\](?=[!-/:-@\[-`{-~]) | <(?=[a-z/!?]) | &(?=\#?\w+;) | \$(?=.*\$) | \*(?=\w)
    | (?<![^\W_])\*(?=\S) | (?<![^\W_])_ | _(?![^\W_]) | ~(?=~) | \[(?=[^\]]*\]\()""",
    re.IGNORECASE | re.VERBOSE,
)
RIGHT_TO_LEFT, END_OF_ISOLATE = "\u2067", "\u2069"
# Fixed, so that a rerun gives the same bytes.
# Matplotlib reads these when it writes; journals refuse Type 3 fonts, hence 42 (TrueType).
FILE_SETTINGS: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "blimpworks",
    "text.parse_math": False,
}
METADATA = {"pdf": {"CreationDate": None}, "png": {"Software": None}, "svg": {"Date": None}}


def _markdown(text: str) -> str:
    """A label or number: what would mean something to Markdown stands for itself."""
    return MEANING.sub(lambda sign: f"\\{sign[0]}", one_line(text))


def _markdown_text(text: str) -> str:
    """Running text: no character of it means anything to Markdown."""
    escaped = "".join(f"\\{c}" if c in MARKDOWN_SIGNS else c for c in one_line(text))
    return isolated(escaped, RIGHT_TO_LEFT, END_OF_ISOLATE)


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


TEXT_FORMATS: dict[str, Callable[[Exhibit], str]] = {
    "csv": csv_text,
    "md": markdown_text,
    "tex": latex_text,
    "html": html_text,
}


def _lay_out(figure: "Figure") -> "Bbox":
    """Lay out a figure, once for all its formats, and return what it covers, in inches."""
    take_literally(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine(None)
    return figure.get_tightbbox().padded(MARGIN)


def _draw(figure: "Figure", outputs: Sequence[Path]) -> None:
    """Write a figure as PDF, PNG and SVG, whichever the suffixes name."""
    import matplotlib as mpl  # slow, and tables need none of it

    with mpl.rc_context(FILE_SETTINGS):
        covered = _lay_out(figure)
        for output in outputs:
            suffix = output.suffix[1:]
            with atomic(output) as temporary:
                figure.savefig(
                    temporary,
                    format=suffix,
                    dpi=PNG_DPI,
                    metadata=METADATA[suffix],
                    bbox_inches=covered,
                )


def render(exhibit: Exhibit, outputs: Sequence[Path]) -> None:
    """Write the exhibit in the formats that the files' suffixes name.

    Raises KeyError for a suffix that is no format of its kind.
    """
    if exhibit.figure is None:
        for output in outputs:
            write_text(output, TEXT_FORMATS[output.suffix[1:]](exhibit))
        return
    pages = [output for output in outputs if output.suffix == ".html"]
    for page in pages:
        write_text(page, html_text(exhibit, page.with_suffix(".svg").name))
    if pictures := [output for output in outputs if output not in pages]:
        _draw(exhibit.figure, pictures)
