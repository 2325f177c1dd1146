"""The files that a campaign retrieves, except models."""

from collections.abc import Sequence

from blimpworks.campaign.catalogue import UNIMORPH_KINDS, Catalogue, Pinned, SourceRow, TreebankRow
from blimpworks.campaign.exhibits import table_kind
from blimpworks.campaign.parts import Part, exhibits_of
from blimpworks.campaign.registry import papers_of
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.campaign.settings.training import InstructRecipe, LstmRecipe

CORPUS, TEXT = "corpus", "text"
"""Kinds of sources: released corpora of sentences, and plain text to train on."""


def is_usable(campaign: Campaign, row: Pinned) -> bool:
    """Return whether a row can be retrieved, or the campaign insists on it."""
    return row.needed or row.is_pinned(campaign.checksums) or campaign.unpinned == "error"


def released_corpus(
    campaign: Campaign, catalogue: Catalogue, corpus: str, lang: str
) -> list[SourceRow]:
    """Return files of a language's released corpus, if ``corpus`` uses these; else none."""
    options = campaign.training.corpora[corpus]
    rows = catalogue.sources_of(CORPUS, lang)
    suits = options.released and options.words == "whitespace"
    return rows if suits and all(is_usable(campaign, row) for row in rows) else []


def available(campaign: Campaign, catalogue: Catalogue, kind: str) -> list[SourceRow]:
    """Return all sources of an optional kind if all can be retrieved, else none."""
    rows = [row for row in catalogue.sources.values() if row.kind == kind]
    pinned = all(row.is_pinned(campaign.checksums) for row in rows)
    return rows if pinned and all(row.url or campaign.mirror for row in rows) else []


def named_sources(
    campaign: Campaign, catalogue: Catalogue, names: Sequence[str]
) -> list[SourceRow]:
    """Return sources by their names if all can be retrieved, else none."""
    rows = [catalogue.sources.get(name) for name in names]
    usable = [row for row in rows if row is not None and is_usable(campaign, row)]
    return usable if len(usable) == len(names) else []


def lexicon_sources(campaign: Campaign, catalogue: Catalogue, lang: str) -> list[SourceRow]:
    """Return UniMorph's tables of a language, or their substitutes, in the catalogue's order."""
    if not catalogue.languages[lang].unimorph:
        return []
    rows = (row for kind in UNIMORPH_KINDS for row in catalogue.sources_of(kind, lang))
    return [catalogue.sources[campaign.substitutes.get(row.name, row.name)] for row in rows]


def treebank_languages(campaign: Campaign, catalogue: Catalogue) -> set[str]:
    """Return languages whose treebanks items, or training text if allowed, are made from."""
    read = {lang for paper in papers_of(campaign) for lang in paper.treebanks(campaign, catalogue)}
    return read | ({*catalogue.languages} if campaign.training.treebank_text else set())


def read_files(
    campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part]
) -> list[TreebankRow | SourceRow]:
    """Return treebanks, lexicons, texts, corpora and sets that a campaign reads, each once.

    Unpinned ones are included, which the campaign skips or refuses (``unpinned``).
    """
    trained: set[str] = set()
    corpora: list[SourceRow] = []
    for part in parts:
        recipe = campaign.training.recipes.get(catalogue.models[part.model].recipe)
        if recipe is None or isinstance(recipe, InstructRecipe):
            continue
        for lang in part.languages:
            released = isinstance(recipe, LstmRecipe) and recipe.corpus
            files = released_corpus(campaign, catalogue, released, lang) if released else []
            corpora += files
            trained |= set() if files else {lang}
    active = papers_of(campaign)
    read = {lang for paper in active for lang in paper.treebanks(campaign, catalogue)}
    read |= trained & treebank_languages(campaign, catalogue)
    rows: list[Pinned] = []
    for lang in catalogue.languages:
        rows += catalogue.treebanks[lang] if lang in read else []
        rows += catalogue.sources_of(TEXT, lang) if lang in trained else []
    rows += [row for paper in active for row in paper.sources(campaign, catalogue)]
    rows += corpora
    for spec in exhibits_of(campaign, catalogue, parts):
        for table_name in (*spec.needs, *spec.optional):
            rows += table_kind(spec.paper, table_name).sources(campaign, catalogue)
    named = {row.name: row for row in rows if isinstance(row, TreebankRow | SourceRow)}
    return list(named.values())


def retrieved_files(campaign: Campaign, catalogue: Catalogue, parts: Sequence[Part]) -> list[str]:
    """Return the names of the files that a campaign retrieves."""
    rows = read_files(campaign, catalogue, parts)
    return [row.name for row in rows if is_usable(campaign, row)]
