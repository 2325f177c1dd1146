"""SHA-256 of files as earlier checks have read them, for files that have not been touched since.

A file counts as untouched while its size, its inode, and the times of its last write and of its
last change of any kind are the same: the last of these nobody can set, so that an edit that keeps
size and date is noticed too. Who can edit this file, or the clock, can deceive it: ``--full``.
"""

import json
import time
from contextlib import suppress
from pathlib import Path

from blimpworks.files import sha256_of, write_text

FILE = Path(".snakemake/blimpworks-hashes.json")
"""Where hashes are kept, below the directory that the workflow runs in."""
SETTLED = 2_000_000_000
"""Nanoseconds after its last change in which a file may be changed again unnoticed, as file
systems keep time."""


def _state(path: Path) -> tuple[str, int]:
    """Size, inode and times of a file, and the later of the times. Raises OSError without one."""
    about = path.stat()
    times = about.st_mtime_ns, about.st_ctime_ns
    return f"{about.st_size} {about.st_ino} {times[0]} {times[1]}", max(times)


class Remembered:
    """Hashes of files, read again only where they have been touched."""

    def __init__(self, file: Path = FILE) -> None:
        """Take up what earlier checks have kept in ``file``."""
        self._file = file
        self._known: dict[str, str] = {}
        """State and SHA-256 of files by path, in one text; none where that is lost or damaged."""
        with suppress(OSError, ValueError):
            entries = json.loads(file.read_bytes())
            if isinstance(entries, dict):
                self._known = {path: str(entry) for path, entry in entries.items()}
        self.unread = 0
        """Files that did not have to be read."""

    def known(self, path: Path) -> str | None:
        """SHA-256 of a file that is as it was when it was read; None where it has to be read."""
        state, _, sha256 = self._known.get(str(path), "").rpartition(" ")
        with suppress(OSError):
            if state and state == _state(path)[0]:
                self.unread += 1
                return sha256
        return None

    def read(self, path: Path) -> str:
        """SHA-256 of a file as it is. Raises OSError when it cannot be read."""
        state, changed = _state(path)
        settled = time.time_ns() - changed > SETTLED
        sha256 = sha256_of(path)
        if settled:
            self._known[str(path)] = f"{state} {sha256}"
        return sha256

    def keep(self) -> None:
        """Keep all hashes for the next check, where the directory can be written in."""
        with suppress(OSError):
            write_text(self._file, json.dumps(self._known) + "\n")
