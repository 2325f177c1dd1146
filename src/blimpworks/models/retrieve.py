"""Make sealed checkpoints of models of the Hugging Face hub, of packages and of this machine."""

import hashlib
import logging
import os
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError

from blimpworks.campaign.addresses import is_local, is_on_hub, offline_variable, scrubbed
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.settings.scoring import FirstToken
from blimpworks.campaign.table_files import (
    Locked,
    LockedModel,
    is_commit,
    lock_path,
    locked_models,
    model_tables,
    named_row,
    read_rows,
    record,
)
from blimpworks.errors import UserError
from blimpworks.files import atomic, sha256_of, write_text
from blimpworks.models.checkpoint import (
    FILE_NAME,
    Checkpoint,
    Copied,
    Retrieved,
    clear,
    read_checkpoint,
    seal,
)
from blimpworks.models.converted import as_folder, origin_of, packaged_model
from blimpworks.models.facts import facts_of
from blimpworks.models.hub_errors import explained_errors, patiently
from blimpworks.models.ngram import is_compressed, opened, read_vocabulary
from blimpworks.models.weights import (
    NGRAM_FILES,
    REPEATED,
    TRANSFORMERS_FILES,
    is_weights,
    model_files,
    refuse_adapter,
    refuse_named_code,
)
from blimpworks.retrieval.download import slot
from blimpworks.retrieval.sources import disk_errors, git_blob_of

log = logging.getLogger(__name__)

# Folders hold other formats (onnx, original).
LEFT_OUT = ["*/*", REPEATED]


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model of the catalogue, for one scope: the fields of its checkpoint, and its source."""

    name: str
    scope: str
    architecture: str
    dtype: str
    first_token: FirstToken
    hf_id: str
    revision: str
    """Branch, tag or commit."""

    @property
    def repository(self) -> str:
        """Owner and name on the hub."""
        return self.hf_id.partition(":")[0]

    @property
    def file(self) -> str:
        """Path of a GGUF file in the repository; empty for a model in Hugging Face's layout."""
        return self.hf_id.partition(":")[2]


def retrieve_model(
    model: HubModel, checkpoint: Path, shared: Path | None = None, tables: Sequence[Path] = ()
) -> Checkpoint:
    """Put a model's files beside ``checkpoint`` and seal them there (``checkpoint.json``).

    The lock file of the first of ``tables`` records the commit; later any lock must name the same.
    Files are links into a cache, ``shared`` if it has all of them. Offline, only caches are read.
    Raises UserError for a model that is missing, gated, without safetensors or with own code.
    The same for a revision that moved, an unreachable hub, damage, or a directory of other files.
    """
    if not is_on_hub(model.hf_id):
        with disk_errors(checkpoint):
            if is_local(model.hf_id):
                return _take(model, Path(model.hf_id), checkpoint)
            place = packaged_model(model.hf_id, model.revision)
            return _take(model, place, checkpoint, model.hf_id)
    with explained_errors(model.hf_id, model.revision, model.name):
        commit = commit_of(model.hf_id, model.revision, tables, model.name)
        cached = shared_snapshot(model, shared, commit) if shared else None
        snapshot = cached or snapshot_of(model, commit)
    files = complete_files(snapshot, model)
    for path in files:
        # The cache names a large file after its SHA-256 and a small one after git's id, as the
        # hub announced them.
        blob = path.resolve()
        name, digest = "", blob.name
        if re.fullmatch(r"[0-9a-f]{64}", blob.name):
            name, digest = "SHA-256", sha256_of(blob)
        elif re.fullmatch(r"[0-9a-f]{40}", blob.name):
            name, digest = "git id", git_blob_of(blob)
        if digest != blob.name:
            raise UserError(
                f"{model.hf_id}: {path.name} in the cache is damaged: its {name} is not "
                f"{blob.name}; delete {blob} and run again."
            )
    refuse_named_code(files, model.hf_id)
    lock(model.hf_id, model.revision, snapshot.name, tables, model.name)
    with disk_errors(checkpoint):
        if model.file:
            return _take(model, files[0], checkpoint, f"{model.hf_id}@{snapshot.name}")
        clear(checkpoint.parent)
        for path in files:
            place_file(path, checkpoint.parent / path.name, linked=cached is not None)
        source = Retrieved(hf_id=model.hf_id, revision=snapshot.name)
        return seal(checkpoint, _describe(model, source))


def _take(model: HubModel, place: Path, checkpoint: Path, origin: str = "") -> Checkpoint:
    return take_local(place, _describe(model, Copied(directory=place.name)), checkpoint, origin)


def shared_snapshot(model: HubModel, shared: Path, commit: str) -> Path | None:
    """Return the shared cache's folder of a commit, branch or tag, if it has all files."""
    try:
        folder = _download(model, commit, offline=True, cache=shared)
        complete_files(folder, model)
    except (LocalEntryNotFoundError, UserError):
        return None
    return folder


