"""Models from the Hugging Face hub, as checkpoints sealed like the ones trained here."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import cast

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from blimpworks.campaign.addresses import offline_variable, scrubbed, shown
from blimpworks.campaign.local_models import is_local
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.models.checkpoint import (
    TRANSFORMERS_FILES,
    Checkpoint,
    Copied,
    FirstToken,
    Retrieved,
    clear,
    seal,
)
from blimpworks.models.local import place_file, take_local
from blimpworks.models.own_code import refuse_named_code
from blimpworks.retrieval.disk import disk_errors
from blimpworks.retrieval.slots import slot

# Folders hold other formats (onnx, original); a consolidated file repeats the shards.
LEFT_OUT = ["*/*", "consolidated*"]
# The hub library's HTTP client, and so the class of its network errors, differs by version.
_ERRORS = cast(tuple[type[Exception], ...], (HFValidationError, OSError, *HfHubHTTPError.__bases__))


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


def retrieve_model(model: HubModel, checkpoint: Path, shared: Path | None = None) -> Checkpoint:
    """Put a model's files beside ``checkpoint`` and seal them there (``checkpoint.json``).

    A model whose name is a place on this machine is copied or linked from there.

    The revision is resolved to the commit that the seal records. A model that lies complete in
    ``shared``, a cache of the hub's library that many read, is taken from there; else it is
    downloaded. Files are hard links into the cache where the file system allows it, symbolic
    ones into a shared cache. Offline, only the caches are read.

    Raises UserError for a model that is missing, gated or without safetensors weights, an
    unreachable hub, a damaged download, a model that names code of its own, or a directory
    that holds other files.
    """
    if is_local(model.hf_id):
        with disk_errors(checkpoint):
            described = _describe(model, Copied(directory=Path(model.hf_id).name))
            return take_local(model.name, model.scope, model.hf_id, described, checkpoint)
    with explained_errors(model):
        cached = shared_snapshot(model, shared) if shared else None
        snapshot = cached or _snapshot(model)
    files = complete_files(snapshot, model)
    _check_intact(files, model)
    refuse_named_code(files, model.hf_id)
    with disk_errors(checkpoint):
        clear(checkpoint.parent)
        for path in files:
            place_file(path, checkpoint.parent / path.name, linked=cached is not None)
        source = Retrieved(hf_id=model.hf_id, revision=snapshot.name)
        return seal(checkpoint, _describe(model, source))


def _is_commit(revision: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{40}", revision) is not None


def shared_snapshot(model: HubModel, shared: Path) -> Path | None:
    """Folder of the shared cache that holds the revision's files, if it has them all.

    A branch is the commit that the hub says it is; offline, the one it was when it was cached.
    """
    revision = model.revision
    if offline_variable() is None and not _is_commit(revision):
        revision = HfApi().model_info(model.hf_id, revision=revision).sha or revision
    try:
        folder = Path(_download(model, revision, offline=True, cache=shared))
    except LocalEntryNotFoundError:
        return None
    names = [path.name for path in folder.glob("*") if is_kept(path.name)]
    has_weights = any(name.endswith(".safetensors") for name in names)
    return folder if has_weights and not _shards([*folder.glob("*")]) - {*names} else None


def _download(model: HubModel, revision: str, *, offline: bool, cache: Path | None = None) -> str:
    return snapshot_download(
        model.hf_id,
        revision=revision,
        allow_patterns=[*TRANSFORMERS_FILES],
        ignore_patterns=LEFT_OUT,
        local_files_only=offline,
        cache_dir=cache,
    )


def _snapshot(model: HubModel) -> Path:
    """Folder of the cache that holds the revision's files; it is named after the commit."""
    if offline_variable() is not None:
        return cached_snapshot(model)
    if not _is_commit(model.revision):
        # Without this question an unreachable hub would let an old branch tip pass as new.
        HfApi().model_info(model.hf_id, revision=model.revision)
    with slot(constants.ENDPOINT):
        return Path(_download(model, model.revision, offline=False))


def cached_snapshot(model: HubModel) -> Path:
    """Folder of the hub library's cache with the revision's files, as many as there are.

    Raises LocalEntryNotFoundError where there is none.
    """
    return Path(_download(model, model.revision, offline=True))


def _describe(model: HubModel, source: Retrieved | Copied) -> Checkpoint:
    return Checkpoint(
        name=model.name,
        scope=model.scope,
        architecture=model.architecture,
        dtype=model.dtype,
        first_token=model.first_token,
        source=source,
    )


