"""Checksums of files, and how a file differs from what it should be."""

import hashlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from blimpworks.files import sha256_of

SHA256, GIT_BLOB, MD5 = "SHA-256", "git blob id", "MD5"
_md5 = partial(hashlib.md5, usedforsecurity=False)


def git_blob_of(path: Path) -> str:
    """The id that git gives to a file's content, as ``git hash-object`` says it.

    SHA-1 of ``blob``, the size in bytes, a NUL and the content, as 40 hexadecimal digits. Raises
    OSError when the file cannot be read.
    """
    # Git chose SHA-1; a file is checked by SHA-256 too, from its first download on.
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, lambda: digest).hexdigest()


@dataclass(frozen=True, slots=True)
class Checksum:
    """What a file's content must give."""

    kind: str
    """``SHA256``, ``GIT_BLOB`` or ``MD5``."""
    digest: str
    """Lower-case hexadecimal digits."""
    bytes: int | None = None
    """Size of the file, where known."""
    origin: str = ""
    """Who says so, for messages; empty for the catalogue."""

    def __str__(self) -> str:
        """Kind and digits, as ``git blob id 7bf2969f…``."""
        return f"{self.kind} {self.digest}"

    def problem(self, path: Path) -> str | None:
        """How a file differs, as the rest of a sentence about it; None where it does not."""
        by = f", which {self.origin}" if self.origin else ""
        size = path.stat().st_size
        if self.bytes is not None and size != self.bytes:
            number = f"{size:,}" if size < self.bytes else "more"
            return f"has {number} bytes, expected {self.bytes:,}{by}"
        if self.kind == MD5:
            with path.open("rb") as handle:
                digest = hashlib.file_digest(handle, _md5).hexdigest()
        else:
            digest = (sha256_of if self.kind == SHA256 else git_blob_of)(path)
        same = digest == self.digest
        return None if same else f"has {self.kind} {digest}, expected {self.digest}{by}"
