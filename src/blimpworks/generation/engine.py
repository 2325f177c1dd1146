"""Define engines that answer, and the store of answers: one row per distinct prompt.

A row's key digests the engine's key, the prompt and its system prompt. Shared prompts are thus
asked once, and nothing of another checkpoint, limit or template is reused. A killed run that
continues ends with the same files, if the engine's answers do not depend on other requests.
"""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import pyarrow as pa

from blimpworks.campaign.engines import choose_generation_engine
from blimpworks.campaign.settings.scoring import GenerationJobOptions, ScoringOptions
from blimpworks.files import sha256_of
from blimpworks.generation.conversation import Conversation, PromptRequest, Ready
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.records.equal_code import number_digest
from blimpworks.scoring.engine import Failure, build_engine
from blimpworks.scoring.shards import OK, ShardStore

log = logging.getLogger(__name__)

ROWS = (
    "blimpworks.generation.conversation:Conversation",
    "blimpworks.generation.engine:response_shard",
)
"""The code behind every answer, with any engine."""


class Response(NamedTuple):
    """A model's answer."""

    text: str
    """Answer in full, with reasoning, without special tokens."""
    finish: Literal["stop", "length"]
    """Whether the model ended it, or the limit of tokens did."""
    tokens: int
    """Number of its tokens, with the one that ended it."""


class GenerationEngine(ABC):
    """One checkpoint, loaded with the first batch."""

    key: str
    """Key of everything that decides an answer, apart from the prompts."""
    conversation: Conversation
    """Turns prompts into the model's input."""

    @abstractmethod
    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """Return the greedy answer to each prompt, or its failure; no prompt is unfit."""

    def close(self) -> None:  # noqa: B027
        """Release all resources, such as a server; the engine is not used after that."""


def generation_key(
    software: str,
    checkpoint: Path,
    described: Checkpoint,
    conversation: Conversation,
    options: GenerationJobOptions,
    entries: Sequence[str],
) -> str:
    """Return the identity of an engine with a checkpoint, which its answers' keys start with.

    ``software`` names versions, device and all else that moves numbers; ``entries``
    (``module:name``) are the code that decides answers.
    """
    code = number_digest(*entries, *ROWS)
    settings = f"max_tokens {options.max_tokens} {conversation.name()}"
    return "|".join((software, code, described.dtype, sha256_of(checkpoint), settings))


def load_generation_engine(
    checkpoint: Path, name: str, options: GenerationJobOptions
) -> GenerationEngine:
    """Load the engine ``name`` with a checkpoint. Raises UserError for one that cannot answer."""
    asked = ScoringOptions(dtype=options.dtype)
    engine: GenerationEngine = build_engine(
        checkpoint,
        lambda own: choose_generation_engine(name, own.architecture, own, asked),
        options,
    )
    return engine


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
