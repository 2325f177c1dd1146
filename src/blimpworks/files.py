"""Files that are either whole or absent, their checksums, and names that stay where they belong."""

import csv
import hashlib
import io
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from blimpworks.errors import UserError

RECORD_SUFFIX = ".prov.json"
_elsewhere: ContextVar[Path | None] = ContextVar("elsewhere", default=None)
KEPT = ".kept"
"""File in a temporary directory that is to outlive its process."""
SILENCE = 7 * 24 * 3600.0
"""Seconds after which what a process of another machine left unchanged counts as abandoned."""
_RUST = re.compile(r"\(os error (\d+)\)")
_TEMPORARY = re.compile(r"\.([0-9a-f]{8})-(\d+)(\.\w+)?\.tmp$")
# Backslashes are separators elsewhere, and braces are the workflow's wildcards.
_NO_NAME = re.compile(r"[\x00-\x1f\x7f\\{}]")
LONGEST = 255
"""Bytes of the longest name of a file that file systems have."""


@contextmanager
def writing_below(folder: Path) -> Iterator[None]:
    """Within it every file goes below ``folder``, by its whole path, and what is there stays.

    For jobs that are run once more to compare what they write.
    """
    token = _elsewhere.set(folder)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def target_of(path: Path) -> Path:
    """Where a file is written that belongs at ``path``: there, unless ``writing_below``."""
    folder = _elsewhere.get()
    return path if folder is None else folder / path.absolute().relative_to("/")


def is_written_elsewhere() -> bool:
    """Whether files are written below another directory, as within ``writing_below``."""
    return _elsewhere.get() is not None


def sidecar_path(product: Path) -> Path:
    """Path of the record of the job whose first output is ``product``."""
    return product.with_name(product.name + RECORD_SUFFIX)


def relative(name: str) -> str:
    """``name``, if it is that of something below a directory, whichever that is.

    Raises ValueError for one that leads elsewhere, or that no file should have.
    """
    path = PurePosixPath(name)
    inside = path.parts and not path.is_absolute() and ".." not in path.parts
    too_long = any(len(part.encode("utf-8", "replace")) > LONGEST for part in path.parts)
    if not inside or too_long or _NO_NAME.search(name):
        raise ValueError(
            "a name must stay below its directory: parts with '/' between them, none of them '..', "
            "without backslashes, braces and control characters"
        )
    return name


def below(root: Path, name: str, what: str) -> Path:
    """The path of what is called ``name`` below ``root``; it need not exist.

    ``root`` may be a symbolic link, or lie below one; what ``name`` leads to must not be one that
    leads out of it. Raises UserError for a name that leaves ``root``; ``what`` says whose name it
    is.
    """
    path = root / name
    try:
        relative(name)
        if not path.resolve().is_relative_to(root.resolve()):
            raise ValueError(f"a link leads from there to {path.resolve()}, outside {root}")
    # A loop of links is a RuntimeError before Python 3.13.
    except (ValueError, OSError, RuntimeError) as error:
        raise UserError(f"{what} is {name!r:.80}: {error}; correct the name.") from error
    return path


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


@cache
def _machine() -> str:
    """What tells processes of other machines, and of other containers, from those of this."""
    try:
        processes = Path("/proc/self/ns/pid").readlink()
    except OSError:
        processes = Path()
    return hashlib.sha256(f"{platform.node()} {processes}".encode()).hexdigest()[:8]


def _mark() -> str:
    return f"{_machine()}-{os.getpid()}"


def temporary_path(path: Path) -> Path:
    """Where this process writes what is to become ``path``: a hidden name beside it."""
    return path.with_name(f".{path.name}.{_mark()}.tmp")


