"""Retrieve models as sealed checkpoints, and lock branches and tags of the hub to commits.

``retrieve_model`` makes a checkpoint: a directory with a model's files and a ``checkpoint.json``,
which lists them with their SHA-256. A *lock* beside a table of models records the commit of a
branch when it was first retrieved: ``gpt2 at main -> 607a30d7…``.
"""

import logging
import os
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from blimpworks.campaign import table_files
from blimpworks.campaign.addresses import is_local, is_on_hub
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.table_files import named_row, read_rows
from blimpworks.errors import UserError
from blimpworks.files import atomic, sha256_of, write_text
from blimpworks.models import hub
from blimpworks.models.checkpoint import (
    FILE_NAME,
    NGRAM_FILES,
    Checkpoint,
    Copied,
    Description,
    Retrieved,
    clear,
    count_numbers,
    is_weights,
    model_files,
    read_checkpoint,
    seal,
)
from blimpworks.models.converted import as_folder, origin_of, packaged_model
from blimpworks.models.facts import UserChoice, described_facts, facts_of
from blimpworks.models.ngram import is_compressed, opened, read_vocabulary
from blimpworks.models.own_code import check_code
from blimpworks.retrieval.sources import disk_errors, git_blob_of

log = logging.getLogger(__name__)


def retrieve_model(
    model: hub.HubAddress,
    description: Description,
    checkpoint: Path,
    shared: Path | None = None,
    tables: Sequence[Path] = (),
    trusted: Collection[str] = (),
) -> Checkpoint:
    """Put a model's files into the directory of ``checkpoint``, its checkpoint.json, and seal it.

    The model comes from the hub, from packages or from this machine. A lock beside the first of
    ``tables`` records the commit of a branch or tag; later retrievals must find the same commit.
    Files are linked from the cache ``shared`` if it has all of them, else from the user's own
    cache. Offline, only caches are read. ``trusted`` are digests of models' own code that may run.
    Raises UserError if the model cannot be had or run, its revision has moved since it was locked,
    or the directory has other files.
    """
    if not is_on_hub(model.hf_id):
        with disk_errors(checkpoint):
            if is_local(model.hf_id):
                return take_local(Path(model.hf_id), description, checkpoint, "", trusted)
            folder = packaged_model(model.hf_id, model.revision)
            return take_local(folder, description, checkpoint, model.hf_id, trusted)
    name = description.name
    with hub.explained_errors(model.hf_id, model.revision, name):
        commit = hub.commit_of(model.hf_id, model.revision, tables, name)
        cached = hub.shared_snapshot(model, shared, commit) if shared else None
        snapshot = cached or hub.snapshot_of(model, commit)
        needs_code = trusted and not cached
        code_source = hub.code_folder(model.hf_id, commit) if needs_code else snapshot

    files = hub.complete_files(snapshot, model)
    for path in files:
        # The cache names large files after their SHA-256 on the hub, and small ones after git's id.
        blob = path.resolve()
        algorithm, digest = "", blob.name
        if re.fullmatch(r"[0-9a-f]{64}", blob.name):
            algorithm, digest = "SHA-256", sha256_of(blob)
        elif re.fullmatch(r"[0-9a-f]{40}", blob.name):
            algorithm, digest = "git id", git_blob_of(blob)
        if digest != blob.name:
            raise UserError(
                f"{model.hf_id}: {path.name} in the cache is damaged: its {algorithm} is not "
                f"{blob.name}; delete {blob} and run again."
            )
    # "bos" is the default of tables and no user's choice, so the model may have another start.
    start = None if description.first_token == "bos" else description.first_token
    code, choice = None, UserChoice(description.architecture, start, trusted)
    if not model.file:
        code = check_code(code_source, model.hf_id, trusted, files)
        counts = count_numbers(path for path in files if is_weights(path))
        described_facts(code_source, counts, model.hf_id, choice=choice)  # refuses unfit models
    lock(model.hf_id, model.revision, snapshot.name, tables, name)

    with disk_errors(checkpoint):
        if model.file:
            origin = f"{model.hf_id}@{snapshot.name}"
            return take_local(files[0], description, checkpoint, origin, trusted)
        clear(checkpoint.parent)
        for path in files:
            place_file(path, checkpoint.parent / path.name, linked=cached is not None)
        if code:
            code.place(checkpoint.parent)
        source = Retrieved(hf_id=model.hf_id, revision=snapshot.name)
        return seal(checkpoint, Checkpoint(**(dict(description) | {"source": source})))


def place_file(source: Path, target: Path, *, linked: bool = False) -> None:
    """Make a hard link to a file; if that fails, a symbolic link if ``linked``, else a copy."""
    with atomic(target) as temporary:
        try:
            os.link(source.resolve(), temporary)
        except OSError:
            if linked:
                temporary.symlink_to(source.resolve())
            else:
                shutil.copyfile(source, temporary)


def _take_ngram(path: Path, directory: Path) -> None:
    """Put an n-gram file and its words into a directory; a compressed file is unpacked."""
    model, vocabulary = NGRAM_FILES
    write_text(directory / vocabulary, "".join(f"{word}\n" for word in read_vocabulary(path)))
    if not is_compressed(path):
        place_file(path, directory / model)
        return
    with (
        opened(path) as source,
        atomic(directory / model) as temporary,
        temporary.open("wb") as target,
    ):
        shutil.copyfileobj(source, target)


