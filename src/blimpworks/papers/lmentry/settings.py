"""Settings of Multi-LMentry: which prompts, how they are answered and judged."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from blimpworks.campaign.settings.base import Positive, Strict, Variant
from blimpworks.campaign.settings.scoring import VllmOptions
from blimpworks.campaign.variants import CORRECTED, PUBLISHED, VARIANTS


class AnswerOptions(Strict):
    """How models answer: greedily, each prompt once."""

    max_tokens: Positive = 128
    """Most tokens of an answer (the paper's runs; its code has had 1,024 since)."""
    system: bool = True
    """Say the language's system prompt (Table 7) to models that have a chat template."""
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


class SheetOptions(Strict):
    """Which answers stand on an annotation sheet."""

    per_task: Positive = 1000
    """Answers of each task and subset, drawn over all models (section 3.3: 1,000)."""
    seed: int = 1407
    """Of the draw."""


class AnsweringOptions(AnswerOptions):
    """What a job that answers is told: how to answer, and what it shares with scoring."""

    dtype: Literal["model", "float32", "bfloat16", "float16"] = "model"
    """Number format: the one that the catalogue gives each model, or another."""
    vllm: VllmOptions = VllmOptions()
    """How the engine vllm runs models."""


class LmentryOptions(Strict):
    """The prompts of Multi-LMentry, and how the answers are judged."""

    variant: Variant = "published"
    """published: prompts as the release has them, with its defects, and the verdicts of its
    rules first; corrected: templates that ask what their key answers, subsets as Table 8 defines
    them, and the verdicts of corrected rules first. Both verdicts are always kept."""
    languages: tuple[str, ...] | Literal["all"] = "all"
    """Languages to ask in, of the campaign's: all that have a pack, or these."""
    per_template: Positive | None = None
    """At most so many prompts of each template; null for all (about 1,000)."""
    seed: int = 1407
    """Of the arguments, drawn anew for each template."""
    answers: AnswerOptions = AnswerOptions()
    sheet: SheetOptions = SheetOptions()
    annotations: tuple[Path, ...] = ()
    """Filled annotation sheets; with any, agreement with the verdicts is measured."""

    @property
    def methods(self) -> tuple[Variant, Variant]:
        """The two methods that answers are judged by, the campaign's variant first."""
        return VARIANTS if self.variant == PUBLISHED else (CORRECTED, PUBLISHED)
