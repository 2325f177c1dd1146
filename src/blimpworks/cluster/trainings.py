"""What the LSTMs take that a campaign trains on GPUs."""

import math
from collections.abc import Sequence
from dataclasses import replace

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.parts import Part
from blimpworks.campaign.retrieved import released_corpus
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.site import Site
from blimpworks.campaign.settings.training import LstmRecipe
from blimpworks.cluster.estimate import FLOAT32
from blimpworks.cluster.plan_data import TrainingPlan
from blimpworks.cluster.requests import train_needs, train_request

RELEASED_WORDS = 80_000_000
"""Words to train on of each corpus that Mueller et al. (2020) released (section 5.1)."""
OPERATIONS = 6
"""Of a word in training, for each weight it is multiplied with: two forwards, four backwards."""
SPARE, LEAST = 1.5, 2
"""Retries are SPARE × the jobs that a training should take, and LEAST more for what else ends
them."""


def multiplied_weights(recipe: LstmRecipe, vocabulary: int) -> int:
    """Weights that each word is multiplied with: the layers and the output layer.

    Embeddings are looked up. Four gates of each layer read its input and its own state.
    """
    inputs = recipe.embedding + (recipe.layers - 1) * recipe.hidden
    gates = 4 * recipe.hidden * (inputs + recipe.layers * recipe.hidden)
    return gates + recipe.hidden * vocabulary


def words_per_second(recipe: LstmRecipe, vocabulary: int, site: Site) -> float | None:
    """Words a second in training; None where the site has no GPU for it.

    An assumption: of the GPU's peak in float32 the share that the site's file says of scoring.
    """
    needs = train_needs(site)
    if needs is None or needs.kind is None:
        return None
    reached = site.utilisation * FLOAT32 * needs.kind.teraflops * 1e12
    return reached / (OPERATIONS * multiplied_weights(recipe, vocabulary))


def _words(
    campaign: Campaign, catalogue: Catalogue, recipe: LstmRecipe, languages: Sequence[str]
) -> int | None:
    """Words that a checkpoint is trained on; None where a corpus is made here."""
    if all(released_corpus(campaign, catalogue, recipe.corpus, lang) for lang in languages):
        return RELEASED_WORDS * len(languages)
    return None


def _training(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part], site: Site
) -> TrainingPlan:
    """What the checkpoints of one model take, one for each of ``parts``."""
    recipe = campaign.training.recipes[catalogue.models[parts[0].model].recipe]
    assert isinstance(recipe, LstmRecipe)
    longest = max((part.languages for part in parts), key=len)
    vocabulary = campaign.training.corpora[recipe.corpus].vocabulary * len(longest)
    rate = words_per_second(recipe, vocabulary, site)
    seed = catalogue.seeds.get(parts[0].model)
    words = (seed and seed.tokens) or _words(campaign, catalogue, recipe, longest)
    hours = recipe.epochs * words / rate / 3600 if words and rate else None
    return TrainingPlan(
        model=parts[0].model,
        checkpoints=len(parts),
        epochs=recipe.epochs,
        words=words,
        vocabulary=vocabulary,
        words_per_second=rate,
        hours=hours,
        gpu_hours=None if hours is None else hours * len(parts),
    )


def plan_trainings(
    campaign: Campaign,
    catalogue: Catalogue,
    parts: Sequence[Part],
    site: Site | None,
    *,
    missing: bool = True,
) -> list[TrainingPlan]:
    """What LSTMs take whose checkpoints are missing, or all; none where the site has no GPU."""
    if site is None or train_needs(site) is None:
        return []
    by_model: dict[str, dict[object, list[Part]]] = {}
    for part in parts:
        recipe = campaign.training.recipes.get(catalogue.models[part.model].recipe)
        checkpoint = part.checkpoint(campaign)
        if isinstance(recipe, LstmRecipe) and not (missing and checkpoint.exists()):
            by_model.setdefault(part.model, {}).setdefault(checkpoint, []).append(part)
    joined = [[_joined(same) for same in each.values()] for each in by_model.values()]
    return [_training(campaign, catalogue, each, site) for each in joined]


def _joined(parts: Sequence[Part]) -> Part:
    """One part in place of several that score with one checkpoint."""
    first = parts[0]
    sets = tuple(each for part in parts for each in part.sets)
    return replace(first, sets=sets)


def training_retries(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part], site: Site | None
) -> int:
    """Attempts that the job of an LSTM should have after its first; 0 for as many as others.

    A training that is longer than a job may be goes on from its snapshot in the next attempt.
    """
    request = train_request(site) if site else None
    every = plan_trainings(campaign, catalogue, parts, site, missing=False)
    longest = max((plan.hours or 0 for plan in every), default=0)
    if request is None or not longest:
        return 0
    return math.ceil(SPARE * longest * 60 / int(request["runtime"])) + LEAST


def _summary(plans: Sequence[TrainingPlan], name: str) -> str:
    """What the trainings of a model, all its seeds together, take."""
    count, first = sum(plan.checkpoints for plan in plans), plans[0]
    text = f"{count} {name}"
    if first.hours is None or first.words is None or first.words_per_second is None:
        return f"{text} (unknown: the corpus is made here)"
    return (
        f"{text} {count * first.hours:,.0f} ({first.hours:,.0f} h each: {first.epochs} × "
        f"{first.words / 1e6:,.0f} M words, {first.words_per_second:,.0f} a second)"
    )


def training_notes(
    plans: Sequence[TrainingPlan], catalogue: Catalogue, site: Site | None
) -> list[str]:
    """How many LSTMs are yet to be trained on GPUs, and what they take; or nothing."""
    request = train_request(site) if site else None
    if not plans or request is None:
        return []
    rows: dict[str, list[TrainingPlan]] = {}
    for plan in plans:
        rows.setdefault(catalogue.row_of(plan.model), []).append(plan)
    summaries = "; ".join(_summary(each, name) for name, each in rows.items())
    count, hours = sum(plan.checkpoints for plan in plans), int(request["runtime"]) / 60
    return [
        f"{count} LSTMs are trained before they score, each on a GPU for which its job asks "
        f"{hours:.0f} hours ({request['gres']}); a longer training goes on in further attempts. "
        f"GPU-hours, not among those of scoring: {summaries}. The rate is an assumption "
        "(docs/cluster.md)."
    ]