def _download(model: HubModel, revision: str, *, offline: bool, cache: Path | None = None) -> Path:
    folder = snapshot_download(
        model.repository,
        revision=revision,
        allow_patterns=[model.file] if model.file else [*TRANSFORMERS_FILES],
        ignore_patterns=[] if model.file else LEFT_OUT,
        local_files_only=offline,
        cache_dir=cache,
    )
    return Path(folder)


def snapshot_of(model: HubModel, commit: str) -> Path:
    """Return the cache's folder of a commit, which names it; offline, complete or not."""
    if offline_variable() is not None:
        return _download(model, commit, offline=True)
    with slot(constants.ENDPOINT):
        try:
            snapshot = patiently(lambda: _download(model, commit, offline=False))
        except RuntimeError as error:  # of the library for Xet, which has tried several times
            log.warning(
                "Xet's storage fails (%s): by HTTP then; HF_HUB_DISABLE_XET=1 does so at once",
                scrubbed(str(error)),
            )
            constants.HF_HUB_DISABLE_XET = True
            snapshot = patiently(lambda: _download(model, commit, offline=False))
    # So it is found by its branch or tag offline, also by other programs.
    reference = snapshot.parents[1] / "refs" / model.revision
    if model.revision != snapshot.name and not (
        reference.exists() and reference.read_text(encoding="utf-8") == snapshot.name
    ):
        write_text(reference, snapshot.name)
    return snapshot


def _describe(model: HubModel, source: Retrieved | Copied) -> Checkpoint:
    return Checkpoint(
        name=model.name,
        scope=model.scope,
        architecture=model.architecture,
        dtype=model.dtype,
        first_token=model.first_token,
        source=source,
    )


def complete_files(snapshot: Path, model: HubModel) -> list[Path]:
    """Return a cached model's files. Raises UserError for missing weights, and an adapter."""
    if model.file:
        if not (snapshot / model.file).is_file():
            raise UserError(
                f"{model.repository} at commit {snapshot.name[:12]} has no file {model.file}; "
                f"correct it (OWNER/NAME:FILE.gguf)."
            )
        return [snapshot / model.file]
    # A cache filled by another program may hold only some of the files.
    where = f"{model.hf_id} at commit {snapshot.name[:12]} in the cache {constants.HF_HUB_CACHE}"
    refuse_adapter((path.name for path in snapshot.iterdir()), model.hf_id)
    files = model_files((path for path in snapshot.iterdir() if path.is_file()), where)
    if not any(map(is_weights, files)):
        raise UserError(
            f"{model.hf_id} at commit {snapshot.name[:12]} has no *.safetensors weights, and "
            "pickled ones are refused because loading them can run code; choose a revision "
            "that has them, or download and convert it: blimpworks convert-weights DIRECTORY "
            "NEW-DIRECTORY, and name the new directory in place of the hub's name."
        )
    return files


def place_file(source: Path, target: Path, *, linked: bool = False) -> None:
    """Hard link a file; where that is refused copy it, or link it symbolically if ``linked``."""
    with atomic(target) as temporary:
        try:
            os.link(source.resolve(), temporary)
        except OSError:
            if linked:
                temporary.symlink_to(source.resolve())
            else:
                shutil.copyfile(source, temporary)


def _take_ngram(place: Path, directory: Path) -> None:
    """Put an n-gram file and its words into a directory: unpacked, else linked or copied."""
    model, vocabulary = NGRAM_FILES
    write_text(directory / vocabulary, "".join(f"{word}\n" for word in read_vocabulary(place)))
    if not is_compressed(place):
        place_file(place, directory / model)
        return
    with (
        opened(place) as source,
        atomic(directory / model) as temporary,
        temporary.open("wb") as target,
    ):
        shutil.copyfileobj(source, target)


