"""Retrieve pinned files from a mirror or an address, and verify them (``retrieve``).

A ``Pin`` is a row of a catalogue table: a file's address and checksum. A mirror is a directory with
copies of such files. Some files are verified by another checksum than SHA-256: git's id of the
content, or a checksum that an archive states. The lock file beside the table records their SHA-256.
"""

import errno
import hashlib
import logging
import lzma
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, ClassVar
from urllib.parse import quote, unquote

from pydantic import Field

from blimpworks.campaign.addresses import check_address, checksum_source, shown, without_secrets
from blimpworks.campaign.table_files import LockedRow, lock_path, read_lock, record
from blimpworks.errors import UserError, reading
from blimpworks.files import BadLine, atomic, below, fsync_directory, sha256_of, table_rows

if TYPE_CHECKING:  # slow to import (0.2 s), and not needed to copy a file of a mirror
    from blimpworks.campaign.catalogue import SourceRow, TreebankRow

log = logging.getLogger(__name__)

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
            # Downloads stop soon after the expected size, so the size of a larger file is unknown.
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
_FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_PERMISSION = (errno.EACCES, errno.EPERM, errno.EROFS)


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
        if error.errno in _FULL_DISK:
            raise UserError(
                f"{path}: not enough room to write it ({reason}); free some in "
                f"{path.parent} and run again."
            ) from error
        if error.errno in _NO_PERMISSION:
            raise UserError(
                f"{error.filename or path}: {reason}; give yourself the permission or "
                "choose another directory."
            ) from error
        raise


class LockedFile(LockedRow):
    """Row of a lock file: the SHA-256 of a retrieved file."""

    key: ClassVar = ("name", "verified", "url")
    name: str
    """Path of the retrieved file relative to the directory of sources."""
    verified: str
    """Checksum by which the file was verified, such as ``git blob id 7bf2969f…``."""
    url: str
    """Address in the catalogue."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(ge=0)]


def record_file(row: LockedFile, table: Path) -> None:
    """Record a retrieved file in the lock file; warn when that cannot be written.

    Raises UserError for a malformed lock file, and when it has another SHA-256 of the same version.
    """
    try:
        recorded = record(row, table)
    except OSError as error:
        log.warning(
            "%s: not recorded that %s has SHA-256 %s (%s)",
            *(lock_path(table), row.name, row.sha256, error.strerror),
        )
        return
    if recorded.sha256 != row.sha256:
        raise UserError(
            f"{lock_path(table)}: {row.name} has SHA-256 {recorded.sha256} there, and was now "
            f"received with {row.sha256}, both with {row.verified}; one of them is not the file. "
            "Find out which before you remove the row."
        )


REPLACEMENT_COLUMNS = ("address", "instead")
"""Columns of a table of further addresses; see ``Pin.other_addresses``."""
_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned file: its address, checksums and path in a mirror, from a row of the catalogue."""

    name: str
    url: str
    """Address; empty for a file that only a mirror has."""
    sha256: str
    """SHA-256 of the uncompressed file; empty when not known."""
    bytes: int | None
    """Size of the uncompressed file, if known."""
    mirror: str
    """Path in a mirror directory, without a possible .xz."""
    catalogue: str = ""
    """File with the row; the lock file lies in the same directory."""
    git_blob: str = ""
    """Git's id of the uncompressed file, for a file without ``sha256``."""
    sha256_optional: bool = False
    """Whether another checksum suffices even in campaigns that require a SHA-256."""

    @classmethod
    def of(cls, row: "SourceRow | TreebankRow", table: Path) -> "Pin":
        """Read a row of a catalogue table."""
        pinned = (row.url, row.sha256, row.bytes, row.mirror)
        return cls(row.name, *pinned, str(table), row.git_blob, row.sha256_optional)

    @property
    def where(self) -> str:
        """Catalogue and row, for messages."""
        return f"{self.catalogue}: {self.name}" if self.catalogue else self.name

    @property
    def is_pinned(self) -> bool:
        """Whether the row has a checksum, or the file's archive states one."""
        return bool(self.sha256 or self.git_blob) or checksum_source(self.url) is not None

    @property
    def checksums(self) -> tuple[Checksum, ...]:
        """Checksums that must all agree; if there are none, only the file's archive states one.

        - The row's SHA-256, if it has one.
        - Else the row's git blob id, if it has one, and the SHA-256 in the lock file, if the file
          was retrieved before: with the same git blob id, or else from the same address.

        Raises UserError for a malformed lock file.
        """
        if self.sha256:
            return (Checksum(SHA256, self.sha256, self.bytes),)
        blobs = (Checksum(GIT_BLOB, self.git_blob, self.bytes),) if self.git_blob else ()
        if not self.catalogue:
            return blobs
        table = Path(self.catalogue)
        for row in read_lock(LockedFile, table).values():
            is_same = row.verified == str(blobs[0]) if blobs else row.url == self.url
            if row.name == self.name and is_same:
                origin = f"{lock_path(table).name} recorded when it was first retrieved"
                return (*blobs, Checksum(SHA256, row.sha256, row.bytes, origin))
        return blobs

    @property
    def mirror_path(self) -> str:
        """Path in a mirror directory; by default the path of the retrieved file."""
        return self.mirror or self.name

    def other_addresses(self, table: Path | None) -> list[str]:
        """Return further addresses of the file, by the rows of a table, in order.

        By a row with ``address`` ``https://a.org/{path}`` and ``instead`` ``https://b.org/{path}``,
        ``https://a.org/1.txt`` is also at ``https://b.org/1.txt``. ``{path}`` matches the end of a
        URL; other names match no slash. ``instead`` may have the checksums ``{sha256}`` and
        ``{git_blob}``; the row is skipped if that checksum of the file is unknown. Raises UserError
        for an unreadable table, unknown names and forbidden addresses.
        """
        if table is None:
            return []
        checksums = {"sha256": self.sha256, "git_blob": self.git_blob}
        addresses = []
        with reading(table, "a table of addresses", "Correct it."):
            for line, row in table_rows(table, REPLACEMENT_COLUMNS, delimiter="\t"):
                # "https://a.org/{path}" becomes the pattern "https://a.org/(?P<path>.+)". It is
                # split into a first text, and pairs of a name and the text after it.
                first_text, *pieces = _NAME.split(row["address"])
                pattern = re.escape(first_text)
                for name, text in zip(pieces[::2], pieces[1::2], strict=True):
                    characters = ".+" if name == "path" else "[^/]+"
                    pattern += f"(?P<{name}>{characters}){re.escape(text)}"
                try:
                    match = re.fullmatch(pattern, self.url)
                except re.error as error:
                    raise BadLine(line, f"address has names that cannot be: {error}") from error
                if match is None:
                    continue
                values = match.groupdict() | {k: v for k, v in checksums.items() if v}
                names = {*_NAME.findall(row["instead"])}
                if unknown := names - {*match.groupdict(), *checksums}:
                    raise BadLine(line, f"instead names {min(unknown)}, which address does not")
                if names <= values.keys():
                    address = row["instead"]
                    for name in names:
                        address = address.replace(f"{{{name}}}", quote(unquote(values[name])))
                    try:
                        check_address(address)
                    except ValueError as error:
                        fault = f"instead is no address to download from: {error}"
                        raise BadLine(line, fault) from error
                    addresses.append(address)
        return addresses


