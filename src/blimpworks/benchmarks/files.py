"""Find the files of a benchmark by patterns, in its folder or in archives."""

import bz2
import gzip
import io
import lzma
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from blimpworks import errors
from blimpworks.benchmarks.declaration import declaration_in
from blimpworks.benchmarks.entries import PlainFiles
from blimpworks.benchmarks.readers import Table
from blimpworks.errors import UserError
from blimpworks.files import below, relative

COMPRESSED: Mapping[str, Callable[[bytes], bytes]] = {
    ".xz": lzma.decompress,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
}
ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
LONGEST_PATTERN = 500
BROKEN = (
    *(OSError, ValueError, RuntimeError, struct.error, tarfile.TarError, zipfile.BadZipFile),
    *errors.BROKEN,
)


def local_files(folder: Path) -> dict[str, Path]:
    """Return files in a folder by relative name, no hidden ones. UserError for links out of it."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in files}
    visible = {name: path for name, path in named.items() if not _is_hidden(name)}
    for name in (name for name, path in visible.items() if path.is_symlink()):
        below(folder, name, f"{folder}: a file")
    return visible


def new_names_table(folder: Path, name: str) -> Path:
    """Return the path of a table of new names. Raises UserError for one outside the folder."""
    return below(folder, name, f"{declaration_in(folder)}: a table of 'rename'")


def plain_name(name: str) -> str:
    """Return a file's name without the suffix of its compression."""
    path = PurePosixPath(name)
    return str(path.with_suffix("")) if path.suffix in COMPRESSED else name


def _members(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in sorted(archive.namelist()):
                if not entry.endswith("/"):
                    yield entry, archive.read(entry)
        return
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in sorted(archive.getmembers(), key=lambda each: each.name):
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield member.name, file.read()


def _is_hidden(name: str) -> bool:
    return any(
        component.startswith(".") and component not in (".", "..") for component in name.split("/")
    )


def _uncompressed(name: str, content: bytes) -> bytes:
    unpack = COMPRESSED.get(PurePosixPath(name).suffix)
    return unpack(content) if unpack else content


def tables_in(path: Path, name: str, how: PlainFiles) -> Iterator[tuple[Table, dict[str, str]]]:
    """Yield the file, or the members of an archive, each with the columns of its name.

    Raises UserError for an absent or broken file, for absent members, and for a member's name that
    leads out of the archive.
    """
    columns = columns_in(how.patterns, name) or {}
    try:
        content = path.read_bytes()
        if not name.endswith(ARCHIVES):
            yield Table(plain_name(name), _uncompressed(name, content), how), columns
            return
        members = [each for each in _members(name, content) if not _is_hidden(each[0])]
        names = [member for member, _ in members]
        for member in names:
            try:
                relative(member)
            except ValueError as error:
                raise UserError(f"{name}: member {member!r:.80}: {error}; pack it anew.") from error
        inside = [columns_in([how.members], member) if how.members else {} for member in names]
        if all(captures is None for captures in inside):
            raise UserError(
                f"{name} has no member that 'members' ({how.members!r}) fits; it has "
                f"{', '.join(names[:4]) or 'none'}{', …' if len(names) > 4 else ''}. Correct it."
            )
        for (member, data), captures in zip(members, inside, strict=True):
            if captures is not None:
                member_path = plain_name(f"{name}/{member}")
                yield Table(member_path, _uncompressed(member, data), how), {**columns, **captures}
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist; retrieve it, or correct 'files'.") from error
    except BROKEN as error:
        raise UserError(
            f"{path} cannot be unpacked ({error}); expected a whole "
            f"{PurePosixPath(name).suffix} file. Retrieve it again."
        ) from error


@cache
def _compiled(names: str) -> tuple[list[str], list[Any]]:
    """Return columns and expressions of a pattern; RE2 matches in time linear in the name."""
    if len(names) > LONGEST_PATTERN:
        raise UserError(
            f"the pattern of names {names[:40]!r}… has {len(names)} characters; expected at most "
            f"{LONGEST_PATTERN}. Make it shorter."
        )
    # Not every environment has it that reads which benchmarks there are.
    import re2

    parts = re.split(r"(\*|\{\w+\})", names)
    columns = [part[1:-1] for part in parts[1::2] if part != "*"]
    expressions = []
    for much in ("", "?"):
        signs = {"*": f"[^/]*{much}"}
        each = (signs.get(part, f"([^/]+{much})") for part in parts[1::2])
        literal = map(re2.escape, parts[::2])
        expressions.append(re2.compile("".join(chain(*zip_longest(literal, each, fillvalue="")))))
    return columns, expressions


def columns_in(patterns: Sequence[str], name: str) -> dict[str, str] | None:
    """Return a name's text by column of the first pattern that fits it; None if none fits.

    ``*`` and ``{column}`` are text without a slash. Columns take as much text as they can. If a
    repeated column does not get the same text that way, all take as little as they can. Raises
    UserError for a pattern that is too long.
    """
    for pattern in patterns:
        columns, expressions = _compiled(pattern)
        for expression in expressions:
            match = expression.fullmatch(name)
            if match is None:
                break
            pairs = [*zip(columns, match.groups(), strict=True)]
            if {*pairs} == {*dict(pairs).items()}:
                return dict(pairs)
    return None
