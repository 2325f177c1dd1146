"""Write files atomically, read text and JSON with checks, compute checksums, and check names.

``write_text`` and ``atomic`` write ``a.tsv`` under a temporary name, then rename it, so that other
processes read either the old or the complete file. The temporary name has a hash of the machine and
the number of the process: ``.a.tsv.0f3a9c21-4711.tmp``. A temporary file whose process has ended is
abandoned, and removed by the next process that writes ``a.tsv``. ``table_rows`` and ``load_json``
read files of users and servers; ``below`` checks their names.
"""

import csv
import hashlib
import io
import json
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
"""End of the names of provenance records, which lie beside the products of jobs."""
_redirection: ContextVar[Path | None] = ContextVar("redirection", default=None)
"""Folder below which all files are written, in place of their paths; see ``writing_below``."""
KEPT = ".kept"
"""Name of a file that protects the temporary directory around it from removal."""
SILENCE = 7 * 24 * 3600.0
"""Age in seconds from which temporary files of other machines count as abandoned."""
_RUST = re.compile(r"\(os error (\d+)\)")
"""End of a Rust library's message, such as "No space left on device (os error 28)"."""
_TEMPORARY = re.compile(r"\.([0-9a-f]{8})-(\d+)(\.\w+)?\.tmp$")
"""End of a temporary name: machine, process, and random letters of a directory."""
# Backslashes are separators on Windows, and braces are wildcards of Snakemake.
_NO_NAME = re.compile(r"[\x00-\x1f\x7f\\{}]")
NAME_MAX = 255
"""Bytes of the longest file name."""


@contextmanager
def writing_below(folder: Path) -> Iterator[None]:
    """Let a block write ``/a/b.tsv`` as ``folder/a/b.tsv``, for a comparison with the original."""
    token = _redirection.set(folder)
    try:
        yield
    finally:
        _redirection.reset(token)


def target_of(path: Path) -> Path:
    """Return ``path``, or the path that replaces it while ``writing_below`` is active."""
    folder = _redirection.get()
    return path if folder is None else folder / path.absolute().relative_to("/")


def is_written_elsewhere() -> bool:
    """Tell whether ``writing_below`` is active."""
    return _redirection.get() is not None


def sidecar_path(product: Path) -> Path:
    """Return the path of the provenance record of a job, whose first output is ``product``."""
    return product.with_name(product.name + RECORD_SUFFIX)


def relative(name: str) -> str:
    """Check that ``name`` can be a path below any directory, and return it.

    Raises ValueError for an absolute path, "..", a too long name, and forbidden characters.
    """
    path = PurePosixPath(name)
    is_inside = path.parts and not path.is_absolute() and ".." not in path.parts
    too_long = any(len(component.encode("utf-8", "replace")) > NAME_MAX for component in path.parts)
    if not is_inside or too_long or _NO_NAME.search(name):
        raise ValueError(
            "a name must stay below its directory: names with '/' between them, none of them '..', "
            "without backslashes, braces and control characters"
        )
    return name


def below(root: Path, name: str, description: str) -> Path:
    """Check that ``name`` stays below ``root``, and return its path, which need not exist.

    ``root`` may itself be a symbolic link, but no link in ``name`` may lead out of ``root``. Raises
    UserError for a name that leaves ``root``; its message starts with ``description``.
    """
    path = root / name
    try:
        relative(name)
        if not path.resolve().is_relative_to(root.resolve()):
            raise ValueError(f"a link leads from there to {path.resolve()}, outside {root}")
    # A loop of links is a RuntimeError before Python 3.13.
    except (ValueError, OSError, RuntimeError) as error:
        raise UserError(f"{description} is {name!r:.80}: {error}; correct the name.") from error
    return path


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits. Raises OSError as ``open`` does."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def fsync_directory(path: Path) -> None:
    """Flush a directory to disk, so that a rename in it is not lost in a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@cache
def _machine() -> str:
    """Return an id of this machine or container, within which process numbers are unique."""
    try:
        processes = Path("/proc/self/ns/pid").readlink()
    except OSError:
        processes = Path()
    return hashlib.sha256(f"{platform.node()} {processes}".encode()).hexdigest()[:8]


def _process_mark() -> str:
    return f"{_machine()}-{os.getpid()}"


def temporary_path(path: Path) -> Path:
    """Return the hidden path at which this process writes a file before it is renamed ``path``."""
    return path.with_name(f".{path.name}.{_process_mark()}.tmp")


def _is_dead(number: int) -> bool:
    try:
        os.kill(number, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def is_abandoned(path: Path) -> bool:
    """Tell whether the process that made a temporary file or directory has ended.

    The name contains machine and process. For processes of other machines, the age decides.
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
    """Remove a file, link or directory; do nothing if it is missing or cannot be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        shutil.rmtree(path, ignore_errors=True)


def clear_abandoned(directory: Path, start: str) -> None:
    """Remove this user's abandoned files with names that begin with ``start``, if possible."""
    try:
        entries = [entry for entry in os.scandir(directory) if entry.name.startswith(start)]
    except OSError:
        return
    for entry in entries:
        path = Path(entry.path)
        with suppress(OSError):  # somebody else may have removed it just now
            if is_abandoned(path) and path.lstat().st_uid == os.geteuid():
                remove(path)


