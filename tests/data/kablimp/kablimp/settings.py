"""Settings of KabLiMP."""

from blimpworks.campaign.settings.base import Method, Positive, TiePolicy, Variant
from blimpworks.strict import Strict


class KablimpOptions(Strict):
    """The pairs of KabLiMP, and how they are judged."""

    variant: Variant = "published"
    """No effect: all variants are the same."""
    pairs: Positive = 4
    """Pairs of each paradigm."""
    methods: tuple[Method, ...] = ("full_sentence",)
    """Methods that decide a pair."""
    ties: TiePolicy | None = None
    """Value of equal scores; null for wrong."""
