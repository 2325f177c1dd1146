"""Verify received files by checksums, and explain errors of the disk while they are written.

``sources`` and ``download`` use these functions; ``Checksum.problem`` says how a file differs.
"""

import errno
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from blimpworks.errors import UserError
from blimpworks.files import sha256_of

SHA256, GIT_BLOB, MD5 = "SHA-256", "git blob id", "MD5"
_md5 = partial(hashlib.md5, usedforsecurity=False)


def git_blob_of(path: Path) -> str:
    """Return the id that ``git hash-object`` gives to a file, as 40 hexadecimal digits.

    It is the SHA-1 of ``blob``, the size in bytes, a NUL and the content. Raises OSError when the
    file cannot be read.
    """
    # Git uses SHA-1; from the first download on, files are verified by SHA-256 too.
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, lambda: digest).hexdigest()


@dataclass(frozen=True, slots=True)
class Checksum:
    """Expected checksum and size of a file."""

    algorithm: str
    """``SHA256``, ``GIT_BLOB`` or ``MD5``."""
    digest: str
    """Lower-case hexadecimal digits."""
    bytes: int | None = None
    """Size of the file, if known."""
    origin: str = ""
    """Source of the checksum, as a clause after "which" in messages; empty for the catalogue."""

    def __str__(self) -> str:
        """Return method and digits, such as ``git blob id 7bf2969f…``."""
        return f"{self.algorithm} {self.digest}"

    def problem(self, path: Path) -> str | None:
        """Describe how a file differs, as the end of a sentence; None if it does not."""
        source = f", which {self.origin}" if self.origin else ""
        size = path.stat().st_size
        if self.bytes is not None and size != self.bytes:
            number = f"{size:,}" if size < self.bytes else "more"
            return f"has {number} bytes, expected {self.bytes:,}{source}"
        if self.algorithm == MD5:
            with path.open("rb") as handle:
                digest = hashlib.file_digest(handle, _md5).hexdigest()
        else:
            digest = (sha256_of if self.algorithm == SHA256 else git_blob_of)(path)
        if digest == self.digest:
            return None
        return f"has {self.algorithm} {digest}, expected {self.digest}{source}"


class NotReceived(UserError):
    """An address did not give a file; another address may."""

    def __init__(self, message: str, cause: str) -> None:
        """Set the message, and a short ``cause`` with the address."""
        super().__init__(message)
        self.cause = cause


PIECE = 1 << 16
"""Bytes that are written at a time; a broken download loses no more."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)


def part_path(output: Path, url: str) -> Path:
    """Return the path of a partial download of ``output``, which depends on the address."""
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
                "choose another directory."
            ) from error
        raise
