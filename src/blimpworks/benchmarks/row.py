"""A row of a file, from whichever format."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.entries import Rules
from blimpworks.benchmarks.readers import as_text


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file: its cells by column, and where it stands."""

    cells: Mapping[str, Any]
    file: str
    """Name of the file; of one inside an archive ARCHIVE/MEMBER."""
    line: int
    """Line, row or record, from 1."""
    account: Account
    """Account of the entry that reads the row."""
    rules: Rules = field(default_factory=Rules)
    """How templates are read in it."""

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.file}:{self.line}"


def is_one_of(value: object, among: object) -> bool:
    """Whether a cell is one of some values, or the only one, whatever their types and case."""
    several = among if isinstance(among, tuple | list) else (among,)
    return compared(value) in map(compared, several)


def compared(value: object) -> str:
    """A cell's text as values are compared: without case, and 1.0 like 1."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", as_text(value).strip().casefold())