def take_local(
    address: Path, described: Checkpoint, checkpoint: Path, origin: str = ""
) -> Checkpoint:
    """Put a model's files, or its n-gram file, beside ``checkpoint``, and seal them there.

    ``address`` is only read. ``described`` says how the model is run; its source becomes the
    directory's or file's name and a digest of the files, or what it was converted of, from
    ``origin``. A model for one language may run on any (``multi``), with a warning. Raises
    UserError for a place without such a model, or one for another language.
    """
    place, scope = address.expanduser(), described.scope
    folder = as_folder(place)
    facts = facts_of(folder, described.architecture)
    if scope == "multi" and facts.scope != "multi":
        log.warning(
            "%s: %s was trained for %s, and is run on any language.",
            *(described.name, folder, facts.scope),
        )
    suits = scope == "multi" or facts.scope in ("multi", scope)
    if facts.architecture != described.architecture or not suits:
        raise UserError(
            f"model {described.name!r}: {folder} is a {facts.architecture} model ({facts.scope}); "
            f"expected {described.architecture} ({scope}). Correct its row in the table of models."
        )
    clear(checkpoint.parent)
    if folder.is_file():
        _take_ngram(folder, checkpoint.parent)
    else:
        if (folder / FILE_NAME).exists():
            files = [folder / name for name in sorted(read_checkpoint(folder / FILE_NAME).files)]
        else:
            files = model_files((path for path in folder.iterdir() if path.is_file()), str(folder))
        for path in files:
            place_file(path, checkpoint.parent / path.name)
    if converted := origin_of(folder, origin or place.name):
        return seal(checkpoint, described.model_copy(update={"source": converted}))
    sealed = seal(checkpoint, described)
    names = "\n".join(f"{name} {digest}" for name, digest in sealed.files.items())
    digest = hashlib.sha256(names.encode()).hexdigest()
    source = Copied(directory=folder.resolve().name, sha256=digest)
    return seal(checkpoint, described.model_copy(update={"source": source}))


# Revisions


def tip_of(hf_id: str, revision: str) -> str:
    """Ask the hub for a revision's present commit. Raises the library's errors."""
    repository = hf_id.partition(":")[0]
    info = patiently(lambda: HfApi().model_info(repository, revision=revision))
    if info.id and info.id != repository:
        log.warning("%s is called %s on the hub now", repository, info.id)
    return info.sha or revision


def commit_of(hf_id: str, revision: str, tables: Sequence[Path] = (), name: str = "") -> str:
    """Return the commit to retrieve of a model called ``name`` in ``tables``.

    A commit is itself, without a question to the hub. Any other revision must be what the lock
    files of ``tables`` say, if they do; offline it is that, or stays as it is.

    Raises UserError for a revision that has moved, and the errors of the hub's library.
    """
    if is_commit(revision):
        return revision
    locked = locked_models(tables).get((hf_id, revision))
    if offline_variable() is not None:
        return locked.row.commit if locked else revision
    tip = tip_of(hf_id, revision)
    if locked and locked.row.commit != tip:
        raise UserError(f"{locked.moved(tip, name)}.")
    return tip


def lock(hf_id: str, revision: str, commit: str, tables: Sequence[Path], name: str = "") -> None:
    """Lock a revision beside the first of ``tables``. Raises UserError for another lock."""
    if is_commit(revision) or not tables:
        return
    with disk_errors(lock_path(tables[0])):
        standing = record(LockedModel(hf_id=hf_id, revision=revision, commit=commit), tables[0])
    if standing.commit != commit:
        locked = Locked(standing, lock_path(tables[0]), tables[0])
        raise UserError(f"{locked.moved(commit, name)}.")


def _ids(row: ModelRow, locked: Collection[tuple[str, ...]]) -> list[str]:
    """Return a row's names on the hub; for a template, the locked ones."""
    if "{" not in row.hf_id:
        return [row.hf_id]
    pattern = re.sub(r"\\{(lang|script)\\}", "[a-z]+", re.escape(row.hf_id))
    return [hf_id for hf_id, rev in locked if rev == row.revision and re.fullmatch(pattern, hf_id)]


def is_open(row: ModelRow) -> bool:
    """Whether a model is of the hub, and its revision can move."""
    return is_on_hub(row.hf_id) and not is_commit(row.revision)


def pin_models(table: Path, names: Sequence[str] = ()) -> Iterator[LockedModel]:
    """Lock a table's models to the present commits of their revisions, and yield the locks.

    Models in ``names`` are locked even again; without names, all that have no lock. The locks of
    the repository's table count, as in the workflow.

    Raises UserError for a name with nothing to pin, and as ``explained_errors`` does.
    """
    locked = {
        key: locked_model.row for key, locked_model in locked_models(model_tables(table)).items()
    }
    rows = {row.name: row for row in read_rows(ModelRow, table)}
    for name in names:
        if not is_open(named_row(rows, name, table)):
            raise UserError(
                f"{table}: model {name!r} has nothing to pin: it is a commit already, or not of "
                "the hub; name another, or make its revision a branch or tag."
            )
    for row in rows.values():
        if not is_open(row) or (names and row.name not in names):
            continue
        for hf_id in _ids(row, locked):
            before = locked.get((hf_id, row.revision))
            if before and not names:
                continue
            with explained_errors(hf_id, row.revision, row.name):
                commit = tip_of(hf_id, row.revision)
            if before is None or before.commit != commit:
                key = {"hf_id": hf_id, "revision": row.revision}
                now = LockedModel(**key, commit=commit, replaces=before.commit if before else "")
                with disk_errors(lock_path(table)):
                    yield record(now, table, replace=True)
