"""Files that are either whole or absent, and their checksums."""

import csv
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RECORD_SUFFIX = ".prov.json"


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, as 64 hexadecimal digits.

    Raises OSError when the file cannot be read.
    """
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def fsync_directory(path: Path) -> None:
    """Make a rename in directory ``path`` survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it there once the block succeeds.

    The file is flushed to disk before the rename, so a reader sees the old file or the
    whole new one. On any exception the temporary file is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as handle:
            os.fsync(handle.fileno())
        temporary.replace(path)
        fsync_directory(path.parent)
    except OSError as error:
        # A failing write does not say where.
        error.filename = error.filename or str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 ``text`` to ``path`` atomically, with LF line ends."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def read_cells(path: Path) -> list[dict[str, str]]:
    """Rows of a tab-separated table that stands beside the code, by its headings."""
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


class Listing:
    """Which files there are, looked up a directory at a time.

    Of thousands of files on a network's disk, each costs a question; this asks once for each
    directory, and knows nothing of what changes afterwards.
    """

    def __init__(self) -> None:
        """Ask nothing yet."""
        self._names: dict[Path, set[str]] = {}

    def __contains__(self, path: Path) -> bool:
        """Whether a file or directory is there."""
        if path.parent not in self._names:
            try:
                self._names[path.parent] = {each.name for each in path.parent.iterdir()}
            except (FileNotFoundError, NotADirectoryError):
                self._names[path.parent] = set()
        return path.name in self._names[path.parent]


def expand(paths: list[Path]) -> list[Path]:
    """All files meant by ``paths``: a directory stands for the files below it, sorted.

    Hidden files (temporary ones, and Snakemake's own time stamps) and job records do not
    count.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = (p for p in path.rglob("*") if p.is_file())
            files += sorted(
                p for p in inside if p.name[0] != "." and not p.match(f"*{RECORD_SUFFIX}")
            )
        else:
            files.append(path)
    return files
