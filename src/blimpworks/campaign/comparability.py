"""What sets a campaign apart from what its papers' numbers are about: items, languages, models.

A measured number says something about the printed one only where these are the same.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

from blimpworks.campaign.catalogue import Catalogue, SourceRow, TreebankRow, read_rows
from blimpworks.campaign.load import placed
from blimpworks.campaign.paper import Benchmark, Paper
from blimpworks.campaign.registry import find_paper
from blimpworks.campaign.retrieved import is_usable
from blimpworks.campaign.settings.campaign import Campaign, CatalogueFiles


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


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more


def _treebank_difference(
    used: list[TreebankRow], known: list[TreebankRow], campaign: Campaign
) -> str:
    """How treebanks of one language differ from those of the repository's table."""
    pins = {(row.treebank, row.file, row.sha256) for row in known}
    others = [row for row in used if (row.treebank, row.file, row.sha256) not in pins]
    if others:
        return f"other treebanks ({_shown(list(dict.fromkeys(r.treebank for r in others)))})"
    here = sum(is_usable(campaign, row) for row in used)
    return "" if here == len(known) else f"{here} of {len(known)} treebank files"


def _treebanks(paper: Paper, campaign: Campaign, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Languages whose treebanks differ, with reasons."""
    languages = paper.treebanks(campaign, catalogue)
    own, known = campaign.catalogue.treebanks, placed(CatalogueFiles()).treebanks
    rows = [row for lang in languages for row in catalogue.treebanks[lang]]
    reference = rows if own == known else read_rows(TreebankRow, known) if languages else []
    for lang in languages:
        pinned = [row for row in reference if row.lang == lang]
        difference = _treebank_difference(catalogue.treebanks[lang], pinned, campaign)
        if difference:
            yield lang, difference


def _known_sources(campaign: Campaign) -> dict[str, str] | None:
    """Checksums of the repository's sources by name; None where the campaign has this table."""
    known = placed(CatalogueFiles()).sources
    if campaign.catalogue.sources == known:
        return None
    return {row.name: row.sha256 for row in read_rows(SourceRow, known)}


def _sources(paper: Paper, campaign: Campaign, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Languages whose sources, beside treebanks, differ, with reasons."""
    known = _known_sources(campaign)
    replaced = {used: name for name, used in campaign.substitutes.items()}
    for row in paper.sources(campaign, catalogue):
        if not isinstance(row, SourceRow):
            continue
        of_campaign = catalogue.tables[row.name] == campaign.catalogue.sources
        if row.name in replaced:
            yield row.lang, f"{row.name} in place of {replaced[row.name]}"
        elif not is_usable(campaign, row):
            yield row.lang, f"without {row.name}"
        elif known is not None and of_campaign and known.get(row.name) != row.sha256:
            yield row.lang, f"another {row.name}"


def _folders(paper: Paper, campaign: Campaign) -> str:
    """How data of a paper that the campaign can replace differ."""
    others: list[str] = []
    for name, (default, _) in paper.folders.items():
        folder, own = campaign.folder(name), Path(__file__).parents[3] / default
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
    """Models that are trained here, or are read from elsewhere than the repository's."""
    return {
        name: "a model trained here"
        for name, row in catalogue.models.items()
        if row.recipe and not row.hf_id
    }


def basis_of(campaign: Campaign, catalogue: Catalogue, name: str) -> Basis:
    """What a campaign's numbers of a paper are about, and how that differs from print."""
    paper = find_paper(name)
    benchmark = next(iter(paper.benchmarks), None)
    if benchmark is None or not {b.name for b in paper.benchmarks} & {*campaign.benchmarks}:
        return Basis(languages=[], data={}, items={}, method="", models={}, unit="pair")
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
    )


def bases_of(campaign: Campaign, catalogue: Catalogue, papers: list[str]) -> dict[str, Any]:
    """The basis of each of some papers."""
    return {name: basis_of(campaign, catalogue, name) for name in papers}
