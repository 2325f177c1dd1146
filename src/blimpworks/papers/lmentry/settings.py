"""Declare the settings of Multi-LMentry (section ``lmentry`` of a campaign): prompts, verdicts."""

from pathlib import Path
from typing import Literal

from blimpworks.campaign.settings.base import Positive, Variant
from blimpworks.campaign.settings.scoring import GenerationOptions
from blimpworks.campaign.variants import CORRECTED, PUBLISHED, VARIANTS
from blimpworks.strict import Strict


class SheetOptions(Strict):
    """The choice of answers for an annotation sheet."""

    per_task: Positive = 1000
    """Answers of each task and subset, drawn over all models (section 3.3: 1,000)."""
    seed: int = 1407
    """Seed of the draw."""


class LmentryOptions(Strict):
    """The prompts of Multi-LMentry, and the judging of answers."""

    variant: Variant = "published"
    """published: the release's prompts with their defects, and first the verdicts by its rules;
    corrected: prompts without these defects, the subsets of Table 8, and first the corrected
    verdicts. Both verdicts are always kept."""
    languages: tuple[str, ...] | Literal["all"] = "all"
    """Languages of the prompts: all languages of the campaign with a pack, or some of these."""
    per_template: Positive | None = None
    """Most prompts of each template; null for all (about 1,000)."""
    seed: int = 1407
    """Seed of the arguments, which are drawn afresh for each template."""
    answers: GenerationOptions = GenerationOptions()
    """Generation of answers: at most 128 tokens by default, as in the paper's runs; its later code
    has 1,024."""
    sheet: SheetOptions = SheetOptions()
    annotations: tuple[Path, ...] = ()
    """Filled annotation sheets; with any, their agreement with the verdicts is measured."""

    @property
    def methods(self) -> tuple[Variant, Variant]:
        """The two methods that judge answers, the campaign's variant first."""
        return VARIANTS if self.variant == PUBLISHED else (CORRECTED, PUBLISHED)
