"""Exhibits as files: CSV, Markdown and LaTeX for tables; PDF, PNG and SVG for figures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd

from blimpworks.exhibits.exhibit import Exhibit
from blimpworks.files import atomic, write_text

PNG_DPI = 300
ABSENT = "–"
LATEX_ESCAPES = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    ABSENT: "--",
}
# Fixed, so that a rerun gives the same bytes.
# Matplotlib reads these when it writes; journals refuse Type 3 fonts, hence 42 (TrueType).
FILE_SETTINGS: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "blimpworks",
}
METADATA = {"pdf": {"CreationDate": None}, "png": {"Software": None}, "svg": {"Date": None}}


def _latex(text: str) -> str:
    return "".join(LATEX_ESCAPES.get(character, character) for character in text)


def _pipe_safe(text: str) -> str:
    return text.replace("|", "\\|")


def _printed(
    exhibit: Exhibit, escape: Callable[[str], str], bold: Callable[[str], str]
) -> pd.DataFrame:
    """The layout with escaped text, bold where it belongs, a dash where there is no cell."""
    frame = exhibit.layout()
    rows = list(frame.iloc[:, 0])
    for column in frame.columns:
        texts = map(escape, frame[column].where(frame[column].notna(), ABSENT).astype(str))
        frame[column] = [
            bold(text) if (row, column) in exhibit.bold else text
            for row, text in zip(rows, texts, strict=True)
        ]
    frame.columns = [escape(str(column)) for column in frame.columns]
    return frame


def _right_aligned(exhibit: Exhibit, frame: pd.DataFrame) -> list[bool]:
    """Which columns hold numbers: all but the row's name and what names it further."""
    stubs = next(iter(exhibit.stub.values()), {}).values()
    numbers = [text.isdecimal() for text in stubs]
    return [False, *numbers, *[True] * (len(frame.columns) - 1 - len(numbers))]


def csv_text(exhibit: Exhibit) -> str:
    """Values at full precision, one row per row of the table."""
    return exhibit.layout("value").to_csv(index=False, lineterminator="\n")


def markdown_text(exhibit: Exhibit) -> str:
    """The table as printed, with its title and caption, as a Markdown page."""
    frame = _printed(exhibit, _pipe_safe, lambda text: f"**{text}**")
    align = ["right" if right else "left" for right in _right_aligned(exhibit, frame)]
    table = frame.to_markdown(index=False, colalign=align, disable_numparse=True)
    return f"# {exhibit.title}\n\n{table}\n\n{exhibit.caption}\n"


def latex_text(exhibit: Exhibit) -> str:
    r"""The table as printed, as a LaTeX ``table`` that needs ``booktabs`` alone."""
    frame = _printed(exhibit, _latex, lambda text: f"\\textbf{{{text}}}")
    columns = "".join("r" if right else "l" for right in _right_aligned(exhibit, frame))
    lines = [" & ".join(row) + r" \\" for row in frame.to_numpy().tolist()]
    body = [
        r"\begin{table}",
        r"\centering\small",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(frame.columns) + r" \\",
        r"\midrule",
        *lines,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{_latex(exhibit.title)}. {_latex(exhibit.caption)}}}",
        r"\end{table}",
    ]
    return "\n".join(body) + "\n"


TEXT_FORMATS: dict[str, Callable[[Exhibit], str]] = {
    "csv": csv_text,
    "md": markdown_text,
    "tex": latex_text,
}


def render(exhibit: Exhibit, output: Path) -> None:
    """Write the exhibit in the format that the file's suffix names.

    Raises KeyError for a suffix that is no format of its kind.
    """
    suffix = output.suffix[1:]
    if exhibit.figure is None:
        write_text(output, TEXT_FORMATS[suffix](exhibit))
        return
    with (
        atomic(output) as temporary,
        mpl.rc_context(FILE_SETTINGS),
    ):
        exhibit.figure.savefig(
            temporary, format=suffix, dpi=PNG_DPI, metadata=METADATA[suffix], bbox_inches="tight"
        )
