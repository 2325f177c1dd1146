"""Few downloads at once from one host, whatever the number of jobs on this machine."""

import fcntl
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from blimpworks.errors import UserError

AT_ONCE = 4
"""Downloads from a host."""
PAUSE = 0.2
"""Seconds between two looks for a free slot."""


@contextmanager
def slot(host: str) -> Iterator[None]:
    """A block that holds one of the ``AT_ONCE`` slots of a host; waits until one is free."""
    folder = Path(tempfile.gettempdir(), f"blimpworks-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise UserError(f"{folder} is another user's; remove it, or set TMPDIR to a directory.")
    key, number = hashlib.sha256(host.encode()).hexdigest()[:16], 0
    while True:
        with (folder / f"{key}.{number}").open("w", encoding="utf-8") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # another job has this slot
                number = (number + 1) % AT_ONCE
            else:
                yield
                return
        time.sleep(0 if number else PAUSE)
