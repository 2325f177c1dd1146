"""Where a campaign's evaluation sets and grammars of CLAMS lie: released files, or made here.

Without heavy imports, because the Snakefile asks each time it is parsed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from blimpworks.campaign.catalogue import Catalogue, SourceRow
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.papers.clams.settings import ClamsOptions

COMMON = "common"
"""Stem of the grammar that all others of a language share words with."""
SET, GRAMMAR = "clams_set", "clams_grammar"
"""Kinds of sources."""


class Grammars(NamedTuple):
    """The grammars of a language."""

    common: Path | None
    cases: tuple[Path, ...]
    """One for each paradigm, called like it."""


def _retrieved(campaign: Campaign, rows: Sequence[SourceRow]) -> list[Path]:
    return [Path(campaign.pathvars.resources, "sources", row.name) for row in rows]


def grammars_of(campaign: Campaign, catalogue: Catalogue, lang: str) -> Grammars:
    """Our own grammars of a language, or else those that the authors released.

    Raises UserError when there are none.
    """
    folder = campaign.folder("grammars") / lang
    found = sorted(folder.glob("*.avg"))
    found = found or _retrieved(campaign, catalogue.sources_of(GRAMMAR, lang))
    cases = tuple(path for path in found if path.stem != COMMON)
    if not cases:
        raise UserError(
            f"clams.grammars names {lang!r}, but there is no grammar in {folder} and none among "
            f"the sources; write one (docs/grammars.md), or leave it out of clams.grammars."
        )
    return Grammars(next((p for p in found if p.stem == COMMON), None), cases)


def generated_set(campaign: Campaign, lang: str, case: Path) -> Path:
    """The set that a grammar's sentences are written to."""
    return Path(campaign.pathvars.results, "sets", "clams", lang, f"{case.stem}.txt")


def set_files(campaign: Campaign, catalogue: Catalogue, lang: str) -> list[Path]:
    """The evaluation sets of a language, generated or released; empty where there are none."""
    if lang in campaign.section(ClamsOptions).grammars:
        cases = grammars_of(campaign, catalogue, lang).cases
        return [generated_set(campaign, lang, case) for case in cases]
    return _retrieved(campaign, catalogue.sources_of(SET, lang))


def languages(campaign: Campaign, catalogue: Catalogue) -> tuple[str, ...]:
    """Languages of the campaign that have evaluation sets, in the catalogue's order."""
    released = {row.lang for row in catalogue.sources.values() if row.kind == SET}
    having = released.union(campaign.section(ClamsOptions).grammars)
    return tuple(lang for lang in catalogue.languages if lang in having)
