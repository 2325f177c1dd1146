"""Count the rows that an entry of a declaration reads and leaves out."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from blimpworks.errors import UserError

SHOWN = 20
"""Faults of an entry that a message lists."""
PLACE = re.compile(r"^([^:]+:\d+):? ")
"""File and line at the start of a fault."""


@dataclass
class Account:
    """Files, rows and items of an entry, counted while they are read."""

    entry: str
    """File of the declaration and key of the entry, for messages."""
    files: dict[str, str] = field(default_factory=dict)
    """Way of reading, by name of file."""
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """Rows that are no items, by the key that excludes them."""
    items: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    """Remarks on rows that are used, counted."""
    faults: list[str] = field(default_factory=list)
    """Sentences about rows that cannot be read."""

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep an error about a row among the faults, so that one message tells all."""
        try:
            yield
        except UserError as error:
            self.faults.append(str(error))

    def check_faults(self) -> None:
        """Raise UserError with the first faults, if any; equal ones of several rows once."""
        alike: dict[str, list[str]] = {}
        for fault in self.faults:
            alike.setdefault(PLACE.sub("", fault), []).append(fault)
        messages = []
        for faults in alike.values():
            locations = [match[1] for fault in faults[1:] if (match := PLACE.match(fault))]
            listed_locations = ", ".join(locations[: SHOWN - 1]) or "other rows"
            more = f", and {len(faults) - SHOWN:,} more" if len(faults) > SHOWN else ""
            messages.append(
                faults[0] + (f" The same at {listed_locations}{more}." if len(faults) > 1 else "")
            )
        if len(messages) > 1:
            more = f"; the first {SHOWN} of them" if len(messages) > SHOWN else ""
            lines = "\n".join(f"  {fault}" for fault in messages[:SHOWN])
            raise UserError(f"{self.entry}: {len(messages):,} faults{more}:\n{lines}")
        if messages:
            raise UserError(messages[0])

    def record(self) -> dict[str, Any]:
        """Return the account for a job's record."""
        used = self.rows - self.left_out.total()
        counts = {"files": len(self.files), "rows": self.rows, "used": used, "items": self.items}
        return counts | {"left_out": dict(self.left_out), "notes": dict(self.notes)}

    def lines(self) -> Iterator[str]:
        """Yield the account in lines for people."""
        used = self.rows - self.left_out.total()
        read = f"{len(self.files):,} file{'s' * (len(self.files) != 1)}, {self.rows:,} rows"
        yield f"{self.entry.rpartition(' ')[2]}: {read}, {used:,} used, {self.items:,} items"
        yield from (
            f"  left out by {key}: {n:,} row{'s' * (n != 1)}" for key, n in self.left_out.items()
        )
        yield from (f"  {note}: {n:,}" for note, n in self.notes.items())
