"""Settings of declared benchmarks."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from blimpworks.campaign.settings.base import Method, Positive, TiePolicy, Variant, distinct
from blimpworks.strict import Strict


class DeclaredOptions(Strict):
    """Items and judging of a benchmark that ``config/benchmarks`` declares."""

    variant: Variant = "published"
    """published: ties count as declared; corrected: half."""
    per_paradigm: Positive | None = None
    """Most items of each paradigm, taken evenly; null for all."""
    methods: Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)] | None = (
        None
    )
    """Methods that decide items: names or ``name=expression`` (docs/scoring.md); exhibits show the
    first; null for the declared ones."""
    ties: TiePolicy | None = None
    """Value of ties; null for the variant's."""
    unknown_words: Literal["any", "critical", "score"] | None = None
    """Items that models with a vocabulary of whole words leave out: those with any unknown word,
    those with unknown critical words, or none; null for the declared choice."""
