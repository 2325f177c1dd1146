"""Settings of generation."""

from typing import Literal

from pydantic import Field

from blimpworks.campaign.settings.base import Positive
from blimpworks.campaign.settings.scoring import VllmOptions
from blimpworks.strict import Strict


class GenerationOptions(Strict):
    """Generation of answers: greedy, each prompt once."""

    max_tokens: Positive = 128
    """Most tokens of an answer."""
    system: bool = True
    """Send the language's system prompt to models with a chat template."""
    chat: Literal["template", "raw"] = "template"
    """Put prompts into the model's chat template, if it has one, or send them unchanged."""
    batch: Positive = 64
    """Prompts in one batch of the transformers engine."""
    in_flight: Positive = 64
    """Prompts in flight at one time where vLLM serves the model."""
    shard: int = Field(1000, ge=1, le=1000)
    """Answers per shard; a killed job loses at most one shard."""
    retry_failed: bool = False
    """Ask failed prompts again when a job runs again."""


class GenerationJobOptions(GenerationOptions):
    """Settings of a job that answers."""

    dtype: Literal["model", "float32", "bfloat16", "float16"] = "model"
    """Number format: the catalogue's for each model, or another."""
    vllm: VllmOptions = VllmOptions()
    """Settings of the engine vllm."""
