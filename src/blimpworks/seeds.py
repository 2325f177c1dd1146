"""Models that are trained several times, from a seed each, as models of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blimpworks.config import Campaign
from blimpworks.errors import UserError

if TYPE_CHECKING:  # the catalogue imports this module
    from blimpworks.catalogue import ModelRow
    from blimpworks.config.site import Site


@dataclass(frozen=True, slots=True)
class Seed:
    """Which of several trainings of one model a model is."""

    model: str
    """Name of the row in the table of models."""
    number: int
    """From 1."""


def from_seeds(
    campaign: Campaign, models: Mapping[str, ModelRow], taken: Collection[str] = ()
) -> tuple[dict[str, ModelRow], dict[str, Seed]]:
    """``models`` with a row for each seed in place of one whose recipe has several.

    Seed 2 of ``lstm`` is called ``lstm-seed2``. Returns the rows and what became of those.
    Raises UserError for such a name that is ``taken``, by a row of the table of models.
    """
    found: dict[str, ModelRow] = {}
    seeds: dict[str, Seed] = {}
    for name, row in models.items():
        count = getattr(campaign.training.recipes.get(row.recipe), "seeds", 1)
        if count == 1:
            found[name] = row
        for number in range(1, count + 1) if count > 1 else ():
            named = f"{name}-seed{number}"
            if named in taken:
                raise UserError(
                    f"{campaign.catalogue.models}: model {named!r} is called like seed {number} of "
                    f"{name!r}, whose recipe {row.recipe!r} has seeds: {count}; rename the row."
                )
            label = f"{row.label}, seed {number}"
            found[named] = row.model_copy(update={"name": named, "label": label})
            seeds[named] = Seed(name, number)
    return found, seeds


def for_seeds(site: Site | None, seeds: Mapping[str, Seed]) -> Site | None:
    """``site``, in which what is said of a model holds for each of its seeds.

    What it says of a seed by its own name goes before.
    """
    if site is None:
        return None
    said = {name: seed.model for name, seed in seeds.items() if seed.model in site.models}
    models = {name: site.models[model] for name, model in said.items()}
    return site.model_copy(update={"models": models | site.models})
