"""Declare the settings of BLiMP (section ``blimp`` of a campaign): pairs, methods, generator."""

from typing import Literal

from pydantic import Field

from blimpworks.campaign.settings.base import Methods, Positive, TiePolicy, Variant
from blimpworks.strict import Strict


class BlimpOptions(Strict):
    """The pairs of BLiMP, released or generated here, and how they are judged."""

    variant: Variant = "published"
    """published: a tie is wrong, also where a pair is twice the same sentence (2 of passive_1,
    5 of principle_A_case_2); corrected: it counts half."""
    per_paradigm: Positive | None = None
    """Largest number of pairs of each paradigm, evenly from all of it; null for all 1,000."""
    methods: Methods = ("full_sentence", "one_prefix", "two_prefix")
    """Methods that decide a pair: names, or ``name=expression`` (docs/scoring.md); exhibits show
    the first (sections 4.1 and 6.4). A pair has only those prefix methods that its paradigm allows.
    """
    ties: TiePolicy | None = None
    """Count of equal values; null for the variant's own."""
    unknown_words: Literal["any", "critical", "score"] = "score"
    """Pairs that models with a vocabulary of whole words leave out. any: pairs with an unknown
    word; critical: pairs with an unknown critical word; score: none, as in the paper (footnote 15).
    """
    bins: int = Field(default=10, ge=2)
    """Bins of each factor in Figure 2, at most (the paper does not say how it bins)."""
    pairs: Positive = 1000
    """Distinct pairs that are generated of each paradigm."""
    seed: int = 0
    """Seed of the generator; each paradigm draws independently of all others."""
