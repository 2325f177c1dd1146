"""Make the scores table of one benchmark and language from the store."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.scoring.resolution import exact_sums, rounding_of
from blimpworks.scoring.run import Failed, Manifest, read_manifest
from blimpworks.scoring.shards import R, ShardStore
from blimpworks.scoring.store import FAILED, OK, Request, Store
from blimpworks.tables import ITEMS, SCORES, read_table, write_table

log = logging.getLogger(__name__)
SIDES = ("good", "bad")


def broken(reason: str, manifest: Path) -> UserError:
    """Return the error for scores that do not fit their manifest, with its remedy."""
    return UserError(f"{reason}; delete {manifest} and run the same snakemake command again.")


class Shards:
    """The shards that a manifest names, each read once for all tables."""

    def __init__(self, manifest: Path, store: Path) -> None:
        self.manifest, self.store = manifest, store

    @cached_property
    def described(self) -> Manifest:
        """The manifest. Raises UserError if missing, malformed, or one of failed scoring."""
        with suppress(ValidationError, FileNotFoundError):
            failure = Failed.model_validate_json(self.manifest.read_bytes())
            # Without it, the model is scored again.
            self.manifest.unlink(missing_ok=True)
            raise UserError(
                f"{self.manifest}: scoring failed, see {failure.log}: {failure.failed} Correct "
                "that and run the same snakemake command again: only this model is scored again."
            )
        return read_manifest(self.manifest)

    @cached_property
    def rows(self) -> pa.Table:
        """Rows of all shards, successes first. Raises UserError for a missing or altered one."""
        if not self.described.shards:
            raise broken(f"{self.manifest} names no shards", self.manifest)
        rows = pa.concat_tables([self._checked(name) for name in self.described.shards])
        # A later try may have scored a sentence that failed.
        failed = pc.is_in(rows["status"], value_set=pa.array(sorted(FAILED)))
        ok_and_failed = [rows.filter(pc.invert(failed)), rows.filter(failed)]
        return pa.concat_tables(ok_and_failed).combine_chunks()

    def positions(self, kind: type[ShardStore[R]], requests: Sequence[R]) -> pa.Array:
        """Return the row of each request in a store of such a ``kind``; null without any."""
        keys = kind.keys(self.described.engine, set(requests))
        column = pa.array([keys[request] for request in requests], pa.string())
        return pc.index_in(column, value_set=self.rows["key"])

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


def _requests(items: pa.Table, side: str) -> list[Request]:
    edges = (pc.fill_null(items[f"{side}_{edge}"], -1).to_pylist() for edge in ("start", "end"))
    return [Request(*row) for row in zip(items[side].to_pylist(), *edges, strict=True)]


def _rows_of(requests: list[Request], shards: Shards) -> pa.Table:
    # A score of the whole sentence serves any region; else look for one of the region.
    positions = shards.positions(Store, [Request(request.text) for request in requests])
    if positions.null_count:
        positions = pc.coalesce(positions, shards.positions(Store, requests))
    if positions.null_count:
        text = requests[pc.is_null(positions).to_pylist().index(True)].text
        raise broken(f"sentence {text!r} of the items has no scores in the store", shards.manifest)
    return shards.rows.take(positions).combine_chunks()


def collect_scores(items: Path, shards: Shards, output: Path) -> pa.Table:
    """Write the scores table of ``items`` from the shards with its sentences.

    One row per distinct item, in order of first appearance. ``logprob_*`` [nats] is the exact sum
    over the scored tokens, ``tokens_*`` counts them; both are null for an unscored sentence.
    ``status`` is ``ok``, or that of the first of good and bad that is not.

    Raises UserError when a table, shard or sentence is missing, or a shard was altered.
    """
    spans = [f"{side}_{edge}" for side in SIDES for edge in ("start", "end")]
    every = read_table(ITEMS, items, ["item_id", *SIDES, *spans])
    _, first = np.unique(every["item_id"].to_numpy(), return_index=True)
    distinct = every.take(pa.array(np.sort(first)))
    if not len(distinct):
        table = SCORES.arrow().empty_table()
        write_table(table, SCORES, output)
        return table
    columns: dict[str, pa.Array] = {"item_id": distinct["item_id"]}
    for side in SIDES:
        taken = _rows_of(_requests(distinct, side), shards)
        of_side = {name: taken[name].chunk(0) if len(taken) else [] for name in taken.column_names}
        unscored = pc.not_equal(of_side["status"], OK).to_numpy(zero_copy_only=False)
        logprobs = of_side["logprobs"]
        row = pc.list_parent_indices(logprobs).to_numpy(zero_copy_only=False)
        values = logprobs.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
        scored = ~np.isnan(values)
        sums = exact_sums(row[scored], values[scored], len(taken))
        counts = np.bincount(row[scored], minlength=len(taken)).astype(np.int32)
        columns |= {
            f"status_{side}": of_side["status"],
            f"logprob_{side}": pa.array(sums, mask=unscored),
            f"tokens_{side}": pa.array(counts, mask=unscored),
            f"{side}_ids": of_side["ids"],
            f"{side}_logprobs": logprobs,
            f"{side}_ends": of_side["ends"],
        }
    good, bad = columns.pop("status_good"), columns.pop("status_bad")
    columns["status"] = pc.if_else(pc.equal(good, OK), bad, good)
    columns["rounding"] = pa.array(np.full(len(distinct), rounding_of(shards.described.engine)))
    table = pa.table(columns)
    write_table(table, SCORES, output)
    log.info(
        "%s: %d items, %d scored", output, len(table), pc.sum(pc.equal(table["status"], OK)).as_py()
    )
    return table
