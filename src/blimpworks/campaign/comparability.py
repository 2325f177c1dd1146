"""Find how a campaign differs from the papers that it reproduces.

A measured number is comparable with the printed number only if data, items, method and models are
the same. ``basis_of`` returns the differences as phrases that the report shows beside the numbers:
{"data": {"deu": "2 of 3 treebank files"}, "items": {"deu": "a sample of 100"}, …}. Each paper's
basis is taken to be the tables and the default campaign in the repository.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypedDict

from pydantic import BaseModel

from blimpworks.campaign.addresses import is_local
from blimpworks.campaign.catalogue import (
    Catalogue,
    ModelRow,
    Pinned,
    SourceRow,
    TreebankRow,
    load_catalogue,
)
from blimpworks.campaign.engines import ENGINE_SETTINGS, MODEL, scorers
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.paper import Benchmark, Paper
from blimpworks.campaign.registry import find_paper
from blimpworks.campaign.scoring_jobs import engine_of, is_usable
from blimpworks.campaign.settings.campaign import Campaign, CatalogueFiles
from blimpworks.campaign.settings.scoring import MaskedOptions, Seq2seqOptions
from blimpworks.campaign.table_files import locked_models, model_tables, read_rows
from blimpworks.errors import UserError, few
from blimpworks.records.job import REPOSITORY

IDENTITY = ("hf_id", "dtype", "languages")
"""Fields that identify a model, besides its name and commit."""
DECISIVE = {"max_tokens", "system", "chat"}
"""Settings of generation that change answers."""


class Basis(TypedDict):
    """Differences of a campaign's data, items, method and models from those of a paper."""

    languages: list[str]
    """Languages with items in the campaign."""
    data: dict[str, str]
    """Difference of the treebanks and other sources of a language; keyed by language."""
    items: dict[str, str]
    """Difference of the items of a language; keyed by language."""
    method: str
    """Difference of the method that judges pairs or answers; may be empty."""
    models: dict[str, str]
    """Difference of a model from the printed one; keyed by model."""
    unit: str
    """Unit of the counts: "pair" or "prompt"."""
    paper_languages: list[str]
    """Languages of the paper's items."""


SAME = Basis(languages=[], data={}, items={}, method="", models={}, unit="pair", paper_languages=[])
"""Basis of a campaign without differences, or without benchmarks of the paper."""


def _is_same_file(row: Pinned, default: Pinned | None) -> bool:
    """Compare two rows by the checksums that both have, or else by address."""
    if default is None:
        return False
    pairs = [(row.sha256, default.sha256), (row.git_blob, default.git_blob)]
    comparable = [(first, second) for first, second in pairs if first and second]
    if not comparable:
        return row.url == default.url
    return all(first == second for first, second in comparable)


def _default_table(campaign: Campaign, table: str) -> Path | None:
    """Return the repository's ``table`` ("models") if the campaign uses another one, else None."""
    default: Path = REPOSITORY / getattr(CatalogueFiles(), table)
    used: Path = getattr(campaign.catalogue, table)
    return None if used.resolve() == default.resolve() else default


Differences = Iterator[tuple[str, str]]
"""(language, difference) pairs."""


def _compare_treebanks(paper: Paper, campaign: Campaign, catalogue: Catalogue) -> Differences:
    """Yield the languages with other treebank files than the repository's table has."""
    languages = paper.treebanks(campaign, catalogue)
    table = _default_table(campaign, "treebanks") if languages else None
    default_rows = read_rows(TreebankRow, table) if table else []
    for lang in languages:
        used = catalogue.treebanks[lang]
        default = [row for row in default_rows if row.lang == lang] if table else used
        by_name = {row.name: row for row in default}
        changed = [row.treebank for row in used if not _is_same_file(row, by_name.get(row.name))]
        usable = sum(is_usable(campaign, row) for row in used)
        if changed:
            yield lang, f"other treebanks ({few([*dict.fromkeys(changed)], 2)})"
        elif usable != len(default):
            yield lang, f"{usable} of {len(default)} treebank files"


