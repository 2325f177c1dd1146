"""What a judgement counts as when both sentences have the same value."""

from typing import Literal

TiePolicy = Literal["wrong", "right", "half"]
TIES: dict[TiePolicy, float] = {"wrong": 0.0, "right": 1.0, "half": 0.5}
