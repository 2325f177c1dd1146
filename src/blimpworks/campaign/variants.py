"""The two variants of a reproduction, for commands that do not load a campaign's settings."""

from typing import Final, Literal

Variant = Literal["published", "corrected"]
"""``published``: like the authors' programs, with their faults; ``corrected``: without them."""
PUBLISHED: Final = "published"
CORRECTED: Final = "corrected"
VARIANTS: tuple[Variant, Variant] = (PUBLISHED, CORRECTED)
