"""What BLiMP's captions say of the campaign: models that were trained here, and on what."""

from collections.abc import Callable
from typing import Any

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.training import (
    InstructRecipe,
    LstmRecipe,
    NetworkRecipe,
    NgramRecipe,
    Recipe,
)
from blimpworks.papers.blimp.exhibits.specs import TRAINING
from blimpworks.papers.blimp.paradigms import BENCHMARK


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
    corpus = getattr(recipe, "corpus", None)
    text = campaign.training.corpora[corpus] if corpus else campaign.training
    return text.max_sentences


def blimp_training(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Of each model that is trained here: what it is called, its size, and the most text."""
    told = {}
    for name, row in catalogue.models.items():
        recipe = campaign.training.recipes.get(row.recipe)
        if recipe is None or (row.papers and BENCHMARK not in row.papers):
            continue
        if isinstance(recipe, InstructRecipe):
            continue
        named = catalogue.models.get(catalogue.row_of(name), row).label
        most = _most(campaign, recipe)
        text = f"{named} ({_size(recipe)}"
        told[name] = f"{text}, {most:,} sentences at most)" if most else f"{text})"
    return told


FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {TRAINING: blimp_training}
"""Facts that BLiMP's exhibits may ask for, by name."""
