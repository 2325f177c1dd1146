"""Count what is read of an entry of a declaration, and collect faults of its rows.

An ``Account`` of the entry ``data.0`` has the line ``data.0: 1 file, 12 rows, 10 used, 10 items``.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from blimpworks.errors import UserError

BLANK = "blank lines, which are passed over"
MOST_FAULTS = 20
LOCATION = re.compile(r"^([^:]+:\d+):? ")
"""File and line at the start of a fault."""


@dataclass
class Account:
    """Counts of an entry's files, rows and items, and its faults; all rows of an entry share it."""

    entry: str
    """File of the declaration and key of the entry, such as ``benchmark.yaml: key data.0``."""
    files: dict[str, str] = field(default_factory=dict)
    """Format, encoding and separator of each file, by its name."""
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of rows that each key of the entry leaves out, such as ``where.lang``."""
    items: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    """Number of rows by remark, such as ``{"items not in Unicode's NFC": 7}``."""
    faults: list[str] = field(default_factory=list)
    """Sentences about rows that cannot be read."""
    words_from: int = 0
    """Index of a sentence's first word, for templates."""
    allow_empty: tuple[str, ...] = ()
    """Columns that may be empty in a template."""
    columns: dict[str, bool] = field(default_factory=dict)
    """Whether rows before have a column, such as ``{"a.csv: lang": True}``, for ``has_column``."""
    left_out_lines: dict[str, list[int]] = field(default_factory=dict)
    """Lines that ``skip_lines`` and ``where`` leave out, by file; without those above the first row
    of the file, which are headings."""

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Add an error about a row to the faults, so that one message lists them all."""
        try:
            yield
        except UserError as error:
            self.faults.append(str(error))

    def check_faults(self) -> None:
        """Raise UserError with the first faults, if any; equal faults of several rows are one."""
        faults_by_text: dict[str, list[str]] = {}  # by the fault without its location
        for fault in self.faults:
            faults_by_text.setdefault(LOCATION.sub("", fault), []).append(fault)
        messages = []
        for first_fault, *equal_faults in faults_by_text.values():
            message = first_fault
            if equal_faults:
                listed = equal_faults[: MOST_FAULTS - 1]
                locations = [match[1] for match in map(LOCATION.match, listed) if match]
                n_more = len(equal_faults) - len(listed)
                more = f", and {n_more:,} more" if n_more else ""
                message += f" The same at {', '.join(locations) or 'other rows'}{more}."
            messages.append(message)
        if len(messages) > 1:
            more = f"; the first {MOST_FAULTS} of them" if len(messages) > MOST_FAULTS else ""
            lines = "\n".join(f"  {fault}" for fault in messages[:MOST_FAULTS])
            raise UserError(f"{self.entry}: {len(messages):,} faults{more}:\n{lines}")
        if messages:
            raise UserError(messages[0])

    def record(self) -> dict[str, Any]:
        """Return the numbers for a provenance record, such as ``{"rows": 12, "used": 10}``."""
        used = self.rows - self.left_out.total()
        counts = {"files": len(self.files), "rows": self.rows, "used": used, "items": self.items}
        return counts | {"left_out": dict(self.left_out), "notes": dict(self.notes)}

    def lines(self) -> Iterator[str]:
        """Yield the numbers as lines, such as ``data.0: 1 file, 12 rows, 10 used, 10 items``."""
        used = self.rows - self.left_out.total()
        counts = ((len(self.files), "file"), (self.rows, "row"), (self.items, "item"))
        files, rows, items = (f"{n:,} {noun}{'s' if n != 1 else ''}" for n, noun in counts)
        yield f"{self.entry.rpartition(' ')[2]}: {files}, {rows}, {used:,} used, {items}"
        for key, n in self.left_out.items():
            yield f"  left out by {key}: {n:,} {'row' if n == 1 else 'rows'}"
        for note, n in self.notes.items():
            yield f"  {note}: {n:,}"
