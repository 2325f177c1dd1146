"""All files and models that a campaign retrieves, in one tar for a machine without network.

Unpacked it is a mirror directory, with a cache of the Hugging Face hub's client in ``hub``.
"""

import hashlib
import io
import shutil
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import IO

from blimpworks.campaign.catalogue import Catalogue, SourceRow, TreebankRow
from blimpworks.campaign.lock_file import place_here
from blimpworks.campaign.parts import Part
from blimpworks.campaign.retrieved import is_usable, read_files
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import BROKEN, UserError, fault_of
from blimpworks.files import atomic, below, relative, sha256_of
from blimpworks.models.checkpoint import Retrieved, read_description
from blimpworks.retrieval.archive import new_mirror
from blimpworks.retrieval.disk import PIECE, disk_errors
from blimpworks.retrieval.lock import LockedFile, locked_file, record_file

MANIFEST = "manifest.tsv"
LARGEST_MANIFEST = 256_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a pack: a row of its manifest."""

    path: str
    """In the pack, and below the directory that it is unpacked into."""
    bytes: int
    sha256: str
    licence: str
    name: str = ""
    """In the catalogue, as what follows: of a file without SHA-256 there."""
    catalogue: str = ""
    verified: str = ""
    url: str = ""


_COLUMNS = tuple(field.name for field in fields(Entry))


def pack_sources(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part], pack: Path
) -> list[Entry]:
    """Write what a campaign has retrieved for some parts into one tar, behind a manifest.

    Returns the manifest. Raises UserError, before anything is written, where a file or a model has
    not been retrieved or is not what was pinned.
    """
    contents = [*_files(campaign, catalogue, parts), *_models(campaign, catalogue, parts)]
    by_path = {entry.path: (entry, content) for entry, content in contents}
    entries = [entry for entry, _ in by_path.values()]
    with disk_errors(pack), atomic(pack) as temporary, tarfile.open(temporary, "w") as tar:
        manifest = _written(entries)
        tar.addfile(_member(MANIFEST, len(manifest)), io.BytesIO(manifest))
        for entry, file in by_path.values():
            with io.BytesIO(file) if isinstance(file, bytes) else file.open("rb") as content:
                tar.addfile(_member(entry.path, entry.bytes), content)
    return entries


def _member(path: str, size: int) -> tarfile.TarInfo:
    """A plain file of nobody, so that the same files give the same tar."""
    member = tarfile.TarInfo(path)
    member.size, member.mode = size, 0o644
    return member


def _not_there(what: str) -> UserError:
    return UserError(
        f"{what} has not been retrieved; run `snakemake … --until retrieve` where there is a "
        "network, then pack."
    )


def _files(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part]
) -> Iterator[tuple[Entry, Path]]:
    """Retrieved files, at their places in a mirror."""
    for row in read_files(campaign, catalogue, parts):
        if is_usable(campaign, row):
            file = Path(campaign.pathvars.resources, "sources", row.name)
            if not file.is_file():
                raise _not_there(str(file))
            yield _entry_of(row, file, campaign, catalogue), file


def _entry_of(
    row: SourceRow | TreebankRow, file: Path, campaign: Campaign, catalogue: Catalogue
) -> Entry:
    """A retrieved file's entry. Raises UserError where it is not what was retrieved."""
    digest, size = sha256_of(file), file.stat().st_size
    table = catalogue.tables.get(row.name, campaign.catalogue.treebanks)
    locked = None if row.sha256 else locked_file(table, row.name, row.url)
    expected = row.sha256 or (locked.sha256 if locked else "")
    if digest != expected:
        raise UserError(
            f"{file} has SHA-256 {digest}, expected {expected or 'one that retrieving recorded'}; "
            "remove it and retrieve it again."
        )
    entry = Entry(row.mirror or row.name, size, digest, " ".join(row.licence.split()))
    if locked is None:
        return entry
    own = place_here(table).as_posix()
    return replace(entry, name=row.name, catalogue=own, verified=locked.verified, url=row.url)


def _models(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part]
) -> Iterator[tuple[Entry, Path | bytes]]:
    """Files of models from the hub, in the layout of the cache of its client."""
    own = [part for part in parts if not part.trained]
    for part in {part.checkpoint(campaign): part for part in own}.values():
        checkpoint = part.checkpoint(campaign)
        if not checkpoint.is_file():
            raise _not_there(str(checkpoint.parent))
        described = read_description(checkpoint)
        source = described.source
        if type(source) is not Retrieved:
            continue  # a directory of this machine
        folder = f"hub/models--{source.hf_id.replace('/', '--')}"
        named = catalogue.models[part.model].revision
        if named != source.revision:
            commit = source.revision.encode()
            digest = hashlib.sha256(commit).hexdigest()
            yield Entry(f"{folder}/refs/{named}", len(commit), digest, ""), commit
        for name, digest in described.files.items():
            file = checkpoint.parent / name
            if sha256_of(file) != digest:
                raise UserError(f"{file} is not what was retrieved; retrieve the model again.")
            path = f"{folder}/snapshots/{source.revision}/{name}"
            yield Entry(path, file.stat().st_size, digest, f"of {source.hf_id}"), file


