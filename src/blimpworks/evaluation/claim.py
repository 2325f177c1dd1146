"""Keeping two processes from running the same evaluation at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from blimpworks.errors import UserError


@contextmanager
def claimed(folder: Path) -> Iterator[int]:
    """Keep others out of an evaluation's folder, which is made where there is none.

    Yields the file descriptor that holds the lock. The lock ends with the last process that has
    the descriptor open, so unlike Snakemake's own it doesn't outlive a power cut or a killed
    process: the same command can go on.

    Raises UserError where another process runs the evaluation.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some disks of networks lock no directories: there nothing keeps others out.
        with suppress(OSError):
            _lock(descriptor, folder)
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UserError(
            f"another process is running the evaluation in {folder}; wait until it is done or "
            "stop it, or name another directory."
        ) from None
