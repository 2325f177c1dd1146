"""Answers of one model to all prompts: one engine, one store, one manifest."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from blimpworks.campaign.settings.generation import GenerationJobOptions
from blimpworks.errors import UserError
from blimpworks.files import sha256_of
from blimpworks.generation.conversation import PromptRequest
from blimpworks.generation.engine import GenerationEngine, load_generation_engine
from blimpworks.generation.manifest import GenerationManifest
from blimpworks.generation.store import FAILED, ResponseStore, response_keys
from blimpworks.scoring.run import warn_of_failures, write_manifest
from blimpworks.scoring.watch import UNWATCHED, Watch
from blimpworks.tables import PROMPTS, read_table

log = logging.getLogger(__name__)

Systems = Mapping[str, str]
"""System prompt of each language that has one."""


def prompts_of(items: Path) -> list[str]:
    """Prompts of a table, in its order. Raises UserError for a missing table or empty cells."""
    column = read_table(PROMPTS, items, ["prompt"])["prompt"]
    if column.null_count:
        raise UserError(
            f"{items}: column 'prompt' has {column.null_count} empty cells; expected a text in "
            "each. Rebuild the items."
        )
    prompts: list[str] = column.to_pylist()
    return prompts


def requests_of(items: Path, systems: Systems, *, system: bool) -> list[PromptRequest]:
    """What is asked for each row of a table, whose name says its language.

    Without ``system`` nobody is told any system prompt.
    """
    said = systems.get(items.stem) if system else None
    return [PromptRequest(prompt, said) for prompt in prompts_of(items)]


def _manifest(
    engine: GenerationEngine, checkpoint: Path, store: ResponseStore, keys: Sequence[str]
) -> GenerationManifest:
    used = sorted({store.shard_of[key] for key in keys})
    return GenerationManifest(
        engine=engine.key,
        checkpoint=sha256_of(checkpoint),
        sentences=len(keys),
        statuses=dict(sorted(Counter(store.status_of[key] for key in keys).items())),
        shards={path.name: sha256_of(path) for path in used},
        system=engine.conversation.chat,
    )


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
) -> GenerationManifest:
    """Ask a checkpoint every prompt of ``items`` with ``engine``, each distinct one once.

    Each table is called after its language, whose system prompt ``systems`` has. Answers go
    into the shards below directory ``store``; prompts that have some there are not asked
    again. ``manifest`` is written last. A killed run goes on where it was, and so does one that
    ``watch``, which is told of each step, ends by raising.

    Raises UserError when items or checkpoint are missing or malformed, or cannot answer.
    """
    with closing(load_generation_engine(checkpoint, engine, options)) as opened:
        system = opened.conversation.chat and options.system
        requests = {path.stem: {*requests_of(path, systems, system=system)} for path in items}
        keys = response_keys(opened.key, set[PromptRequest]().union(*requests.values()))
        shards, retry = ResponseStore(store), options.retry_failed
        try:
            watch.begin(requests, shards.missing(keys, retry=retry))
            most = options.max_tokens
            new = shards.fill(opened, keys, options.shard, most, retry=retry, watch=watch)
        finally:
            watch.end()
    result = _manifest(opened, checkpoint, shards, [*keys.values()])
    result = result.model_copy(update={"system": system})
    write_manifest(result, manifest)
    log.info("%s: %d prompts, %d of them new", manifest, result.sentences, new)
    setting = "answers.retry_failed"
    warn_of_failures(result, manifest, FAILED, "prompts without answers", setting)
    return result
