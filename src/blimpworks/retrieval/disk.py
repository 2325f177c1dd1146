"""Where downloads are written, and what the disk may refuse. Imports no network."""

import errno
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from blimpworks.errors import UserError

PIECE = 1 << 16
"""Bytes written at a time; a cut loses at most this much of what had arrived."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)


def part_path(output: Path, url: str) -> Path:
    """Where the first bytes of ``output`` wait for the rest.

    Named after the address too: the beginning of one version must not be continued with
    the end of another.
    """
    key = hashlib.sha256(url.encode()).hexdigest()[:12]
    return output.with_name(f".{output.name}.{key}.part")


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn a full disk or a missing permission under ``path`` into a UserError."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or "").lower()
        if error.errno in _FULL:
            raise UserError(
                f"{path}: not enough room to write it ({reason}); free some in "
                f"{path.parent} and run again."
            ) from error
        if error.errno in _DENIED:
            raise UserError(
                f"{error.filename or path}: {reason}; give yourself the permission or "
                "choose another place."
            ) from error
        raise
