"""Register BLiMP (Warstadt et al. 2020): 67 paradigms of English, released or generated here.

``PAPER`` tells shared code what the paper's benchmarks, exhibits (tables and figures) and input
tables are. Functions here read a campaign (the user's settings) and its catalogue (languages,
models, sources); none is slow, because each parse of the Snakefile loads this module.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from blimpworks.campaign.catalogue import Catalogue, Pinned
from blimpworks.campaign.paper import ANY, Benchmark, Citation, Paper, TableKind
from blimpworks.campaign.scoring_jobs import named_sources
from blimpworks.campaign.seeds import curves_of
from blimpworks.campaign.settings import training
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.papers.blimp import paradigms as blimp
from blimpworks.papers.blimp.exhibits import SPECS
from blimpworks.papers.blimp.paradigms import BENCHMARK, GENERATED, LANG, PHENOMENON_OF
from blimpworks.papers.blimp.settings import BlimpOptions

_RAW = "blimp/raw_results"
RELEASED_RESULTS = (
    f"{_RAW}/blimp_full_results_summary.csv",
    f"{_RAW}/summary/human_validation_summary.csv",
    f"{_RAW}/summary/models_summary.jsonl",
)
RESPONSES = (f"{_RAW}/all_outputs/human_responses.csv",)
"""Source of the released single human judgements."""


def _options(campaign: Campaign) -> BlimpOptions:
    return campaign.section(BlimpOptions)


def _expected(name: str, campaign: Campaign, _catalogue: Catalogue, _lang: str) -> int:
    options = _options(campaign)
    paradigms, pairs = len(PHENOMENON_OF), blimp.RELEASED_PAIRS
    if name == GENERATED:
        paradigms, pairs = len(blimp.declared_paradigms(campaign)), options.pairs
    return paradigms * min(pairs, options.per_paradigm or pairs)


def check(campaign: Campaign, catalogue: Catalogue) -> None:
    """Raise UserError if English, released files or declared paradigms are needed but missing."""
    requested = [name for name in campaign.benchmarks if name in (BENCHMARK, GENERATED)]
    if LANG not in catalogue.languages:
        raise UserError(
            f"benchmark {requested[0]!r} has items in {LANG} alone; languages has "
            f"{', '.join(catalogue.languages)}: add {LANG}, or take it out of benchmarks."
        )
    if BENCHMARK in requested and not catalogue.sources_of(blimp.RELEASED_DATA, LANG):
        raise UserError(
            f"{campaign.catalogue.sources} has no row of kind {blimp.RELEASED_DATA!r} and lang "
            f"{LANG!r}, expected one for each released file of benchmark {BENCHMARK!r}; add those "
            f"of config/sources.tsv, or take {BENCHMARK!r} out of benchmarks."
        )
    if GENERATED in requested and not blimp.declared_paradigms(campaign):
        raise UserError(
            f"{campaign.folder('blimp') / 'paradigms'} has no declaration, expected one .yaml file "
            f"for each paradigm of benchmark {GENERATED!r}; add one (docs/generator.md), or take "
            "the benchmark out of benchmarks."
        )


def released_results(campaign: Campaign, catalogue: Catalogue) -> Sequence[Pinned]:
    """Return the files of the authors' released results; none if any of them is missing."""
    return named_sources(campaign, catalogue, RELEASED_RESULTS)


# Facts of a campaign that exhibits show. The Snakefile asks for them each time it is parsed.


def blimp_curves(campaign: Campaign, catalogue: Catalogue) -> dict[str, dict[str, Any]]:
    """Return label and models of the learning curves, by row of models.tsv; LSTMs are last.

    An example: {"blimp-lstm-curve": {"label": "LSTM", "models": {"blimp-lstm-curve-…": 125000}}},
    with the number of training tokens of each model.
    """
    facts: dict[str, dict[str, Any]] = {}
    is_lstm: dict[str, bool] = {}
    for row, tokens_of_models in curves_of(catalogue.seeds).items():
        first_name, tokens = next(iter(tokens_of_models.items()))
        first = catalogue.models[first_name]
        if first.is_of(BENCHMARK):
            # From the model's label, "LSTM, 125,000 tokens" or "LSTM, 125,000 tokens, seed 2".
            label = first.label.rpartition(f", {tokens:,} tokens")[0]
            facts[row] = {"label": label, "models": tokens_of_models}
            is_lstm[row] = first.architecture == "lstm"
    return {row: facts[row] for row in sorted(facts, key=lambda row: is_lstm[row])}


