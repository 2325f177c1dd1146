"""Compute the facts that CLAMS's exhibits need of a campaign besides tables.

``FACTS`` maps the name of each fact to a function that computes it from a campaign and catalogue.
The facts are the models of each series (a group of models that share columns), how LSTMs were
trained, and how they decide pairs.
``paper.py`` registers ``FACTS``; an exhibit finds the values in ``labels.facts``, such as
``{"clams_models": {"mono": ["clams-lstm-mono", …], "multi": […], "bert": […], "mbert": […]}}``.
The module imports nothing slow, because each parse of the Snakefile loads it.
"""

from collections import Counter
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
"""Series of models: LSTMs of one language and of all, masked models of one language and of all."""
PRINTED_MODELS = {
    MONO: "clams-lstm-mono",
    MULTI: "clams-lstm-multi",
    BERT: "bert-base-uncased",
    MBERT: "bert-base-multilingual-cased",
}
"""Name of the paper's model of each series."""


def clams_models(campaign: Campaign, catalogue: Catalogue) -> dict[str, list[str]]:
    """Return the models of each series: the paper's model, else the campaign's first such model.

    A model with several seeds is a list of models.
    """
    series_of = {
        ("lstm", True): MONO,
        ("lstm", False): MULTI,
        ("masked", True): BERT,
        ("masked", False): MBERT,
    }
    # Models by series and by row of the catalogue; models of a row differ only in their seed.
    models_of_series: dict[str, dict[str, list[str]]] = {series: {} for series in PRINTED_MODELS}
    for name, row in catalogue.models.items():
        series = series_of.get((row.architecture, row.scope == "monolingual"))
        if series and (not row.papers or BENCHMARK in row.papers):
            models_of_series[series].setdefault(catalogue.row_of(name), []).append(name)
    return {
        series: rows.get(PRINTED_MODELS[series], next(iter(rows.values()), []))
        for series, rows in models_of_series.items()
    }


def clams_training(campaign: Campaign, catalogue: Catalogue) -> str:
    """Describe for a caption the LSTMs that the campaign trains; empty without any."""
    models = clams_models(campaign, catalogue)
    released = [row for row in catalogue.sources.values() if row.kind == "corpus"]
    available = released and all(is_usable(campaign, row) for row in released)
    texts = []
    for name in (*models[MONO], *models[MULTI]):
        recipe = campaign.training.recipes.get(catalogue.models[name].recipe)
        if not isinstance(recipe, LstmRecipe):
            continue
        options = campaign.training.corpora[recipe.corpus]
        sizes = {"sentences a language at most": options.max_sentences} | {
            f"of {catalogue.languages[lang].name}": number
            for lang, number in options.max_sentences_of.items()
            if lang in catalogue.languages
        }
        limits = [f"{number:,} {unit}" for unit, number in sizes.items() if number]
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
