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


def _key(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]


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
    paths = [_folder() / f"{_key(host)}.{number}" for number in range(AT_ONCE)]
    with _one_of(paths):
        yield


@contextmanager
def exclusive(name: str) -> Iterator[None]:
    """A block that no other process of this user on this machine runs at once under a name."""
    with _one_of([_folder() / _key(name)]):
        yield


def _one_of(paths: list[Path]) -> IO[str]:
    """The first of some files that is free, locked; waits until one is."""
    while (handle := next(filter(None, map(_taken, paths)), None)) is None:
        time.sleep(PAUSE)
    return handle
