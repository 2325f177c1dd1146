"""One pair of rules for every table and figure of every paper."""

NEEDS = {
    "accuracies": lambda paper: [f"{RESULTS}/accuracies/{paper}.parquet"],
    "data_sets": lambda paper: [
        f"{RESULTS}/accuracies/{benchmark}.parquet"
        for benchmark in benchmarks_of(paper)
    ],
    "comparisons": lambda paper: [f"{RESULTS}/comparisons/{paper}.parquet"],
    "regressions": lambda paper: [f"{RESULTS}/regressions/{paper}/measured.parquet"],
    "residuals": lambda paper: [f"{RESULTS}/residuals/{paper}/measured.parquet"],
    "bins": lambda paper: [f"{RESULTS}/bins/{paper}.parquet"],
    "judgements": lambda paper: evaluations("judgements", paper, models_of(paper)),
    "verdicts": lambda paper: [f"{RESULTS}/verdicts/{paper}.parquet"],
    "lengths": lambda paper: [f"{RESULTS}/lengths/{paper}.parquet"],
    "surprisals": lambda paper: [f"{RESULTS}/surprisals/{paper}.parquet"],
    "rules": lambda paper: expand(
        f"{RESULTS}/rules/{paper}/{{lang}}.counts.parquet", lang=item_languages(paper)
    ),
    "annotation_agreement": lambda paper: [
        f"{RESULTS}/annotation_agreement/{paper}.parquet"
    ],
    "people": people_tables,
    "validation_ratings": lambda paper: [
        f"{RESULTS}/validation_ratings/{paper}.parquet"
    ],
    "validation_participants": lambda paper: [
        f"{RESULTS}/validation_participants/{paper}.parquet"
    ],
    "packs": lambda paper: [
        str(pack_file(CAMPAIGN, lang)) for lang in item_languages(paper)
    ],
    "margins": lambda paper: [f"{RESULTS}/regressions/{paper}/margins.parquet"],
    "curves": lambda paper: [f"{RESULTS}/regressions/{paper}/curves.parquet"],
    "frequencies": lambda paper: FREQUENCIES,
    "released": released_tables,
    "ratings": ratings_tables,
    "morphology": lambda paper: MORPHOLOGY,
    "evaluation_sets": lambda paper: EVALUATION_SETS,
    "items": items_tables,
    "perplexities": perplexity_tables,
    "agreement": lambda paper: expand(
        f"{RESULTS}/agreement/{paper}/{{lang}}.parquet", lang=item_languages(paper)
    ),
    "agreement_counts": lambda paper: expand(
        f"{RESULTS}/agreement_counts/{paper}/{{lang}}.parquet",
        lang=item_languages(paper),
    ),
    "tokens": lambda paper: expand(
        f"{RESOURCES}/tokens/{{lang}}.parquet", lang=item_languages(paper)
    ),
    "candidates": lambda paper: expand(
        f"{RESULTS}/candidates/{paper}/{{lang}}.parquet", lang=item_languages(paper)
    ),
    "lexicon": lambda paper: expand(
        f"{RESULTS}/lexicon/{{lang}}.parquet", lang=item_languages(paper)
    ),
    # The pairs that items are drawn from.
    "all_items": lambda paper: expand(
        f"{RESULTS}/items/{paper}/all/{{lang}}.parquet", lang=item_languages(paper)
    ),
    "sentences": lambda paper: expand(
        f"{RESOURCES}/sentences/{{lang}}.parquet", lang=item_languages(paper)
    ),
    "funnel": lambda paper: expand(
        f"{RESULTS}/funnel/{paper}/{{stage}}/{{lang}}.parquet",
        stage=("candidates", "pairs", "sampling"),
        lang=item_languages(paper),
    ),
    # For what only print has: an exhibit without numbers of its own.
    "printed": printed_tables,
}
# The same of what a paper prints.
PUBLISHED_NEEDS = {
    "accuracies": lambda paper: [f"{RESULTS}/accuracies/printed/{paper}.parquet"],
    "regressions": lambda paper: [f"{RESULTS}/regressions/{paper}/printed.parquet"],
    "residuals": lambda paper: [f"{RESULTS}/residuals/{paper}/printed.parquet"],
    # What the release's settings say, whatever the campaign runs.
    "prompt_counts": lambda paper: [f"{RESULTS}/prompt_counts/{paper}.parquet"],
    # Print has its own.
    "perplexities": lambda paper: [],
    "people": lambda paper: [],
    # Those of the languages that the paper has, whatever the campaign has.
    "packs": lambda paper: [
        str(pack_file(CAMPAIGN, lang)) for lang in LMENTRY_LANGUAGES
    ],
}
# The file of each kind that Snakemake's own report shows.
REPORTED = {"table": "html", "figure": "svg"}


for kind in FORMATS:

    rule:
        name:
            f"build_{kind}"
        input:
            exhibit_inputs,
        output:
            cells="<results>/exhibits/{paper}/{exhibit}.cells.parquet",
            files=[
                f"<results>/exhibits/{{paper}}/{{exhibit}}.{s}"
                for s in FORMATS[kind]
                if s != REPORTED[kind]
            ],
            reported=report(
                f"<results>/exhibits/{{paper}}/{{exhibit}}.{REPORTED[kind]}",
                caption="../report/measured.rst",
                category="{paper}",
                subcategory="Measured",
                labels={"exhibit": "{exhibit}", "kind": kind},
            ),
        log:
            f"<logs>/build_{kind}/{{paper}}/{{exhibit}}.log",
        benchmark:
            f"<benchmarks>/build_{kind}/{{paper}}/{{exhibit}}.tsv"
        wildcard_constraints:
            exhibit=these(s for s in EXHIBITS.values() if s.kind == kind),
        # They read summaries: a queue takes longer than they do.
        localrule: True
        conda:
            "../../envs/core.yaml"
        params:
            code=lambda w: code_of("build_exhibit", spec_of(w).key),
            inputs=exhibit_arguments,
            labels=labels_of,
        message:
            "Build {wildcards.paper} {wildcards.exhibit}"
        shell:
            "python -m blimpworks build-exhibit {wildcards.paper}/{wildcards.exhibit} {output.files:q} "
            "{output.reported:q} "
            "--cells {output.cells:q} {params.inputs:q} --labels {params.labels:q} "
            "> {log:q} 2>&1"


# All that a paper prints is read by each of its exhibits, so they are made together.
for paper in PAPERS:

    rule:
        name:
            f"build_published_{paper}"
        input:
            published_inputs(paper),
        output:
            files=published_files(paper),
            reported=[
                report(
                    f"{RESULTS}/published/{spec.key}.{REPORTED[spec.kind]}",
                    caption="../report/published.rst",
                    category=paper,
                    subcategory="From print",
                    labels={"exhibit": spec.name, "kind": spec.kind},
                )
                for spec in published_of(paper)
            ],
        log:
            f"<logs>/build_published/{paper}.log",
        benchmark:
            f"<benchmarks>/build_published/{paper}.tsv"
        localrule: True
        conda:
            "../../envs/core.yaml"
        params:
            code=[code_of("build_exhibit", spec.key) for spec in published_of(paper)],
            paper=paper,
            folder=lambda w, output: Path(output.files[0]).parent,
            inputs=published_arguments(paper),
            labels=published_labels(paper),
        message:
            f"Build the exhibits of {paper} from what the paper prints"
        shell:
            "python -m blimpworks build-published {params.paper} {params.folder:q} "
            "{params.inputs:q} --labels {params.labels:q} > {log:q} 2>&1"
