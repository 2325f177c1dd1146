"""Files of exhibits, and what the report says of the campaign.

Rules of exhibits, of both comparisons with print, of the report and of the crate use them.
"""

# The file of each kind that Snakemake's own report shows.
REPORTED = {"table": "html", "figure": "svg"}


def exhibit_files(kind):
    """Files of an exhibit, one of them for Snakemake's report."""
    path = "<results>/exhibits/{paper}/{exhibit}"
    shown = REPORTED[kind]
    return {
        "cells": f"{path}.cells.parquet",
        "files": [f"{path}.{suffix}" for suffix in FORMATS[kind] if suffix != shown],
        "reported": report(
            f"{path}.{shown}",
            caption="../report/measured.rst",
            category="{paper}",
            subcategory="Measured",
            labels={"exhibit": "{exhibit}", "kind": kind},
        ),
    }


def exhibit_tables(wildcards):
    """Every table that an exhibit needs or can use, with its kind."""
    try:
        return layout.exhibit_tables(
            find_exhibit(f"{wildcards.paper}/{wildcards.exhibit}")
        )
    except UserError as error:
        raise WorkflowError(str(error)) from None


def corrected_exhibits():
    """Exhibits of the corrected campaign that the report shows too, those that are there."""
    if CAMPAIGN.report.corrected is None:
        return []
    folder = CAMPAIGN.report.corrected / "exhibits"
    paths = [folder / f"{spec.key}.json" for spec in layout.exhibits]
    # What is missing, the command says better than Snakemake.
    return [str(path) for path in paths if path.exists()]


def published_folders(papers=None):
    """Folders of the exhibits that papers' printed numbers make: of all papers, or of some."""
    names = layout.published_papers if papers is None else papers
    return [f"<results>/published/{paper}" for paper in names]


def published_cells(papers):
    """Cells of those exhibits."""
    specs = [spec for spec in layout.published if spec.paper in papers]
    return [f"{RESULTS}/published/{spec.key}.cells.parquet" for spec in specs]


def comparisons():
    """List both comparisons with print; none where no benchmark of the campaign has any."""
    names = ("published", "measured") if layout.papers else ()
    return [f"<results>/reproduction/{name}.csv" for name in names]


def reported_benchmarks():
    """Benchmarks of pairs that models are run on."""
    return [
        name
        for name in CAMPAIGN.benchmarks
        if find_benchmark(name).unit == "pair" and layout.models_of(name)
    ]


def reported_pairs(benchmark):
    """Where the pairs of a benchmark lie, with the results of models on them.

    Each model has its languages, or none for all of them: one argument of a command has 128 kB.
    """
    languages = layout.item_languages(benchmark)
    covered = {m: layout.covered_by(m, benchmark) for m in layout.models_of(benchmark)}
    evaluated = f"{benchmark}/{{model}}/{{lang}}.parquet"
    return {
        "items": {lang: layout.items_table(benchmark, lang) for lang in languages},
        "models": {
            model: None if {*languages} <= {*own} else own
            for model, own in covered.items()
        },
        "method": layout.methods_of(benchmark)[0],
        "judgements": f"{RESULTS}/judgements/{evaluated}",
        "scores": f"{RESULTS}/scores/{evaluated}",
    }


def report_facts():
    """What the report says of the campaign, and its names for languages and models."""
    variants = (p.benchmarks[0].options(CAMPAIGN).variant for p in papers_of(CAMPAIGN))
    return {
        "name": CAMPAIGN.campaign,
        "description": CAMPAIGN.description,
        "configfile": CAMPAIGN_FILE,
        "papers": layout.reported_papers,
        "variant": next(variants, "published"),
        "languages": {k: row.name for k, row in ALL_PAPERS.languages.items()},
        "models": {
            k: r.label for k, r in (ALL_PAPERS.models | CATALOGUE.models).items()
        },
        "measured": [spec.key for spec in layout.exhibits],
        "published": [spec.key for spec in layout.published],
        "missing": missing_sources(layout, CAMPAIGN_FILE),
        "pairs": {name: reported_pairs(name) for name in reported_benchmarks()},
        "declared": layout.is_declared,
        "licences": {
            paper: licences
            for paper in layout.reported_papers
            if (licences := layout.licences_of(paper))
        },
    }
