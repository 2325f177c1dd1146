"""Score all items with one model into a store, and collect the scores of tables of items.

``score_items`` is the job that runs a model: it writes rows of single sentences into *shards*
(Parquet files of the model's store) and a *manifest*, a JSON file that lists the shards.
``collect_scores`` then makes one table for each table of items: the scores of both sentences.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError
from tqdm import tqdm

from blimpworks.campaign.settings.scoring import GenerationJobOptions, ScoringOptions
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.items import SIDES
from blimpworks.scoring.engine import load_engine
from blimpworks.scoring.progress import UNWATCHED, Watch
from blimpworks.scoring.selftest import run_self_test
from blimpworks.scoring.shards import Failed, Manifest, R, ShardStore, read_manifest, write_manifest
from blimpworks.scoring.store import (
    FAILED,
    OK,
    Request,
    Store,
    requests_of,
    score_shards,
    sort_requests,
    sorts_by_prefix,
)
from blimpworks.scoring.tokens import exact_sums, rounding_of
from blimpworks.tables import ITEMS, SCORES, read_table, write_table

log = logging.getLogger(__name__)
ShardRows = Iterable[tuple[Sequence[R], pa.Table]]
"""The requests of each shard, with a table that has one row for each request."""


def fill_store(
    store: ShardStore[R],
    requests: Mapping[str, Collection[R]],
    engine_key: str,
    checkpoint: Path,
    manifest: Path,
    options: ScoringOptions | GenerationJobOptions,
    order: Callable[[Collection[R]], list[R]],
    answer: Callable[[Sequence[Sequence[R]], Mapping[R, str]], ShardRows[R]],
    watch: Watch,
    **facts: Any,
) -> Manifest:
    """Write the rows that a store lacks, and the manifest, which is returned.

    ``requests`` has the sentences or prompts of each language. Requests without a row are sorted by
    ``order`` and divided into shards. ``answer`` takes the requests of all shards and the key of
    each request, and yields the requests and rows of each shard. ``watch`` is called with all
    requests and with each shard; it may end the run between two shards by an exception. ``facts``
    are more fields of the manifest.
    """
    keys = store.keys(engine_key, set[R]().union(*requests.values()))
    missing = order(store.missing(keys, retry=options.retry_failed))
    try:
        watch.begin(requests, missing)
        # Files of an earlier run that was killed while it wrote.
        for unfinished in store.directory.glob(".part-*.tmp"):
            unfinished.unlink(missing_ok=True)
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
            "%s: %ss without result: %s; delete it, and run with %s: true to try them again.",
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
    trusted: Collection[str] = (),
    watch: Watch = UNWATCHED,
) -> Manifest:
    """Score each good and bad sentence of the tables ``items`` with one model.

    ``checkpoint`` is the model's checkpoint.json, and ``engine`` the name of the engine. In the
    tables ``regions``, only critical regions are scored if that is less work for the engine.
    ``trusted`` are digests of the model's own code that may run. Scores are written into shards
    below ``store``; sentences with a score there are not scored again. ``manifest`` is written
    last. A run that was killed, or that ``watch`` ended by an exception, continues and ends with
    the same bytes. Raises UserError if items or checkpoint are missing or malformed.
    """
    with closing(load_engine(checkpoint, engine, options, trusted)) as opened:
        sentences: dict[str, set[Request]] = {}
        for tables, only_regions in ((items, False), (regions, opened.regional)):
            for path in tables:
                requests = requests_of([path], regions=only_regions)
                sentences.setdefault(path.stem, set()).update(requests)
        all_requests = set[Request]().union(*sentences.values())
        findings = run_self_test(opened, store, sorted({request.text for request in all_requests}))
        prefixes = sorts_by_prefix(all_requests, opened, options)
        return fill_store(
            Store(store),
            sentences,
            opened.key,
            checkpoint,
            manifest,
            options,
            lambda missing: sort_requests(missing, prefixes=prefixes),
            lambda shards, keys: score_shards(opened, shards, keys, watch),
            watch,
            checks=findings.checks,
        )


def broken(reason: str, manifest: Path) -> UserError:
    """Return an error for scores that do not agree with their manifest."""
    return UserError(f"{reason}; delete {manifest} and run the same snakemake command again.")


class Shards:
    """The rows of a model's scores that a manifest lists; they are read once for all tables."""

    def __init__(self, manifest: Path, store: Path) -> None:
        self.manifest, self.store = manifest, store

    @cached_property
    def described(self) -> Manifest:
        """Content of the manifest. Raises UserError if it is bad or records a failure."""
        with suppress(ValidationError, FileNotFoundError):
            failure = Failed.model_validate_json(self.manifest.read_bytes())
            # The file is a ``Failed``, no manifest. Without it, Snakemake repeats the job.
            self.manifest.unlink(missing_ok=True)
            raise UserError(
                f"{self.manifest}: scoring failed, see {failure.log}: {failure.failed} Correct "
                "that and run the same snakemake command again: only this model is scored again."
            )
        return read_manifest(self.manifest)

    @cached_property
    def rows(self) -> pa.Table:
        """Rows of all shards, failed ones last. Raises UserError for a missing or altered shard."""
        if not self.described.shards:
            raise broken(f"{self.manifest} names no shards", self.manifest)
        rows = pa.concat_tables([self._checked(name) for name in self.described.shards])
        # A later run may have scored a sentence that failed before.
        failed = pc.is_in(rows["status"], value_set=pa.array(sorted(FAILED)))
        ok_and_failed = [rows.filter(pc.invert(failed)), rows.filter(failed)]
        return pa.concat_tables(ok_and_failed).combine_chunks()

    def take(
        self, items: Path, store_class: type[ShardStore[R]], *alternatives: Sequence[R]
    ) -> pa.Table:
        """Return one row for each text of ``items``, in their order.

        Each of ``alternatives`` has a request for each text: first the complete sentences, then
        their regions. A text gets the row of its first request that has one. Raises UserError for a
        text without a row.
        """
        positions = pa.nulls(len(alternatives[0]), pa.int32())
        for requests in alternatives:
            if positions.null_count:
                keys = store_class.keys(self.described.engine, set(requests))
                column = pa.array([keys[request] for request in requests], pa.string())
                numbers = pc.index_in(column, value_set=self.rows["key"])
                positions = pc.coalesce(positions, numbers)
        if positions.null_count:
            text = alternatives[0][pc.is_null(positions).to_pylist().index(True)][0]
            reason = f"{store_class.unit} {text!r} of {items} has no row in {self.store}"
            raise broken(reason, self.manifest)
        return self.rows.take(positions).combine_chunks()

    def _checked(self, name: str) -> pa.Table:
        shard, expected = self.store / name, self.described.shards[name]
        if not shard.is_file():
            reason = f"{shard}, which {self.manifest} names, does not exist"
            raise broken(reason, self.manifest)
        digest = sha256_of(shard)
        if digest != expected:
            reason = (
                f"{shard} has SHA-256 {digest[:12]}…, but {self.manifest} expects "
                f"{expected[:12]}…: it was altered since it was written"
            )
            raise broken(reason, self.manifest)
        return pq.read_table(shard)


