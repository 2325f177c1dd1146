"""Look up catalogue facts for Multi-LMentry's exhibits. No heavy imports."""

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
    """Return billions of parameters of each model of the benchmark; None if unknown."""
    rows = catalogue.models.items()
    return {k: row.parameters for k, row in rows if not row.papers or BENCHMARK in row.papers}


class CountDifference(Strict):
    """A number of prompts that differs from Table 54, and the reason."""

    variant: Variant
    task: str
    lang: str
    printed: int
    made: int
    reason: str


def counts(campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """Return the campaign's choice of prompts, and reasons for differences from Table 54."""
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
