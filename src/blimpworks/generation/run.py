"""Answer all prompts with one model: one engine, one store, one manifest, a table a language."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.campaign.settings.scoring import GenerationJobOptions
from blimpworks.errors import UserError
from blimpworks.generation.conversation import PromptRequest
from blimpworks.generation.engine import (
    ResponseStore,
    in_order,
    load_generation_engine,
    response_shard,
)
from blimpworks.scoring.collect import Shards, broken
from blimpworks.scoring.run import Manifest, Rows, fill
from blimpworks.scoring.shards import OK
from blimpworks.scoring.watch import UNWATCHED, Watch
from blimpworks.tables import ANSWERS, PROMPTS, read_table, write_table

log = logging.getLogger(__name__)

Systems = Mapping[str, str]
"""System prompt of each language that has one."""


def requests_of(items: Path, systems: Systems, *, system: bool) -> list[PromptRequest]:
    """Return the request of each row of a table, which is named after its language.

    Without ``system`` none has a system prompt. Raises UserError for a missing table or empty
    cells.
    """
    column = read_table(PROMPTS, items, ["prompt"])["prompt"]
    if column.null_count:
        raise UserError(
            f"{items}: column 'prompt' has {column.null_count} empty cells; expected a text in "
            "each. Rebuild the items."
        )
    of_language = systems.get(items.stem) if system else None
    return [PromptRequest(prompt, of_language) for prompt in column.to_pylist()]


def answer_items(
    items: Sequence[Path],
    systems: Systems,
    checkpoint: Path,
    store: Path,
    manifest: Path,
    engine: str,
    options: GenerationJobOptions,
    *,
    watch: Watch = UNWATCHED,
) -> Manifest:
    """Ask a checkpoint every distinct prompt of ``items`` with ``engine``.

    Tables are named after their languages, whose system prompts are in ``systems``. Answers go into
    shards below ``store``; prompts with answers there are not asked again. ``manifest`` is written
    last. A killed run continues where it was, and so does one that ``watch``, which is told of each
    step, ends by raising.

    Raises UserError when items or checkpoint are missing or malformed, or cannot answer.
    """
    with closing(load_generation_engine(checkpoint, engine, options)) as opened:
        system = opened.conversation.chat and options.system
        requests = {path.stem: {*requests_of(path, systems, system=system)} for path in items}

        def answer(
            parts: Sequence[Sequence[PromptRequest]], keys: Mapping[PromptRequest, str]
        ) -> Rows[PromptRequest]:
            for part in parts:
                watch.before()
                chosen = {request: keys[request] for request in part}
                yield part, response_shard(opened, chosen, options.max_tokens)

        return fill(
            ResponseStore(store),
            requests,
            opened.key,
            checkpoint,
            manifest,
            options,
            in_order,
            answer,
            watch,
            system=system,
        )


def collect_answers(items: Path, systems: Systems, shards: Shards, output: Path) -> pa.Table:
    """Write the answers table of ``items`` from the shards that hold them.

    One row per item, in order. Text, finish and tokens are null without an answer.

    Raises UserError when a table, shard or answer is missing, or a shard was altered.
    """
    ids = read_table(PROMPTS, items, ["item_id"])
    if not len(ids):
        table = ANSWERS.arrow().empty_table()
        write_table(table, ANSWERS, output)
        return table
    requests = requests_of(items, systems, system=bool(shards.described.system))
    positions = shards.positions(ResponseStore, requests)
    if positions.null_count:
        prompt = requests[pc.is_null(positions).to_pylist().index(True)].prompt
        raise broken(f"prompt {prompt!r} of {items} has no answer in the store", shards.manifest)
    taken = shards.rows.take(positions)
    columns = {name: taken[name] for name in ("status", "text", "finish", "tokens", "opened")}
    table = pa.table({"item_id": ids["item_id"]} | columns)
    write_table(table, ANSWERS, output)
    answered = pc.sum(pc.equal(table["status"], OK)).as_py()
    log.info("%s: %d items, %d answered", output, len(table), answered)
    return table
