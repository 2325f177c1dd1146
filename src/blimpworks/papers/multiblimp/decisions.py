"""Which way a named decision of the method is taken."""

from blimpworks.campaign.settings.base import Variant
from blimpworks.papers.multiblimp.settings import MultiblimpOptions


def variant_of(options: MultiblimpOptions, decision: str) -> Variant:
    """The variant that a decision (a field of ``Decisions``) is taken in.

    A decision that the campaign leaves open follows its ``variant``.
    """
    chosen: Variant | None = getattr(options.decisions, decision)
    return chosen or options.variant


def corrected(options: MultiblimpOptions, decision: str) -> bool:
    """Whether a decision is taken the corrected way."""
    return variant_of(options, decision) == "corrected"
