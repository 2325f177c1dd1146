"""All files and models that a campaign retrieves, in one tar for a machine without network.

Unpacked it is a mirror directory, with a cache of the Hugging Face hub's client in ``hub``.
"""

import hashlib
import io
import shutil
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from itertools import islice
from pathlib import Path

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


COLUMNS = tuple(field.name for field in fields(Entry))


def pack_sources(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part], pack: Path
) -> list[Entry]:
    """Write what a campaign has retrieved for some parts into one tar, behind a manifest.

    Returns the manifest. Raises UserError, before anything is written, where a file or a model has
    not been retrieved or is not what was pinned.
    """
    contents: dict[Entry, Path | bytes] = {}
    for row in read_files(campaign, catalogue, parts):
        if is_usable(campaign, row):
            file = Path(campaign.pathvars.resources, "sources", row.name)
            contents[_entry_of(row, file, campaign, catalogue)] = file
    # Models from the hub, in the layout of the cache of its client.
    retrieved = [part for part in parts if not part.trained]
    for part in {part.checkpoint(campaign): part for part in retrieved}.values():
        checkpoint = part.checkpoint(campaign)
        _require(checkpoint, checkpoint.parent)
        described = read_description(checkpoint)
        source = described.source
        if type(source) is not Retrieved:
            continue  # a directory of this machine
        folder = f"hub/models--{source.hf_id.replace('/', '--')}"
        revision = catalogue.models[part.model].revision
        if revision != source.revision:
            commit = source.revision.encode()
            digest = hashlib.sha256(commit).hexdigest()
            contents[Entry(f"{folder}/refs/{revision}", len(commit), digest, "")] = commit
        for name, digest in described.files.items():
            file = checkpoint.parent / name
            if sha256_of(file) != digest:
                raise UserError(f"{file} is not what was retrieved; retrieve the model again.")
            path = f"{folder}/snapshots/{source.revision}/{name}"
            contents[Entry(path, file.stat().st_size, digest, f"of {source.hf_id}")] = file
    by_path = {entry.path: (entry, content) for entry, content in contents.items()}
    entries = [entry for entry, _ in by_path.values()]
    lines = [COLUMNS, *(tuple(map(str, astuple(entry))) for entry in entries)]
    manifest = "".join("\t".join(cells) + "\n" for cells in lines).encode()
    with disk_errors(pack), atomic(pack) as temporary, tarfile.open(temporary, "w") as tar:
        tar.addfile(_member(MANIFEST, len(manifest)), io.BytesIO(manifest))
        for entry, content in by_path.values():
            with (
                io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as handle
            ):
                tar.addfile(_member(entry.path, entry.bytes), handle)
    return entries


def _member(path: str, size: int) -> tarfile.TarInfo:
    """Describe a plain file of nobody, so that the same files give the same tar."""
    member = tarfile.TarInfo(path)
    member.size, member.mode = size, 0o644
    return member


def _require(file: Path, subject: Path) -> None:
    if not file.is_file():
        raise UserError(
            f"{subject} has not been retrieved; run `snakemake … --until retrieve` where there is "
            "a network, then pack."
        )


def _entry_of(
    row: SourceRow | TreebankRow, file: Path, campaign: Campaign, catalogue: Catalogue
) -> Entry:
    """Describe a retrieved file. Raises UserError where it is not what was retrieved."""
    _require(file, file)
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
    named = place_here(table).as_posix()
    return replace(entry, name=row.name, catalogue=named, verified=locked.verified, url=row.url)


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
            entries = _read_manifest(tar, pack)
            locked = _locked_files(entries.values(), pack)
            missing = dict(entries)
            for member in islice(tar, 1, None):
                entry = missing.pop(member.name, None)
                content = tar.extractfile(member) if member.isreg() else None
                if entry is None or content is None or member.size != entry.bytes:
                    raise UserError(
                        f"{pack}: {member.name!r:.200} is not as its {MANIFEST} says; replace the "
                        "pack."
                    )
                path = below(mirror, entry.path, str(pack))
                with disk_errors(path), atomic(path) as temporary:
                    with temporary.open("wb") as target:
                        shutil.copyfileobj(content, target, PIECE)
                    if sha256_of(temporary) != entry.sha256:
                        raise UserError(
                            f"{pack}: {entry.path} has another SHA-256 than its {MANIFEST} says; "
                            "copy it again."
                        )
    except (tarfile.TarError, *BROKEN) as error:
        raise UserError(f"{pack} is no whole pack ({error}); copy it again.") from error
    if missing:
        raise UserError(f"{pack} lacks {min(missing)}, which its {MANIFEST} has; copy it again.")
    for row, table in locked:
        record_file(row, table)
    return [*entries.values()]


def _read_manifest(tar: tarfile.TarFile, pack: Path) -> dict[str, Entry]:
    """Read the entries of a pack by path. Raises UserError where its first member has none."""
    member = tar.next()
    file = tar.extractfile(member) if member is not None and member.isreg() else None
    if member is None or file is None or member.name != MANIFEST:
        raise UserError(f"{pack} does not begin with {MANIFEST}; it is no pack of sources.")
    if member.size > LARGEST_MANIFEST:
        raise UserError(f"{pack}: its {MANIFEST} has {member.size:,} bytes; it is no pack.")
    try:
        first, *lines = file.read().decode().removesuffix("\n").split("\n")
        if tuple(first.split("\t")) != COLUMNS:
            raise ValueError("other columns")
        rows = (line.split("\t") for line in lines)
        entries = [Entry(path, int(size), *more) for path, size, *more in rows]
        return {relative(entry.path): entry for entry in entries}
    except (ValueError, TypeError) as error:
        raise UserError(
            f"{pack}: its {MANIFEST} cannot be read ({error}); expected a pack of "
            "`blimpworks pack-sources`."
        ) from error


def _locked_files(entries: Iterable[Entry], pack: Path) -> list[tuple[LockedFile, Path]]:
    """List what is to be recorded of files, each with its table of the catalogue.

    Raises UserError for a table that is not here, and for what is no record of a file.
    """
    locked = []
    for entry in (entry for entry in entries if entry.verified):
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
        locked.append((row, table))
    return locked
