"""Pinned files: from a mirror directory or from their address, verified, whole or not at all."""

import lzma
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from blimpworks.campaign.addresses import shown, without_secrets
from blimpworks.errors import UserError
from blimpworks.files import atomic, below, fsync_directory, sha256_of
from blimpworks.retrieval.disk import PIECE, disk_errors, part_path

if TYPE_CHECKING:  # a file of a mirror needs no network, which takes a fifth of a second to import
    from blimpworks.retrieval.download import Patience


@dataclass(frozen=True, slots=True)
class Pin:
    """What a catalogue row says about one file."""

    name: str
    url: str
    """Where it is downloaded from; may be empty for a file that only a mirror has."""
    sha256: str
    """Of the uncompressed file; empty when not yet known."""
    bytes: int | None
    """Size of the uncompressed file, where known."""
    mirror: str
    """Path below a mirror directory, without a possible .xz."""
    catalogue: str = ""
    """File that holds the row, for messages."""

    @property
    def where(self) -> str:
        """Catalogue and row."""
        return f"{self.catalogue}: {self.name}" if self.catalogue else self.name

    @property
    def instead(self) -> str:
        """What a user without network can do."""
        return f"put the file into a mirror directory as {self.mirror}"


def retrieve(
    pin: Pin, output: Path, mirror: Path | None, patience: "Patience | None" = None
) -> str:
    """Put the file that ``pin`` describes at ``output`` and say where it came from.

    Looks in ``mirror`` first (plain, then .xz), then downloads; an unfinished download is
    continued. Returns the path below the mirror, or the address. ``output`` appears only
    once its size and SHA-256 are those of the pin.

    Raises UserError for a row without a checksum, a mirror that does not exist, a place outside
    the mirror, a file that is not what was pinned, and whatever keeps a download from succeeding.
    """
    if not pin.sha256:
        raise UserError(_unpinned(pin))
    local = in_mirror(pin, mirror)
    if mirror is None or local is None:
        _download(pin, output, patience)
        return without_secrets(pin.url)
    _copy(pin, local, output)
    return local.relative_to(mirror).as_posix()


def _unpinned(pin: Pin) -> str:
    command = f"blimpworks pin {pin.catalogue or 'CATALOGUE'} {pin.name}"
    return (
        f"{pin.where} is not pinned yet: its sha256 is empty, expected 64 hexadecimal digits; "
        f"on a machine with internet access run `{command}`, which downloads it from its address "
        f"({shown(pin.url) or 'none given'}) and records the checksum."
    )


def in_mirror(pin: Pin, mirror: Path | None) -> Path | None:
    """The copy of a file in a mirror, plain or as .xz; None where there is none.

    Raises UserError for a mirror that does not exist, or a place outside it.
    """
    if mirror is None or not pin.mirror:
        return None
    if not mirror.is_dir():
        raise UserError(
            f"mirror {mirror} is not a directory, expected one with copies of the pinned files; "
            "correct the campaign's mirror, or set it to null to download."
        )
    names = (pin.mirror, f"{pin.mirror}.xz")
    candidates = [below(mirror, name, f"{pin.where}: mirror") for name in names]
    return next((path for path in candidates if path.is_file()), None)


def _copy(pin: Pin, mirrored: Path, output: Path) -> None:
    """Copy a mirror's file, decompressed, if it is the pinned one."""
    compressed = mirrored.name == f"{Path(pin.mirror).name}.xz"
    with disk_errors(output), atomic(output) as temporary:
        try:
            with lzma.open(mirrored) if compressed else mirrored.open("rb") as source:
                _pour(source, temporary, pin.bytes)
        except (EOFError, lzma.LZMAError) as error:
            raise UserError(
                f"{pin.where}: {mirrored} is not a whole .xz file ({_lower(error)}); "
                "replace it or remove it from the mirror."
            ) from error
        problem = _problem(pin, temporary)
        if problem:
            raise UserError(
                f"{pin.where}: {mirrored} {problem}; replace it or remove it from the mirror."
            )


def _lower(error: Exception) -> str:
    text = str(error).rstrip(".")
    return text[:1].lower() + text[1:]


def _pour(source: IO[bytes], target: Path, limit: int | None) -> None:
    """Copy until the end, or until it is clear that more than ``limit`` bytes come."""
    with target.open("wb") as handle:
        if limit is None:
            shutil.copyfileobj(source, handle, PIECE)
            return
        while handle.tell() <= limit and (piece := source.read(PIECE)):
            handle.write(piece)


def _problem(pin: Pin, path: Path) -> str | None:
    """How ``path`` differs from what was pinned, or None when it is that file."""
    size = path.stat().st_size
    if pin.bytes is not None and size != pin.bytes:
        actual = f"{size:,}" if size < pin.bytes else "more"
        return f"has {actual} bytes, expected {pin.bytes:,}"
    actual = sha256_of(path)
    return None if actual == pin.sha256 else f"has SHA-256 {actual}, expected {pin.sha256}"


def _download(pin: Pin, output: Path, patience: "Patience | None") -> None:
    from blimpworks.retrieval.download import Patience, Transfer

    part = part_path(output, pin.url)
    given = patience or Patience()
    transfer = Transfer(pin.url, part, pin.bytes, pin.where, pin.instead, given)
    resumed = transfer.received() > 0
    transfer.run()
    problem = _problem(pin, part)
    if problem and resumed:
        # The old beginning may be what is wrong; only a fresh download accuses the server.
        part.unlink()
        transfer.run()
        problem = _problem(pin, part)
    if problem:
        part.unlink()
        raise UserError(
            f"{pin.where}: {shown(pin.url)} {problem}; it was deleted: try again, and if the file "
            "at that address has changed, pin the row's new version (`blimpworks pin`)."
        )
    _publish(part, output)


def _publish(part: Path, output: Path) -> None:
    """Give a verified part its final name, flushed to disk first."""
    with part.open("rb") as handle:
        os.fsync(handle.fileno())
    part.replace(output)
    fsync_directory(output.parent)
