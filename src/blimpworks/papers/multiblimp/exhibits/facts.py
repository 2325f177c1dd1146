"""Find the facts of a campaign that MultiBLiMP's exhibits need, such as the models to compare.

A fact is a named value that an exhibit needs beside tables: ``trend_model``, the model of Figure 1,
is "gemma-3-27b", or another model if the campaign does not have this model of the paper. ``FACTS``
(at the end) has a function for each fact. Its arguments are the campaign (the settings) and its
catalogue (the languages, treebanks and models that it uses). Facts are values of JSON: an exhibit
is built again when one of its facts changes.

This module imports nothing slow, because each parse of the Snakefile loads it.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from blimpworks.campaign.catalogue import UNIMORPH_KINDS, Catalogue, LanguageRow, model_facts
from blimpworks.campaign.reference import language_groups
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.table_files import keyed, read_rows
from blimpworks.errors import UserError
from blimpworks.files import read_cells
from blimpworks.papers.multiblimp.exhibits import BENCHMARK
from blimpworks.papers.multiblimp.settings import MultiblimpOptions, corrected, variant_of
from blimpworks.strict import Strict

NOTES_FILE = "multiblimp_regeneration_notes.tsv"
"""Table beside that of treebanks: reasons why pairs of a language differ from the release."""
COMPLETE = "none"
"""Text for a language without missing sources."""


def table1_choice(campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """Return the phenomenon of Table 1, and the table's languages that the campaign has."""
    options = campaign.section(MultiblimpOptions).exhibits
    languages = [lang for lang in options.table1_languages if lang in catalogue.languages]
    return {"languages": languages, "phenomenon": options.table1_phenomenon}


FORM_DECISIONS = ("letter_case", "other_features", "right_forms")
"""Decisions (``published`` or ``corrected``) about the form that replaces a verb."""
READERS_LANGUAGE = "eng"
"""Language of Figure 2 unless the settings name another; readers of the figure know it."""


