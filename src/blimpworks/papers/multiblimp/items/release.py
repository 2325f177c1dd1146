"""Find MultiBLiMP's released items, and the settings of its rules.

Without heavy imports, because the Snakefile asks each time Snakemake parses it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from blimpworks.campaign.retrieved import is_usable
from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.settings import MultiblimpOptions

if TYPE_CHECKING:  # the catalogue imports the configuration, and both are imported by everything
    from blimpworks.campaign.catalogue import Catalogue, SourceRow
    from blimpworks.campaign.settings.campaign import Campaign

BENCHMARK = "multiblimp"
RELEASED_ITEMS = "multiblimp_data"
"""Kind of the sources that are the released items, one file per language."""


def _options(campaign: Campaign) -> MultiblimpOptions:
    return campaign.section(MultiblimpOptions)


def is_released(campaign: Campaign) -> bool:
    """Tell whether the campaign's items of MultiBLiMP are the release's own."""
    return BENCHMARK in campaign.benchmarks and _options(campaign).items == "released"


def is_regenerated(campaign: Campaign) -> bool:
    """Tell whether the campaign makes items of MultiBLiMP from treebanks."""
    return BENCHMARK in campaign.benchmarks and _options(campaign).items == "regenerated"


def pinned_items(campaign: Campaign, catalogue: Catalogue, lang: str) -> SourceRow | None:
    """Return the source of a language's released file on the hub, if the campaign reads one."""
    if not is_released(campaign) or _options(campaign).released != "hub":
        return None
    return next(iter(catalogue.sources_of(RELEASED_ITEMS, lang)), None)


def released_file(campaign: Campaign, catalogue: Catalogue, lang: str) -> Path:
    """Return the path of a language's released items, retrieved or in their directory."""
    row = pinned_items(campaign, catalogue, lang)
    if row is None:
        return Path(_options(campaign).released) / lang / "data.tsv"
    return Path(campaign.pathvars.resources, "sources", row.name)


def origin_of_items(campaign: Campaign, catalogue: Catalogue) -> str:
    """Say where the campaign's items come from, for captions and records of exhibits."""
    if _options(campaign).items == "regenerated":
        return "regenerated"
    if _options(campaign).released != "hub":
        return f"released (read from {_options(campaign).released})"
    rows = (r for r in catalogue.sources.values() if r.kind == RELEASED_ITEMS)
    versions = dict.fromkeys(row.version for row in rows if row.lang in catalogue.languages)
    return f"released (jumelet/multiblimp at {', '.join(versions)})"


def check_release(campaign: Campaign, catalogue: Catalogue) -> None:
    """Raise UserError where a released file, its directory, its row or its checksum is missing."""
    if not is_released(campaign):
        return
    folder = _options(campaign).released
    if folder != "hub" and not Path(folder).is_dir():
        raise UserError(
            f"multiblimp.released is {str(folder)!r}, which is no directory; expected 'hub', or a "
            "directory with a LANG/data.tsv of each language (`blimpworks export multiblimp`)."
        )
    for lang in catalogue.languages_of(BENCHMARK):
        # See that one language has its released file, or a row that can be retrieved.
        table, row = campaign.catalogue.sources, pinned_items(campaign, catalogue, lang)
        if _options(campaign).released != "hub":
            path = released_file(campaign, catalogue, lang)
            if not path.is_file():
                raise UserError(
                    f"multiblimp.released: {path} does not exist; add it, or take {lang!r} out of "
                    "languages."
                )
        elif row is None:
            raise UserError(
                f"{table} has no row of kind {RELEASED_ITEMS!r} and lang {lang!r}, expected the "
                "file of its released items; add that of config/sources.tsv, or take the "
                "language out."
            )
        elif not is_usable(campaign, row):
            raise UserError(
                f"{table}: the released items of {lang!r} ({row.name}) have no checksum, and the "
                f"campaign skips such files; run `blimpworks pin {table} {row.name}`, or take the "
                "language out of languages."
            )


def pinned_arguments(campaign: Campaign, catalogue: Catalogue, lang: str) -> list[str]:
    """List the options of ``build-released-items`` for a hub file: revision, expected pairs."""
    row = pinned_items(campaign, catalogue, lang)
    if row is None:
        return []
    pairs = catalogue.languages[lang].paper_n
    expected = [f"--pairs={pairs}"] if pairs is not None else []
    return [f"--revision={row.version}", *expected]


STAGES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lexicon": (
        ("lexicon",),
        ("marked_sentences", "rare_readings", "first_entry", "missing_words", "scripts"),
    ),
    "candidates": (
        (),
        (
            *("finiteness", "first_word_auxiliary", "attractor_window", "marked_sentences"),
            *("participle_auxiliaries", "scripts"),
        ),
    ),
    "agreement": (
        ("phenomena", "agreement"),
        ("agreement_evidence", "verb_types", "bonferroni", "labels", "letter_case"),
    ),
    "pairs": (
        ("phenomena",),
        (
            *("contractions", "copied_features", "subject_person", "other_features"),
            *("right_forms", "letter_case", "capitals", "scripts"),
        ),
    ),
    "sampling": (("sampling",), ("lost_statistics", "balance", "memberships")),
    "released": (("phenomena",), ()),
}
"""Sections and decisions of the settings that each stage reads."""


def stage_settings(campaign: Campaign, name: str) -> dict[str, Any]:
    """Return the settings that a stage reads, so that other settings rerun nothing."""
    sections, decisions = STAGES[name]
    included: dict[str, bool | set[str]] = dict.fromkeys(sections, True)
    if decisions:
        included |= {"variant": True, "decisions": {*decisions}}
    return _options(campaign).model_dump(mode="json", include=included)
