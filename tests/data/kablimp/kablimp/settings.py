"""Settings of KabLiMP."""

from blimpworks.campaign.settings.base import Method, Positive, TiePolicy, Variant
from blimpworks.strict import Strict


class KablimpOptions(Strict):
    """The pairs of KabLiMP, and how they are judged."""

    variant: Variant = "published"
    """Of no effect: there is one way of working."""
    pairs: Positive = 4
    """Pairs of each paradigm."""
    methods: tuple[Method, ...] = ("full_sentence",)
    """How a pair is decided."""
    ties: TiePolicy | None = None
    """What equal values count as; null for wrong."""
