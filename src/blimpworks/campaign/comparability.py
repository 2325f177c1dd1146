"""Find how a campaign differs from its papers: in data, items, method and models.

A number that the campaign measures is comparable with the printed one only where these are the
same. ``basis_of`` returns the differences as sentences that the report shows beside the numbers.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypedDict

from blimpworks.campaign.catalogue import (
    Catalogue,
    ModelRow,
    Pinned,
    SourceRow,
    TreebankRow,
    load_catalogue,
)
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.paper import Paper
from blimpworks.campaign.parts import is_usable
from blimpworks.campaign.registry import find_paper
from blimpworks.campaign.settings.campaign import Campaign, CatalogueFiles
from blimpworks.campaign.table_files import locked_models, model_tables, read_rows
from blimpworks.errors import UserError
from blimpworks.records.job import REPOSITORY

IDENTITY = ("hf_id", "dtype", "languages")
"""Fields that identify a model, besides its name and commit."""


class Basis(TypedDict):
    """Differences of a campaign's data, items, method and models from those of a paper."""

    languages: list[str]
    """Languages with items."""
    data: dict[str, str]
    """Differences of treebanks and other sources from the catalogue, by language."""
    items: dict[str, str]
    """Differences of items from those of the paper's models, by language."""
    method: str
    """Difference of the decisions on pairs or prompts."""
    models: dict[str, str]
    """Reason why a model differs from the printed one, by model."""
    unit: str
    """Unit of the counts: pair or prompt."""
    paper_languages: list[str]
    """Languages of the paper's items."""


SAME = Basis(languages=[], data={}, items={}, method="", models={}, unit="pair", paper_languages=[])
"""Basis of a campaign without differences, or without benchmarks of the paper."""


