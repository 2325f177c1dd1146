"""Facts of a campaign for BLiMP's exhibits: learning curves and trained models.

No heavy imports: the Snakefile needs these facts each time it is parsed.
"""

from collections.abc import Callable
from typing import Any

from blimpworks.campaign.catalogue import Catalogue, curves_of
from blimpworks.campaign.settings import training
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.papers.blimp.paradigms import BENCHMARK

TRAINING = "blimp_training"


def blimp_curves(campaign: Campaign, catalogue: Catalogue) -> dict[str, dict[str, Any]]:
    """Return label and tokens by model of each row of models trained on samples."""
    curves = curves_of(catalogue.seeds)
    first_models = {row: catalogue.models[next(iter(curves[row]))] for row in curves}
    facts: dict[str, dict[str, Any]] = {}
    for row in sorted(curves, key=lambda row: first_models[row].architecture == "lstm"):
        tokens, first = next(iter(curves[row].values())), first_models[row]
        if not first.papers or BENCHMARK in first.papers:
            label = first.label.rpartition(f", {tokens:,} tokens")[0]
            facts[row] = {"label": label, "models": curves[row]}
    return facts


def blimp_training(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Return label, size and number of sentences of each model that is trained here."""
    texts = {}
    for name, row in catalogue.models.items():
        recipe = campaign.training.recipes.get(row.recipe)
        of_others = row.papers and BENCHMARK not in row.papers
        if recipe is None or of_others or isinstance(recipe, training.InstructRecipe):
            continue
        label = catalogue.models.get(catalogue.row_of(name), row).label
        if isinstance(recipe, training.NgramRecipe):
            size = f"order {recipe.order}"
        elif isinstance(recipe, training.LstmRecipe):
            size = f"{recipe.layers} × {recipe.hidden} units, embeddings of {recipe.embedding}"
        elif isinstance(recipe, training.NetworkRecipe):
            size = f"{recipe.layers} layers of {recipe.hidden}"
        else:
            size = recipe.kind
        corpus = getattr(recipe, "corpus", None)
        source = campaign.training.corpora[corpus] if corpus else campaign.training
        most = source.max_sentences
        texts[name] = f"{label} ({size}" + (f", {most:,} sentences at most)" if most else ")")
    return texts


FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {
    "blimp_curves": blimp_curves,
    TRAINING: blimp_training,
}
