"""What every engine that answers does."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, cast

from blimpworks.campaign.engines import Choice, choose_generation_engine
from blimpworks.campaign.settings.generation import GenerationJobOptions
from blimpworks.campaign.settings.scoring import ScoringOptions
from blimpworks.files import sha256_of
from blimpworks.generation.conversation import Conversation, Ready
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.records.digest import code_digest
from blimpworks.scoring.engine import Failure, build_engine

ROWS = (
    "blimpworks.generation.conversation:Conversation",
    "blimpworks.generation.store:response_shard",
)
"""The code behind every answer, whatever the engine."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a model wrote."""

    text: str
    """All of it, reasoning included, without special tokens."""
    finish: Literal["stop", "length"]
    """Whether the model ended it, or the limit of tokens did."""
    tokens: int
    """That it wrote, the one that ended it included."""


class GenerationEngine(Protocol):
    """One checkpoint, loaded when the first batch asks for it."""

    key: str
    """All that decides an answer, apart from the prompts."""
    conversation: Conversation
    """How prompts are put to the model."""

    def generate(self, batch: Sequence[Ready]) -> list[Response | Failure]:
        """The greedy answer to each prompt, or why there is none; none of them is unfit."""
        ...

    def close(self) -> None:
        """Release what the engine holds, such as a server. It is not used after that."""
        ...


def generation_key(
    software: str,
    checkpoint: Path,
    described: Checkpoint,
    conversation: Conversation,
    options: GenerationJobOptions,
    entries: Sequence[str],
) -> str:
    """Identity of an engine with a checkpoint: what content keys of its answers start with.

    ``software`` names versions, device and whatever else moves numbers; ``entries``
    (``module:name``) are the code that decides answers.
    """
    code = code_digest(*entries, *ROWS)
    settings = f"max_tokens {options.max_tokens} {conversation.name()}"
    return "|".join((software, code, described.dtype, sha256_of(checkpoint), settings))


def load_generation_engine(
    checkpoint: Path, name: str, options: GenerationJobOptions
) -> GenerationEngine:
    """The engine ``name`` with a checkpoint (a ``checkpoint.json``), ready to answer.

    Raises UserError when the checkpoint is missing, altered, or cannot answer.
    """

    def choose(described: Checkpoint) -> Choice:
        """The engine, and the options that it runs with, for a checkpoint."""
        requested = ScoringOptions(dtype=options.dtype)
        return choose_generation_engine(name, described.architecture, described, requested)

    return cast(GenerationEngine, build_engine(checkpoint, choose, options))
