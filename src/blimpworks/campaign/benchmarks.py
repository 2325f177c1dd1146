"""Benchmarks: the papers that they are of, and what a campaign needs to have of them.

Without heavy imports, because the Snakefile asks each time it is parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.items.release import check_release

if TYPE_CHECKING:  # the configuration and its parts import this module
    from pathlib import Path

    from blimpworks.campaign.catalogue import Catalogue
    from blimpworks.campaign.settings.campaign import Campaign

LMENTRY = "lmentry"
"""Multi-LMentry, whose items are prompts that models answer, not pairs that they score."""
URBLIMP = "urblimp"
"""UrBLiMP, whose pairs rules make of treebanks, in languages that have such rules."""
BLIMP, LANG = "blimp", "eng"
"""BLiMP, and the one language that it has pairs in."""
GENERATED_OF = {BLIMP: "blimp_generated"}
"""The benchmark of a paper's paradigms with pairs that are generated here, by paper."""
PAPERS = {generated: paper for paper, generated in GENERATED_OF.items()}
RELEASED_DATA = "blimp_data"
"""Kind of the sources that are BLiMP's released pairs."""


def paper_of(benchmark: str) -> str:
    """The paper that a benchmark is of: ``blimp`` for ``blimp_generated``."""
    return PAPERS.get(benchmark, benchmark)


def benchmarks_of(paper: str) -> tuple[str, ...]:
    """All benchmarks of a paper, its own first: ``blimp`` and ``blimp_generated`` for ``blimp``."""
    return (paper, GENERATED_OF[paper]) if paper in GENERATED_OF else (paper,)


def declared_paradigms(campaign: Campaign) -> list[str]:
    """Paradigms of BLiMP that are declared, in the order of their names."""
    return sorted(path.stem for path in campaign.catalogue.blimp.glob("paradigms/*.yaml"))


def pack_file(campaign: Campaign, lang: str) -> Path:
    """The language pack of Multi-LMentry for a language, whether it exists or not."""
    return campaign.catalogue.lmentry / "languages" / f"{lang}.yaml"


def rules_folder(campaign: Campaign, lang: str) -> Path:
    """The folder of UrBLiMP's rules for a language, whether it exists or not."""
    return campaign.catalogue.urblimp / lang


def has_rules(campaign: Campaign, lang: str) -> bool:
    """Whether a language has a pack and rules of UrBLiMP."""
    names = {path.name for path in rules_folder(campaign, lang).glob("*.yaml")}
    return "language.yaml" in names and len(names) > 1


def _check_rules(campaign: Campaign, catalogue: Catalogue) -> None:
    """Some language of the campaign, and each that is named, must have rules of UrBLiMP."""
    if URBLIMP not in campaign.benchmarks:
        return
    named = campaign.urblimp.languages
    for lang in () if named == "all" else named:
        if lang not in catalogue.languages or not has_rules(campaign, lang):
            raise UserError(
                f"urblimp.languages has {lang!r}, expected languages of the campaign that have "
                f"rules like {rules_folder(campaign, lang)}; take it out, or add what is missing."
            )
    files = {row.file for rows in catalogue.treebanks.values() for row in rows}
    for name in campaign.urblimp.files or ():
        if name not in files:
            raise UserError(
                f"urblimp.files has {name!r}, expected files of the treebanks of the campaign's "
                f"languages in {campaign.catalogue.treebanks}; correct it, or take it out."
            )
    if not any(has_rules(campaign, lang) for lang in catalogue.languages):
        raise UserError(
            f"benchmark {URBLIMP!r} has items in languages with rules; "
            f"{campaign.catalogue.urblimp} has none of {', '.join(catalogue.languages)}: add one "
            "of its languages, write rules (docs/urblimp.md), or take it out of benchmarks."
        )


def _check_figure2(campaign: Campaign, catalogue: Catalogue) -> None:
    """The language that Figure 2 is to show must be among those with pairs."""
    lang = campaign.multiblimp.exhibits.figure2_language
    had = catalogue.languages_of("multiblimp")
    if "multiblimp" in campaign.benchmarks and lang is not None and lang not in had:
        raise UserError(
            f"multiblimp.exhibits.figure2_language is {lang!r}, expected one of the campaign's "
            f"languages ({', '.join(had)}); add it there, or correct it."
        )


def _check_packs(campaign: Campaign, catalogue: Catalogue) -> None:
    """Some language of the campaign, and each that is named, must have a pack for prompts."""
    if LMENTRY not in campaign.benchmarks:
        return
    named = campaign.lmentry.languages
    for lang in () if named == "all" else named:
        if lang not in catalogue.languages or not pack_file(campaign, lang).exists():
            raise UserError(
                f"lmentry.languages has {lang!r}, expected languages of the campaign that have a "
                f"pack like {pack_file(campaign, lang)}; take it out, or add what is missing."
            )
    if not any(pack_file(campaign, lang).exists() for lang in catalogue.languages):
        raise UserError(
            f"benchmark {LMENTRY!r} has items in languages with a pack; "
            f"{pack_file(campaign, 'LANG').parent} has none of {', '.join(catalogue.languages)}: "
            "add one of its languages, write a pack (docs/lmentry.md), or take it out of "
            "benchmarks."
        )


def check_benchmarks(campaign: Campaign, catalogue: Catalogue) -> None:
    """See that there is something to make the campaign's benchmarks, and MultiBLiMP's Figure 2, of.

    Raises UserError where the campaign lacks the language of BLiMP or of the figure, the catalogue
    released files of BLiMP or MultiBLiMP, the folder of paradigms a declaration, or all languages a
    pack or rules.
    """
    check_release(campaign, catalogue)
    _check_figure2(campaign, catalogue)
    _check_packs(campaign, catalogue)
    _check_rules(campaign, catalogue)
    wanted = [name for name in campaign.benchmarks if paper_of(name) == BLIMP]
    if not wanted:
        return
    if LANG not in catalogue.languages:
        raise UserError(
            f"benchmark {wanted[0]!r} has items in {LANG} alone; languages has "
            f"{', '.join(catalogue.languages)}: add {LANG}, or take it out of benchmarks."
        )
    if BLIMP in wanted and not catalogue.sources_of(RELEASED_DATA, LANG):
        raise UserError(
            f"{campaign.catalogue.sources} has no row of kind {RELEASED_DATA!r} and lang {LANG!r}, "
            f"expected one for each released file of benchmark {BLIMP!r}; add those of "
            f"config/sources.tsv, or take {BLIMP!r} out of benchmarks."
        )
    if GENERATED_OF[BLIMP] in wanted and not declared_paradigms(campaign):
        raise UserError(
            f"{campaign.catalogue.blimp / 'paradigms'} has no declaration, expected one .yaml file "
            f"for each paradigm of benchmark {GENERATED_OF[BLIMP]!r}; add one "
            "(docs/generator.md), or take the benchmark out of benchmarks."
        )
