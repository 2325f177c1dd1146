"""The two ways in which a paper's work is done again, as settings and commands name them.

A module of its own, so that commands that read no campaign need not load the settings.
"""

from typing import Final, Literal

Variant = Literal["published", "corrected"]
"""``published``: as the authors' programs do it, faults included; ``corrected``: without them."""
PUBLISHED: Final = "published"
CORRECTED: Final = "corrected"
VARIANTS: tuple[Variant, Variant] = (PUBLISHED, CORRECTED)
