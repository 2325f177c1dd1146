"""Which models a benchmark is run on, and in which languages."""

from functools import cache

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.parts import Groups, benchmarks_of, covered_by, languages_of
from blimpworks.campaign.settings.campaign import Campaign


class Coverage:
    """Models and languages of a campaign's benchmarks, each answer worked out once.

    Every job of a workflow asks for them, and papers look at files to answer.
    """

    def __init__(self, campaign: Campaign, catalogue: Catalogue, groups: Groups) -> None:
        """Have worked out nothing yet."""
        self._campaign, self._catalogue, self._groups = campaign, catalogue, groups
        self.languages = cache(self._languages)
        self.models = cache(self._models)
        self.languages_of = cache(self._languages_of)

    def _languages(self, benchmark: str) -> tuple[str, ...]:
        """Languages that a benchmark has items in."""
        return languages_of(self._campaign, self._catalogue, benchmark)

    def _models(self, benchmark: str) -> tuple[str, ...]:
        """Models that a benchmark is run on in some language."""
        rows = self._catalogue.models.items()
        named = [name for name, row in rows if benchmark in benchmarks_of(self._campaign, row)]
        return tuple(name for name in named if self.languages_of(name, benchmark))

    def _languages_of(self, model: str, benchmark: str) -> tuple[str, ...]:
        """Languages of a benchmark that a model exists for, in the catalogue's order."""
        return covered_by(self._groups, self._catalogue.models[model], self.languages(benchmark))
