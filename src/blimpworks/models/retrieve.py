"""Make sealed checkpoints of models of the Hugging Face hub, of packages and of this machine."""

import hashlib
import logging
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError

from blimpworks.campaign.addresses import PACKAGES, is_local, offline_variable, scrubbed
from blimpworks.campaign.settings.scoring import FirstToken
from blimpworks.errors import UserError
from blimpworks.files import atomic, sha256_of, write_text
from blimpworks.models.checkpoint import (
    FILE_NAME,
    NGRAM_FILES,
    TRANSFORMERS_FILES,
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
from blimpworks.models.own_code import refuse_named_code
from blimpworks.models.revisions import commit_of, lock
from blimpworks.models.weights import REPEATED, is_weights, model_files, refuse_adapter
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
    model: HubModel,
    checkpoint: Path,
    shared: Path | None = None,
    tables: Sequence[Path] = (),
) -> Checkpoint:
    """Put a model's files beside ``checkpoint`` and seal them there (``checkpoint.json``).

    The lock file of the first of ``tables`` records the commit; later any lock must name the same.
    Files are links into a cache, ``shared`` if it has all of them. Offline, only caches are read.
    Raises UserError for a model that is missing, gated, without safetensors or with own code, a
    revision that moved, an unreachable hub, a damaged download, or a directory of other files.
    """
    if is_local(model.hf_id):
        with disk_errors(checkpoint):
            return _take(model, Path(model.hf_id), checkpoint)
    if model.hf_id.startswith(PACKAGES):
        with disk_errors(checkpoint):
            return _take(
                model, packaged_model(model.hf_id, model.revision), checkpoint, model.hf_id
            )
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
    described = _describe(model, Copied(directory=place.name))
    return take_local(model.name, model.scope, str(place), described, checkpoint, origin)


def shared_snapshot(model: HubModel, shared: Path, commit: str) -> Path | None:
    """Return the shared cache's folder of a commit, branch or tag, if it has all files."""
    try:
        folder = Path(_download(model, commit, offline=True, cache=shared))
        complete_files(folder, model)
    except (LocalEntryNotFoundError, UserError):
        return None
    return folder


def _download(model: HubModel, revision: str, *, offline: bool, cache: Path | None = None) -> str:
    return snapshot_download(
        model.repository,
        revision=revision,
        allow_patterns=[model.file] if model.file else [*TRANSFORMERS_FILES],
        ignore_patterns=[] if model.file else LEFT_OUT,
        local_files_only=offline,
        cache_dir=cache,
    )


def snapshot_of(model: HubModel, commit: str) -> Path:
    """Return the cache's folder of a commit, which names it."""
    if offline_variable() is not None:
        return cached_snapshot(model, commit)
    with slot(constants.ENDPOINT):
        try:
            folder = patiently(lambda: _download(model, commit, offline=False))
        except RuntimeError as error:  # of the library for Xet, which has tried several times
            log.warning(
                "Xet's storage fails (%s): by HTTP then; HF_HUB_DISABLE_XET=1 does so at once",
                scrubbed(str(error)),
            )
            constants.HF_HUB_DISABLE_XET = True
            folder = patiently(lambda: _download(model, commit, offline=False))
    # So it is found by its branch or tag offline, also by other programs.
    snapshot = Path(folder)
    reference = snapshot.parents[1] / "refs" / model.revision
    if model.revision != snapshot.name and not (
        reference.exists() and reference.read_text(encoding="utf-8") == snapshot.name
    ):
        write_text(reference, snapshot.name)
    return snapshot


def cached_snapshot(model: HubModel, commit: str) -> Path:
    """Return the cache's folder of a commit, complete or not. Raises LocalEntryNotFoundError."""
    return Path(_download(model, commit, offline=True))


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
    name: str, scope: str, address: str, described: Checkpoint, checkpoint: Path, origin: str = ""
) -> Checkpoint:
    """Put a model's files, or its n-gram file, beside ``checkpoint``, and seal them there.

    ``address`` is only read. ``described`` says how the model is run; its source becomes the
    directory's or file's name and a digest of the files, or what it was converted of, from
    ``origin``. A model for one language may run on any (``multi``), with a warning. Raises
    UserError for a place without such a model, or one for another language.
    """
    place = Path(address).expanduser()
    folder = as_folder(place)
    facts = facts_of(folder, described.architecture)
    if scope == "multi" and facts.scope != "multi":
        log.warning(
            "%s: %s was trained for %s, and is run on any language.", name, folder, facts.scope
        )
    suits = scope == "multi" or facts.scope in ("multi", scope)
    if facts.architecture != described.architecture or not suits:
        raise UserError(
            f"model {name!r}: {folder} is a {facts.architecture} model ({facts.scope}); expected "
            f"{described.architecture} ({scope}). Correct its row in the table of models."
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