def is_kept(name: str) -> bool:
    """Whether a file of a repository is part of the model that is retrieved."""
    return any(fnmatch(name, kept) for kept in TRANSFORMERS_FILES) and not any(
        fnmatch(name, left) for left in LEFT_OUT
    )


def complete_files(snapshot: Path, model: HubModel) -> list[Path]:
    """The files of a model in a cache. Raises UserError where weights, or some of them, lack."""
    files = [p for p in sorted(snapshot.glob("*")) if p.is_file() and is_kept(p.name)]
    # A cache filled by another program may hold only some of the files.
    missing = _shards(files) - {p.name for p in files}
    if missing:
        raise UserError(
            f"{model.hf_id} at commit {snapshot.name[:12]} lacks {min(missing)}, which its "
            f"index names, in the cache {constants.HF_HUB_CACHE}; retrieve it with network."
        )
    if not any(p.suffix == ".safetensors" for p in files):
        raise UserError(
            f"{model.hf_id} at commit {snapshot.name[:12]} has no *.safetensors weights, and "
            "pickled ones are refused because loading them can run code; choose a revision "
            "that has them, or download and convert it: blimpworks convert-weights DIRECTORY "
            "NEW-DIRECTORY, and name the new directory in place of the hub's name."
        )
    return files


def _check_intact(files: list[Path], model: HubModel) -> None:
    """Raise UserError for a large file whose SHA-256 is not the one that the hub announced."""
    for path in files:
        # The cache names a large file after its SHA-256, as the hub announced it.
        blob = path.resolve()
        if re.fullmatch(r"[0-9a-f]{64}", blob.name) and sha256_of(blob) != blob.name:
            raise UserError(
                f"{model.hf_id}: {path.name} in the cache is damaged: its SHA-256 is not "
                f"{blob.name}; delete {blob} and run again."
            )


def _shards(files: list[Path]) -> set[str]:
    """Weight files that the indices among ``files`` name."""
    indices = [p for p in files if p.name.endswith(".safetensors.index.json")]
    return {s for p in indices for s in json.loads(p.read_bytes())["weight_map"].values()}


@contextmanager
def explained_errors(model: HubModel) -> Iterator[None]:
    """Turn the hub library's errors into one sentence each."""
    try:
        with disk_errors(Path(constants.HF_HUB_CACHE)):
            yield
    except _ERRORS as error:
        # A file that could not be had is reported as not cached; the reason hangs behind it.
        behind = error.__cause__ if isinstance(error, LocalEntryNotFoundError) else None
        raise UserError(_sentence(behind or error, model)) from error


def _sentence(error: BaseException, model: HubModel) -> str:
    hub = shown(constants.ENDPOINT)
    subject = f"model {model.name!r}: {model.hf_id!r}" if model.name else f"model {model.hf_id!r}"
    variable = offline_variable()
    if variable or isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled):
        return (
            f"{subject} at revision {model.revision!r} is not complete in the cache "
            f"{constants.HF_HUB_CACHE} and {variable or 'HF_HUB_OFFLINE'} forbids the network; "
            "retrieve it once with network, or copy a cache that has it and set HF_HUB_CACHE."
        )
    if isinstance(error, HFValidationError):
        return f"{subject} is no name of the hub, expected 'owner/name'; correct it."
    if not isinstance(error, HfHubHTTPError):
        return (
            f"{subject}: the hub {hub} cannot be reached ({_reason(error)}); check the network, "
            "HF_ENDPOINT and HTTPS_PROXY, or set HF_HUB_OFFLINE=1 to use the cache alone."
        )
    return f"{subject} {_refusal(error, model, hub)}"


def _refusal(error: HfHubHTTPError, model: HubModel, hub: str) -> str:
    """What the hub answered, and what to do about it."""
    code = error.response.status_code
    if isinstance(error, GatedRepoError) or code == 403:
        return (
            f"is gated (HTTP {code}): its licence must be accepted first; do so at "
            f"{hub}/{model.hf_id} and set HF_TOKEN to a token of that account."
        )
    if isinstance(error, RevisionNotFoundError):
        return (
            f"has no revision {model.revision!r} on {hub} (HTTP {code}); name an "
            "existing branch, tag or commit."
        )
    if isinstance(error, RepositoryNotFoundError) or code == 401:
        return (
            f"does not exist on {hub} or is private (HTTP {code}); correct it, or set "
            "HF_TOKEN to a valid token of an account that may read it."
        )
    return f"was refused by {hub} (HTTP {code}); try again later."


def _reason(error: BaseException) -> str:
    text = scrubbed(" ".join(str(error).split()).rstrip("."))
    return text[:200] or type(error).__name__
