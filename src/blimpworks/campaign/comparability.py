"""What sets a campaign apart from what its papers' numbers are about: items, languages, models.

A measured number says something about the printed one only where these are the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from blimpworks.campaign.catalogue import (
    Catalogue,
    ModelRow,
    Pinned,
    SourceRow,
    TreebankRow,
    load_catalogue,
)
from blimpworks.campaign.load import load_campaign
from blimpworks.campaign.locked_models import LockedModels, locked_models, model_tables
from blimpworks.campaign.paper import Benchmark, Paper
from blimpworks.campaign.registry import find_paper
from blimpworks.campaign.retrieved import is_usable
from blimpworks.campaign.settings.campaign import Campaign, CatalogueFiles
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.records.job import REPOSITORY

IDENTITY = ("hf_id", "dtype", "languages")
"""What tells models of one name apart, beside their commits."""


class Basis(TypedDict):
    """What a campaign's numbers of one paper are about; reasons are empty where nothing differs."""

    languages: list[str]
    """Languages that it has items in."""
    data: dict[str, str]
    """By language, how its treebanks and other sources differ from those of the catalogue."""
    items: dict[str, str]
    """By language, how its items differ from those that the paper's models were run on."""
    method: str
    """How pairs or prompts are decided otherwise than in print."""
    models: dict[str, str]
    """By model, why it is another than the printed one."""
    unit: str
    """What is counted: pair or prompt."""
    paper_languages: list[str]
    """Languages that the paper has items in."""


SAME = Basis(languages=[], data={}, items={}, method="", models={}, unit="pair", paper_languages=[])
"""Of a campaign in which nothing differs, or which does not run a paper."""


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more


def _same_file(used: Pinned, known: Pinned) -> bool:
    """Whether two rows are of one version of a file: by a checksum that both have, or address."""
    pairs = [(used.sha256, known.sha256), (used.git_blob, known.git_blob)]
    stated = [(a, b) for a, b in pairs if a and b]
    return all(a == b for a, b in stated) if stated else used.url == known.url


def _treebank_difference(
    used: list[TreebankRow], known: list[TreebankRow], campaign: Campaign
) -> str:
    """How treebanks of one language differ from those of the repository's table."""
    pins = {(row.treebank, row.file): row for row in known}
    others = [
        row
        for row in used
        if (pin := pins.get((row.treebank, row.file))) is None or not _same_file(row, pin)
    ]
    if others:
        return f"other treebanks ({_shown(list(dict.fromkeys(r.treebank for r in others)))})"
    here = sum(is_usable(campaign, row) for row in used)
    return "" if here == len(known) else f"{here} of {len(known)} treebank files"


def _repositorys(campaign: Campaign, table: str) -> Path | None:
    """The repository's own table of a catalogue; None where the campaign has this one."""
    known: Path = REPOSITORY / getattr(CatalogueFiles(), table)
    own: Path = getattr(campaign.catalogue, table)
    return None if own.resolve() == known.resolve() else known


