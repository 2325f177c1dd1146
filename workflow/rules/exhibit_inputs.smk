"""Define the files of exhibits, and facts on the campaign for the report.

Rules of exhibits, of both comparisons with print, of the report and of the crate use them.
"""

# {type of exhibit: format of its file in the report of `snakemake --report`}
REPORTED_FORMAT = {"table": "html", "figure": "svg"}


def exhibit_files(kind):
    """Return the files of an exhibit; ``reported`` is the one for `snakemake --report`."""
    path = "<results>/exhibits/{paper}/{exhibit}"
    reported = REPORTED_FORMAT[kind]
    return {
        "cells": f"{path}.cells.parquet",
        "files": [f"{path}.{suffix}" for suffix in FORMATS[kind] if suffix != reported],
        "reported": report(
            f"{path}.{reported}",
            caption="../report/measured.rst",
            category="{paper}",
            subcategory="Measured",
            labels={"exhibit": "{exhibit}", "kind": kind},
        ),
    }


def exhibit_tables(wildcards):
    """Return (kind, path) of each table that an exhibit needs or can use."""
    try:
        return layout.exhibit_tables(
            find_exhibit(f"{wildcards.paper}/{wildcards.exhibit}")
        )
    except UserError as error:
        raise WorkflowError(str(error)) from None


def corrected_exhibits():
    """Return the existing exhibits of the corrected campaign, which the report shows too."""
    if CAMPAIGN.report.corrected is None:
        return []
    folder = CAMPAIGN.report.corrected / "exhibits"
    paths = [folder / f"{spec.key}.json" for spec in layout.exhibits]
    # The command has a better message for missing files than Snakemake.
    return [str(path) for path in paths if path.exists()]


def published_folders(papers=None):
    """Return the folders of exhibits made of printed numbers, of all or some papers."""
    names = layout.published_papers if papers is None else papers
    return [f"<results>/published/{paper}" for paper in names]


def published_cells(papers):
    """Return the tables of cells of exhibits made of printed numbers."""
    specs = [spec for spec in layout.published if spec.paper in papers]
    return [f"{RESULTS}/published/{spec.key}.cells.parquet" for spec in specs]


def comparisons():
    """Return both comparisons with print; [] if no benchmark of the campaign is printed."""
    names = ("published", "measured") if layout.papers else ()
    return [f"<results>/reproduction/{name}.csv" for name in names]


def reported_benchmarks():
    """Return the benchmarks of pairs that models are evaluated on."""
    return [
        name
        for name in CAMPAIGN.benchmarks
        if find_benchmark(name).unit == "pair" and layout.models_of(name)
    ]


def reported_pairs(benchmark):
    """Return the paths of a benchmark's pairs, judgements and scores, and the models' languages.

    A model on all languages has None, which keeps the file of facts small.
    """
    languages = layout.item_languages(benchmark)
    languages_by_model = {}
    for model in layout.models_of(benchmark):
        covered = layout.covered_by(model, benchmark)
        on_all = {*languages} <= {*covered}
        languages_by_model[model] = None if on_all else covered
    evaluated = f"{benchmark}/{{model}}/{{lang}}.parquet"
    return {
        "items": {lang: layout.items_table(benchmark, lang) for lang in languages},
        "models": languages_by_model,
        "method": layout.methods_of(benchmark)[0],
        "judgements": f"{RESULTS}/judgements/{evaluated}",
        "scores": f"{RESULTS}/scores/{evaluated}",
    }


def report_facts():
    """Return facts on the campaign for the report, with names of languages and models."""
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
