"""Register Multi-LMentry (Moroni et al. 2025): elementary tasks in nine languages, as prompts.

Shared code finds ``PAPER`` (at the end), which declares the paper's settings, languages, sources,
tables and exhibits. The functions above it take a campaign (settings) and the campaign's catalogue
(languages, models and pinned files). A language pack is a language's YAML file: templates of
prompts ("Write a word that starts with the letter {letter}."), and patterns of right answers.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from blimpworks.campaign.catalogue import Catalogue, Pinned
from blimpworks.campaign.paper import Benchmark, Citation, Generation, Paper, TableKind
from blimpworks.campaign.scoring_jobs import available
from blimpworks.campaign.settings.base import Variant
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.papers.lmentry.exhibits import SPECS
from blimpworks.papers.lmentry.settings import LmentryOptions
from blimpworks.papers.lmentry.tasks import BENCHMARK, LANGUAGES
from blimpworks.strict import Strict

RESOURCE = "lmentry_resource"  # kind of sources with annotated words and sentences of a language


def pack_file(campaign: Campaign, lang: str) -> Path:
    """Return the path of a language pack, whether it exists or not."""
    return campaign.folder("lmentry") / "languages" / f"{lang}.yaml"


def answer_packs(campaign: Campaign, languages: Iterable[str]) -> list[str]:
    """Return the paths of the packs of ``languages``."""
    return [str(pack_file(campaign, lang)) for lang in languages]


def lender_packs(campaign: Campaign, languages: Sequence[str]) -> list[str]:
    """Return the paths of packs whose patterns the release also uses in one of ``languages``."""
    from blimpworks.papers.lmentry.items.packs import pack_files  # slow to import

    packs = [pack_files(pack_file(campaign, lang)) for lang in languages]
    return [str(lender) for _, *lenders in packs for lender in lenders]


def resource_files(campaign: Campaign, catalogue: Catalogue, lang: str) -> list[Path]:
    """Return a language's pinned resources, or files of ``config/lmentry/resources/LANG``."""
    rows = catalogue.sources_of(RESOURCE, lang)
    if rows:
        return [Path(campaign.pathvars.resources, "sources", row.name) for row in rows]
    folder = campaign.folder("lmentry") / "resources" / lang
    files = sorted(path for path in folder.glob("*") if path.suffix in (".json", ".csv"))
    if not files:
        raise UserError(
            f"{lang}: no source of kind {RESOURCE!r} in {campaign.catalogue.sources} and no file "
            f"in {folder}; add resources there (docs/adding_lmentry.md), or take the language out."
        )
    return files


UNANNOTATED = "shows judgements of people; name their filled sheets in lmentry.annotations."
"""End of a message that begins with the name of an exhibit without annotations."""
# Two numbers to estimate the duration of a run before prompts are made.
PROMPTS = 106_000
"""Number of prompts of a language: the paper's mean (Table 2: 956,244 in nine languages)."""
TEMPLATES = 118
"""Number of templates of a language; those of a task also count for each of its subsets."""


def _options(campaign: Campaign) -> LmentryOptions:
    return campaign.section(LmentryOptions)


def languages(campaign: Campaign, catalogue: Catalogue) -> Sequence[str]:
    """Return the campaign's languages that have a pack and are chosen by ``lmentry.languages``."""
    chosen = _options(campaign).languages
    # List the folder once, because looking up a hundred files takes long on a network's disk.
    packs = {path.stem for path in pack_file(campaign, "any").parent.glob("*.yaml")}
    with_pack = (lang for lang in catalogue.languages if lang in packs)
    return tuple(lang for lang in with_pack if chosen == "all" or lang in chosen)


def check_settings(campaign: Campaign) -> None:
    """Raise UserError if a recipe trains a model on dialogues with the seed of the prompts."""
    seed = _options(campaign).seed
    for name, recipe in campaign.training.recipes.items():
        if getattr(recipe, "practice_seed", None) == seed:
            raise UserError(
                f"key 'training.recipes.{name}.practice_seed' is {seed}, as is lmentry.seed, so "
                "that a model would be trained on the benchmark's prompts; choose another number."
            )


def check(campaign: Campaign, catalogue: Catalogue) -> None:
    """Raise UserError if a language of the settings has no pack, or no language has a pack."""
    chosen = _options(campaign).languages
    for lang in () if chosen == "all" else chosen:
        if lang not in catalogue.languages or not pack_file(campaign, lang).exists():
            raise UserError(
                f"lmentry.languages has {lang!r}, expected languages of the campaign that have a "
                f"pack like {pack_file(campaign, lang)}; take it out, or add what is missing."
            )
    if not any(pack_file(campaign, lang).exists() for lang in catalogue.languages):
        raise UserError(
            f"benchmark {BENCHMARK!r} has items in languages with a pack; "
            f"{pack_file(campaign, 'LANG').parent} has none of {', '.join(catalogue.languages)}: "
            "add one of its languages, write a pack (docs/adding_lmentry.md), or take it out of "
            "benchmarks."
        )


