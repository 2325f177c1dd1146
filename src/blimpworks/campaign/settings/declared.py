"""Settings of a benchmark that is declared as data: which items, and how they are judged."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from blimpworks.campaign.settings.base import Method, Positive, TiePolicy, Variant, distinct
from blimpworks.strict import Strict


class DeclaredOptions(Strict):
    """Items of a benchmark that ``config/benchmarks`` declares, and how they are judged."""

    variant: Variant = "published"
    """published: ties count as the declaration says; corrected: half."""
    per_paradigm: Positive | None = None
    """At most so many items of each paradigm, evenly from all of it; null for all."""
    methods: Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)] | None = (
        None
    )
    """How items are decided: names of methods, or ``name=expression`` (docs/scoring.md), the
    first is the one that exhibits show; null for what the declaration has."""
    ties: TiePolicy | None = None
    """What equal values count as; null for what the variant has."""
    unknown_words: Literal["any", "critical", "score"] | None = None
    """Items that models with a vocabulary of whole words do without: those with any unknown
    word, those whose critical words are unknown, or none; null for what the declaration has."""