def _is_dead(number: int) -> bool:
    try:
        os.kill(number, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def is_abandoned(path: Path) -> bool:
    """Whether a temporary file or directory was left by a process that was killed.

    A process of this machine is looked up; of another's nothing is known, but that what it left
    has not changed for ``SILENCE``.
    """
    match = _TEMPORARY.search(path.name)
    if match is None or (path / KEPT).exists():
        return False
    if match[1] == _machine():
        return _is_dead(int(match[2]))
    try:
        return time.time() - path.lstat().st_mtime > SILENCE
    except OSError:
        return False


def remove(path: Path) -> None:
    """Remove a file, link or directory, if it is there and can be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        shutil.rmtree(path, ignore_errors=True)


def clear_abandoned(directory: Path, start: str) -> None:
    """Remove what killed processes left in a directory, of this user, under names from ``start``.

    Whatever cannot be looked at or removed stays.
    """
    try:
        entries = [each for each in os.scandir(directory) if each.name.startswith(start)]
    except OSError:
        return
    for entry in entries:
        path = Path(entry.path)
        with suppress(OSError):  # somebody else may have removed it just now
            if is_abandoned(path) and path.lstat().st_uid == os.geteuid():
                remove(path)


@contextmanager
def rust_errors(path: Path) -> Iterator[None]:
    """A block that writes ``path`` by a library in Rust, whose errors are OSErrors outside."""
    try:
        yield
    except Exception as error:
        match = _RUST.search(str(error))
        if match is None or isinstance(error, OSError):
            raise
        number = int(match[1])
        raise OSError(number, os.strerror(number), str(path)) from error


@contextmanager
def named_errors(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """A block that writes a file, or files in a directory, and whose OSErrors say which.

    A failing write does not say where, and a failing copy names its source first; otherwise as
    ``rust_errors``. ``temporary`` is where ``path`` is written meanwhile.
    """
    place = temporary or path
    try:
        with rust_errors(path):
            yield
    except OSError as error:
        # The newest file of a directory is the one that was being written.
        files = [file for file in place.rglob("*") if file.is_file()] if place.is_dir() else []
        newest = max(files, key=lambda file: file.stat().st_mtime_ns, default=place)
        name = str(error.filename2 or error.filename or newest)
        error.filename, error.filename2 = name.replace(str(place), str(path)), None
        raise


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it there once the block succeeds.

    The file is flushed to disk before the rename, so a reader sees the old file or the
    whole new one. On any exception the temporary file is removed; that of a process that was
    killed, by the next that writes ``path``.
    """
    path = target_of(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    clear_abandoned(path.parent, f".{path.name}.")
    temporary = temporary_path(path)
    try:
        with named_errors(path, temporary):
            yield temporary
            with temporary.open("rb") as handle:
                os.fsync(handle.fileno())
            temporary.replace(path)
            fsync_directory(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def whole_directory(path: Path) -> Iterator[Path]:
    """Yield a new directory beside ``path`` that takes its place once the block succeeds.

    Until then, and on any exception, what is at ``path`` stays as it is.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    clear_abandoned(path.parent, f".{path.name}.")
    temporary, before = temporary_path(path), temporary_path(path.with_name(f"{path.name}.before"))
    remove(temporary)
    temporary.mkdir()
    try:
        with named_errors(path, temporary):
            yield temporary
            if path.exists():
                path.replace(before)
            temporary.replace(path)
    finally:
        remove(temporary)
        remove(before)


def new_scratch(name: str, parent: Path | None = None) -> Path:
    """A new directory for this process's own files, below ``parent`` or that of all such files.

    Directories of the same ``name`` whose process was killed are removed.
    """
    place = parent or Path(tempfile.gettempdir())
    clear_abandoned(place, f"{name}.")
    return Path(tempfile.mkdtemp(prefix=f"{name}.{_mark()}.", suffix=".tmp", dir=place))


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """A directory as of ``new_scratch`` that is removed at the end."""
    path = new_scratch(name)
    try:
        yield path
    finally:
        remove(path)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 ``text`` to ``path`` atomically, with LF line ends."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def cells_of_any_size() -> Iterator[None]:
    """Let the csv module read cells of any size, for this block alone."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def read_cells(path: Path) -> list[dict[str, str]]:
    """Rows of a tab-separated table that stands beside the code, by its headings."""
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


class BadLine(ValueError):
    """What is wrong in a line of a file; ``lineno`` counts from 1."""

    def __init__(self, lineno: int, fault: str) -> None:
        """``fault`` is what a sentence says after the file's name and the line."""
        super().__init__(fault)
        self.lineno = lineno


def text_of(path: Path, encoding: str = "utf-8") -> str:
    """The text of a file, with its line ends as they are.

    Raises OSError when it cannot be read, UnicodeDecodeError when it is in another encoding, and
    BadLine for a NUL, which no text has and a damaged disk leaves.
    """
    text = path.read_bytes().decode(encoding)
    before, nul, _ = text.partition("\0")
    if nul:
        raise BadLine(before.count("\n") + 1, "there is a NUL in the line")
    return text


def whole(text: str) -> str:
    """``text``, of a file whose lines all have an end. Raises BadLine where the last has none.

    Then it is cut short, or its last line may be.
    """
    if text and not text.endswith("\n"):
        raise BadLine(text.count("\n") + 1, "the line has no end, so the file may be cut short")
    return text


def table_rows(
    path: Path, columns: Sequence[str], **dialect: Any
) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a table by heading, each with the line that it ends in; of a whole file in UTF-8.

    Raises BadLine for what ``text_of`` and ``whole`` refuse, for one of ``columns`` that is not
    there or any that stands twice, for rows with more or fewer cells than headings, and for a
    table without rows; csv.Error for open quotes.
    """
    cells: list[str] | None = None
    reader = csv.reader(io.StringIO(whole(text_of(path)), newline=""), strict=True, **dialect)
    headings = next(reader, [])
    if len({*headings}) < len(headings):
        raise BadLine(1, "a heading stands twice")
    missing = ", ".join(name for name in columns if name not in headings)
    if missing:
        raise BadLine(1, f"there is no column {missing}")
    for cells in reader:
        if len(cells) != len(headings):
            fault = f"{len(cells)} cells, but {len(headings)} headings"
            raise BadLine(reader.line_num, fault)
        yield reader.line_num, dict(zip(headings, cells, strict=True))
    if cells is None:
        raise BadLine(1, "there are no rows below the headings")


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
