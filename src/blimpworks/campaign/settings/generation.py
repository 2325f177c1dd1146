"""Settings of generation: how models answer prompts."""

from typing import Literal

from pydantic import Field

from blimpworks.campaign.settings.base import Positive
from blimpworks.campaign.settings.scoring import VllmOptions
from blimpworks.strict import Strict


class GenerationOptions(Strict):
    """How models answer: greedily, each prompt once."""

    max_tokens: Positive = 128
    """Most tokens of an answer."""
    system: bool = True
    """Say the language's system prompt to models that have a chat template."""
    chat: Literal["template", "raw"] = "template"
    """Put prompts into the model's chat template where it has one, or send them as they are."""
    batch: Positive = 64
    """Prompts that the transformers engine answers side by side."""
    in_flight: Positive = 64
    """Prompts that are under way at one time where vLLM serves the model."""
    shard: int = Field(1000, ge=1, le=1000)
    """Answers per shard; a killed job loses at most one shard."""
    retry_failed: bool = False
    """When a job runs again, ask once more what failed."""


class GenerationJobOptions(GenerationOptions):
    """What a job that answers is told: how to answer, and what it shares with scoring."""

    dtype: Literal["model", "float32", "bfloat16", "float16"] = "model"
    """Number format: the one that the catalogue gives each model, or another."""
    vllm: VllmOptions = VllmOptions()
    """How the engine vllm runs models."""
