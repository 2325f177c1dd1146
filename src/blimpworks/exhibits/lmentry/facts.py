"""What Multi-LMentry's exhibits want to know of the catalogue. Without heavy imports."""

from collections.abc import Callable
from typing import Any

from blimpworks.catalogue import Catalogue
from blimpworks.config import Campaign
from blimpworks.exhibits.lmentry.names import BENCHMARK


def sizes(campaign: Campaign, catalogue: Catalogue) -> dict[str, float | None]:
    """Billions of parameters of each model that the benchmark is run on; None if unknown."""
    rows = catalogue.models.items()
    return {k: row.parameters for k, row in rows if not row.papers or BENCHMARK in row.papers}


LMENTRY_FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {"lmentry_sizes": sizes}