def _region_requests(items: pa.Table, side: str) -> list[Request]:
    """Return requests for the regions of the good or bad sentences, -1 to -1 without a region."""
    edges = (pc.fill_null(items[f"{side}_{edge}"], -1).to_pylist() for edge in ("start", "end"))
    return [Request(*row) for row in zip(items[side].to_pylist(), *edges, strict=True)]


def collect_scores(items: Path, shards: Shards, output: Path) -> pa.Table:
    """Write the table of scores of one table of ``items``, and return it.

    The table has one row per distinct item, in order of first appearance. ``logprob_*`` [nats] is
    the exact sum over the scored tokens, and ``tokens_*`` is their number; both are null for an
    unscored sentence. ``status`` is ``ok`` if both sentences have scores. Otherwise it is the
    status of the unscored sentence, of the good one if neither has scores. Raises UserError if a
    table, shard or sentence is missing, or a shard was altered.
    """
    spans = [f"{side}_{edge}" for side in SIDES for edge in ("start", "end")]
    all_items = read_table(ITEMS, items, ["item_id", *SIDES, *spans])
    _, first_rows = np.unique(all_items["item_id"].to_numpy(), return_index=True)
    distinct = all_items.take(pa.array(np.sort(first_rows)))
    if not len(distinct):
        table = SCORES.arrow().empty_table()
        write_table(table, SCORES, output)
        return table
    columns: dict[str, pa.Array] = {"item_id": distinct["item_id"]}
    for side in SIDES:
        regions = _region_requests(distinct, side)
        # Scores of a complete sentence include any region; without them only the region was scored.
        complete = [Request(request.text) for request in regions]
        rows = shards.take(items, Store, complete, regions)
        fields = {name: rows[name].chunk(0) for name in rows.column_names}
        unscored = pc.not_equal(fields["status"], OK).to_numpy(zero_copy_only=False)
        logprobs = fields["logprobs"]
        row_of_token = pc.list_parent_indices(logprobs).to_numpy(zero_copy_only=False)
        token_logprobs = logprobs.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
        is_scored = ~np.isnan(token_logprobs)
        sums = exact_sums(row_of_token[is_scored], token_logprobs[is_scored], len(rows))
        counts = np.bincount(row_of_token[is_scored], minlength=len(rows)).astype(np.int32)
        columns |= {
            f"status_{side}": fields["status"],
            f"logprob_{side}": pa.array(sums, mask=unscored),
            f"tokens_{side}": pa.array(counts, mask=unscored),
            f"{side}_ids": fields["ids"],
            f"{side}_logprobs": logprobs,
            f"{side}_ends": fields["ends"],
        }
    good, bad = columns.pop("status_good"), columns.pop("status_bad")
    columns["status"] = pc.if_else(pc.equal(good, OK), bad, good)
    columns["rounding"] = pa.array(np.full(len(distinct), rounding_of(shards.described.engine)))
    table = pa.table(columns)
    write_table(table, SCORES, output)
    scored_count = pc.sum(pc.equal(table["status"], OK)).as_py()
    log.info("%s: %d items, %d scored", output, len(table), scored_count)
    return table
