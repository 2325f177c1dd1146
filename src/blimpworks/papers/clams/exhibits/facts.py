"""Compute the facts that CLAMS's exhibits need of a campaign besides tables.

``FACTS`` maps the name of each fact to a function that computes it from a campaign and catalogue.
The facts are the models of each series (a group of models that share columns), how LSTMs were
trained, and how they decide pairs. ``paper.py`` registers ``FACTS``; an exhibit finds the values in
``labels.facts``, such as
``{"clams_models": {"mono": ["clams-lstm-mono", …], "multi": […], "bert": […], "mbert": […]}}``.
The module imports nothing slow, because each parse of the Snakefile loads it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from blimpworks.campaign.catalogue import Catalogue
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.registry import tie_policy
from blimpworks.campaign.scoring_jobs import is_usable
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.training import LstmRecipe
from blimpworks.papers.clams.exhibits import BENCHMARK
from blimpworks.papers.clams.settings import ClamsOptions, methods_of, variant_of

MONO, MULTI, BERT, MBERT = "mono", "multi", "bert", "mbert"
"""Series of models: LSTMs of one language, LSTMs of all languages, and masked models likewise."""
PRINTED_MODELS = {
    MONO: "clams-lstm-mono",
    MULTI: "clams-lstm-multi",
    BERT: "bert-base-uncased",
    MBERT: "bert-base-multilingual-cased",
}
"""Name of the paper's model of each series."""


def clams_models(campaign: Campaign, catalogue: Catalogue) -> dict[str, list[str]]:
    """Return the models of each series: the paper's model, else the campaign's first such model.

    A model that was trained from several seeds has an entry for each seed.
    """
    series_by_type = {
        ("lstm", "monolingual"): MONO,
        ("lstm", "multilingual"): MULTI,
        ("masked", "monolingual"): BERT,
        ("masked", "multilingual"): MBERT,
    }
    chosen: dict[str, list[str]] = {}
    for series, printed_model in PRINTED_MODELS.items():
        # {row of models.tsv: its models, which differ in their seed}
        candidates: dict[str, list[str]] = defaultdict(list)
        for name, row in catalogue.models.items():
            may_be_shown = not row.papers or BENCHMARK in row.papers
            if may_be_shown and series_by_type.get((row.architecture, row.scope)) == series:
                candidates[catalogue.row_of(name)].append(name)
        first_models = [*candidates.values(), []][0]
        chosen[series] = candidates.get(printed_model, first_models)
    return chosen


def clams_training(campaign: Campaign, catalogue: Catalogue) -> str:
    """Describe for a caption the LSTMs that the campaign trains; empty without any.

    An example: "clams-lstm-mono (2 × 650 units, embeddings of 200, trained on …), 5 seeds".
    """
    models = clams_models(campaign, catalogue)
    released = [row for row in catalogue.sources.values() if row.kind == "corpus"]
    available = released and all(is_usable(campaign, row) for row in released)
    texts = []
    for name in (*models[MONO], *models[MULTI]):
        recipe = campaign.training.recipes.get(catalogue.models[name].recipe)
        if not isinstance(recipe, LstmRecipe):
            continue
        options = campaign.training.corpora[recipe.corpus]
        limits = []
        if options.max_sentences:
            limits.append(f"{options.max_sentences:,} sentences a language at most")
        for lang, number in options.max_sentences_of.items():
            if lang in catalogue.languages and number:
                limits.append(f"{number:,} of {catalogue.languages[lang].name}")
        corpus = ", ".join(["treebanks and plain text", *limits])
        if available and options.released and options.words == "whitespace":
            corpus = "the authors' Wikipedia text"
        size = f"{recipe.layers} × {recipe.hidden} units, embeddings of {recipe.embedding}"
        texts.append(f"{catalogue.row_of(name)} ({size}, trained on {corpus})")
    counts = Counter(texts).items()
    return "; ".join(f"{text}, {n} {'seed' if n == 1 else 'seeds'}" for text, n in counts)


def clams_scoring(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Return for captions how LSTMs decide pairs and what counts as right."""
    options = campaign.section(ClamsOptions)
    method = find_method(methods_of(options, "lstm")[0]).name
    return {
        "unknown_words": options.unknown_words,
        "method": method,
        "ties": clams_ties(campaign, catalogue)[method],
        "counting": variant_of(options, "counting"),
    }


def clams_ties(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Return the tie policy of each method that judges LSTMs, by the method's name."""
    options = campaign.section(ClamsOptions)
    names = [find_method(named).name for named in methods_of(options, "lstm")]
    return {name: options.ties or tie_policy(BENCHMARK, options.variant, name) for name in names}


FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {
    "clams_models": clams_models,
    # The variant of the LSTMs' counting.
    "clams_counting": lambda campaign, _: variant_of(campaign.section(ClamsOptions), "counting"),
    "clams_training": clams_training,
    "clams_ties": clams_ties,
    "clams_scoring": clams_scoring,
}
