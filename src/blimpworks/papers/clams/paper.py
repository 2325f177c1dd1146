"""Register CLAMS (Mueller et al. 2020): agreement in five languages, from grammars.

``PAPER`` tells shared code what the paper's benchmark, exhibits (tables and figures) and input
tables are. Functions read a campaign (settings) and its catalogue (languages, models, sources).
"""

from collections import Counter, defaultdict
from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue, Pinned
from blimpworks.campaign.methods import find_method
from blimpworks.campaign.paper import ANY, Benchmark, Citation, Paper, TableKind
from blimpworks.campaign.registry import tie_policy
from blimpworks.campaign.scoring_jobs import available, is_usable
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.training import LstmRecipe
from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.papers.clams.exhibits import BENCHMARK, SPECS
from blimpworks.papers.clams.items.sets import GRAMMAR, SET, expected_pairs, languages, our_grammars
from blimpworks.papers.clams.settings import ClamsOptions, counts_one_more, methods_of, variant_of

SERIES = {row["series"]: row for row in read_cells(Path(__file__).with_name("series.tsv"))}
"""{series of models: its architecture, scope, heading of columns, and the paper's model}."""
MONO, MULTI, BERT, MBERT = SERIES
"""The series: monolingual and multilingual LSTMs, English BERT, multilingual BERT."""
PRINTED_MODELS = {series: row["model"] for series, row in SERIES.items()}
"""{series: the paper's model}."""


def _options(campaign: Campaign) -> ClamsOptions:
    return campaign.section(ClamsOptions)


def check(campaign: Campaign, _catalogue: Catalogue) -> None:
    """Raise UserError if ``grammars`` names a language outside the campaign without a grammar."""
    for lang in _options(campaign).grammars:
        selected = campaign.languages == "all" or lang in campaign.languages
        if not selected and not our_grammars(campaign, lang):
            raise UserError(
                f"key 'clams.grammars' names {lang!r}, which is not among 'languages' "
                f"({', '.join(campaign.languages)}); add it there, or take it out here."
            )


def sources(campaign: Campaign, catalogue: Catalogue) -> list[Pinned]:
    """Return the released sets, or for languages with generated sets the released grammars."""
    generated = _options(campaign).grammars
    rows: list[Pinned] = []
    for lang in catalogue.languages:
        if lang not in generated:
            rows += catalogue.sources_of(SET, lang)
        elif not our_grammars(campaign, lang):
            rows += catalogue.sources_of(GRAMMAR, lang)
    return rows


def other_items(campaign: Campaign, lang: str) -> str:
    """Say for exhibits that a grammar of the campaign made the items; "" for the authors' items."""
    generated = lang in _options(campaign).grammars and our_grammars(campaign, lang)
    return "sets of a grammar of ours" if generated else ""


# Facts of a campaign, which exhibits find in ``labels.facts``. They must be quick: Snakemake asks
# at each start.


def clams_models(campaign: Campaign, catalogue: Catalogue) -> dict[str, list[str]]:
    """Return the models of each series: the paper's model, else the campaign's first such model.

    A model that was trained from several seeds has an entry for each seed.
    """
    chosen: dict[str, list[str]] = {}
    for series, declared in SERIES.items():
        # {row of models.tsv: its models, which differ in their seed}
        candidates: dict[str, list[str]] = defaultdict(list)
        for name, row in catalogue.models_of(BENCHMARK).items():
            if (row.architecture, row.scope) == (declared["architecture"], declared["scope"]):
                candidates[catalogue.row_of(name)].append(name)
        first_models: list[str] = next(iter(candidates.values()), [])
        chosen[series] = candidates.get(declared["model"], first_models)
    return chosen


