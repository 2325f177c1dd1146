"""What all settings share."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Variant = Literal["published", "corrected"]
Method = Literal["full_sentence", "per_token", "per_character", "critical_region"]
Positive = Annotated[int, Field(gt=0)]
Fraction = Annotated[float, Field(gt=0, lt=1)]


class Strict(BaseModel):
    """Base of all settings: immutable, unknown keys refused.

    The docstrings of fields become descriptions in the schemas (see ``schemas.py``; having
    pydantic read them would cost each command a tenth of a second).
    """

    # Models are built when first used: most commands use a few of them.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
