"""What MultiBLiMP's exhibits need to know of a campaign and its catalogue, beside the tables.

Without heavy imports, because the Snakefile asks for these facts each time it is parsed;
they reach an exhibit through its labels, so that it is built anew when one of them changes.
"""

import csv
from collections.abc import Callable
from typing import Any

from blimpworks.campaign.catalogue import UNIMORPH_KINDS, Catalogue, SourceRow
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.papers.multiblimp.items.release import BENCHMARK
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected

REASONS = "multiblimp_regeneration_notes.tsv"
COMPLETE = "none"


def table1_choice(campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """Phenomenon of Table 1, and those of its languages that the campaign has."""
    options = campaign.section(MultiblimpOptions).exhibits
    languages = [lang for lang in options.table1_languages if lang in catalogue.languages]
    return {"languages": languages, "phenomenon": options.table1_phenomenon}


READABLE = "eng"
"""The language that Figure 2 shows where it is open: readers of an English text know it."""


def figure2_choice(campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """Language, pair and settings of Figure 2; the pair is None where the figure chooses it.

    ``any_case`` and ``exact`` are what pair generation and sampling do about letter case and
    pairs of several values; ``null`` and ``limit`` are the probability that agreement is tested
    against and the most pairs of a condition. The language is None where there is none.
    """
    settings = campaign.section(MultiblimpOptions)
    languages = catalogue.languages_of(BENCHMARK)
    chosen = settings.exhibits.figure2_language or (READABLE if READABLE in languages else None)
    return {
        "language": chosen or next(iter(languages), None),
        "pair": settings.exhibits.figure2_pair,
        "any_case": corrected(settings, "letter_case"),
        "exact": corrected(settings, "memberships"),
        "null": settings.agreement.null_probability,
        "limit": settings.sampling.per_condition,
    }


def families(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Language family of each language of the campaign."""
    return {lang: row.family for lang, row in catalogue.languages_of(BENCHMARK).items()}


def traits(campaign: Campaign, catalogue: Catalogue) -> dict[str, list[str]]:
    """Script and family of each language."""
    return {
        lang: [row.script, row.family] for lang, row in catalogue.languages_of(BENCHMARK).items()
    }


def excluded(campaign: Campaign, catalogue: Catalogue) -> dict[str, list[list[str]]]:
    """Treebanks of each language that are left out, each with its reason (appendix A.1).

    Raises UserError for an entry of the catalogue that is not ``treebank:reason``.
    """
    treebanks: dict[str, list[list[str]]] = {}
    for lang, row in catalogue.languages_of(BENCHMARK).items():
        for entry in filter(None, row.excluded_treebanks.split(";")):
            treebank, separator, reason = entry.partition(":")
            if not separator or not treebank.startswith("UD_") or "-" not in treebank:
                raise UserError(
                    f"{campaign.catalogue.languages}: excluded_treebanks of {lang!r} has "
                    f"{entry!r}; expected UD_Language-Name:reason, separated by semicolons."
                )
            treebanks.setdefault(lang, []).append([treebank, reason])
    return treebanks


def published_n(campaign: Campaign, catalogue: Catalogue) -> dict[str, int]:
    """Pairs of each language in the release (Table 5), where known."""
    rows = catalogue.languages_of(BENCHMARK).items()
    return {lang: row.paper_n for lang, row in rows if row.paper_n is not None}


def _unimorph_lacks(lang: str, campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """What the campaign does without, or has in another version, of UniMorph's tables."""
    if not catalogue.languages[lang].unimorph:
        return []
    rows = [row for kind in UNIMORPH_KINDS for row in catalogue.sources_of(kind, lang)]
    used = [catalogue.sources[campaign.substitutes.get(row.name, row.name)] for row in rows]
    lacks = [*filter(None, map(_lack, rows, used))]
    if not any(row.kind == "unimorph" for row in rows):
        lacks.append("UniMorph (not in the catalogue)")
    return lacks


def _lack(row: SourceRow, used: SourceRow) -> str:
    """How the file that a campaign uses differs from the one that the paper used; "" if not."""
    what = "UniMorph" if row.kind == "unimorph" else "its segmentations"
    if not used.sha256:
        return what
    return f"{what} (another version in its place)" if used is not row else ""


def completeness(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Which sources of each language are missing, in a few words: those without checksum."""
    missing_by_language: dict[str, str] = {}
    for lang, rows in catalogue.treebanks.items():
        missing = sum(not row.sha256 for row in rows)
        lacks = [f"{missing} of {len(rows)} treebank files"] if missing else []
        lacks += _unimorph_lacks(lang, campaign, catalogue)
        missing_by_language[lang] = ", ".join(lacks) or COMPLETE
    return missing_by_language


def reasons(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Why a language's pairs differ from the release, from a table beside the treebanks'.

    Raises UserError when the table's columns are not ``lang`` and ``reason``, or when it
    gives a language two reasons.
    """
    # Reasons hold for the treebanks that stand beside them.
    path = campaign.catalogue.treebanks.with_name(REASONS)
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as handle:
        reader = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        if reader.fieldnames != ["lang", "reason"]:
            raise UserError(f"{path}:1: columns are {reader.fieldnames}; expected lang, reason.")
        rows = [(row["lang"], row["reason"]) for row in reader]
    twice = next((lang for n, (lang, _) in enumerate(rows) if lang in dict(rows[:n])), None)
    if twice:
        raise UserError(f"{path}: {twice!r} stands in several rows; keep one.")
    return {lang: reason for lang, reason in rows if lang in catalogue.languages and reason}


FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {
    "table1": table1_choice,
    "figure2": figure2_choice,
    "families": families,
    "traits": traits,
    "excluded": excluded,
    "published_n": published_n,
    "completeness": completeness,
    "reasons": reasons,
}
