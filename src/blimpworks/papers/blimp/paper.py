"""BLiMP (Warstadt et al. 2020): 67 paradigms of English, released or generated here."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue, Pinned
from blimpworks.campaign.paper import ANY, Benchmark, Citation, Paper, TableKind
from blimpworks.campaign.parts import named_sources
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.papers.blimp import paradigms as blimp
from blimpworks.papers.blimp.exhibits import SPECS
from blimpworks.papers.blimp.exhibits.facts import FACTS
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
    """Raise UserError without English, released files or declared paradigms, as benchmarks need."""
    requested = [name for name in campaign.benchmarks if name in (BENCHMARK, GENERATED)]
    if LANG not in catalogue.languages:
        raise UserError(
            f"benchmark {requested[0]!r} has items in {LANG} alone; languages has "
            f"{', '.join(catalogue.languages)}: add {LANG}, or take it out of benchmarks."
        )
    kind = blimp.RELEASED_DATA
    if BENCHMARK in requested and not catalogue.sources_of(kind, LANG):
        raise UserError(
            f"{campaign.catalogue.sources} has no row of kind {kind!r} and lang {LANG!r}, "
            f"expected one for each released file of benchmark {BENCHMARK!r}; add those of "
            f"config/sources.tsv, or take {BENCHMARK!r} out of benchmarks."
        )
    if GENERATED in requested and not blimp.declared_paradigms(campaign):
        raise UserError(
            f"{campaign.folder('blimp') / 'paradigms'} has no declaration, expected one .yaml file "
            f"for each paradigm of benchmark {GENERATED!r}; add one (docs/generator.md), or take "
            "the benchmark out of benchmarks."
        )


def released_results(campaign: Campaign, catalogue: Catalogue) -> Sequence[Pinned]:
    """Return files of the authors' released results, where all can be had."""
    return named_sources(campaign, catalogue, RELEASED_RESULTS)


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
            # Strictly greater, in text and code. Seven pairs are twice the same sentence (2 of
            # passive_1, 5 of principle_A_case_2): wrong for every model, they cap those two at 99.8
            # and 99.5 %. A model can't do better than chance on them, which is what half says.
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
    facts=FACTS,
    tables={
        # Released and generated pairs, so that both must be there.
        "data_sets": TableKind(
            paths=lambda layout, _: [
                f"{layout.results}/accuracies/{name}.parquet" for name in (BENCHMARK, GENERATED)
            ],
            evaluated=True,
            of_all_benchmarks=True,
        ),
        "bins": TableKind(template="{results}/bins/{paper}.parquet", evaluated=True),
        # Beside people's accuracies, where these can be had.
        "curves": TableKind(
            template="{results}/regressions/{paper}/curves.parquet",
            evaluated=True,
            sources=released_results,
        ),
        "released": TableKind(
            template="{results}/accuracies/released/{paper}.parquet",
            sources=released_results,
            retrieved=True,
        ),
        "ratings": TableKind(
            template="{results}/ratings/{paper}.parquet",
            sources=lambda campaign, catalogue: named_sources(campaign, catalogue, RESPONSES),
            retrieved=True,
        ),
    },
    formulas=("blimpworks.papers.blimp.exhibits.formulas",),
    commands=("blimpworks.papers.blimp.commands",),
    rules="papers/blimp.smk",
    printed_accuracies="blimpworks.papers.blimp.published:accuracies",
)
