"""Define engines that answer."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from blimpworks.campaign.engines import choose_generation_engine
from blimpworks.campaign.settings.scoring import GenerationJobOptions, ScoringOptions
from blimpworks.files import sha256_of
from blimpworks.generation.conversation import Conversation, Ready
from blimpworks.models.checkpoint import Checkpoint
from blimpworks.records.digest import code_digest
from blimpworks.scoring.engine import Failure, build_engine

ROWS = (
    "blimpworks.generation.conversation:Conversation",
    "blimpworks.generation.store:response_shard",
)
"""The code behind every answer, with any engine."""


@dataclass(frozen=True, slots=True)
class Response:
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
    code = code_digest(*entries, *ROWS)
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
