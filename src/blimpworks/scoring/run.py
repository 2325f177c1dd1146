"""Scoring of all items of one model: one engine, one store, one manifest."""

import json
import logging
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, ValidationError

from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.errors import UserError, reading
from blimpworks.files import sha256_of, write_text
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.plan import Request, by_prefix, requests_of
from blimpworks.scoring.selftest import Findings, run_self_test
from blimpworks.scoring.store import FAILED, Store, sentence_keys
from blimpworks.scoring.watch import UNWATCHED, Watch
from blimpworks.strict import Strict, Within

log = logging.getLogger(__name__)


class Manifest(Strict):
    """Which shards hold the scores of a model's items.

    How sentences lie in shards depends on the order in which items came, so equal scores
    can have different manifests.
    """

    engine: str
    """Key of the engine that scored."""
    checkpoint: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the model's checkpoint.json."""
    sentences: int
    """Distinct sentences of the items, or regions of them."""
    statuses: dict[str, int]
    """Number of those sentences by status."""
    checks: dict[str, str] = Field(default_factory=dict)
    """Findings of the self-test, in words, by check; see ``selftest``."""
    shards: dict[Within, str]
    """SHA-256 of each shard that holds one of them, by file name."""


M = TypeVar("M", bound=Manifest)


def read_manifest(path: Path, kind: type[M] = Manifest) -> M:  # type: ignore[assignment]
    """Read a manifest of a kind. Raises UserError when it is missing or malformed."""
    with reading(path, "a manifest of scores", "Score again."):
        return kind.model_validate_json(path.read_bytes())


def write_manifest(result: Manifest, path: Path) -> None:
    """Write a manifest, by which its job is known to be done."""
    text = json.dumps(result.model_dump(), indent=1, ensure_ascii=False, sort_keys=True)
    write_text(path, text + "\n")


class Failed(Strict):
    """Scoring with a model failed for good, as one of several in a job."""

    failed: str
    """Why scoring failed, in a sentence."""
    log: str
    """Path of the log that says more."""


def refuse_failed(manifest: Path) -> None:
    """Raise UserError when ``manifest`` says that scoring was given up.

    It is removed then, so that Snakemake, which knows the file and not what it says, scores
    again when it is run again.
    """
    try:
        failure = Failed.model_validate_json(manifest.read_bytes())
    except (ValidationError, FileNotFoundError):
        return
    manifest.unlink(missing_ok=True)
    raise UserError(
        f"{manifest}: scoring failed, see {failure.log}: {failure.failed} "
        "Correct that and run the same snakemake command again: only this model is scored again."
    )


def warn_of_failures(
    result: Manifest,
    path: Path,
    failed: frozenset[str] = FAILED,
    what: str = "sentences without scores",
    setting: str = "scoring.retry_failed",
) -> None:
    """Say how many requests failed that another try could mend, and how to try.

    ``failed`` are the statuses of those; ``what`` they are, and the ``setting`` that tries again.
    """
    counts = {status: n for status, n in result.statuses.items() if status in failed}
    if counts:
        log.warning(
            "%s: %s: %s; delete it and run again with %s: true to try them once more.",
            path,
            what,
            ", ".join(f"{n} {status}" for status, n in counts.items()),
            setting,
        )


def _by_language(
    items: Sequence[Path], regions: Sequence[Path], *, regional: bool
) -> dict[str, set[Request]]:
    """What is to be scored of each language, which is what an items table is called after."""
    requests: dict[str, set[Request]] = {}
    for path in items:
        requests.setdefault(path.stem, set()).update(requests_of([path]))
    for path in regions:
        requests.setdefault(path.stem, set()).update(requests_of([path], regions=regional))
    return requests


def _manifest(
    engine: str, checkpoint: Path, store: Store, keys: Collection[str], findings: Findings
) -> Manifest:
    """What a store has of the sentences with some ``keys``."""
    used = sorted({store.shard_of[key] for key in keys})
    return Manifest(
        engine=engine,
        checkpoint=sha256_of(checkpoint),
        sentences=len(keys),
        statuses=dict(sorted(Counter(store.status_of[key] for key in keys).items())),
        shards={path.name: sha256_of(path) for path in used},
        checks=findings.checks,
    )


def score_items(
    items: Sequence[Path],
    checkpoint: Path,
    store: Path,
    manifest: Path,
    engine: str,
    options: ScoringOptions,
    *,
    regions: Sequence[Path] = (),
    watch: Watch = UNWATCHED,
) -> Manifest:
    """Score every good and bad sentence of ``items`` with ``engine`` and a checkpoint.

    Of the items tables ``regions`` only the critical regions are needed: an engine that pays
    for each token scores no more of them. Scores go into the shards below directory
    ``store``; sentences that have some there are not scored again. ``manifest`` is written
    last. A killed run goes on where it was, with the same final bytes, and so does one that
    ``watch``, which is told of each step, ends by raising.

    Raises UserError when items or checkpoint are missing or malformed.
    """
    with closing(load_engine(checkpoint, engine, options)) as opened:
        sentences = _by_language(items, regions, regional=opened.regional)
        requests = set[Request]().union(*sentences.values())
        texts = sorted({request.text for request in requests})
        findings = run_self_test(opened, store, texts)
        keys = sentence_keys(opened.key, requests)
        shards, retry = Store(store), options.retry_failed
        prefixes = by_prefix(requests, opened, options)
        try:
            watch.begin(sentences, shards.missing(keys, retry=retry))
            how = {"prefixes": prefixes, "retry": retry}
            new = shards.fill(opened, keys, options.shard, **how, watch=watch)
        finally:
            watch.end()
    result = _manifest(opened.key, checkpoint, shards, keys.values(), findings)
    write_manifest(result, manifest)
    log.info("%s: %d sentences, %d of them new", manifest, result.sentences, new)
    warn_of_failures(result, manifest)
    return result