def _compare_sources(paper: Paper, campaign: Campaign, catalogue: Catalogue) -> Differences:
    """Yield (language, difference) for sources that are replaced, skipped, changed or missing."""
    table = _default_table(campaign, "sources")
    default_rows = {row.name: row for row in read_rows(SourceRow, table)} if table else {}
    missing = {n: row for n, row in default_rows.items() if n not in catalogue.sources}
    # ``paper.sources`` lists rows of the catalogue that it gets, so add the missing rows to it.
    complete = replace(
        catalogue,
        sources={**catalogue.sources, **missing},
        tables={**catalogue.tables, **dict.fromkeys(missing, campaign.catalogue.sources)},
    )
    replaced = {substitute: name for name, substitute in campaign.substitutes.items()}
    for row in paper.sources(campaign, complete):
        if not isinstance(row, SourceRow):
            continue
        # The sources of a declared benchmark are in its own table, which has no default to compare.
        has_default = table and complete.tables.get(row.name) == campaign.catalogue.sources
        if row.name in replaced:
            yield row.lang, f"{row.name} in place of {replaced[row.name]}"
        elif row.name in missing or not is_usable(campaign, row):
            yield row.lang, f"without {row.name}"
        elif has_default and not _is_same_file(row, default_rows.get(row.name)):
            yield row.lang, f"another {row.name}"


def _compare_models(
    benchmark: Benchmark, campaign: Campaign, catalogue: Catalogue, default: Campaign
) -> dict[str, str]:
    """Return {model: difference} of models that are not the repository's, or have other settings.

    ``default``: the campaign with the paper's default settings.
    """
    table = _default_table(campaign, "models")
    default_rows = {row.name: row for row in read_rows(ModelRow, table)} if table else {}
    locked = locked_models(model_tables(campaign.catalogue.models)) if table else {}

    def identity(row: ModelRow) -> list[str]:
        """Return the fields that identify a model; a branch is replaced by its locked commit."""
        lock = locked.get((row.hf_id, row.revision))
        commit = lock.row.commit if lock else row.revision
        return [commit, *(getattr(row, field) for field in IDENTITY)]

    reasons = {}
    for name, row in catalogue.models.items():
        # A model that the repository's table lacks is compared with itself: there is no difference.
        default_row = default_rows.get(name, row)
        if row.recipe and not row.hf_id:
            reasons[name] = "a model trained here"
        elif is_local(row.hf_id):
            reasons[name] = f"a model of this machine ({row.hf_id})"
        elif identity(row) != identity(default_row):
            reasons[name] = f"another model ({row.hf_id} at {row.revision})"
        elif changed := _changed_settings(benchmark, campaign, default, row, default_row):
            verb = "answered" if benchmark.generation else "scored"
            texts = (f"{setting.replace('_', ' ')} {value}" for setting, value in changed.items())
            reasons[name] = f"{verb} with {' and '.join(texts)}"
    return reasons


def _changed_settings(
    benchmark: Benchmark, campaign: Campaign, default: Campaign, row: ModelRow, usual: ModelRow
) -> dict[str, object]:
    """Return {setting: value} of the settings of a model's scores or answers that differ.

    Settings of answers are compared with those of ``default``, with the paper's default settings;
    settings of scores with ``usual``, the model's row in the repository, and with the defaults.
    """
    changed: dict[str, object] = {}
    if benchmark.generation:
        if campaign.scoring.dtype not in (MODEL, row.dtype):
            changed["dtype"] = campaign.scoring.dtype
        options = benchmark.generation.options
        return changed | _differences(options(campaign), options(default), DECISIVE)
    if scorer := scorers().get((engine_of(campaign, row), row.architecture)):
        for name in ENGINE_SETTINGS:
            value = scorer.settle(name, getattr(row, name), getattr(campaign.scoring, name))
            if value != getattr(usual, name):
                changed[name] = value
    if row.architecture == "masked":
        changed |= _differences(campaign.scoring.masked, MaskedOptions(), {"pll"})
    elif row.architecture == "encoder-decoder":
        changed |= _differences(campaign.scoring.seq2seq, Seq2seqOptions(), {"form"})
    return changed


