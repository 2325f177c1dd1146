"""What BLiMP's exhibits ask of a campaign: which models make which learning curve.

Without heavy imports, because the Snakefile asks for these facts each time it is parsed.
"""

from collections.abc import Callable
from typing import Any

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.seeds import curves_of
from blimpworks.campaign.settings.campaign import Campaign


def blimp_curves(campaign: Campaign, catalogue: Catalogue) -> dict[str, dict[str, Any]]:
    """Label and tokens by model of each row whose models are trained on samples.

    Transformers first, as in Figure 5.
    """
    found: dict[str, dict[str, Any]] = {}
    rows = curves_of(catalogue.seeds)
    for row in sorted(rows, key=lambda name: _architecture(catalogue, rows[name])):
        model, tokens = next(iter(rows[row].items()))
        shown = catalogue.models[model]
        if not shown.papers or "blimp" in shown.papers:
            label = shown.label.rpartition(f", {tokens:,} tokens")[0]
            found[row] = {"label": label, "models": rows[row]}
    return found


def _architecture(catalogue: Catalogue, models: dict[str, int]) -> bool:
    return catalogue.models[next(iter(models))].architecture == "lstm"


FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {"blimp_curves": blimp_curves}
