"""Store answers: one row per distinct prompt, keyed by content.

Like the store of scores (``scoring.store``), each model and scope has its own. A row's key digests
the engine's key, the prompt and its system prompt. Shared prompts are thus asked once, and nothing
of another checkpoint, limit or template is reused. A killed run that continues ends with the same
files, if the engine's answers do not depend on other requests.
"""

import json
import logging
from collections.abc import Iterable, Mapping
from typing import get_args

import pyarrow as pa

from blimpworks.generation.conversation import PromptRequest
from blimpworks.generation.engine import GenerationEngine, Response
from blimpworks.scoring.engine import Failure
from blimpworks.scoring.shards import OK, ShardStore

log = logging.getLogger(__name__)

FAILED: frozenset[str] = frozenset(get_args(Failure))
"""Statuses that another machine or day can change."""
SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("system", pa.string()),
        ("prompt", pa.string()),
        ("text", pa.string()),
        ("finish", pa.string()),
        ("tokens", pa.int32()),
        ("opened", pa.bool_()),
        ("status", pa.string()),
    ]
)


def in_order(requests: Iterable[PromptRequest]) -> list[PromptRequest]:
    """Sort requests by length, so that rows of a batch are alike."""
    return sorted(requests, key=lambda each: (len(each.prompt), each.prompt, each.system or ""))


class ResponseStore(ShardStore[PromptRequest]):
    """The shards of one model's answers, in one directory."""

    schema, failed = SCHEMA, FAILED
    unit, task, retry_setting = "prompt", "answering", "answers.retry_failed"

    @staticmethod
    def content(request: PromptRequest) -> str:
        """Return prompt and system prompt, as JSON."""
        return json.dumps(request)


def response_shard(
    engine: GenerationEngine, keys: Mapping[PromptRequest, str], most: int
) -> pa.Table:
    """Answer requests, in one row each; ``status`` is ``ok``, an ``Unfit`` or a ``Failure``."""
    ready = engine.conversation.ready(keys, most)
    to_ask = [prompt for prompt in ready if prompt.unfit is None]
    answers = iter(engine.generate(to_ask) if to_ask else [])
    outcomes = [next(answers) if prompt.unfit is None else prompt.unfit for prompt in ready]
    altered = sum(prompt.unfit == "altered" for prompt in ready)
    if altered:
        log.warning(
            "%s: %d prompts are not asked, because its chat template drops or changes their text; "
            "set answers.chat: raw to send them as they are.",
            engine.conversation.directory,
            altered,
        )
    responses = [prompt if isinstance(prompt, Response) else None for prompt in outcomes]
    columns = [
        pa.array(keys.values(), pa.string()),
        pa.array([prompt.system for prompt in keys], pa.string()),
        pa.array([prompt.prompt for prompt in keys], pa.string()),
        pa.array([prompt and prompt.text for prompt in responses], pa.string()),
        pa.array([prompt and prompt.finish for prompt in responses], pa.string()),
        pa.array([prompt and prompt.tokens for prompt in responses], pa.int32()),
        pa.array([prompt.opened for prompt in ready], pa.bool_()),
        pa.array([OK if isinstance(e, Response) else e for e in outcomes], pa.string()),
    ]
    return pa.table(columns, schema=SCHEMA)