def take_local(
    address: Path,
    description: Description,
    checkpoint: Path,
    origin: str = "",
    trusted: Collection[str] = (),
) -> Checkpoint:
    """Put a local model's files into the directory of ``checkpoint``, its checkpoint.json; seal it.

    ``address`` is a directory, GGUF file, adapter or n-gram file, which is not changed. The source
    in ``checkpoint`` is the name of ``address``, with a digest of the files. For a converted model,
    the source is the original file, under the address ``origin``. ``trusted`` are digests of
    models' own code that may run. A monolingual model may run on any language (``multi``), with a
    warning. Raises UserError for any other model, and one in the directory of ``checkpoint``.
    """
    path, scope = address.expanduser(), description.scope
    folder = as_folder(path)  # an n-gram file is returned as it is
    if checkpoint.parent.resolve() in (folder.resolve(), folder.resolve().parent):
        raise UserError(
            f"{checkpoint.parent} has the files of {path} itself, which would be removed; expected "
            "a directory of its own for the checkpoint. Choose another output, or move the model."
        )
    # "bos" is the default of tables and no user's choice, so the model may have another start.
    start = None if description.first_token == "bos" else description.first_token
    facts = facts_of(folder, UserChoice(description.architecture, start, trusted))
    code = check_code(folder, str(folder), trusted)
    if scope == "multi" and facts.scope != "multi":
        log.warning(
            "%s: %s was trained for %s, and is run on any language.",
            *(description.name, folder, facts.scope),
        )
    suits = scope == "multi" or facts.scope in ("multi", scope)
    if facts.architecture != description.architecture or not suits:
        raise UserError(
            f"model {description.name!r}: {folder} is a {facts.architecture} model "
            f"({facts.scope}); expected {description.architecture} ({scope}). Correct its row in "
            "the table of models."
        )

    clear(checkpoint.parent)
    if folder.is_file():
        _take_ngram(folder, checkpoint.parent)
    else:
        if (folder / FILE_NAME).exists():
            files = [folder / name for name in sorted(read_checkpoint(folder / FILE_NAME).files)]
        else:
            files = model_files((file for file in folder.iterdir() if file.is_file()), str(folder))
        for file in files:
            place_file(file, checkpoint.parent / file.name)
        if code:
            code.place(checkpoint.parent)

    source = origin_of(folder, origin or path.name) or Copied(directory=folder.resolve().name)
    return seal(checkpoint, Checkpoint(**(dict(description) | {"source": source})))


def lock(hf_id: str, revision: str, commit: str, tables: Sequence[Path], name: str = "") -> None:
    """Lock a branch or tag beside the first of ``tables``. Raises UserError for another lock."""
    if table_files.is_commit(revision) or not tables:
        return
    path = table_files.lock_path(tables[0])
    requested = table_files.LockedModel(hf_id=hf_id, revision=revision, commit=commit)
    with disk_errors(path):
        row = table_files.record(requested, tables[0])
    if row.commit != commit:
        raise UserError(f"{table_files.Locked(row, path, tables[0]).moved(commit, name)}.")


def _hub_names(row: ModelRow, locked: Collection[tuple[str, ...]]) -> list[str]:
    """Return the hub's names of a row's models; for ``goldfish/{lang}``, those in ``locked``."""
    if "{" not in row.hf_id:
        return [row.hf_id]
    # The name is goldfish/\{lang\} after re.escape, and becomes the pattern goldfish/[a-z]+.
    pattern = re.sub(r"\\{(lang|script)\\}", "[a-z]+", re.escape(row.hf_id))
    return [hf_id for hf_id, rev in locked if rev == row.revision and re.fullmatch(pattern, hf_id)]


def _can_move(row: ModelRow) -> bool:
    return is_on_hub(row.hf_id) and not table_files.is_commit(row.revision)


def pin_models(table: Path, names: Sequence[str] = ()) -> Iterator[table_files.LockedModel]:
    """Lock the models of a table to the present commits of their revisions, and yield the locks.

    Without ``names``, models that have a lock keep it; as in the workflow, locks of the
    repository's table count too. Models in ``names`` are locked again. Raises UserError for a name
    with nothing to lock, and as ``explained_errors`` does.
    """
    locked = {
        key: lock.row
        for key, lock in table_files.locked_models(table_files.model_tables(table)).items()
    }
    rows = {row.name: row for row in read_rows(ModelRow, table)}
    for name in names:
        if not _can_move(named_row(rows, name, table)):
            raise UserError(
                f"{table}: model {name!r} has nothing to pin: it is a commit already, or not of "
                "the hub; name another, or make its revision a branch or tag."
            )
    for row in rows.values():
        if not _can_move(row) or (names and row.name not in names):
            continue
        for hf_id in _hub_names(row, locked):
            old = locked.get((hf_id, row.revision))
            if old and not names:
                continue
            with hub.explained_errors(hf_id, row.revision, row.name):
                commit = hub.tip_of(hf_id, row.revision)
            replaces = old.commit if old else ""
            if replaces != commit:
                new = table_files.LockedModel(
                    hf_id=hf_id, revision=row.revision, commit=commit, replaces=replaces
                )
                with disk_errors(table_files.lock_path(table)):
                    yield table_files.record(new, table, replace=True)
