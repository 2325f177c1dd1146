"""Score all items of one model: one engine, one store, one manifest."""

import json
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
from pydantic import Field
from tqdm import tqdm

from blimpworks.campaign.settings.scoring import GenerationJobOptions, ScoringOptions
from blimpworks.errors import reading
from blimpworks.files import sha256_of, write_text
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.selftest import run_self_test
from blimpworks.scoring.shards import R, ShardStore
from blimpworks.scoring.store import Request, Store, by_prefix, in_order, requests_of, scored
from blimpworks.scoring.watch import UNWATCHED, Watch
from blimpworks.strict import Strict, Within

log = logging.getLogger(__name__)


class Manifest(Strict):
    """Names the shards with a model's scores, or its answers to prompts (``sentences``)."""

    engine: str
    """Key of the engine."""
    checkpoint: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the model's checkpoint.json."""
    sentences: int
    """Distinct sentences of the items, or regions of them."""
    statuses: dict[str, int]
    """Number of sentences by status."""
    checks: dict[str, str] = Field(default_factory=dict)
    """Findings of the self-test in words, by check; see ``selftest``."""
    shards: dict[Within, str]
    """SHA-256 of each shard, by file name."""
    system: bool | None = None
    """Whether system prompts were sent: answers need a chat template and options that ask so."""


def read_manifest(path: Path) -> Manifest:
    """Read a manifest. Raises UserError when it is missing or malformed."""
    with reading(path, "a manifest of scores", "Score again."):
        return Manifest.model_validate_json(path.read_bytes())


def write_manifest(result: Manifest, path: Path) -> None:
    """Write a manifest, which marks its job as done."""
    text = json.dumps(
        result.model_dump(exclude_none=True), indent=1, ensure_ascii=False, sort_keys=True
    )
    write_text(path, text + "\n")


class Failed(Strict):
    """Record of scoring that failed for good, with one of several models of a job."""

    failed: str
    """Reason, in a sentence."""
    log: str
    """Path of the log."""


Rows = Iterable[tuple[Sequence[R], pa.Table]]
"""Requests of each shard, with their rows."""


def fill(
    store: ShardStore[R],
    requests: Mapping[str, Collection[R]],
    engine_key: str,
    checkpoint: Path,
    manifest: Path,
    options: ScoringOptions | GenerationJobOptions,
    order: Callable[[Collection[R]], list[R]],
    answer: Callable[[Sequence[Sequence[R]], Mapping[R, str]], Rows[R]],
    watch: Watch,
    **facts: Any,
) -> Manifest:
    """Write the rows of ``requests`` (by language) that a store lacks, and the manifest.

    ``order`` sorts what is missing before it is cut into shards. ``answer`` takes the requests of
    all shards, and each request's key, and yields each shard's requests and rows. ``watch`` is told
    of all requests and of each shard; it may end the run between two shards by raising. ``facts``
    are further fields of the manifest. Logs how many rows are new, how many requests failed for a
    reason that may pass, and how to retry.
    """
    keys = store.keys(engine_key, set[R]().union(*requests.values()))
    missing = order(store.missing(keys, retry=options.retry_failed))
    try:
        watch.begin(requests, missing)
        # A run that was killed while it wrote leaves such files.
        for cut_off in store.directory.glob(".part-*.tmp"):
            cut_off.unlink(missing_ok=True)
        size = options.shard
        shards = [missing[start : start + size] for start in range(0, len(missing), size)]
        if shards:
            with tqdm(total=len(missing), unit=store.unit, desc=store.task, mininterval=5) as bar:
                for shard, rows in answer(shards, keys):
                    store.write(rows, engine_key)
                    watch.wrote(shard, rows)
                    bar.update(len(shard))
    finally:
        watch.end()
    used = sorted({store.shard_of[key] for key in keys.values()})
    statuses = Counter(store.status_of[key] for key in keys.values())
    result = Manifest(
        engine=engine_key,
        checkpoint=sha256_of(checkpoint),
        sentences=len(keys),
        statuses=dict(sorted(statuses.items())),
        shards={path.name: sha256_of(path) for path in used},
        **facts,
    )
    write_manifest(result, manifest)
    log.info("%s: %d %ss, %d of them new", manifest, len(keys), store.unit, len(missing))
    counts = [f"{n} {status}" for status, n in result.statuses.items() if status in store.failed]
    if counts:
        log.warning(
            "%s: %ss without result: %s; delete it and run again with %s: true to try them once "
            "more.",
            *(manifest, store.unit, ", ".join(counts), store.retry_setting),
        )
    return result


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

    Of the tables ``regions`` only critical regions are needed, and an engine that pays for each
    token scores no more. Scores go into shards below ``store``; sentences there are not scored
    again. ``manifest`` is written last. A killed run continues with the same final bytes, and so
    does one that ``watch``, which is told of each step, ends by raising.

    Raises UserError when items or checkpoint are missing or malformed.
    """
    with closing(load_engine(checkpoint, engine, options)) as opened:
        sentences: dict[str, set[Request]] = {}
        for path in items:
            sentences.setdefault(path.stem, set()).update(requests_of([path]))
        for path in regions:
            sentences.setdefault(path.stem, set()).update(
                requests_of([path], regions=opened.regional)
            )
        requests = set[Request]().union(*sentences.values())
        findings = run_self_test(opened, store, sorted({request.text for request in requests}))
        prefixes = by_prefix(requests, opened, options)
        return fill(
            Store(store),
            sentences,
            opened.key,
            checkpoint,
            manifest,
            options,
            lambda missing: in_order(missing, prefixes=prefixes),
            lambda parts, keys: scored(opened, parts, keys, watch),
            watch,
            checks=findings.checks,
        )
