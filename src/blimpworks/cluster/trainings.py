"""Estimate the LSTM trainings of a campaign on GPUs."""

import math
from collections.abc import Sequence
from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.parts import Part
from blimpworks.campaign.retrieved import released_corpus
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.site import Site
from blimpworks.campaign.settings.training import LstmRecipe
from blimpworks.cluster.plan_text import TrainingPlan
from blimpworks.cluster.requests import FLOAT32, train_kind, train_request

RELEASED_WORDS = 80_000_000
"""Training words of each corpus released by Mueller et al. (2020, section 5.1)."""
OPERATIONS = 6
"""Operations of a trained word per weight: two forwards, four backwards."""
SPARE, LEAST = 1.5, 2
"""Retries are SPARE × the jobs that a training should take, and LEAST more for what else ends
them."""


def multiplied_weights(recipe: LstmRecipe, vocabulary: int) -> int:
    """Count the weights that each word is multiplied with: the layers and the output layer.

    Embeddings are looked up. Four gates of each layer read its input and its state.
    """
    inputs = recipe.embedding + (recipe.layers - 1) * recipe.hidden
    gates = 4 * recipe.hidden * (inputs + recipe.layers * recipe.hidden)
    return gates + recipe.hidden * vocabulary


def plan_trainings(
    campaign: Campaign,
    catalogue: Catalogue,
    parts: Sequence[Part],
    site: Site | None,
    *,
    missing: bool = True,
) -> list[TrainingPlan]:
    """Plan the LSTMs whose checkpoints are missing, or all; none without a GPU.

    Assumes the utilisation that the site's file states for scoring, at the GPU's peak in float32.
    """
    gpu_kind = train_kind(site)
    if site is None or gpu_kind is None:
        return []
    # Several parts may score with one checkpoint.
    languages: dict[str, dict[Path, set[str]]] = {}
    for part in parts:
        checkpoint = part.checkpoint(campaign)
        recipe = campaign.training.recipes.get(catalogue.models[part.model].recipe)
        if isinstance(recipe, LstmRecipe) and not (missing and checkpoint.exists()):
            trained = languages.setdefault(part.model, {}).setdefault(checkpoint, set())
            trained.update(part.languages)
    plans = []
    for model, checkpoints in languages.items():
        recipe = campaign.training.recipes[catalogue.models[model].recipe]
        assert isinstance(recipe, LstmRecipe)
        most = max(checkpoints.values(), key=len)
        vocabulary = campaign.training.corpora[recipe.corpus].vocabulary * len(most)
        reached = site.utilisation * FLOAT32 * gpu_kind.teraflops * 1e12
        rate = reached / (OPERATIONS * multiplied_weights(recipe, vocabulary))
        seed = catalogue.seeds.get(model)
        corpus_words = seed.tokens if seed else None
        released = (released_corpus(campaign, catalogue, recipe.corpus, lang) for lang in most)
        if not corpus_words and all(released):
            corpus_words = RELEASED_WORDS * len(most)
        hours = recipe.epochs * corpus_words / rate / 3600 if corpus_words else None
        plans.append(
            TrainingPlan(
                model=model,
                checkpoints=len(checkpoints),
                epochs=recipe.epochs,
                words=corpus_words or None,
                vocabulary=vocabulary,
                words_per_second=rate,
                hours=hours,
                gpu_hours=None if hours is None else hours * len(checkpoints),
            )
        )
    return plans


def training_retries(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part], site: Site | None
) -> int:
    """Return how many retries the job of an LSTM should have.

    A training longer than a job goes on from its snapshot in the next attempt.
    """
    request = train_request(site)
    every = plan_trainings(campaign, catalogue, parts, site, missing=False)
    longest = max((plan.hours or 0 for plan in every), default=0)
    if request is None or not longest:
        return LEAST
    return math.ceil(SPARE * longest * 60 / int(request["runtime"])) + LEAST


def training_notes(
    plans: Sequence[TrainingPlan], catalogue: Catalogue, site: Site | None
) -> list[str]:
    """Tell how many LSTMs will be trained on GPUs, and how long that takes."""
    request = train_request(site)
    if not plans or request is None:
        return []
    summaries = []
    for name in dict.fromkeys(catalogue.row_of(plan.model) for plan in plans):
        first, *more = [plan for plan in plans if catalogue.row_of(plan.model) == name]
        number = sum(plan.checkpoints for plan in (first, *more))
        if first.hours is None or first.words is None or first.words_per_second is None:
            summaries.append(f"{number} {name} (unknown: the corpus is made here)")
        else:
            summaries.append(
                f"{number} {name} {number * first.hours:,.0f} ({first.hours:,.0f} h each: "
                f"{first.epochs} × {first.words / 1e6:,.0f} M words, "
                f"{first.words_per_second:,.0f} a second)"
            )
    count, hours = sum(plan.checkpoints for plan in plans), int(request["runtime"]) / 60
    return [
        f"{count} LSTMs are trained before they score, each on a GPU for which its job asks "
        f"{hours:.0f} hours ({request['gres']}); a longer training goes on in further attempts. "
        f"GPU-hours, not among those of scoring: {'; '.join(summaries)}. The rate is an assumption "
        "(docs/cluster.md)."
    ]