def figure2_choice(campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """Return the language of Figure 2, its pair (None: any), and settings that made the pair.

    Pairs belong to conditions, such as a change from person "3" to "1". ``exact``: whether "3IMP"
    is another value than "3" there, rather than one that counts as both. ``limit``: most pairs of
    a condition. ``null``: probability of agreement under the null hypothesis.
    """
    settings = campaign.section(MultiblimpOptions)
    languages = list(catalogue.languages_of(BENCHMARK))
    fallback = READERS_LANGUAGE if READERS_LANGUAGE in languages else next(iter(languages), None)
    return {
        "language": settings.exhibits.figure2_language or fallback,
        "pair": settings.exhibits.figure2_pair,
        "decisions": {name: variant_of(settings, name) for name in FORM_DECISIONS},
        "exact": corrected(settings, "memberships"),
        "null": settings.agreement.null_probability,
        "limit": settings.sampling.per_condition,
    }


def excluded(campaign: Campaign, catalogue: Catalogue) -> dict[str, list[list[str]]]:
    """Return {language: [[excluded treebank, reason], …]} (appendix A.1).

    Raises UserError for a malformed entry in the catalogue's table of languages.
    """
    excluded_by_language: dict[str, list[list[str]]] = {}
    for lang, row in catalogue.languages_of(BENCHMARK).items():
        for entry in filter(None, row.excluded_treebanks.split(";")):
            treebank, separator, reason = entry.partition(":")
            if not separator or not treebank.startswith("UD_") or "-" not in treebank:
                raise UserError(
                    f"{campaign.catalogue.languages}: excluded_treebanks of {lang!r} has "
                    f"{entry!r}; expected UD_Language-Name:reason, separated by semicolons."
                )
            excluded_by_language.setdefault(lang, []).append([treebank, reason])
    return excluded_by_language


def completeness(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Describe by language the sources that are missing, or "another version in its place".

    "1 of 3 treebank files, UniMorph": one treebank file and the table of UniMorph are missing.
    """
    texts: dict[str, str] = {}
    for lang, files in catalogue.treebanks.items():
        unpinned = sum(not row.is_pinned(campaign.checksums) for row in files)
        missing = [f"{unpinned} of {len(files)} treebank files"] if unpinned else []
        if catalogue.languages[lang].unimorph:
            rows = [row for name in UNIMORPH_KINDS for row in catalogue.sources_of(name, lang)]
            for row in rows:
                name = "UniMorph" if row.kind == "unimorph" else "its segmentations"
                used = catalogue.sources[campaign.substitutes.get(row.name, row.name)]
                if not used.is_pinned(campaign.checksums):
                    missing.append(name)
                elif used is not row:
                    missing.append(f"{name} (another version in its place)")
            if all(row.kind != "unimorph" for row in rows):
                missing.append("UniMorph (not in the catalogue)")
        texts[lang] = ", ".join(missing) or COMPLETE
    return texts


class Reason(Strict):
    """A row of the table ``NOTES_FILE``."""

    lang: str
    reason: str


def reasons(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Read why a language's pairs differ from the release. Raises UserError for a faulty table."""
    path = campaign.catalogue.treebanks.with_name(NOTES_FILE)
    rows = keyed(read_rows(Reason, path), "lang", path) if path.is_file() else {}
    return {lang: row.reason for lang, row in rows.items() if lang in catalogue.languages}


PRINTED_MODELS = (
    "llama-3.1-8b",
    "llama-3.1-70b",
    "llama-3.1-70b-instruct",
    "aya-expanse-32b",
    "gemma-3-27b",
    "gemma-3-27b-it",
    "olmo-2-32b",
    "olmo-2-32b-it",
    "qwen3-14b-it",
    "eurollm-9b",
    "goldfish",
)
"""Models of the paper's Tables 3 and 5."""
SIZED_FAMILIES = ("Llama3", "Qwen3", "Gemma3", "OLMo2")
"""Families of models in the paper's Figure 5."""
MARGIN_MODELS = ("llama-3.1-70b", "gemma-3-27b", "goldfish")
"""Models of the paper's Figure 7."""
TREND_MODEL = "gemma-3-27b"
"""Model of the paper's Figure 1."""
PANELS = [[*row.values()] for row in read_cells(Path(__file__).with_name("panels.tsv"))]
"""Panels of the paper's Figure 6: [model, second model, group]. The group has the languages for
which the second model is made, drawn as filled points. It is "" if there are none."""


def table_models(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """Choose the models of Tables 3, 5 and B.2: the paper's models, if the campaign has all.

    Otherwise choose the paper's models that the campaign has. From each family without such a
    model, choose the largest base model and the largest chat model.
    """
    models = catalogue.models_of(BENCHMARK)
    if models.keys() >= {*PRINTED_MODELS}:
        return [*PRINTED_MODELS]
    printed_families = {row.family for name, row in models.items() if name in PRINTED_MODELS}
    largest: dict[tuple[str, str], str] = {}  # {(family, tuning): model}
    # A larger model replaces the smaller ones before it.
    for name, row in sorted(models.items(), key=lambda entry: entry[1].billions(campaign) or 0):
        if row.family not in printed_families:
            largest[row.family, row.tuning] = name
    chosen = {*PRINTED_MODELS, *largest.values()}
    return [name for name in models if name in chosen]


def rivals(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """Choose the models of Table B.2: those of Table 5, without chat versions of its base models.

    The paper does not say that chat versions are left out. Its p-values show it in four languages
    whose second-best model in Table 5 is the chat version of the best. In Komi-Zyrian, only the
    third-best model gives the printed p (docs/multiblimp_numbers.md). In Church Slavonic, Latin and
    Old French, the chat version gives it only if the two differ on fewer than 3 % of pairs.
    """
    rows = {name: catalogue.models[name] for name in table_models(campaign, catalogue)}
    versions = {name: (row.family, row.billions(campaign)) for name, row in rows.items()}
    bases = {versions[name] for name, row in rows.items() if row.tuning == "base"}
    return [
        name for name, row in rows.items() if row.tuning == "base" or versions[name] not in bases
    ]


def sized_models(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """Choose the models of Figure 5: those of the paper's four families, or else all models."""
    models = catalogue.models_of(BENCHMARK)
    return [name for name, row in models.items() if row.family in SIZED_FAMILIES] or [*models]


def margin_models(campaign: Campaign, catalogue: Catalogue) -> list[str]:
    """Choose the models of Figure 7: the paper's three, or else the first three of the tables."""
    models = catalogue.models_of(BENCHMARK)
    printed = [name for name in models if name in MARGIN_MODELS]
    return printed or table_models(campaign, catalogue)[: len(MARGIN_MODELS)]


def trend_model(campaign: Campaign, catalogue: Catalogue) -> str:
    """Choose the model of Figure 1: the paper's, or else the largest model of the tables."""
    models = catalogue.models_of(BENCHMARK)
    if TREND_MODEL in models:
        return TREND_MODEL
    names = table_models(campaign, catalogue)
    by_size = sorted(names, key=lambda name: models[name].billions(campaign) or 0)
    return by_size[-1] if by_size else ""


def model_pairs(campaign: Campaign, catalogue: Catalogue) -> list[list[str]]:
    """Choose the panels of Figure 6: the paper's, or the first model with each further model."""
    models = catalogue.models_of(BENCHMARK)
    printed = [panel for panel in PANELS if panel[0] in models and panel[1] in models]
    names = table_models(campaign, catalogue)
    return printed or [[names[0], second, ""] for second in names[1 : len(PANELS) + 1]]


def groups(campaign: Campaign, catalogue: Catalogue) -> dict[str, list[str]]:
    """Return {group: the campaign's languages in it}; "aya" has the languages of Aya's models."""
    available = catalogue.languages_of(BENCHMARK)
    groups = language_groups(campaign).items()
    return {name: [lang for lang in codes if lang in available] for name, codes in groups}


def _by_language(catalogue: Catalogue, value_of: Callable[[LanguageRow], Any]) -> dict[str, Any]:
    """Return {language: value of its row}, without languages for which the value is None."""
    values = {lang: value_of(row) for lang, row in catalogue.languages_of(BENCHMARK).items()}
    return {lang: value for lang, value in values.items() if value is not None}


# Functions of the campaign and its catalogue, keyed by the name of the fact that they return.
FACTS: dict[str, Callable[[Campaign, Catalogue], Any]] = {
    "table1": table1_choice,
    "figure2": figure2_choice,
    "families": lambda _, catalogue: _by_language(catalogue, lambda row: row.family),
    "traits": lambda _, catalogue: _by_language(catalogue, lambda row: [row.script, row.family]),
    "excluded": excluded,
    # Number of pairs in the release (Table 5).
    "published_n": lambda _, catalogue: _by_language(catalogue, lambda row: row.paper_n),
    "completeness": completeness,
    "reasons": reasons,
    "table_models": table_models,
    "rivals": rivals,
    # Variant of McNemar's test: published or corrected.
    "mcnemar": lambda campaign, _: variant_of(campaign.section(MultiblimpOptions), "mcnemar"),
    "sized_models": sized_models,
    "margin_models": margin_models,
    "trend_model": trend_model,
    "pairs": model_pairs,
    "models": partial(model_facts, BENCHMARK),
    "groups": groups,
}
