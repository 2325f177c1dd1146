"""Times, amounts and hardware in words, as short as a table needs them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from blimpworks.campaign.parts import ANSWERS

WIDTH = 100
"""Columns of a terminal."""


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
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= size:
            value = number / (1e3 if unit == "k" else size)
            return f"{value:.{max(0, 2 - len(str(int(value))) + 1)}f}{unit}"
    return f"{number:.0f}"


def clock(moment: datetime, today: datetime) -> str:
    """Local time of day, with the day where it is another one."""
    local = moment.astimezone()
    same = local.date() == today.astimezone().date()
    return f"{local:%H:%M}" if same else f"{local:%d %b %H:%M}"


def cards(names: Sequence[str]) -> str:
    """GPUs, those of a kind counted: ``4x A100``; empty without any."""
    counted = Counter(name.removeprefix("NVIDIA ") for name in names)
    return ", ".join(f"{n}x {name}" if n > 1 else name for name, n in counted.items())


SHORT_ANSWERS = " (ans.)"
"""What stands for the mark of answers where a title is too long for its column."""


def shortened(text: str, width: int) -> str:
    """``text`` cut to ``width`` characters."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def named(title: str, width: int) -> str:
    """The title of a model's scores or answers, shortened so that one sees which they are."""
    if len(title) <= width or not title.endswith(ANSWERS):
        return shortened(title, width)
    return shortened(title.removesuffix(ANSWERS), width - len(SHORT_ANSWERS)) + SHORT_ANSWERS


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """A table in columns two spaces apart, numbers to the right but columns ``left``."""
    cells = [head, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = (
        "  ".join(
            text.ljust(width) if i in left else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )
    return "\n".join(lines)


def cut(text: str, width: int = WIDTH) -> str:
    """``text`` with each line cut to ``width`` characters."""
    return "\n".join(shortened(line, width) for line in text.split("\n"))
