"""The two variants of a reproduction.

In its own module, so that commands without a campaign do not load the settings.
"""

from typing import Final, Literal

Variant = Literal["published", "corrected"]
"""``published``: as the authors' programs, with their faults; ``corrected``: without them."""
PUBLISHED: Final = "published"
CORRECTED: Final = "corrected"
VARIANTS: tuple[Variant, Variant] = (PUBLISHED, CORRECTED)
