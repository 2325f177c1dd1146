"""How many pairs the evaluation sets of a language have, before they are built."""

from typing import NamedTuple

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.papers.clams.settings import ClamsOptions


class Sets(NamedTuple):
    """Evaluation sets of a language."""

    sets: int
    pairs: int
    capitals: int
    """Pairs that stand again with a capital first letter."""


RELEASED = {
    "eng": Sets(22, 157_346, 51_780),
    "fra": Sets(7, 49_360, 49_360),
    "deu": Sets(7, 47_820, 47_820),
    "heb": Sets(7, 40_820, 0),
    "rus": Sets(7, 40_120, 40_120),
}
"""As released (half the lines of the files). The English ones are Marvin and Linzen's; those of
the seven constructions, with animate nouns, have capitals."""
OURS = Sets(7, 51_780, 51_780)
"""By grammars of ours: like the seven English ones."""
CONSTRUCTIONS = 7
"""Sets that stand with capitals too."""


def expected_pairs(campaign: Campaign, catalogue: Catalogue, lang: str) -> int:
    """Pairs of a language, by its released sets or by grammars of ours."""
    options = campaign.section(ClamsOptions)
    # The authors released no English grammars, so sets that are generated are by ours.
    ours = lang in options.grammars and lang == "eng"
    expected = OURS if ours else RELEASED.get(lang, OURS)
    most = options.per_paradigm or expected.pairs
    capitals = min(expected.capitals, most * CONSTRUCTIONS) if options.capitals else 0
    return min(expected.pairs, most * expected.sets) + capitals