def clams_training(campaign: Campaign, catalogue: Catalogue) -> str:
    """Describe for a caption the LSTMs that the campaign trains; empty without any.

    An example: "clams-lstm-mono (2 × 650 units, embeddings of 200, trained on …), 5 seeds".
    """
    models = clams_models(campaign, catalogue)
    released = [row for row in catalogue.sources.values() if row.kind == "corpus"]
    can_use_released = released and all(is_usable(campaign, row) for row in released)
    texts = []
    for name in (*models[MONO], *models[MULTI]):
        recipe = campaign.training.recipes.get(catalogue.models[name].recipe)
        if not isinstance(recipe, LstmRecipe):
            continue
        options = campaign.training.corpora[recipe.corpus]
        corpus = ["treebanks and plain text"]
        if options.max_sentences:
            corpus.append(f"{options.max_sentences:,} sentences a language at most")
        for lang, number in options.max_sentences_of.items():
            if lang in catalogue.languages and number:
                corpus.append(f"{number:,} of {catalogue.languages[lang].name}")
        # Released corpora are tokenised, so other settings of ``words`` do not use them.
        if can_use_released and options.released and options.words == "whitespace":
            corpus = ["the authors' Wikipedia text"]
        size = f"{recipe.layers} × {recipe.hidden} units, embeddings of {recipe.embedding}"
        texts.append(f"{catalogue.row_of(name)} ({size}, trained on {', '.join(corpus)})")
    # A model's seeds have the same text.
    counts = Counter(texts).items()
    return "; ".join(f"{text}, {n} {'seed' if n == 1 else 'seeds'}" for text, n in counts)


def clams_ties(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Return the tie policy of each method that judges LSTMs, by the method's name."""
    options = _options(campaign)
    names = [find_method(method).name for method in methods_of(options, "lstm")]
    return {name: options.ties or tie_policy(BENCHMARK, options.variant, name) for name in names}


def clams_scoring(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Return for captions how LSTMs decide pairs and what counts as right.

    {"unknown_words": "critical", "method": "without_end", "ties": "right", "counting": "published"}
    """
    options = _options(campaign)
    method = find_method(methods_of(options, "lstm")[0]).name
    return {
        "unknown_words": options.unknown_words,
        "method": method,
        "ties": clams_ties(campaign, catalogue)[method],
        "counting": variant_of(options, "counting"),
    }


PAPER = Paper(
    name=BENCHMARK,
    position=2,
    citation=Citation(
        label="CLAMS",
        title="Cross-Linguistic Syntactic Evaluation of Word Prediction Models",
        authors="Mueller, Nicolai, Petrou-Zeniou, Talmina and Linzen (2020)",
        address="https://aclanthology.org/2020.acl-main.490",
    ),
    settings=ClamsOptions,
    folders={
        "grammars": (
            Path("config/grammars"),
            "One directory per language, with attribute-varying grammars of our own.",
        )
    },
    benchmarks=(
        Benchmark(
            name=BENCHMARK,
            options=_options,
            languages=languages,
            methods=lambda campaign, architecture: methods_of(_options(campaign), architecture),
            expected_units=expected_pairs,
            # A sentence has 8.7 words (7.6 to 9.9 by language, with the full stop), mostly of one
            # token, and an end-of-sentence token.
            tokens=10.0,
            # published: the authors' LSTM code counts a pair as right unless the surprisal of its
            # grammatical sentence is greater, so ties are right, such as two unknown words. Their
            # BERT code requires a greater logit, so ties are wrong.
            # corrected: a tie counts half, so that a model that cannot tell has 50 %.
            ties={
                "published": {ANY: "right", "masked_critical_word": "wrong"},
                "corrected": {ANY: "half"},
            },
            counts_one_more=lambda campaign, architecture: counts_one_more(
                _options(campaign), architecture
            ),
        ),
    ),
    check=check,
    method_settings=lambda campaign: {
        "clams.methods": _options(campaign).methods or (),
        "clams.masked_methods": _options(campaign).masked_methods,
    },
    sources=sources,
    other_items=other_items,
    exhibits=SPECS,
    facts={
        "clams_models": clams_models,
        # The variant of the LSTMs' counting.
        "clams_counting": lambda campaign, _: variant_of(_options(campaign), "counting"),
        "clams_training": clams_training,
        "clams_ties": clams_ties,
        "clams_scoring": clams_scoring,
    },
    tables={
        "evaluation_sets": TableKind(
            paths="{results}/evaluation_sets/clams.parquet",
            sources=lambda campaign, catalogue: available(campaign, catalogue, SET),
            retrieved=True,
        ),
        "morphology": TableKind(
            paths="{results}/morphology/languages.parquet",
            sources=lambda campaign, catalogue: available(campaign, catalogue, "wals"),
            retrieved=True,
        ),
    },
    formulas=("blimpworks.papers.clams.exhibits.measures",),
    commands=("blimpworks.papers.clams.commands",),
    rules="papers/clams.smk",
    printed_accuracies="blimpworks.papers.clams.published:accuracies",
)