def _treebanks(paper: Paper, campaign: Campaign, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Languages whose treebanks differ, with reasons."""
    languages = paper.treebanks(campaign, catalogue)
    known = _repositorys(campaign, "treebanks") if languages else None
    rows = [row for lang in languages for row in catalogue.treebanks[lang]]
    reference = rows if known is None else read_rows(TreebankRow, known)
    for lang in languages:
        pinned = [row for row in reference if row.lang == lang]
        difference = _treebank_difference(catalogue.treebanks[lang], pinned, campaign)
        if difference:
            yield lang, difference


def _known_sources(campaign: Campaign) -> dict[str, SourceRow] | None:
    """The repository's sources by name; None where the campaign has this table."""
    known = _repositorys(campaign, "sources")
    return None if known is None else {row.name: row for row in read_rows(SourceRow, known)}


def _sources(paper: Paper, campaign: Campaign, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Languages whose sources, beside treebanks, differ, with reasons."""
    known = _known_sources(campaign)
    replaced = {used: name for name, used in campaign.substitutes.items()}
    rows = [r for r in paper.sources(campaign, catalogue) if isinstance(r, SourceRow)]
    for row in rows:
        of_campaign = catalogue.tables[row.name] == campaign.catalogue.sources
        if row.name in replaced:
            yield row.lang, f"{row.name} in place of {replaced[row.name]}"
        elif not is_usable(campaign, row):
            yield row.lang, f"without {row.name}"
        elif known is not None and of_campaign:
            pin = known.get(row.name)
            if pin is None or not _same_file(row, pin):
                yield row.lang, f"another {row.name}"
    if known is not None:
        yield from _left_out(rows, known, paper, campaign, catalogue)


def _left_out(
    rows: list[SourceRow],
    known: Mapping[str, SourceRow],
    paper: Paper,
    campaign: Campaign,
    catalogue: Catalogue,
) -> Iterator[tuple[str, str]]:
    """Languages for which the paper would read sources that the campaign's table has not."""
    have = {row.name for row in rows} | {*campaign.substitutes}
    whole = replace(
        catalogue,
        sources={**known, **catalogue.sources},
        tables={**dict.fromkeys(known, campaign.catalogue.sources), **catalogue.tables},
    )
    for row in paper.sources(campaign, whole):
        if isinstance(row, SourceRow) and row.name not in have and row.name in known:
            yield row.lang, f"without {row.name}"


def _folders(paper: Paper, campaign: Campaign) -> str:
    """How data of a paper that the campaign can replace differ."""
    others: list[str] = []
    for name, (default, _) in paper.folders.items():
        folder, own = campaign.folder(name), REPOSITORY / default
        if folder.resolve() not in (default.resolve(), own.resolve()):
            others.append(f"other data (catalogue.{name}: {folder})")
    return "; ".join(others)


def _joined(reasons: Iterator[tuple[str, str]]) -> dict[str, str]:
    """Reasons by language, several as one text."""
    by_language: dict[str, list[str]] = {}
    for lang, reason in reasons:
        by_language.setdefault(lang, []).append(reason)
    return {lang: _shown(texts) for lang, texts in by_language.items()}


def _method(paper: Paper, benchmark: Benchmark, campaign: Campaign) -> str:
    """How the campaign decides otherwise than the paper: the variant, or the method shown."""
    if benchmark.options(campaign).variant != "published":
        return "the variant “corrected”"
    default = campaign.model_copy(update={paper.name: paper.settings()})
    method, usual = (benchmark.methods(each, "") for each in (campaign, default))
    return "" if method[:1] == usual[:1] else f"decided by {method[0]}, not {usual[0]}"


def _models(campaign: Campaign, catalogue: Catalogue) -> dict[str, str]:
    """Models that are trained here, or others than the repository's of these names."""
    known = _repositorys(campaign, "models")
    printed = {row.name: row for row in read_rows(ModelRow, known)} if known else {}
    locked = locked_models(model_tables(campaign.catalogue.models)) if known else {}
    reasons = {}
    for name, row in catalogue.models.items():
        usual = printed.get(name, row)
        if row.recipe and not row.hf_id:
            reasons[name] = "a model trained here"
        elif _identity(row, locked) != _identity(usual, locked):
            reasons[name] = f"another model ({row.hf_id} at {row.revision})"
    return reasons


def _identity(row: ModelRow, locked: LockedModels) -> list[str]:
    """What tells a model apart from others of its name: a branch is the commit that it was."""
    commit = locked[key].row.commit if (key := (row.hf_id, row.revision)) in locked else key[1]
    return [commit, *(getattr(row, field) for field in IDENTITY)]


@cache
def _default() -> tuple[Campaign, Catalogue]:
    """The default campaign, which is that of the papers, in all languages; and its catalogue."""
    campaign = load_campaign(REPOSITORY / "config/config.yaml")
    files = {n: REPOSITORY / path for n, path in CatalogueFiles().model_dump().items()}
    catalogue = campaign.catalogue.model_copy(update=files)
    whole = campaign.model_copy(update={"languages": "all", "catalogue": catalogue})
    return whole, load_catalogue(whole)


def _paper_languages(paper: Paper) -> list[str]:
    """Languages that a paper has items in; none of one that the default campaign leaves out."""
    try:
        campaign, catalogue = _default()
    except UserError:  # somebody is editing it; another campaign does without
        return []
    run = [b for b in paper.benchmarks if b.name in campaign.benchmarks]
    return [*dict.fromkeys(lang for b in run for lang in b.languages(campaign, catalogue))]


def basis_of(campaign: Campaign, catalogue: Catalogue, name: str) -> Basis:
    """What a campaign's numbers of a paper are about, and how that differs from print."""
    paper = find_paper(name)
    benchmark = next(iter(paper.benchmarks), None)
    if benchmark is None or not {b.name for b in paper.benchmarks} & {*campaign.benchmarks}:
        return SAME
    languages = [*benchmark.languages(campaign, catalogue)]
    data = _joined(
        reason
        for reasons in (_treebanks, _sources)
        for reason in reasons(paper, campaign, catalogue)
    )
    if folders := _folders(paper, campaign):
        data = {lang: "; ".join(filter(None, (data.get(lang), folders))) for lang in languages}
    sample = f"a sample of {campaign.limit}" if campaign.limit else ""
    items = {lang: paper.other_items(campaign, lang) or sample for lang in languages}
    return Basis(
        languages=languages,
        data=data,
        items={lang: reason for lang, reason in items.items() if reason},
        method=_method(paper, benchmark, campaign),
        models=_models(campaign, catalogue),
        unit=benchmark.unit,
        paper_languages=_paper_languages(paper),
    )


def bases_of(campaign: Campaign, catalogue: Catalogue, papers: list[str]) -> dict[str, Any]:
    """The basis of each of some papers."""
    return {name: basis_of(campaign, catalogue, name) for name in papers}
