"""Build exhibits from tables and write them as files.

Tables become CSV, Markdown, LaTeX and HTML; figures PDF, PNG, SVG and HTML; both JSON.
"""

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from blimpworks.campaign.exhibit_spec import ExhibitSpec
from blimpworks.errors import UserError
from blimpworks.exhibits.exhibit import Exhibit, Labels
from blimpworks.exhibits.html import html_text
from blimpworks.exhibits.latex import latex_text
from blimpworks.exhibits.shared import counted
from blimpworks.exhibits.sheets import in_notation, json_text, sheets
from blimpworks.exhibits.texts import isolated, one_line, take_literally
from blimpworks.files import atomic, write_text
from blimpworks.tables import CELLS, write_table

PNG_DPI = 300
MARGIN = 0.1
"""Margin of figures, in inches."""
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
    return MEANING.sub(lambda sign: f"\\{sign[0]}", one_line(text))


def _markdown_text(text: str) -> str:
    escaped = "".join(f"\\{c}" if c in MARKDOWN_SIGNS else c for c in one_line(text))
    return isolated(escaped, RIGHT_TO_LEFT, END_OF_ISOLATE)


def csv_text(exhibit: Exhibit) -> str:
    """Return values to fifteen digits (texts for a textual exhibit), one line per row."""
    frame = exhibit.layout("text" if exhibit.textual else "value")
    return frame.map(lambda v: float(f"{v:.15g}") if isinstance(v, float) else v).to_csv(
        index=False, lineterminator="\n"
    )


def markdown_text(exhibit: Exhibit) -> str:
    """Return the table as printed, with title and caption, as Markdown."""
    escape = _markdown_text if exhibit.textual else _markdown
    printed_sheets = in_notation(sheets(exhibit), escape, "**{}**".format)
    columns = printed_sheets[0].columns
    named = any(upper and f"{upper} {lower}" == n for n, (upper, lower) in exhibit.heads.items())
    distinct = len({c.lower for c in columns}) == len(columns)
    uppers = {c.upper for s in printed_sheets for c in s.columns} - {""}
    if distinct and not named and len(uppers) == 1:
        # One heading over all columns, and no part of their names, says no more than the title.
        columns = tuple(replace(c, upper="") for c in columns)
    rows: list[list[str]] = []
    for number, sheet in enumerate(printed_sheets):
        # Markdown knows one line of headings; further ones are rows in bold.
        rows += [[f"**{c.heading}**" for c in sheet.columns]] if number and sheet.headed else []
        rows += [[entry.text for entry in entries] for entries in sheet.body]
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
    "json": json_text,
}


def render(exhibit: Exhibit, outputs: Sequence[Path]) -> None:
    """Write the exhibit in the formats of the files' suffixes; raise KeyError for unknown ones."""
    if exhibit.figure is None:
        for output in outputs:
            write_text(output, TEXT_FORMATS[output.suffix[1:]](exhibit))
        return
    for output in outputs:
        if output.suffix == ".html":
            write_text(output, html_text(exhibit, output.with_suffix(".svg").name))
        elif output.suffix == ".json":
            write_text(output, json_text(exhibit))
    if pictures := [output for output in outputs if output.suffix not in (".html", ".json")]:
        # Write a figure as PDF, PNG and SVG, whichever the suffixes name.
        import matplotlib as mpl  # slow, and tables need none of it

        with mpl.rc_context(FILE_SETTINGS):
            take_literally(exhibit.figure)
            exhibit.figure.draw_without_rendering()
            exhibit.figure.set_layout_engine(None)
            covered = exhibit.figure.get_tightbbox().padded(MARGIN)
            for picture in pictures:
                suffix = picture.suffix[1:]
                with atomic(picture) as temporary:
                    look: dict[str, Any] = {
                        "dpi": PNG_DPI,
                        "metadata": METADATA[suffix],
                        "bbox_inches": covered,
                    }
                    exhibit.figure.savefig(temporary, format=suffix, **look)


FEW = 30
"""Pairs below which one pair moves an accuracy by more than three points."""
EXPLANATION = (
    f"In parentheses where fewer than {FEW} pairs were judged: their number, and how many of them "
    "are ties."
)


def show_few_pairs(exhibit: Exhibit) -> None:
    """Add pairs and ties to a table's accuracies over fewer than ``FEW`` pairs."""
    cells, shown = [], False
    for cell in exhibit.cells:
        if cell.ties is not None and cell.n is not None and cell.n < FEW:
            ties = f", {counted(cell.ties, 'tie')}" if cell.ties else ""
            cells.append(replace(cell, text=f"{cell.text} (n = {cell.n}{ties})"))
            shown |= cell.printed
        else:
            cells.append(cell)
    if shown and exhibit.figure is None:
        exhibit.cells = cells
        exhibit.caption = f"{exhibit.caption} {EXPLANATION}"


def build_exhibit(
    spec: ExhibitSpec,
    tables: Mapping[str, Sequence[Path]],
    labels: Labels,
    cells: Path,
    outputs: Sequence[Path],
) -> Exhibit:
    """Write an exhibit's cells and files; return it. Raises UserError for a faulty table."""
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
