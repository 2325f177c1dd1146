"""Few downloads at once from one host, whatever the number of jobs on this machine."""

import fcntl
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from blimpworks.errors import UserError

AT_ONCE = 4
"""Downloads from a host."""
PAUSE = 0.2
"""Seconds between two looks for a free slot."""


def _folder() -> Path:
    """Directory of this user's locks, which nobody else can write to."""
    folder = Path(tempfile.gettempdir(), f"blimpworks-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise UserError(f"{folder} is another user's; remove it, or set TMPDIR to a directory.")
    return folder


def _taken(path: Path) -> IO[str] | None:
    """The open file, locked until it is closed; None where another process has locked it."""
    handle = path.open("w", encoding="utf-8")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        return None
    return handle


@contextmanager
def slot(host: str) -> Iterator[None]:
    """A block that holds one of the ``AT_ONCE`` slots of a host; waits until one is free."""
    key, folder = hashlib.sha256(host.encode()).hexdigest()[:16], _folder()
    paths = [folder / f"{key}.{number}" for number in range(AT_ONCE)]
    while (handle := next(filter(None, map(_taken, paths)), None)) is None:
        time.sleep(PAUSE)
    with handle:
        yield
