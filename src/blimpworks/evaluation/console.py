"""Writing to a terminal of 80 columns: headings, paragraphs and tables without lines."""

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

WIDTH = 80
INDENT = 2


def plain_table(*headings: str, numbers: int = 1) -> Table:
    """A table without lines; columns from ``numbers`` on are numbers."""
    columns = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for position, heading in enumerate(headings):
        right = position >= numbers
        columns.add_column(
            heading, justify="right" if right else "left", no_wrap=right, overflow="fold"
        )
    return columns


def print_heading(console: Console, text: str) -> None:
    """Print a heading, with an empty line before it."""
    console.print()
    console.print(Text(text, style="bold"))


def say(console: Console, text: str, *, style: str = "", indent: int = 0) -> None:
    """Print a paragraph; what looks like markup in it is text."""
    console.print(
        Padding(Text(text, style=style, overflow="fold"), (0, 0, 0, indent), expand=False)
    )


def shorten(text: str, width: int) -> str:
    """A text of at most ``width`` cells, with … in its middle where something is left out."""
    left, right = text[: (len(text) + 1) // 2], text[(len(text) + 1) // 2 :]
    while cell_len(left) + cell_len(right) > (width if left + right == text else width - 1):
        left, right = (left[:-1], right) if len(left) >= len(right) else (left, right[1:])
    return text if left + right == text else f"{left.rstrip()}…{right.lstrip()}"


def beginning(text: str, width: int) -> str:
    """The beginning of a text in at most ``width`` cells, with … where it goes on."""
    if cell_len(text) <= width:
        return text
    while cell_len(text) > width - 1:
        text = text[:-1]
    return f"{text.rstrip()}…"
