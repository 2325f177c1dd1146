"""SHA-256 of untouched files from earlier checks.

A file is untouched while its size, inode, time of last write and time of last change are the same.
Nobody can set the last, so it shows edits that keep size and date. Whoever can edit this file, or
the clock, can deceive it: ``--full`` reads all.
"""

import json
import time
from contextlib import suppress
from pathlib import Path

from blimpworks.files import sha256_of, write_text

FILE = Path(".snakemake/blimpworks-hashes.json")
"""File of hashes, below the workflow's directory."""
SETTLED = 2_000_000_000
"""Nanoseconds after a change in which file systems may miss another change."""


def _state(path: Path) -> tuple[str, int]:
    """Return size, inode and times of a file, and the later time. Raises OSError without one."""
    about = path.stat()
    times = about.st_mtime_ns, about.st_ctime_ns
    return f"{about.st_size} {about.st_ino} {times[0]} {times[1]}", max(times)


class Remembered:
    """Hashes of files, computed again only for touched ones."""

    def __init__(self, file: Path = FILE) -> None:
        """Load the hashes of earlier checks from ``file``."""
        self._file = file
        self._known: dict[str, str] = {}
        """State and SHA-256 of files by path, in one text; none where that is lost or damaged."""
        with suppress(OSError, ValueError):
            entries = json.loads(file.read_bytes())
            if isinstance(entries, dict):
                self._known = {path: str(entry) for path, entry in entries.items()}
        self.skipped = 0
        """Files that did not have to be read."""

    def known(self, path: Path) -> str | None:
        """Return the SHA-256 of an untouched file, else None."""
        state, _, sha256 = self._known.get(str(path), "").rpartition(" ")
        with suppress(OSError):
            if state and state == _state(path)[0]:
                self.skipped += 1
                return sha256
        return None

    def read(self, path: Path) -> str:
        """Return the SHA-256 of a file. Raises OSError when it cannot be read."""
        state, changed = _state(path)
        settled = time.time_ns() - changed > SETTLED
        sha256 = sha256_of(path)
        if settled:
            self._known[str(path)] = f"{state} {sha256}"
        return sha256

    def keep(self) -> None:
        """Write all hashes for the next check, where the directory is writable."""
        with suppress(OSError):
            write_text(self._file, json.dumps(self._known) + "\n")