def _differences(options: BaseModel, default: BaseModel, names: set[str]) -> dict[str, object]:
    """Return {name: value in ``options``} of those settings in ``names`` that differ."""
    values, default_values = options.model_dump(include=names), default.model_dump(include=names)
    return {name: value for name, value in values.items() if value != default_values[name]}


@cache
def _load_default() -> tuple[Campaign, Catalogue]:
    """Load the repository's default campaign, with all languages, and its catalogue."""
    campaign = load_campaign(REPOSITORY / "config/config.yaml")
    files = {name: REPOSITORY / path for name, path in CatalogueFiles()}
    catalogue = campaign.catalogue.model_copy(update=files)
    complete = campaign.model_copy(update={"languages": "all", "catalogue": catalogue})
    return complete, load_catalogue(complete)


def _paper_languages(paper: Paper) -> list[str]:
    """Return a paper's languages; empty if the default campaign has none of its benchmarks."""
    try:
        campaign, catalogue = _load_default()
    except UserError:  # the user may be editing the default campaign; do without it
        return []
    languages: dict[str, None] = {}
    for benchmark in paper.benchmarks:
        if benchmark.name in campaign.benchmarks:
            languages |= dict.fromkeys(benchmark.languages(campaign, catalogue))
    return [*languages]


def basis_of(campaign: Campaign, catalogue: Catalogue, name: str) -> Basis:
    """Return the differences of a campaign's basis from that of the paper ``name``.

    Only the paper's first benchmark is compared; others share its paradigms, or add items.
    """
    paper = find_paper(name)
    benchmark = next(iter(paper.benchmarks), None)
    if benchmark is None or not {b.name for b in paper.benchmarks} & {*campaign.benchmarks}:
        return SAME
    languages = [*benchmark.languages(campaign, catalogue)]
    reasons: dict[str, list[str]] = {}
    for compare in (_compare_treebanks, _compare_sources):
        for lang, reason in compare(paper, campaign, catalogue):
            reasons.setdefault(lang, []).append(reason)
    data = {lang: few(texts, 2) for lang, texts in reasons.items()}
    # The campaign may replace data folders of the paper, for all languages.
    folders = []
    for key, (default, _) in paper.folders.items():
        folder = campaign.folder(key)
        if folder.resolve() not in (default.resolve(), (REPOSITORY / default).resolve()):
            folders.append(f"other data (catalogue.{key}: {folder})")
    if folders:
        data = {lang: "; ".join(filter(None, (data.get(lang), *folders))) for lang in languages}
    sample = f"a sample of {campaign.limit}" if campaign.limit else ""
    items = {lang: paper.other_items(campaign, lang) or sample for lang in languages}
    default_campaign = campaign.model_copy(update={paper.name: paper.settings()})
    return Basis(
        languages=languages,
        data=data,
        items={lang: reason for lang, reason in items.items() if reason},
        method=_compare_methods(benchmark, campaign, default_campaign),
        models=_compare_models(benchmark, campaign, catalogue, default_campaign),
        unit=benchmark.unit,
        paper_languages=_paper_languages(paper),
    )


def _compare_methods(benchmark: Benchmark, campaign: Campaign, default: Campaign) -> str:
    """Return how the campaign decides pairs or answers otherwise than the paper, or ""."""
    options, rules = benchmark.options(campaign), {"ties", "unknown_words"}
    # The architecture "" asks for the methods that exhibits show, the main one first.
    methods, default_methods = benchmark.methods(campaign, ""), benchmark.methods(default, "")
    differences = []
    if options.variant != "published":
        differences.append("the variant “corrected”")
    elif methods[:1] != default_methods[:1]:
        differences.append(f"decided by {methods[0]}, not {default_methods[0]}")
    for name, value in _differences(options, benchmark.options(default), rules).items():
        differences.append(f"{name.replace('_', ' ')}: {value}")
    return "; ".join(differences)