def retrieve(pin: Pin, output: Path, mirror: Path | None, addresses: Path | None = None) -> str:
    """Copy or download the file of ``pin`` to ``output``; return its mirror path or its address.

    Look in ``mirror`` first (plain, then .xz), then try the row's address, then further addresses
    in the table ``addresses``. Continue an unfinished download. ``output`` is written only if size
    and checksum are the pinned ones. A file without SHA-256 is verified by its git blob id, or by a
    checksum that its archive states; its SHA-256 is recorded in the lock file (``record_file``).

    Raises UserError for a row without checksum, a missing mirror, a path outside of the mirror, a
    wrong file, and a failed download.
    """
    if not pin.is_pinned:
        raise UserError(
            f"{pin.where} is not pinned yet: its sha256 and git_blob are empty, expected 64 or 40 "
            f"hexadecimal digits; run `blimpworks pin {pin.catalogue or 'CATALOGUE'} {pin.name}`, "
            f"which downloads it ({shown(pin.url) or 'no address'}) and records the checksum."
        )
    mirrored = in_mirror(pin, mirror)
    proof = Proof.of(pin)
    if mirror is None or mirrored is None:
        return without_secrets(_download(proof, output, addresses))
    remedy = "replace it or remove it from the mirror."
    with disk_errors(output), atomic(output) as temporary:
        try:
            with open_mirrored(pin, mirrored) as source, temporary.open("wb") as handle:
                # Stop after the expected bytes: a larger file is another one.
                while proof.bytes is None or handle.tell() <= proof.bytes:
                    if not (piece := source.read(PIECE)):
                        break
                    handle.write(piece)
        except (EOFError, lzma.LZMAError) as error:
            fault = str(error).rstrip(".").lower()
            raise UserError(
                f"{pin.where}: {mirrored} is not a whole .xz file ({fault}); {remedy}"
            ) from error
        if problem := proof.problem(temporary):
            raise UserError(f"{pin.where}: {mirrored} {problem}; {remedy}")
        proof.record(temporary)
    return mirrored.relative_to(mirror).as_posix()