def sources(campaign: Campaign, catalogue: Catalogue) -> list[Pinned]:
    """Return the pinned resources of the benchmark's languages."""
    langs = languages(campaign, catalogue)
    return [row for lang in langs for row in catalogue.sources_of(RESOURCE, lang)]


def counted_resources(campaign: Campaign, catalogue: Catalogue) -> list[Pinned]:
    """Return the available resources of the paper's languages, which decide numbers of prompts."""
    return [row for row in available(campaign, catalogue, RESOURCE) if row.lang in LANGUAGES]


def system_prompts(campaign: Campaign, langs: Collection[str]) -> Mapping[str, str]:
    """Return the system prompt of each language (Table 7); empty if the campaign has none."""
    if not _options(campaign).answers.system:
        return {}
    from blimpworks.papers.lmentry.items.packs import read_pack  # slow to import

    return {lang: read_pack(pack_file(campaign, lang)).system for lang in langs}


def sizes(campaign: Campaign, catalogue: Catalogue) -> dict[str, float | None]:
    """Return {model of this paper or of all papers: billions of parameters, None if unknown}."""
    return {name: row.parameters for name, row in catalogue.models_of(BENCHMARK).items()}


class CountDifference(Strict):
    """A number of prompts that differs from Table 54, and the reason for the difference."""

    variant: Variant
    task: str
    lang: str
    printed: int
    made: int
    reason: str


def counts(campaign: Campaign, catalogue: Catalogue) -> dict[str, Any]:
    """Return the settings that decide numbers of prompts, and differences from Table 54."""
    rows = read_rows(CountDifference, campaign.folder("lmentry") / "count_differences.tsv")
    options = _options(campaign)
    return {
        "variant": options.variant,
        "per_template": options.per_template,
        "differences": [row.model_dump() for row in rows],
    }


PAPER = Paper(
    name=BENCHMARK,
    position=4,
    citation=Citation(
        label="Multi-LMentry",
        title="Multi-LMentry: Can Multilingual LLMs Solve Elementary Tasks Across Languages?",
        authors="Moroni, Aula-Blasco, Conia, Baucells and others (2025)",
    ),
    settings=LmentryOptions,
    folders={
        "lmentry": (
            Path("config/lmentry"),
            "Declarations of Multi-LMentry's tasks, and its language packs.",
        )
    },
    benchmarks=(
        Benchmark(
            name=BENCHMARK,
            unit="prompt",
            options=_options,
            languages=languages,
            methods=lambda campaign, _: _options(campaign).methods,
            expected_units=lambda campaign, *_: min(
                PROMPTS, TEMPLATES * (_options(campaign).per_template or PROMPTS)
            ),
            tokens=60.0,
            in_text=False,
            generation=Generation(
                options=lambda campaign: _options(campaign).answers,
                systems=system_prompts,
                setting="lmentry.answers",
            ),
        ),
    ),
    check_settings=check_settings,
    check=check,
    sources=sources,
    exhibits=SPECS,
    facts={
        "lmentry_sizes": sizes,
        "lmentry_counts": counts,
        # Wording of the campaign's prompts.
        "lmentry_variant": lambda campaign, _: _options(campaign).variant,
    },
    tables={
        "verdicts": TableKind(paths="{results}/verdicts/{paper}.parquet", evaluated=True),
        "annotation_agreement": TableKind(
            paths="{results}/annotation_agreement/{paper}.parquet",
            evaluated=True,
            absent=lambda campaign: "" if _options(campaign).annotations else UNANNOTATED,
        ),
        # Published forms of exhibits need the packs of all languages of the paper.
        "packs": TableKind(
            paths=lambda layout, paper: answer_packs(layout.campaign, layout.item_languages(paper)),
            published=lambda layout, _: answer_packs(layout.campaign, LANGUAGES),
            reader="blimpworks.papers.lmentry.items.packs:read_texts",
        ),
        # These numbers follow from the release's settings, and not from the campaign's.
        "prompt_counts": TableKind(
            paths="{results}/prompt_counts/{paper}.parquet", sources=counted_resources
        ),
    },
    formulas=("blimpworks.papers.lmentry.exhibits.formulas",),
    commands=("blimpworks.papers.lmentry.commands",),
    rules="papers/lmentry.smk",
    printed_accuracies="blimpworks.papers.lmentry.published:accuracies",
)
