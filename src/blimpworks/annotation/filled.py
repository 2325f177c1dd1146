"""What reading any filled sheet takes: whose it is, what saving may change, what to say of it."""

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from blimpworks.annotation.spreadsheet import Line
from blimpworks.errors import UserError

LISTED = 5
"""Wrong rows that a message names."""


def plain(text: str) -> str:
    """A text without what saving it from a spreadsheet may change."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def annotator_of(path: Path) -> str:
    """The annotator whose labels a file has, from its name: what stands behind the last dot."""
    return path.stem.rpartition(".")[2]


def refuse(problems: Sequence[str]) -> None:
    """Raise UserError with the first of some ``problems``, a line each, if there are any."""
    if problems:
        more = len(problems) - LISTED
        rest = [f"{more} more rows are wrong."] if more > 0 else []
        raise UserError("\n".join([*problems[:LISTED], *rest]))


def refuse_lines(path: Path, problems: Iterable[tuple[Line, str]]) -> None:
    """Raise UserError for the lines of a file that have a problem, a sentence that is not empty."""
    refuse([f"{path}:{line.number}: {problem}" for line, problem in problems if problem])
