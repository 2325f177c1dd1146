"""Facts of a campaign that BLiMP's exhibits need: its learning curves, and what it trains.

Without heavy imports, because the Snakefile needs these facts each time it is parsed.
"""

from collections.abc import Callable
from typing import Any

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.seeds import curves_of
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.training import (
    InstructRecipe,
    LstmRecipe,
    NetworkRecipe,
    NgramRecipe,
    Recipe,
)
from blimpworks.papers.blimp.paradigms import BENCHMARK

TRAINING = "blimp_training"
"""The fact that says what was trained here, and on what."""


def blimp_curves(campaign: Campaign, catalogue: Catalogue) -> dict[str, dict[str, Any]]:
    """Label and tokens by model of each row whose models are trained on samples.

    Transformers first, as in Figure 5.
    """

    def is_lstm(row: str) -> bool:
        """Whether the models of a row are LSTMs."""
        return catalogue.models[next(iter(curves[row]))].architecture == "lstm"

    curves = curves_of(catalogue.seeds)
    facts: dict[str, dict[str, Any]] = {}
    for row in sorted(curves, key=is_lstm):
        model, tokens = next(iter(curves[row].items()))
        first = catalogue.models[model]
        if not first.papers or BENCHMARK in first.papers:
            label = first.label.rpartition(f", {tokens:,} tokens")[0]
            facts[row] = {"label": label, "models": curves[row]}
    return facts


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
    texts = {}
    for name, row in catalogue.models.items():
        recipe = campaign.training.recipes.get(row.recipe)
        of_others = row.papers and BENCHMARK not in row.papers
        if recipe is None or of_others or isinstance(recipe, InstructRecipe):
            continue
        label = catalogue.models.get(catalogue.row_of(name), row).label
        most = _most(campaign, recipe)
        text = f"{label} ({_size(recipe)}"
        texts[name] = f"{text}, {most:,} sentences at most)" if most else f"{text})"
    return texts


FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {
    "blimp_curves": blimp_curves,
    TRAINING: blimp_training,
}
"""Facts that BLiMP's exhibits may ask for, by name."""
