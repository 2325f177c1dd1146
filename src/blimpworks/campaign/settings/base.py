"""Types shared by all settings."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from blimpworks.campaign.variants import Variant
from blimpworks.strict import Strict

__all__ = ["Variant"]

TiePolicy = Literal["wrong", "right", "half"]
Method = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]* *(=.*)?$")]
"""Name of a method, or ``name=expression`` for one of the campaign's own.

``check_campaign`` parses it. If it were parsed here, each change to the methods would remake pairs,
whose settings are in the same model.
"""
Positive = Annotated[int, Field(gt=0, le=10**12)]
"""A number of things, bounded so that a typing mistake is refused."""
Fraction = Annotated[float, Field(gt=0, lt=1)]


def distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return names or ``name=expression``. Raises ValueError when a name is repeated."""
    if len({value.partition("=")[0].strip() for value in values}) < len(values):
        raise ValueError("names must not be repeated")
    return values


class TreebankOptions(Strict):
    """Reading of treebanks."""

    malformed: Literal["error", "set_aside"] = "error"
    """Stop at a malformed sentence, or leave it out and list it in a report."""
    max_words: Positive = 64
    """Longest sentence that pairs are made from, in syntactic words."""


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
