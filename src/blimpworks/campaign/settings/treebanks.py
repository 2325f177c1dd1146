"""Settings for reading treebanks."""

from typing import Literal

from blimpworks.campaign.settings.base import Positive
from blimpworks.strict import Strict


class TreebankOptions(Strict):
    """Reading of treebanks."""

    malformed: Literal["error", "set_aside"] = "error"
    """Stop at a malformed sentence, or leave it out and list it in a report."""
    max_words: Positive = 64
    """Longest sentence that pairs are made from, in syntactic words."""
