"""Settings of Multi-LMentry: which prompts, how they are answered and judged."""

from pathlib import Path
from typing import Literal

from blimpworks.campaign.settings.base import Positive, Variant
from blimpworks.campaign.settings.generation import GenerationOptions
from blimpworks.campaign.variants import CORRECTED, PUBLISHED, VARIANTS
from blimpworks.strict import Strict


class SheetOptions(Strict):
    """Which answers stand on an annotation sheet."""

    per_task: Positive = 1000
    """Answers of each task and subset, drawn over all models (section 3.3: 1,000)."""
    seed: int = 1407
    """Of the draw."""


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
    answers: GenerationOptions = GenerationOptions()
    """How models answer. The paper's runs have at most 128 tokens; its code has had 1,024 since."""
    sheet: SheetOptions = SheetOptions()
    annotations: tuple[Path, ...] = ()
    """Filled annotation sheets; with any, agreement with the verdicts is measured."""

    @property
    def methods(self) -> tuple[Variant, Variant]:
        """The two methods that answers are judged by, the campaign's variant first."""
        return VARIANTS if self.variant == PUBLISHED else (CORRECTED, PUBLISHED)
