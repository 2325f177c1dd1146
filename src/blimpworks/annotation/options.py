"""Settings of lists of items that people judge."""

from typing import Annotated

from pydantic import Field, model_validator

from blimpworks.campaign.settings.base import Positive
from blimpworks.strict import Strict

NotNegative = Annotated[int, Field(ge=0)]


class ValidationOptions(Strict):
    """Which items people judge, and how many of each (Adeeba and others 2025, section 2.3)."""

    participants: Positive = 17
    """People, each with a list of their own."""
    per_pair: Positive = 3
    """Judgements of each pair, by as many people; at most as many as there are."""
    per_paradigm: Positive = 57
    """Pairs of each paradigm that are drawn. Of 19 paradigms, 57 with three judgements each and 17
    people make about ten a paradigm and 191 in all on a list (Adeeba and others: about 190)."""
    checks: NotNegative = 8
    """Attention checks on each list: a sentence against its words in a scrambled order."""
    practice: NotNegative = 20
    """Pairs to practise on at the head of each list, which don't count."""
    seed: int = 2025
    """Of the draw, the lists and the scrambled orders."""
    check_threshold: float = Field(0.75, ge=0, le=1)
    """Share of a list's attention checks that a participant has to pass to be counted."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the lists, ``p01`` and on, until people give them theirs."""
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
