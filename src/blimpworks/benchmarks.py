"""Benchmarks: the papers that they are of, and what a campaign needs to have of them.

Without heavy imports, because the Snakefile asks each time it is parsed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blimpworks.errors import UserError

if TYPE_CHECKING:  # the configuration and its parts import this module
    from blimpworks.catalogue import Catalogue
    from blimpworks.config import Campaign

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


def check_benchmarks(campaign: Campaign, catalogue: Catalogue) -> None:
    """See that there is something to make the campaign's BLiMP benchmarks of.

    Raises UserError where the campaign lacks their language, the catalogue the released files,
    or the folder of paradigms a declaration.
    """
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
