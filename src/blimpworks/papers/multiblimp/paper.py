"""Register MultiBLiMP 1.0 (Jumelet et al. 2025): agreement in 101 languages, from treebanks.

``PAPER`` (at the end) tells shared code the paper's benchmark, exhibits, tables and pinned files.
Functions above it take a campaign (the settings) and its catalogue (the languages, sources and
models that it uses). Each parse of the Snakefile loads this module: import nothing slow.
"""

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from blimpworks.campaign.catalogue import Catalogue, Pinned, SourceRow
from blimpworks.campaign.paper import ANY, Benchmark, Citation, Paper, TableKind
from blimpworks.campaign.scoring_jobs import available, is_usable, lexicon_sources
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.papers.multiblimp.exhibits import BENCHMARK, SPECS
from blimpworks.papers.multiblimp.exhibits.facts import FACTS
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, variant_of

RELEASED_ITEMS = "multiblimp_data"
"""Kind of source: a language's released items."""
EXPECTED_PAIRS = 1200
"""Pairs to plan for in a language that the paper lacks: about the mean of its languages."""
FREQUENCIES = "frequency"
"""Kind of source: the languages' numbers of characters in a web corpus."""
TABLES_OF_ITEMS = {
    *("accuracies", "bins", "comparisons", "funnel", "items", "judgements", "margins"),
    *("regressions", "residuals"),
}
"""Tables that differ between released and regenerated items, so that captions name the origin."""


def languages(campaign: Campaign, catalogue: Catalogue) -> Sequence[str]:
    """Return the campaign's languages of MultiBLiMP."""
    return tuple(catalogue.languages_of(BENCHMARK))


def _options(campaign: Campaign) -> MultiblimpOptions:
    return campaign.section(MultiblimpOptions)


def is_released(campaign: Campaign) -> bool:
    """Tell whether the campaign reads MultiBLiMP's released items."""
    return BENCHMARK in campaign.benchmarks and _options(campaign).items == "released"


def pinned_items(campaign: Campaign, catalogue: Catalogue, lang: str) -> SourceRow | None:
    """Return the row of a language's released items on the hub, if the campaign reads them."""
    if not is_released(campaign) or _options(campaign).released != "hub":
        return None
    return next(iter(catalogue.sources_of(RELEASED_ITEMS, lang)), None)


def released_file(campaign: Campaign, catalogue: Catalogue, lang: str) -> Path:
    """Return the path of a language's released items, retrieved from the hub or in a directory."""
    if row := pinned_items(campaign, catalogue, lang):
        return Path(campaign.pathvars.resources, "sources", row.name)
    return Path(_options(campaign).released) / lang / "data.tsv"


def check(campaign: Campaign, catalogue: Catalogue) -> None:
    """Raise UserError if the language of Figure 2 is missing, or a language's released file."""
    langs, released = languages(campaign, catalogue), is_released(campaign)
    folder, table = _options(campaign).released, campaign.catalogue.sources
    if released and folder != "hub" and not Path(folder).is_dir():
        raise UserError(
            f"multiblimp.released is {str(folder)!r}, which is no directory; expected 'hub', or a "
            "directory with a LANG/data.tsv of each language (`blimpworks export multiblimp`)."
        )
    for lang in langs if released else ():
        path = released_file(campaign, catalogue, lang)
        row = pinned_items(campaign, catalogue, lang)
        if folder != "hub":
            if not path.is_file():
                raise UserError(
                    f"multiblimp.released: {path} does not exist; add it, or take {lang!r} out of "
                    "languages."
                )
        elif row is None:
            raise UserError(
                f"{table} has no row of kind {RELEASED_ITEMS!r} and lang {lang!r}, expected the "
                "file of its released items; add the row of config/sources.tsv, or take the "
                "language out."
            )
        elif not is_usable(campaign, row):
            raise UserError(
                f"{table}: the released items of {lang!r} ({row.name}) have no checksum, and the "
                f"campaign skips such files; run `blimpworks pin {table} {row.name}`, or take the "
                "language out of languages."
            )
    lang_of_figure2 = _options(campaign).exhibits.figure2_language
    if lang_of_figure2 is not None and lang_of_figure2 not in langs:
        raise UserError(
            f"multiblimp.exhibits.figure2_language is {lang_of_figure2!r}, expected one of the "
            f"campaign's languages ({', '.join(langs)}); add it there, or correct it."
        )


def pinned_arguments(campaign: Campaign, catalogue: Catalogue, lang: str) -> list[str]:
    """List the options of ``build-released-items`` for items of the hub: revision and pairs."""
    row = pinned_items(campaign, catalogue, lang)
    if row is None:
        return []
    pairs = catalogue.languages[lang].paper_n
    expected = [f"--pairs={pairs}"] if pairs is not None else []
    return [f"--revision={row.version}", *expected]


STAGES = {
    row["stage"]: (row["sections"].split(), row["decisions"].split())
    for row in read_cells(Path(__file__).with_name("stages.tsv"))
}
"""{step of making items: (settings, decisions between variants) that it reads}."""


