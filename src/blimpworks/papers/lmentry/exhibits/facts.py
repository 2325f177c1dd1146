"""What Multi-LMentry's exhibits want to know of the catalogue. Without heavy imports."""

from collections.abc import Callable
from typing import Any

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.settings.base import Variant
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.table_files import read_rows
from blimpworks.papers.lmentry.exhibits.names import BENCHMARK
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.strict import Strict


def sizes(campaign: Campaign, catalogue: Catalogue) -> dict[str, float | None]:
    """Billions of parameters of each model that the benchmark is run on; None if unknown."""
    rows = catalogue.models.items()
    return {k: row.parameters for k, row in rows if not row.papers or BENCHMARK in row.papers}


class CountDifference(Strict):
    """A number of prompts that is not that of Table 54, and why."""

    variant: Variant
    task: str
    lang: str
    printed: int
    made: int
    reason: str


def counts(campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """Which prompts the campaign makes, and why their numbers are not those of Table 54."""
    rows = read_rows(CountDifference, campaign.folder("lmentry") / "count_differences.tsv")
    options = campaign.section(LmentryOptions)
    return {
        "variant": options.variant,
        "per_template": options.per_template,
        "differences": [row.model_dump() for row in rows],
    }


LMENTRY_FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {
    "lmentry_sizes": sizes,
    "lmentry_counts": counts,
    # Which wording of the prompts the campaign asks.
    "lmentry_variant": lambda campaign, _: campaign.section(LmentryOptions).variant,
}
