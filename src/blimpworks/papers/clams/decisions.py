"""Which way a named decision of CLAMS is taken, and what follows for methods and ties."""

from blimpworks.campaign.settings.base import Method, Variant
from blimpworks.papers.clams.settings import ClamsOptions


def variant_of(options: ClamsOptions, decision: str) -> Variant:
    """The variant that a decision (a field of ``ClamsDecisions``) is taken in.

    One that the campaign leaves open follows its ``variant``.
    """
    chosen: Variant | None = getattr(options.decisions, decision)
    return chosen or options.variant


def methods_of(options: ClamsOptions, architecture: str) -> tuple[Method, ...]:
    """How models of an architecture decide a pair (section 5.2)."""
    if architecture == "masked":
        return options.masked_methods
    published = variant_of(options, "end") == "published"
    return options.methods or (("without_end",) if published else ("full_sentence",))


def counts_one_more(options: ClamsOptions, architecture: str) -> bool:
    """Whether a correct item too many is counted in each set, as in the authors' LSTM script."""
    return architecture == "lstm" and variant_of(options, "counting") == "published"