def blimp_training(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Return a text on each model trained here: "LSTM (2 × 650 units, embeddings of 200, …)"."""
    texts = {}
    for name, row in catalogue.models_of(BENCHMARK).items():
        recipe = campaign.training.recipes.get(row.recipe)
        if recipe is None or isinstance(recipe, training.InstructRecipe):
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
        if source.max_sentences:
            size += f", {source.max_sentences:,} sentences at most"
        texts[name] = f"{label} ({size})"
    return texts


PAPER = Paper(
    name=BENCHMARK,
    position=3,
    citation=Citation(
        label="BLiMP",
        title="BLiMP: The Benchmark of Linguistic Minimal Pairs for English",
        authors="Warstadt, Parrish, Liu, Mohananey, Peng, Wang and Bowman (2020)",
        address="https://aclanthology.org/2020.tacl-1.25",
    ),
    settings=BlimpOptions,
    folders={
        "blimp": (
            Path("config/blimp"),
            "Lexicon and paradigms that BLiMP's pairs are generated from.",
        )
    },
    benchmarks=tuple(
        Benchmark(
            name=name,
            options=_options,
            languages=lambda _, catalogue: tuple({*catalogue.languages} & {LANG}),
            methods=lambda campaign, _: _options(campaign).methods,
            expected_units=partial(_expected, name),
            # 8.5 words with the stop, some of them cut in two.
            tokens=11.0,
            # The good sentence must be strictly more probable, in text and code. Seven pairs are
            # twice the same sentence (2 of passive_1, 5 of principle_A_case_2): each model is wrong
            # on them, so accuracies are at most 99.8 and 99.5 %. Half a point each is chance.
            ties={"published": {ANY: "wrong"}, "corrected": {ANY: "half"}},
            in_text=False,
            own_words=name == GENERATED,
        )
        for name in (BENCHMARK, GENERATED)
    ),
    method_settings=lambda campaign: {"blimp.methods": _options(campaign).methods},
    check=check,
    sources=lambda campaign, catalogue: (
        catalogue.sources_of(blimp.RELEASED_DATA, LANG) if BENCHMARK in campaign.benchmarks else ()
    ),
    exhibits=SPECS,
    facts={"blimp_curves": blimp_curves, "blimp_training": blimp_training},
    tables={
        # Released and generated pairs; both tables are needed.
        "data_sets": TableKind(
            paths=lambda layout, _: [
                f"{layout.results}/accuracies/{name}.parquet" for name in (BENCHMARK, GENERATED)
            ],
            evaluated=True,
            of_all_benchmarks=True,
        ),
        "bins": TableKind(paths="{results}/bins/{paper}.parquet", evaluated=True),
        # Slopes, and the tokens at which lines reach human accuracies if these are available.
        "curves": TableKind(
            paths="{results}/regressions/{paper}/curves.parquet",
            evaluated=True,
            sources=released_results,
        ),
        "released": TableKind(
            paths="{results}/accuracies/released/{paper}.parquet",
            sources=released_results,
            retrieved=True,
        ),
        "ratings": TableKind(
            paths="{results}/ratings/{paper}.parquet",
            sources=lambda campaign, catalogue: named_sources(campaign, catalogue, RESPONSES),
            retrieved=True,
        ),
    },
    formulas=("blimpworks.papers.blimp.exhibits.formulas",),
    commands=("blimpworks.papers.blimp.commands",),
    rules="papers/blimp.smk",
    printed_accuracies="blimpworks.papers.blimp.published:accuracies",
)
