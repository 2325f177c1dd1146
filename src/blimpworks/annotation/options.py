"""Define the settings of the lists of items that people judge, to validate a benchmark."""

from typing import Annotated

from pydantic import Field, model_validator

from blimpworks.campaign.settings.base import Positive
from blimpworks.strict import Strict

NotNegative = Annotated[int, Field(ge=0)]


class ValidationOptions(Strict):
    """Numbers of participants, judgements and items (Adeeba and others 2025, section 2.3)."""

    participants: Positive = 17
    """Number of people; each has a list."""
    per_pair: Positive = 3
    """Judgements of each pair, by different people; at most ``participants``."""
    per_paradigm: Positive = 57
    """Pairs to draw of each paradigm. 57 pairs of 19 paradigms, three judgements and 17 people make
    191 pairs a list, about ten of each paradigm (Adeeba and others: about 190)."""
    checks: NotNegative = 8
    """Attention checks on each list: a sentence against its words in a scrambled order."""
    practice: NotNegative = 20
    """Practice pairs at the head of each list, which don't count."""
    seed: int = 2025
    """Seed of the draw, the lists and the scrambled orders."""
    check_threshold: float = Field(0.75, ge=0, le=1)
    """Share of attention checks that a participant must pass to be counted."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the lists, from ``p01``, until participants put their names there."""
        width = max(2, len(str(self.participants)))
        return tuple(f"p{number:0{width}}" for number in range(1, self.participants + 1))

    @model_validator(mode="after")
    def _enough_people(self) -> "ValidationOptions":
        if self.per_pair > self.participants:
            raise ValueError(
                f"per_pair is {self.per_pair}, expected at most participants "
                f"({self.participants}): nobody judges a pair twice"
            )
        return self
