"""Models that are trained several times, from a seed each, as models of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blimpworks.config import Campaign

if TYPE_CHECKING:  # the catalogue imports this module
    from blimpworks.catalogue import ModelRow


@dataclass(frozen=True, slots=True)
class Seed:
    """Which of several trainings of one model a model is."""

    model: str
    """Name of the row in the table of models."""
    number: int
    """From 1."""


def from_seeds(
    campaign: Campaign, models: Mapping[str, ModelRow]
) -> tuple[dict[str, ModelRow], dict[str, Seed]]:
    """``models`` with a row for each seed in place of one whose recipe has several.

    Seed 2 of ``lstm`` is called ``lstm-seed2``. Returns the rows and what became of those.
    """
    found: dict[str, ModelRow] = {}
    seeds: dict[str, Seed] = {}
    for name, row in models.items():
        count = getattr(campaign.training.recipes.get(row.recipe), "seeds", 1)
        if count == 1:
            found[name] = row
        for number in range(1, count + 1) if count > 1 else ():
            named = f"{name}-seed{number}"
            label = f"{row.label}, seed {number}"
            found[named] = row.model_copy(update={"name": named, "label": label})
            seeds[named] = Seed(name, number)
    return found, seeds
