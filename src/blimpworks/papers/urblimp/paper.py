"""Register UrBLiMP (Adeeba et al. 2025): ten phenomena of Urdu, by rules over treebanks.

``PAPER`` tells shared code what the paper's benchmark, exhibits (tables and figures) and input
tables are. Functions read a campaign (settings) and its catalogue (languages, models, sources).
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from blimpworks.campaign.catalogue import Catalogue, Pinned, model_facts
from blimpworks.campaign.paper import ANY, Benchmark, Citation, Paper, TableKind
from blimpworks.campaign.scoring_jobs import lexicon_sources
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.errors import UserError
from blimpworks.papers.urblimp.exhibits import SPECS
from blimpworks.papers.urblimp.phenomena import BENCHMARK, PARADIGMS
from blimpworks.papers.urblimp.settings import BIDIRECTIONAL, UrblimpOptions

EXPECTED_PAIRS = 9000
"""Estimated number of a language's pairs, for plans of jobs: 5,130 sentences of UD_Urdu-UDTB, with
1.8 pairs each, as in two of its files (1,087 sentences)."""
TEXT_KIND = "urblimp_text"
"""Kind of the sources with plain text, from which rules make pairs as from treebanks."""


def _options(campaign: Campaign) -> UrblimpOptions:
    return campaign.section(UrblimpOptions)


def rules_folder(campaign: Campaign, lang: str) -> Path:
    """Return the folder of a language's rules, whether it exists or not."""
    return campaign.folder("urblimp") / lang


def has_rules(campaign: Campaign, lang: str) -> bool:
    """Tell whether a language has a language pack (``language.yaml``) and a file of rules."""
    names = {path.name for path in rules_folder(campaign, lang).glob("*.yaml")}
    return "language.yaml" in names and len(names) > 1


def languages(campaign: Campaign, catalogue: Catalogue) -> Sequence[str]:
    """Return the campaign's languages that have rules and that ``urblimp.languages`` selects."""
    named = _options(campaign).languages
    # The folder is listed once, because looking for each language's files would be slow.
    folders = {path.name for path in campaign.folder("urblimp").glob("*")}
    return tuple(
        lang
        for lang in catalogue.languages
        if lang in folders and has_rules(campaign, lang) and (named == "all" or lang in named)
    )


def check(campaign: Campaign, catalogue: Catalogue) -> None:
    """Raise UserError for settings that name a language without rules or an unknown treebank file.

    Raise it too if no language of the campaign has rules.
    """
    options = _options(campaign)
    for lang in () if options.languages == "all" else options.languages:
        if lang not in catalogue.languages or not has_rules(campaign, lang):
            raise UserError(
                f"urblimp.languages has {lang!r}, expected languages of the campaign that have "
                f"rules in {rules_folder(campaign, lang)}; take it out, or add what is missing."
            )
    files = {row.file for rows in catalogue.treebanks.values() for row in rows}
    for name in options.files or ():
        if name not in files:
            raise UserError(
                f"urblimp.files has {name!r}, expected files of the treebanks of the campaign's "
                f"languages in {campaign.catalogue.treebanks}; correct it, or take it out."
            )
    if not any(has_rules(campaign, lang) for lang in catalogue.languages):
        raise UserError(
            f"benchmark {BENCHMARK!r} needs rules; {campaign.folder('urblimp')} has none for "
            f"{', '.join(catalogue.languages)}. Add a language that has some, write rules "
            f"(docs/urblimp_rules.md), or take {BENCHMARK!r} out of benchmarks."
        )


def sources(campaign: Campaign, catalogue: Catalogue) -> list[Pinned]:
    """Return the files of the languages' lexicons and plain text."""
    rows: list[Pinned] = []
    for lang in languages(campaign, catalogue):
        rows += lexicon_sources(campaign, catalogue, lang)
        rows += catalogue.sources_of(TEXT_KIND, lang)
    return rows