def _first_two(names: list[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more


def _same_file(first: Pinned, second: Pinned) -> bool:
    """Compare two rows by the checksums that both have, or else by address."""
    pairs = [(first.sha256, second.sha256), (first.git_blob, second.git_blob)]
    stated = [(a, b) for a, b in pairs if a and b]
    return all(a == b for a, b in stated) if stated else first.url == second.url


def _default_table(campaign: Campaign, table: str) -> Path | None:
    """Return the path of the repository's table; None where the campaign uses that one."""
    default: Path = REPOSITORY / getattr(CatalogueFiles(), table)
    used: Path = getattr(campaign.catalogue, table)
    return None if used.resolve() == default.resolve() else default


def _treebanks(paper: Paper, campaign: Campaign, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield each language with other treebanks than the repository's, and the difference."""
    languages = paper.treebanks(campaign, catalogue)
    default = _default_table(campaign, "treebanks") if languages else None
    default_rows = read_rows(TreebankRow, default) if default else None
    for lang in languages:
        used = catalogue.treebanks[lang]
        rows = used if default_rows is None else [row for row in default_rows if row.lang == lang]
        by_name = {row.name: row for row in rows}
        changed = dict.fromkeys(
            row.treebank
            for row in used
            if row.name not in by_name or not _same_file(row, by_name[row.name])
        )
        usable = sum(is_usable(campaign, row) for row in used)
        if changed:
            yield lang, f"other treebanks ({_first_two([*changed])})"
        elif usable != len(rows):
            yield lang, f"{usable} of {len(rows)} treebank files"


def _sources(paper: Paper, campaign: Campaign, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield each language with other sources than the repository's, and the difference."""
    default = _default_table(campaign, "sources")
    by_name = {row.name: row for row in read_rows(SourceRow, default)} if default else {}
    replaced = {used: name for name, used in campaign.substitutes.items()}
    rows = [row for row in paper.sources(campaign, catalogue) if isinstance(row, SourceRow)]
    for row in rows:
        if row.name in replaced:
            yield row.lang, f"{row.name} in place of {replaced[row.name]}"
        elif not is_usable(campaign, row):
            yield row.lang, f"without {row.name}"
        elif (
            default
            and catalogue.tables[row.name] == campaign.catalogue.sources
            and (row.name not in by_name or not _same_file(row, by_name[row.name]))
        ):
            yield row.lang, f"another {row.name}"
    if default is None:
        return
    # The paper might read further sources if the campaign's table had all rows of the default one.
    read = {row.name for row in rows} | {*campaign.substitutes}
    complete = replace(
        catalogue,
        sources={**by_name, **catalogue.sources},
        tables={**dict.fromkeys(by_name, campaign.catalogue.sources), **catalogue.tables},
    )
    for source in paper.sources(campaign, complete):
        if isinstance(source, SourceRow) and source.name in by_name.keys() - read:
            yield source.lang, f"without {source.name}"


def _models(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Return the difference of each model that is trained here, or not the repository's."""
    default = _default_table(campaign, "models")
    printed = {row.name: row for row in read_rows(ModelRow, default)} if default else {}
    locked = locked_models(model_tables(campaign.catalogue.models)) if default else {}

    def identity(row: ModelRow) -> list[str]:
        """Return the fields that identify a model, with the commit of a locked branch."""
        lock = locked.get((row.hf_id, row.revision))
        commit = lock.row.commit if lock else row.revision
        return [commit, *(getattr(row, field) for field in IDENTITY)]

    reasons = {}
    for name, row in catalogue.models.items():
        if row.recipe and not row.hf_id:
            reasons[name] = "a model trained here"
        elif identity(row) != identity(printed.get(name, row)):
            reasons[name] = f"another model ({row.hf_id} at {row.revision})"
    return reasons


@cache
def _default() -> tuple[Campaign, Catalogue]:
    """Return the repository's default campaign, in all languages, and its catalogue."""
    campaign = load_campaign(REPOSITORY / "config/config.yaml")
    files = {name: REPOSITORY / path for name, path in CatalogueFiles()}
    catalogue = campaign.catalogue.model_copy(update=files)
    complete = campaign.model_copy(update={"languages": "all", "catalogue": catalogue})
    return complete, load_catalogue(complete)


def _paper_languages(paper: Paper) -> list[str]:
    """Return a paper's languages; none where the default campaign leaves the paper out."""
    try:
        campaign, catalogue = _default()
    except UserError:  # while somebody edits the default campaign, others work without it
        return []
    run = [b for b in paper.benchmarks if b.name in campaign.benchmarks]
    return [*dict.fromkeys(lang for b in run for lang in b.languages(campaign, catalogue))]


def basis_of(campaign: Campaign, catalogue: Catalogue, name: str) -> Basis:
    """Return the differences of a campaign's numbers from those of the paper ``name``."""
    paper = find_paper(name)
    benchmark = next(iter(paper.benchmarks), None)
    if benchmark is None or not {b.name for b in paper.benchmarks} & {*campaign.benchmarks}:
        return SAME
    languages = [*benchmark.languages(campaign, catalogue)]
    reasons: dict[str, list[str]] = {}
    for differences in (_treebanks, _sources):
        for lang, reason in differences(paper, campaign, catalogue):
            reasons.setdefault(lang, []).append(reason)
    data = {lang: _first_two(texts) for lang, texts in reasons.items()}
    folders = []
    for key, (default, _) in paper.folders.items():
        folder = campaign.folder(key)
        if folder.resolve() not in (default.resolve(), (REPOSITORY / default).resolve()):
            folders.append(f"other data (catalogue.{key}: {folder})")
    if folders:
        data = {lang: "; ".join(filter(None, (data.get(lang), *folders))) for lang in languages}
    sample = f"a sample of {campaign.limit}" if campaign.limit else ""
    items = {lang: paper.other_items(campaign, lang) or sample for lang in languages}
    usual = campaign.model_copy(update={paper.name: paper.settings()})
    methods, usual_methods = benchmark.methods(campaign, ""), benchmark.methods(usual, "")
    method = ""
    if benchmark.options(campaign).variant != "published":
        method = "the variant “corrected”"
    elif methods[:1] != usual_methods[:1]:
        method = f"decided by {methods[0]}, not {usual_methods[0]}"
    return Basis(
        languages=languages,
        data=data,
        items={lang: reason for lang, reason in items.items() if reason},
        method=method,
        models=_models(campaign, catalogue),
        unit=benchmark.unit,
        paper_languages=_paper_languages(paper),
    )
