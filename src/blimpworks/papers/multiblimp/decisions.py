"""Which way a named decision of the method is taken."""

from blimpworks.papers.multiblimp.settings import MultiblimpOptions


def corrected(options: MultiblimpOptions, decision: str) -> bool:
    """Whether a decision (a field of ``Decisions``) is taken the corrected way.

    A decision that the campaign leaves open follows its ``variant``.
    """
    return (getattr(options.decisions, decision) or options.variant) == "corrected"