def _expected_pairs(campaign: Campaign, _catalogue: Catalogue, _lang: str) -> int:
    """Estimate the number of a language's pairs: as many as Urdu has, up to the setting's limit."""
    per_paradigm = _options(campaign).per_paradigm
    if per_paradigm is None:
        return EXPECTED_PAIRS
    return min(EXPECTED_PAIRS, per_paradigm * len(PARADIGMS))


def _why_no_sheets(campaign: Campaign) -> str:
    """Return why a campaign has no judgements of people, after "exhibit NAME"; "" if it has."""
    if _options(campaign).annotations:
        return ""
    return "shows judgements of people; name their filled sheets in urblimp.annotations."


def _table_of_people(paths: str) -> TableKind:
    # Its numbers are judgements that people write into sheets. Exhibits of printed numbers need no
    # such table.
    return TableKind(paths=paths, published="", absent=_why_no_sheets)


def _spelling(campaign: Campaign, lang: str) -> Path | None:
    # Training text gets the spelling of the language pack.
    return rules_folder(campaign, lang) / "language.yaml" if has_rules(campaign, lang) else None


PAPER = Paper(
    name=BENCHMARK,
    position=5,  # in reports
    citation=Citation(
        label="UrBLiMP",
        title="UrBLiMP: A Benchmark for Evaluating the Linguistic Competence of Large Language "
        "Models in Urdu",
        authors="Adeeba, Dillon, Sajjad and Bhatt (2025)",
    ),
    settings=UrblimpOptions,
    folders={
        "urblimp": (
            Path("config/urblimp"),
            "One directory per language, with its pack and the rules of UrBLiMP's paradigms.",
        )
    },
    benchmarks=(
        Benchmark(
            name=BENCHMARK,
            options=_options,
            languages=languages,
            methods=lambda campaign, architecture: _options(campaign).methods_of(architecture),
            expected_units=_expected_pairs,
            # UDTB's sentences have 27 words on average, of some two tokens each.
            tokens=55.0,
            # The good sentence must have the strictly lower perplexity (section 4), so a tie is
            # wrong by any method.
            ties={"published": {ANY: "wrong"}, "corrected": {ANY: "wrong"}},
            spelling=_spelling,
        ),
    ),
    method_settings=lambda campaign: {"urblimp.methods": _options(campaign).methods or ()},
    check=check,
    # All languages have items from treebanks.
    treebanks=languages,
    sources=sources,
    # The campaign's items differ from those of the printed accuracies.
    other_items=lambda _campaign, _lang: "pairs made by our rules (the paper's are not public)",
    exhibits=SPECS,
    # Facts of a campaign that exhibits show. They must be quick: Snakemake asks at each start.
    facts={
        "urblimp_models": partial(model_facts, BENCHMARK),
        # The number of people who judge a pair.
        "urblimp_validation": lambda campaign, _: _options(campaign).validation.model_dump(
            include={"per_pair"}
        ),
        # Models that predict each token from those before it, in the catalogue's order.
        "urblimp_left_to_right": lambda _, catalogue: [
            name
            for name, row in catalogue.models_of(BENCHMARK).items()
            if row.architecture not in BIDIRECTIONAL
        ],
    },
    # ``evaluated`` tables exist only if models have run.
    tables={
        "rules": TableKind(paths="{results}/rules/{paper}/{lang}.counts.parquet"),
        "lengths": TableKind(paths="{results}/lengths/{paper}.parquet", evaluated=True),
        "surprisals": TableKind(paths="{results}/surprisals/{paper}.parquet", evaluated=True),
        "people": _table_of_people("{results}/accuracies/people/{paper}.parquet"),
        "validation_ratings": _table_of_people("{results}/validation_ratings/{paper}.parquet"),
        "validation_participants": _table_of_people(
            "{results}/validation_participants/{paper}.parquet"
        ),
    },
    formulas=("blimpworks.papers.urblimp.exhibits.formulas",),
    commands=("blimpworks.papers.urblimp.commands",),
    rules="papers/urblimp.smk",  # of Snakemake
    printed_accuracies="blimpworks.papers.urblimp.published:accuracies",
)
