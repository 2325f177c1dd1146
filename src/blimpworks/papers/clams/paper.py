"""Register CLAMS (Mueller et al. 2020): agreement in five languages, from grammars.

``PAPER`` tells shared code what the paper's benchmark, exhibits (tables and figures) and input
tables are. Functions read a campaign (settings) and its catalogue (languages, models, sources).
"""

from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue, Pinned
from blimpworks.campaign.paper import ANY, Benchmark, Citation, Paper, TableKind
from blimpworks.campaign.scoring_jobs import available
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.papers.clams.exhibits import BENCHMARK, SPECS
from blimpworks.papers.clams.exhibits.facts import FACTS
from blimpworks.papers.clams.items.sets import GRAMMAR, SET, expected_pairs, languages, our_grammars
from blimpworks.papers.clams.settings import ClamsOptions, counts_one_more, methods_of


def _options(campaign: Campaign) -> ClamsOptions:
    return campaign.section(ClamsOptions)


def check(campaign: Campaign, _catalogue: Catalogue) -> None:
    """Raise UserError if ``grammars`` names an absent language for which we have no grammar."""
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
    """Return a phrase for sets that a grammar of the campaign generates; empty for other sets."""
    generated = lang in _options(campaign).grammars and our_grammars(campaign, lang)
    return "sets of a grammar of ours" if generated else ""


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
            # 8.7 words (7.6 to 9.9 by language, with the stop), mostly of one token, and an end.
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
    facts=FACTS,
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
