"""Make the answers table of one language from the store."""

import logging
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.generation.manifest import GenerationManifest
from blimpworks.generation.run import Systems, requests_of
from blimpworks.generation.store import FAILED, ResponseStore
from blimpworks.scoring.collect import Shards, broken
from blimpworks.scoring.shards import OK
from blimpworks.tables import ANSWERS, PROMPTS, read_table, write_table

log = logging.getLogger(__name__)


def answer_shards(manifest: Path, store: Path) -> Shards[GenerationManifest]:
    """Return the shards of answers that a manifest names."""
    return Shards(manifest, store, GenerationManifest, FAILED)


def collect_answers(
    items: Path, systems: Systems, shards: Shards[GenerationManifest], output: Path
) -> pa.Table:
    """Write the answers table of ``items`` from the shards that hold them.

    One row per item, in order. Text, finish and tokens are null without an answer.

    Raises UserError when a table, shard or answer is missing, or a shard was altered.
    """
    ids = read_table(PROMPTS, items, ["item_id"])
    if not len(ids):
        table = ANSWERS.arrow().empty_table()
        write_table(table, ANSWERS, output)
        return table
    requests = requests_of(items, systems, system=shards.described.system)
    keys = ResponseStore.keys(shards.described.engine, set(requests))
    rows = shards.rows
    positions = pc.index_in(
        pa.array([keys[request] for request in requests], pa.string()), value_set=rows["key"]
    )
    if positions.null_count:
        prompt = requests[pc.is_null(positions).to_pylist().index(True)].prompt
        raise broken(f"prompt {prompt!r} of {items} has no answer in the store", shards.manifest)
    taken = rows.take(positions)
    columns = {name: taken[name] for name in ("status", "text", "finish", "tokens", "opened")}
    table = pa.table({"item_id": ids["item_id"]} | columns)
    write_table(table, ANSWERS, output)
    answered = pc.sum(pc.equal(table["status"], OK)).as_py()
    log.info("%s: %d items, %d answered", output, len(table), answered)
    return table