def stage_settings(campaign: Campaign, stage: str) -> dict[str, Any]:
    """Return the settings that a stage reads; a change of other settings does not rerun it."""
    sections, decisions = STAGES[stage]
    # As pydantic takes it: True for a whole section, or the names of some of its fields.
    included: dict[str, bool | set[str]] = dict.fromkeys(sections, True)
    if decisions:
        included |= {"variant": True, "decisions": {*decisions}}
    return _options(campaign).model_dump(mode="json", include=included)


def treebank_languages(campaign: Campaign, catalogue: Catalogue) -> Sequence[str]:
    """Return the languages whose items are made from treebanks."""
    made = BENCHMARK in campaign.benchmarks and not is_released(campaign)
    return languages(campaign, catalogue) if made else ()


def sources(campaign: Campaign, catalogue: Catalogue) -> list[Pinned]:
    """List the pinned files that items are made from: lexicons, or else the released items."""
    rows: list[Pinned] = []
    for lang in treebank_languages(campaign, catalogue):
        rows += lexicon_sources(campaign, catalogue, lang)
    for lang in languages(campaign, catalogue):
        if released := pinned_items(campaign, catalogue, lang):
            rows.append(released)
    return rows


def other_items(campaign: Campaign, lang: str) -> str:
    """Describe how the campaign's pairs differ from the release on the hub; "" if they do not."""
    options = _options(campaign)
    if options.items == "regenerated":
        return "pairs drawn again (the authors' draw had no seed)"
    return "" if options.released == "hub" else f"pairs of {options.released}"


def caption(campaign: Campaign, catalogue: Catalogue, tables: Collection[str]) -> str:
    """Return the origin of the items for captions, or "" if ``tables`` do not depend on it."""
    if TABLES_OF_ITEMS.isdisjoint(tables):
        return ""
    if _options(campaign).items == "regenerated":
        return "regenerated"
    if _options(campaign).released != "hub":
        return f"released (read from {_options(campaign).released})"
    rows = (row for row in catalogue.sources.values() if row.kind == RELEASED_ITEMS)
    versions = dict.fromkeys(row.version for row in rows if row.lang in catalogue.languages)
    return f"released (jumelet/multiblimp at {', '.join(versions)})"


# In a message, this follows "exhibit NAME".
_NEEDS_TREEBANKS = (
    "is made from treebanks and their statistics, which a campaign with multiblimp.items: released "
    "does not read; build it in one with items: regenerated, such as config/regeneration.yaml."
)
_OF_TREEBANKS = partial(TableKind, absent=lambda c: _NEEDS_TREEBANKS if is_released(c) else "")
# Input tables of exhibits by name; their paths are those of the rules in workflow/rules/papers.
TABLES = {
    "agreement": _OF_TREEBANKS(paths="{results}/agreement/{paper}/{lang}.parquet"),
    "agreement_counts": _OF_TREEBANKS(paths="{results}/agreement_counts/{paper}/{lang}.parquet"),
    "sentences": _OF_TREEBANKS(paths="{results}/sentences/{lang}.parquet"),
    "funnel": _OF_TREEBANKS(
        paths=lambda layout, paper: [
            path
            for stage in ("candidates", "pairs", "sampling")
            for path in layout.expand(f"{{results}}/funnel/{paper}/{stage}/{{lang}}.parquet", paper)
        ]
    ),
    "tokens": TableKind(paths="{results}/tokens/{lang}.parquet"),
    "candidates": TableKind(paths="{results}/candidates/{paper}/{lang}.parquet"),
    "lexicon": TableKind(paths="{results}/lexicon/{lang}.parquet"),
    # Pairs from which items are drawn.
    "all_items": TableKind(paths="{results}/items/{paper}/all/{lang}.parquet"),
    "margins": TableKind(paths="{results}/regressions/{paper}/margins.parquet", evaluated=True),
    "regressions": TableKind(
        paths="{results}/regressions/{paper}/measured.parquet",
        published="{results}/regressions/{paper}/printed.parquet",
        evaluated=True,
    ),
    "residuals": TableKind(
        paths="{results}/residuals/{paper}/measured.parquet",
        published="{results}/residuals/{paper}/printed.parquet",
        evaluated=True,
    ),
    "frequencies": TableKind(
        paths="{results}/frequencies/languages.parquet",
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
            options=_options,
            languages=languages,
            methods=lambda campaign, _: _options(campaign).methods,
            expected_units=lambda _, catalogue, lang: (
                catalogue.languages[lang].paper_n or EXPECTED_PAIRS
            ),
            # Section 6 counts P(good) > P(bad); text and code agree.
            ties={"published": {ANY: "wrong"}, "corrected": {ANY: "wrong"}},
            document_keys=("sen", "wrong_sen"),
            mcnemar=lambda campaign: variant_of(_options(campaign), "mcnemar"),
        ),
    ),
    method_settings=lambda campaign: {"multiblimp.methods": _options(campaign).methods},
    check=check,
    treebanks=treebank_languages,
    sources=sources,
    other_items=other_items,
    exhibits=SPECS,
    facts=FACTS,
    tables=TABLES,
    caption=caption,
    formulas=("blimpworks.papers.multiblimp.exhibits.measures",),
    commands=("blimpworks.papers.multiblimp.commands",),
    rules="papers/multiblimp.smk",
    printed_accuracies="blimpworks.papers.multiblimp.published:accuracies",
    names="blimpworks.papers.multiblimp.exhibits.measures:PHENOMENON_NAMES",
)
