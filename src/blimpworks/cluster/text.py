"""Tables, times, amounts and hardware as plain text of a terminal's width."""

import io
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text
from tqdm import tqdm

WIDTH = 100
"""Columns of what is not printed on a terminal."""
NARROWEST = 16
"""Characters that a column of text is left at least."""


def terminal_width() -> int:
    """Columns of the terminal, or of the environment variable COLUMNS, or ``WIDTH``."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def duration(seconds: float | None) -> str:
    """A time of two digits or so: ``40 s``, ``12 min``, ``3 h 20``, ``2 d 4 h``."""
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


def amount(number: float | None) -> str:
    """A number of at most four digits or so: ``950``, ``12.3k``, ``4.56M``."""
    if number is None:
        return "-"
    return tqdm.format_sizeof(number) if number >= 9999.5 else f"{number:.0f}"


def number(value: float) -> str:
    """A number with about two figures that count: 12,345, 12, 1.2 or 0.12."""
    return f"{value:,.{0 if value >= 9.95 or not value else 1 if value >= 0.95 else 2}f}"


def clock(moment: datetime, today: datetime) -> str:
    """Local time of day, with the day where it is another one."""
    local = moment.astimezone()
    same = local.date() == today.astimezone().date()
    return f"{local:%H:%M}" if same else f"{local:%d %b %H:%M}"


def gpu_names(names: Sequence[str]) -> str:
    """GPUs, those of a kind counted: ``4x A100``; empty without any."""
    counted = Counter(name.removeprefix("NVIDIA ") for name in names)
    return ", ".join(f"{n}x {name}" if n > 1 else name for name, n in counted.items())


@dataclass(frozen=True, slots=True)
class Columns:
    """A table in columns two spaces apart, numbers to the right but columns ``left``.

    Where the terminal is too narrow, columns on the left are broken into lines; where that
    does not do, further columns go into tables below, each with the first column again.
    """

    rows: Sequence[Mapping[str, str]]
    """Cells by heading, all rows with the same headings."""
    left: Sequence[str] = ("model",)

    def _least(self, heading: str) -> int:
        """Characters that a column needs, and the two before it."""
        longest = max(map(len, [heading, *(row[heading] for row in self.rows)]))
        return 2 + (min(longest, NARROWEST) if heading in self.left else longest)

    def _groups(self, width: int) -> Iterable[list[str]]:
        """Headings of each table, all of which fit ``width`` characters."""
        first, *others = self.rows[0]
        group = [first]
        for heading in others:
            if sum(map(self._least, (*group, heading))) > width + 2:
                yield group
                group = [first]
            group.append(heading)
        yield group

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Table]:
        """The table or tables, as rich asks for them."""
        for group in self._groups(options.max_width):
            table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="none")
            for heading in group:
                text = heading in self.left
                side: Literal["left", "right"] = "left" if text else "right"
                table.add_column(heading, justify=side, no_wrap=not text, overflow="fold")
            for row in self.rows:
                table.add_row(*(row[heading] for heading in group))
            yield table


def shortened(line: str) -> Text:
    """A line that ends with an ellipsis where it is too long."""
    return Text(line, overflow="ellipsis")


def _wrapped(text: str, width: int) -> Text:
    below = " " * (len(text) - len(text.lstrip()) + 2)
    # Names have hyphens.
    lines = textwrap.wrap(
        text, width, subsequent_indent=below, break_long_words=False, break_on_hyphens=False
    )
    return Text("\n".join(lines))


def printed(blocks: Iterable[RenderableType], width: int) -> str:
    """Blocks below each other, in ``width`` columns.

    Strings are broken into lines between words, further lines indented by two; a ``Text`` is
    one line, however long where it is not ``shortened``.
    """
    sink = io.StringIO()
    console = Console(
        file=sink,
        width=width,
        force_terminal=False,
        force_jupyter=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    for block in blocks:
        content = _wrapped(block, width) if isinstance(block, str) else block
        overflow = content.overflow if isinstance(content, Text) else None
        console.print(content, no_wrap=True, overflow=overflow or "ignore", crop=False)
    return "\n".join(line.rstrip() for line in sink.getvalue().split("\n")).rstrip()