@contextmanager
def rust_errors(path: Path) -> Iterator[None]:
    """Turn the errors of a Rust library that writes ``path`` into OSErrors."""
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
    """Let OSErrors of a block that writes ``path`` name this path, in place of ``temporary``.

    ``temporary``: file or directory that the block writes. Also act as ``rust_errors``.
    """
    writing = temporary or path
    try:
        with rust_errors(path):
            yield
    except OSError as error:
        # The error of a failed copy names the target as filename2, that of a failed write no file.
        # The newest file of a directory is then the one that was being written.
        files = [file for file in writing.rglob("*") if file.is_file()] if writing.is_dir() else []
        newest = max(files, key=lambda file: file.stat().st_mtime_ns, default=writing)
        name = str(error.filename2 or error.filename or newest)
        error.filename, error.filename2 = name.replace(str(writing), str(path)), None
        raise


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it to ``path`` when the block succeeds.

    The file is flushed to disk before the rename, so that a reader sees the old file or the
    complete new one. After an exception the temporary file is removed. After a kill, the next
    process that writes ``path`` removes it.
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
    """Yield a new directory beside ``path`` that replaces ``path`` when the block succeeds.

    Until the end, and after an exception, ``path`` is unchanged. ``writing_below`` has no effect.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    clear_abandoned(path.parent, f".{path.name}.")
    # A directory cannot be replaced in one step, so the old one is renamed, then removed.
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
    """Make a new directory for this process below ``parent`` (default: the scratch directory).

    Directories of the same ``name`` left by killed processes are removed.
    """
    directory = parent or Path(tempfile.gettempdir())
    clear_abandoned(directory, f"{name}.")
    return Path(tempfile.mkdtemp(prefix=f"{name}.{_process_mark()}.", suffix=".tmp", dir=directory))


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """Yield a new temporary directory, as ``new_scratch`` makes it, and remove it at the end."""
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
    """Return {heading: cell} for each row of a tab-separated table that the package contains."""
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


class BadLine(ValueError):
    """A fault in a line of a file; lines are numbered from 1."""

    def __init__(self, lineno: int, fault: str) -> None:
        """Set the line and the ``fault``: the end of a sentence about the line."""
        super().__init__(fault)
        self.lineno = lineno


def text_of(path: Path, encoding: str = "utf-8") -> str:
    """Return the text of a file with its line ends.

    Raises OSError when it cannot be read, UnicodeDecodeError for another encoding, and BadLine for
    a NUL, which a damaged disk leaves.
    """
    text = path.read_bytes().decode(encoding)
    before, nul, _ = text.partition("\0")
    if nul:
        raise BadLine(before.count("\n") + 1, "there is a NUL in the line")
    return text


def table_rows(
    path: Path, columns: Sequence[str], **dialect: Any
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (number of the row's last line, {heading: cell}) for each row of a UTF-8 table.

    ``dialect``: arguments of ``csv.reader``, such as ``delimiter``. Raises as ``text_of`` does, and
    csv.Error for open quotes. Raises BadLine for missing ``columns``, a repeated heading, a table
    without rows, more or fewer cells than headings, and a last line without an end.
    """
    text = text_of(path)
    if text and not text.endswith("\n"):
        raise BadLine(text.count("\n") + 1, "the line has no end, so the file may be cut short")
    cells: list[str] | None = None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, **dialect)
    headings = next(reader, [])
    if len({*headings}) < len(headings):
        raise BadLine(1, "two columns have the same heading")
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
    """Set of existing files, for ``path in listing``; it reads each directory once.

    On a network disk, a query for each file would take long. Later changes are not noticed.
    """

    def __init__(self) -> None:
        self._names: dict[Path, set[str]] = {}

    def __contains__(self, path: Path) -> bool:
        """Tell whether a file or directory exists."""
        if path.parent not in self._names:
            try:
                self._names[path.parent] = {entry.name for entry in path.parent.iterdir()}
            except (FileNotFoundError, NotADirectoryError):
                self._names[path.parent] = set()
        return path.name in self._names[path.parent]


def expand(paths: list[Path]) -> list[Path]:
    """Return ``paths``, each directory replaced by the sorted files below it.

    Hidden files (temporary files, Snakemake's time stamps) and provenance records are left out.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        for file in sorted(path.rglob("*")):
            is_hidden, is_record = file.name.startswith("."), file.name.endswith(RECORD_SUFFIX)
            if file.is_file() and not is_hidden and not is_record:
                files.append(file)
    return files


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r:.60} stands twice in an object; keep one")
    return fields


def load_json(text: str | bytes) -> Any:
    """Parse a JSON text in which each key of an object is unique.

    Raises ValueError for malformed JSON and for a repeated key, for which Python would take the
    last value. Raises RecursionError for too deep nesting.
    """
    return json.loads(text, object_pairs_hook=_object_of)
