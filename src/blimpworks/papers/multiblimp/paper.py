"""MultiBLiMP 1.0 (Jumelet et al. 2025): agreement in 101 languages, from treebanks."""

from collections.abc import Collection, Sequence
from functools import partial

from blimpworks.campaign.catalogue import Catalogue, Pinned
from blimpworks.campaign.paper import ANY, Benchmark, Citation, Paper, TableKind
from blimpworks.campaign.retrieved import available, lexicon_sources
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.exhibits import SPECS
from blimpworks.papers.multiblimp.exhibits.facts import FACTS
from blimpworks.papers.multiblimp.items.release import (
    BENCHMARK,
    check_release,
    is_regenerated,
    is_released,
    origin_of_items,
    pinned_items,
)
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, variant_of

PAIRS = 1240
"""Pairs of a language whose number the paper does not give: its mean (about 125,000 in 101)."""
FREQUENCIES = "frequency"
"""Kind of the source of languages' frequencies."""
ON_ITEMS = {"accuracies", "bins", "comparisons", "funnel", "items", "judgements"} | {
    "margins",
    "regressions",
    "residuals",
}
"""Kinds of tables that differ with the origin of the items."""


def languages(campaign: Campaign, catalogue: Catalogue) -> Sequence[str]:
    """Return the campaign's languages of MultiBLiMP."""
    return tuple(catalogue.languages_of(BENCHMARK))


def expected_pairs(campaign: Campaign, catalogue: Catalogue, lang: str) -> int:
    """Return the pairs of a language in the release, or the mean of all."""
    return catalogue.languages[lang].paper_n or PAIRS


def check(campaign: Campaign, catalogue: Catalogue) -> None:
    """Raise UserError where released files, or the language of Figure 2, are missing."""
    check_release(campaign, catalogue)
    lang = campaign.section(MultiblimpOptions).exhibits.figure2_language
    if lang is not None and lang not in languages(campaign, catalogue):
        raise UserError(
            f"multiblimp.exhibits.figure2_language is {lang!r}, expected one of the campaign's "
            f"languages ({', '.join(languages(campaign, catalogue))}); add it there, or correct it."
        )


def treebanks(campaign: Campaign, catalogue: Catalogue) -> Sequence[str]:
    """Return the languages whose items are made from treebanks."""
    return languages(campaign, catalogue) if is_regenerated(campaign) else ()


def sources(campaign: Campaign, catalogue: Catalogue) -> list[Pinned]:
    """List the lexicons of languages with treebanks, or the released items."""
    rows: list[Pinned] = []
    for lang in treebanks(campaign, catalogue):
        rows += lexicon_sources(campaign, catalogue, lang)
    for lang in languages(campaign, catalogue):
        released = pinned_items(campaign, catalogue, lang)
        rows += [released] if released else []
    return rows


def other_items(campaign: Campaign, lang: str) -> str:
    """Say whose the pairs are where they are not the authors' own."""
    options = campaign.section(MultiblimpOptions)
    if options.items == "regenerated":
        return "pairs drawn anew (the authors' draw had no seed)"
    return "" if options.released == "hub" else f"pairs of {options.released}"


def caption(campaign: Campaign, catalogue: Catalogue, kinds: Collection[str]) -> str:
    """Say where the items come from, for exhibits that differ with it."""
    return origin_of_items(campaign, catalogue) if ON_ITEMS & {*kinds} else ""


_FROM_TREEBANKS = partial(
    TableKind,
    absent=is_released,
    why_absent="is made from treebanks and their statistics, which a campaign with "
    "multiblimp.items: released does not read; build it in one with items: regenerated, such as "
    "config/regeneration.yaml.",
)
TABLES = {
    "agreement": _FROM_TREEBANKS(template="{results}/agreement/{paper}/{lang}.parquet"),
    "agreement_counts": _FROM_TREEBANKS(
        template="{results}/agreement_counts/{paper}/{lang}.parquet"
    ),
    "sentences": _FROM_TREEBANKS(template="{results}/sentences/{lang}.parquet"),
    "funnel": _FROM_TREEBANKS(
        paths=lambda layout, paper: [
            path
            for stage in ("candidates", "pairs", "sampling")
            for path in layout.expand(f"{{results}}/funnel/{paper}/{stage}/{{lang}}.parquet", paper)
        ]
    ),
    "tokens": TableKind(template="{results}/tokens/{lang}.parquet"),
    "candidates": TableKind(template="{results}/candidates/{paper}/{lang}.parquet"),
    "lexicon": TableKind(template="{results}/lexicon/{lang}.parquet"),
    # The pairs that items are drawn from.
    "all_items": TableKind(template="{results}/items/{paper}/all/{lang}.parquet"),
    "margins": TableKind(template="{results}/regressions/{paper}/margins.parquet", evaluated=True),
    "regressions": TableKind(
        template="{results}/regressions/{paper}/measured.parquet",
        published="{results}/regressions/{paper}/printed.parquet",
        evaluated=True,
    ),
    "residuals": TableKind(
        template="{results}/residuals/{paper}/measured.parquet",
        published="{results}/residuals/{paper}/printed.parquet",
        evaluated=True,
    ),
    "frequencies": TableKind(
        template="{results}/frequencies/languages.parquet",
        retrieved=True,
        sources=lambda campaign, catalogue: available(campaign, catalogue, FREQUENCIES),
    ),
}

PAPER = Paper(
    name=BENCHMARK,
    position=1,
    citation=Citation(
        label="MultiBLiMP",
        title="MultiBLiMP 1.0: A Massively Multilingual Benchmark of Linguistic Minimal Pairs",
        authors="Jumelet, Weissweiler, Nivre and Bisazza (2025)",
        address="https://arxiv.org/abs/2504.02768",
    ),
    settings=MultiblimpOptions,
    benchmarks=(
        Benchmark(
            name=BENCHMARK,
            options=lambda campaign: campaign.section(MultiblimpOptions),
            languages=languages,
            methods=lambda campaign, _: campaign.section(MultiblimpOptions).methods,
            expected_units=expected_pairs,
            # Section 6 counts P(good) > P(bad); text and code agree.
            ties={"published": {ANY: "wrong"}, "corrected": {ANY: "wrong"}},
            document_keys=("sen", "wrong_sen"),
            mcnemar=lambda campaign: variant_of(campaign.section(MultiblimpOptions), "mcnemar"),
        ),
    ),
    method_settings=lambda campaign: {
        "multiblimp.methods": campaign.section(MultiblimpOptions).methods
    },
    check=check,
    treebanks=treebanks,
    sources=sources,
    other_items=other_items,
    exhibits=SPECS,
    facts=FACTS,
    tables=TABLES,
    caption=caption,
    formulas=("blimpworks.papers.multiblimp.exhibits.formulas",),
    commands=("blimpworks.papers.multiblimp.commands",),
    rules="papers/multiblimp.smk",
    printed_accuracies="blimpworks.papers.multiblimp.published:accuracies",
    names="blimpworks.papers.multiblimp.exhibits.accuracies:NAMES",
)