def _written(entries: Sequence[Entry]) -> bytes:
    lines = [_COLUMNS, *(tuple(map(str, astuple(entry))) for entry in entries)]
    return "".join("\t".join(cells) + "\n" for cells in lines).encode()


def _read(content: bytes, pack: Path) -> dict[str, Entry]:
    """Entries of a manifest by path. Raises UserError for one that is none."""
    try:
        first, *lines = content.decode().removesuffix("\n").split("\n")
        if tuple(first.split("\t")) != _COLUMNS:
            raise ValueError("other columns")
        rows = (line.split("\t") for line in lines)
        entries = [Entry(path, int(size), *more) for path, size, *more in rows]
        return {relative(entry.path): entry for entry in entries}
    except (ValueError, TypeError) as error:
        raise UserError(
            f"{pack}: its {MANIFEST} cannot be read ({error}); expected a pack of "
            "`blimpworks pack-sources`."
        ) from error


def unpack_sources(pack: Path, mirror: Path) -> list[Entry]:
    """Unpack a pack into a directory that then is a mirror, and verify it by its manifest.

    What was recorded of files without SHA-256 in the catalogue is recorded here too. Returns the
    manifest.

    Raises UserError for what is no pack, a member that the manifest has not, or has with another
    size or SHA-256, one that is missing, names that leave the directory, and where the catalogue
    is not in the working directory.
    """
    new_mirror(mirror)
    if not pack.is_file():
        raise UserError(f"{pack} is no file, expected a pack of `blimpworks pack-sources`.")
    try:
        with tarfile.open(pack, "r:") as tar:
            entries = _read(_manifest(tar, pack), pack)
            locked = [*_locked(entries.values(), pack)]
            left = dict(entries)
            for member in islice(tar, 1, None):
                entry = left.pop(member.name, None)
                content = tar.extractfile(member) if member.isreg() else None
                if entry is None or content is None or member.size != entry.bytes:
                    raise UserError(
                        f"{pack}: {member.name!r:.200} is not as its {MANIFEST} says; replace the "
                        "pack."
                    )
                _place(content, entry, mirror, pack)
    except (tarfile.TarError, *BROKEN) as error:
        raise UserError(f"{pack} is no whole pack ({error}); copy it again.") from error
    if left:
        raise UserError(f"{pack} lacks {min(left)}, which its {MANIFEST} has; copy it again.")
    for row, table in locked:
        record_file(row, table)
    return [*entries.values()]


def _locked(entries: Iterable[Entry], pack: Path) -> Iterator[tuple[LockedFile, Path]]:
    """What is to be recorded of files, each with its table of the catalogue.

    Raises UserError for a table that is not here, and for what is no record of a file.
    """
    for entry in (each for each in entries if each.verified):
        try:
            table = Path(relative(entry.catalogue))
            row = LockedFile(**{name: getattr(entry, name) for name in LockedFile.model_fields})
        except ValueError as error:
            raise UserError(
                f"{pack}: its {MANIFEST} has no record of {entry.path} that can be kept "
                f"({fault_of(error)}); pack anew."
            ) from error
        if not table.parent.is_dir():
            raise UserError(
                f"{pack} has files of {table}, and there is no {table.parent} in {Path.cwd()}; "
                "unpack it in the directory of the campaign."
            )
        yield row, table


def _manifest(tar: tarfile.TarFile, pack: Path) -> bytes:
    """The first member. Raises UserError where it is no manifest."""
    member = tar.next()
    content = tar.extractfile(member) if member is not None and member.isreg() else None
    if member is None or content is None or member.name != MANIFEST:
        raise UserError(f"{pack} does not begin with {MANIFEST}; it is no pack of sources.")
    if member.size > LARGEST_MANIFEST:
        raise UserError(f"{pack}: its {MANIFEST} has {member.size:,} bytes; it is no pack.")
    return content.read()


def _place(content: IO[bytes], entry: Entry, mirror: Path, pack: Path) -> None:
    """Write one file of a pack, if it is the one in the manifest."""
    place = below(mirror, entry.path, str(pack))
    with disk_errors(place), atomic(place) as temporary:
        with temporary.open("wb") as target:
            shutil.copyfileobj(content, target, PIECE)
        if sha256_of(temporary) != entry.sha256:
            raise UserError(
                f"{pack}: {entry.path} has another SHA-256 than its {MANIFEST} says; copy it again."
            )
