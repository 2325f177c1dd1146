"""Build exhibits of printed numbers as the workflow does, without Snakemake."""

import json
from functools import cache

from blimpworks.campaign.catalogue import whole_catalogue
from blimpworks.campaign.layout import Layout
from blimpworks.campaign.reference import language_groups
from blimpworks.campaign.settings.campaign import Campaign
from blimpworks.exhibits.exhibit import Labels
from blimpworks.exhibits.render import build_exhibit
from blimpworks.papers.lmentry.items.prompts import count_prompts
from blimpworks.papers.lmentry.tasks import LANGUAGES
from blimpworks.reproduction.comparisons import Paper
from blimpworks.reproduction.printed import read_published
from support.paths import REPOSITORY

CONFIG = REPOSITORY / "config"
PACKS = [CONFIG / f"lmentry/languages/{lang}.yaml" for lang in LANGUAGES]


@cache
def layout():
    campaign = Campaign(campaign="print")
    catalogue = whole_catalogue(campaign)
    return Layout(campaign, catalogue, language_groups(campaign))


def printed(paper):
    return sorted((CONFIG / "published" / paper).glob("*.csv"))


@cache
def labels_of(paper):
    return Labels(**json.loads(layout().published_labels(paper)))


def tables_of(paper, root, resources=()):
    """Write tables of printed numbers, and for Multi-LMentry of its settings and resources."""
    tables = {"printed": printed(paper), "accuracies": [root / "accuracies.parquet"]}
    read_published(tables["printed"], paper, *tables["accuracies"])
    if paper == "lmentry":
        tables |= {"packs": PACKS, "prompt_counts": [root / "prompt_counts.parquet"]}
        count_prompts(PACKS, CONFIG / "lmentry/tasks.yaml", resources, *tables["prompt_counts"])
    return tables


def build(paper, root, tables, names=()):
    """Build exhibits, all or those of ``names``; return them and the paper compared with itself."""
    exhibits, cells = {}, {}
    for spec in layout().published_of(paper):
        if names and spec.name not in names:
            continue
        cells[spec.name] = root / f"{spec.name}.cells.parquet"
        needs = (*spec.published, *spec.optional)
        given = {need: tables[need] for need in needs if need in tables}
        exhibits[spec.name] = build_exhibit(spec, given, labels_of(paper), cells[spec.name], [])
    reasons = CONFIG / "published" / paper / "reasons.tsv"
    return exhibits, Paper(paper, tables["printed"], reasons, cells, *tables["accuracies"])
