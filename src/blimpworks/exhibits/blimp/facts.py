"""What BLiMP's captions say of the campaign: models that were trained here, and on what."""

from collections.abc import Callable
from typing import Any

from blimpworks.blimp.paradigms import BENCHMARK
from blimpworks.catalogue import Catalogue
from blimpworks.config import Campaign, LstmRecipe, NetworkRecipe, NgramRecipe, Recipe
from blimpworks.exhibits.blimp.specs import TRAINING


def _size(recipe: Recipe) -> str:
    """How large a model of a recipe is."""
    if isinstance(recipe, NgramRecipe):
        return f"order {recipe.order}"
    if isinstance(recipe, LstmRecipe):
        return f"{recipe.layers} × {recipe.hidden} units, embeddings of {recipe.embedding}"
    if isinstance(recipe, NetworkRecipe):
        return f"{recipe.layers} layers of {recipe.hidden}"
    return recipe.kind


def _most(campaign: Campaign, recipe: Recipe) -> int | None:
    """Sentences that a model of a recipe is trained on, at most."""
    if isinstance(recipe, LstmRecipe):
        return campaign.training.corpora[recipe.corpus].max_sentences
    return campaign.training.max_sentences


def blimp_training(campaign: Campaign, catalogue: Catalogue) -> str:
    """Which models were trained here, their size and text, in half a sentence; or nothing."""
    told: dict[str, None] = {}
    for name, row in catalogue.models.items():
        recipe = campaign.training.recipes.get(row.recipe)
        if recipe is None or (row.papers and BENCHMARK not in row.papers):
            continue
        most = _most(campaign, recipe)
        named = catalogue.models.get(catalogue.row_of(name), row).label
        text = f"{named} ({_size(recipe)}"
        told[f"{text}, {most:,} sentences at most)" if most else f"{text})"] = None
    return "; ".join(told)


FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {TRAINING: blimp_training}
"""Facts that BLiMP's exhibits may ask for, by name."""
