"""Which of a campaign's models take which part in CLAMS's exhibits.

Without heavy imports, because the Snakefile asks for these facts each time it is parsed.
"""

from collections.abc import Callable
from typing import Any

from blimpworks.catalogue import Catalogue, ModelRow
from blimpworks.clams.decisions import methods_of, variant_of
from blimpworks.config import Campaign, LstmRecipe
from blimpworks.scoring.methods import find_method
from blimpworks.scoring.ties import tie_policy

BENCHMARK = "clams"
MONO, MULTI, BERT, MBERT = "mono", "multi", "bert", "mbert"
"""Left-to-right models of one language and of all; the same of masked models."""
PRINTED = {
    MONO: "clams-lstm-mono",
    MULTI: "clams-lstm-multi",
    BERT: "bert-base-uncased",
    MBERT: "bert-base-multilingual-cased",
}
"""The models that the paper prints numbers of, by part."""


def _part(row: ModelRow) -> str:
    one = row.scope == "monolingual"
    if row.architecture == "masked":
        return BERT if one else MBERT
    return MONO if one else MULTI


def clams_models(campaign: Campaign, catalogue: Catalogue) -> dict[str, list[str]]:
    """Models by part; those of one part are seeds of one another.

    The paper's own models, where the catalogue has any of a part; else the campaign's LSTMs,
    and its masked models.
    """
    found: dict[str, list[str]] = {part: [] for part in PRINTED}
    own: dict[str, list[str]] = {part: [] for part in PRINTED}
    for name, row in catalogue.models.items():
        if (not row.papers or BENCHMARK in row.papers) and row.architecture in ("lstm", "masked"):
            part = _part(row)
            kind = found if catalogue.row_of(name) == PRINTED[part] else own
            kind[part].append(name)
    return {part: names or own[part] for part, names in found.items()}


def clams_counting(campaign: Campaign, catalogue: Catalogue) -> str:
    """Whether the LSTMs' correct items are counted as ``published`` or ``corrected``."""
    return variant_of(campaign.clams, "counting")


def clams_training(campaign: Campaign, catalogue: Catalogue) -> str:
    """What the LSTMs that were trained here are, in half a sentence; empty without any."""
    told: dict[str, int] = {}
    for name, row in catalogue.models.items():
        recipe = campaign.training.recipes.get(row.recipe)
        if isinstance(recipe, LstmRecipe):
            size = f"{recipe.layers} × {recipe.hidden} units"
            text = f"{catalogue.row_of(name)} ({size}, embeddings of {recipe.embedding})"
            told[text] = told.get(text, 0) + 1
    return "; ".join(f"{text}, {n} seed{'s' * (n > 1)}" for text, n in told.items())


def clams_ties(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """What ties of LSTMs count as, by the name of each method that they are judged by."""
    options = campaign.clams
    names = [find_method(named).name for named in methods_of(options, "lstm")]
    return {name: options.ties or tie_policy(BENCHMARK, options.variant, name) for name in names}


FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {
    "clams_models": clams_models,
    "clams_counting": clams_counting,
    "clams_training": clams_training,
    "clams_ties": clams_ties,
}
