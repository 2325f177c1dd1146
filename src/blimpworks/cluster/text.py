"""Format tables (``TextTable``), times and numbers as text of a terminal's width (``printed``)."""

import io
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text
from tqdm import tqdm

DEFAULT_WIDTH = 120
"""Characters in a line of output that is not a terminal."""
NARROWEST = 16
"""Least width of a text column in characters."""
SPACE = 2
"""Characters between two columns of a table."""


def terminal_width() -> int:
    """Return the characters in a line of the terminal.

    The variable COLUMNS overrides them. Without a terminal, return ``DEFAULT_WIDTH``.
    """
    return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns


def duration(seconds: float | None) -> str:
    """Format a time in about two digits: ``40 s``, ``12 min``, ``3 h 20``, ``2 d 4 h``."""
    if seconds is None:
        return "?"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d}"
    return f"{hours // 24} d {hours % 24} h"


def count_text(count: float | None) -> str:
    """Format a count, shortened from 10,000 on: ``950``, ``12.3k``, ``4.56M``; None as ``-``."""
    if count is None:
        return "-"
    return tqdm.format_sizeof(count) if count >= 9999.5 else f"{count:.0f}"


def number_text(value: float) -> str:
    """Format a number, whole from 10 on: ``12,345``, ``12``, ``1.2`` or ``0.12``."""
    if value >= 9.95 or not value:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table for the terminal, with ``text_columns`` aligned to the left and others to the right.

    On a narrow terminal, cells of text columns wrap. Columns that do not fit follow in further
    tables below, each with the first column again.
    """

    rows: Sequence[Mapping[str, str]]
    """Cells by heading; all rows have the same headings."""
    text_columns: Sequence[str] = ("model",)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Table]:
        first, *further = self.rows[0]
        # Least width of each column, with the space after it, which the last column does not need.
        widths: dict[str, int] = {}
        for heading in self.rows[0]:
            longest = max(map(len, [heading, *(row[heading] for row in self.rows)]))
            is_text = heading in self.text_columns
            widths[heading] = (min(longest, NARROWEST) if is_text else longest) + SPACE
        groups: list[list[str]] = [[first]]  # headings of each table
        for heading in further:
            width = sum(widths[name] for name in (*groups[-1], heading)) - SPACE
            if width > options.max_width:
                groups.append([first])
            groups[-1].append(heading)
        for group in groups:
            table = Table(box=None, padding=(0, SPACE, 0, 0), pad_edge=False, header_style="none")
            for heading in group:
                is_text = heading in self.text_columns
                side: Literal["left", "right"] = "left" if is_text else "right"
                table.add_column(heading, justify=side, no_wrap=not is_text, overflow="fold")
            for row in self.rows:
                table.add_row(*(row[heading] for heading in group))
            yield table


def shortened(line: str) -> Text:
    """Return a line that ``printed`` cuts at the width, with an ellipsis at its end."""
    return Text(line, overflow="ellipsis")


def printed(blocks: Iterable[RenderableType], width: int) -> str:
    """Render blocks below each other, in lines of ``width`` characters.

    Strings wrap between words; their further lines are indented by two. Lines of a ``Text`` keep
    their length, even beyond ``width``, unless the text is ``shortened``.
    """
    sink = io.StringIO()
    console = Console(
        file=sink, width=width, force_terminal=False, force_jupyter=False, markup=False, emoji=False
    )
    # Break no names such as gemma-3-27b, and no paths.
    wrap = partial(textwrap.wrap, width=width, break_long_words=False, break_on_hyphens=False)
    for block in blocks:
        content = block
        if isinstance(block, str):
            below = " " * (len(block) - len(block.lstrip()) + 2)
            content = Text("\n".join(wrap(block, subsequent_indent=below)))
        # Cut only a ``shortened`` text; other lines with long words are longer than the width.
        overflow = content.overflow if isinstance(content, Text) else None
        console.print(content, no_wrap=True, overflow=overflow or "ignore", crop=False)
    return "\n".join(line.rstrip() for line in sink.getvalue().split("\n")).rstrip()
