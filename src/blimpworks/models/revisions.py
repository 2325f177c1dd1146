"""Resolve and lock branches, tags and pull requests of models to commits."""

import logging
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from huggingface_hub import HfApi

from blimpworks.campaign.addresses import is_on_hub, offline_variable
from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.lock_file import (
    Locked,
    LockedModel,
    is_commit,
    lock_path,
    locked_models,
    model_tables,
    record,
)
from blimpworks.campaign.table_files import named_row, read_rows
from blimpworks.errors import UserError
from blimpworks.models.hub_errors import explained_errors, patiently
from blimpworks.retrieval.sources import disk_errors

log = logging.getLogger(__name__)


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


def _locked_now(hf_id: str, revision: str, commit: str, replaces: str = "") -> LockedModel:
    day = datetime.now(UTC).date().isoformat()
    return LockedModel(hf_id=hf_id, revision=revision, commit=commit, date=day, replaces=replaces)


def lock(hf_id: str, revision: str, commit: str, tables: Sequence[Path], name: str = "") -> None:
    """Lock a revision beside the first of ``tables``. Raises UserError for another lock."""
    if is_commit(revision) or not tables:
        return
    with disk_errors(lock_path(tables[0])):
        standing = record(_locked_now(hf_id, revision, commit), tables[0])
    if standing.commit != commit:
        locked = Locked(standing, lock_path(tables[0]), tables[0])
        raise UserError(f"{locked.moved(commit, name)}.")


def _ids(row: ModelRow, locked: Collection[tuple[str, ...]]) -> list[str]:
    """Return a row's names on the hub; for a template, the locked ones."""
    if "{" not in row.hf_id:
        return [row.hf_id]
    pattern = re.sub(r"\\{(lang|script)\\}", "[a-z]+", re.escape(row.hf_id))
    return [hf_id for hf_id, rev in locked if rev == row.revision and re.fullmatch(pattern, hf_id)]


def _open_rows(table: Path, names: Sequence[str]) -> Iterator[ModelRow]:
    rows = {row.name: row for row in read_rows(ModelRow, table)}
    for name in names:
        if not is_open(named_row(rows, name, table)):
            raise UserError(
                f"{table}: model {name!r} has nothing to pin: it is a commit already, or not of "
                "the hub; name another, or make its revision a branch or tag."
            )
    yield from (row for name, row in rows.items() if is_open(row) and name in (names or rows))


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
    for row in _open_rows(table, names):
        for hf_id in _ids(row, locked):
            before = locked.get((hf_id, row.revision))
            if before and not names:
                continue
            with explained_errors(hf_id, row.revision, row.name):
                commit = tip_of(hf_id, row.revision)
            if before is None or before.commit != commit:
                now = _locked_now(hf_id, row.revision, commit, before.commit if before else "")
                with disk_errors(lock_path(table)):
                    yield record(now, table, replace=True)
