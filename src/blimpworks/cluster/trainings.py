"""What a plan says of the models that a campaign trains on GPUs."""

from collections.abc import Sequence

from blimpworks.catalogue import Catalogue
from blimpworks.cluster.parts import Part
from blimpworks.cluster.requests import train_request
from blimpworks.config import Campaign, LstmRecipe
from blimpworks.config.site import Site


def training_notes(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part], site: Site | None
) -> list[str]:
    """How many LSTMs are yet to be trained on GPUs, and what their jobs ask for; or nothing."""
    recipes = campaign.training.recipes
    lstms = {
        p for p in parts if isinstance(recipes.get(catalogue.models[p.model].recipe), LstmRecipe)
    }
    missing = {p.checkpoint(campaign) for p in lstms if not p.checkpoint(campaign).exists()}
    request = train_request(site) if site else None
    if not missing or request is None:
        return []
    hours = int(request["runtime"]) / 60
    return [
        f"{len(missing)} LSTMs are trained before they score, each on a GPU for which its job asks "
        f"{hours:.0f} hours ({request['gres']}); these are not among the GPU-hours. A job that "
        "needs longer goes on in its next attempt."
    ]