@dataclass(frozen=True, slots=True)
class Proof:
    """Checksums that a received file must have to be the pinned file."""

    pin: Pin
    checksums: tuple[Checksum, ...]
    """Checksums that must all agree."""
    table: Path | None = None
    """Catalogue table; its lock file must record the SHA-256. None if the SHA-256 is known."""

    @classmethod
    def of(cls, pin: Pin) -> "Proof":
        """Choose the SHA-256, or else the git blob id, or else the checksum that an archive states.

        Raises UserError for a damaged lock file, and when the archive states no checksum.
        """
        checksums = pin.checksums
        if any(checksum.algorithm == SHA256 for checksum in checksums):
            return cls(pin, checksums)
        if not checksums and (statement := checksum_source(pin.url)):
            from blimpworks.retrieval.download import stated_checksum

            checksums = (stated_checksum(statement, pin.where),)
        return cls(pin, checksums, Path(pin.catalogue) if pin.catalogue else None)

    @property
    def bytes(self) -> int | None:
        """Size of the file, if known."""
        sizes = [checksum.bytes for checksum in self.checksums if checksum.bytes]
        return sizes[0] if sizes else self.pin.bytes

    def problem(self, path: Path) -> str | None:
        """Describe how a file differs from the pinned file; None if it does not."""
        problems = (checksum.problem(path) for checksum in self.checksums)
        return next(filter(None, problems), None)

    def record(self, path: Path) -> None:
        """Record the SHA-256 of the verified file, if it was not known."""
        if self.table:
            row = LockedFile(
                name=self.pin.name,
                verified=str(self.checksums[0]),
                url=self.pin.url,
                sha256=sha256_of(path),
                bytes=path.stat().st_size,
            )
            record_file(row, self.table)


def in_mirror(pin: Pin, mirror: Path | None) -> Path | None:
    """Return the path of a pinned file in a mirror, plain or as .xz; None if it is not there.

    Raises UserError when the mirror is no directory, or the path leaves it.
    """
    if mirror is None:
        return None
    if not mirror.is_dir():
        raise UserError(
            f"mirror {mirror} is not a directory, expected one with copies of the pinned files; "
            "correct the campaign's mirror, or set it to null to download."
        )
    names = (pin.mirror_path, f"{pin.mirror_path}.xz")
    candidates = [below(mirror, name, f"{pin.where}: mirror") for name in names]
    return next((path for path in candidates if path.is_file()), None)


def open_mirrored(pin: Pin, path: Path) -> IO[bytes]:
    """Open the file that ``in_mirror`` returned, and decompress it if only the mirror's is .xz."""
    is_packed = path.name == f"{Path(pin.mirror_path).name}.xz"
    return lzma.open(path) if is_packed else path.open("rb")


def _download(proof: Proof, output: Path, addresses: Path | None) -> str:
    """Download a file from the first address that gives it; return the address."""
    from blimpworks.retrieval.download import Transfer

    pin, failures = proof.pin, list[NotReceived]()
    instead = f"put the file into a mirror directory as {pin.mirror_path}"
    urls = [pin.url, *pin.other_addresses(addresses)]
    for url in urls:
        partial = part_path(output, url)
        transfer = Transfer(url, partial, proof.bytes, pin.where, instead)
        try:
            resumed = transfer.received() > 0
            transfer.run()
            problem = proof.problem(partial)
            if problem and resumed:
                # The old first bytes may be wrong, so download the file again before failing.
                partial.unlink()
                transfer.run()
                problem = proof.problem(partial)
            if problem:
                partial.unlink()
                raise NotReceived(
                    f"{pin.where}: {shown(url)} {problem}; it was deleted: try again, and if the "
                    "file at that address has changed, pin the row's new version (`blimpworks "
                    "pin`).",
                    f"{shown(url)} {problem}",
                )
        except NotReceived as error:
            failures.append(error)
            continue
        proof.record(partial)
        with partial.open("rb") as handle:
            os.fsync(handle.fileno())
        partial.replace(output)
        fsync_directory(output.parent)
        for failure in failures:
            print(f"{pin.where}: {failure.cause}; taken from {shown(url)}", file=sys.stderr)
        for address in urls[: len(failures)]:
            part_path(output, address).unlink(missing_ok=True)
        return url
    if len(failures) == 1:
        raise failures[0]
    causes = "; ".join(failure.cause for failure in failures)
    raise UserError(
        f"{pin.where}: none of {len(failures)} addresses gave the file ({causes}); check the "
        f"network and proxy, try again later, or {instead}."
    )
