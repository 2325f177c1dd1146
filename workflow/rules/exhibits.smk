"""One pair of rules for every table and figure of every paper."""


rule build_table:
    """A table or figure of a paper, in all formats."""
    input:
        lambda w: layout.outputs_with(path for _, path in exhibit_tables(w)),
    output:
        **exhibit_files("table"),
    log:
        "<logs>/build_table/{paper}/{exhibit}.log",
    benchmark:
        "<benchmarks>/build_table/{paper}/{exhibit}.tsv"
    wildcard_constraints:
        exhibit=these(s for s in exhibits().values() if s.kind == "table"),
    # They read summaries: a queue takes longer than they do.
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=lambda w: code_of("build_exhibit", f"{w.paper}/{w.exhibit}"),
        inputs=lambda w: [f"--input={kind}={path}" for kind, path in exhibit_tables(w)],
        labels=lambda w: layout.labels_of(find_exhibit(f"{w.paper}/{w.exhibit}")),
    message:
        "Build {wildcards.paper} {wildcards.exhibit}"
    shell:
        "python -m blimpworks build-exhibit {wildcards.paper}/{wildcards.exhibit} {output.files:q} "
        "{output.reported:q} "
        "--cells {output.cells:q} {params.inputs:q} --labels {params.labels:q} "
        "> {log:q} 2>&1"


use rule build_table as build_figure with:
    output:
        **exhibit_files("figure"),
    log:
        "<logs>/build_figure/{paper}/{exhibit}.log",
    benchmark:
        "<benchmarks>/build_figure/{paper}/{exhibit}.tsv"
    wildcard_constraints:
        exhibit=these(s for s in exhibits().values() if s.kind == "figure"),


# All that a paper prints is read by each of its exhibits, so they are made together.
for paper in layout.published_papers:

    rule:
        name:
            f"build_published_{paper}"
        input:
            list(dict.fromkeys(path for _, path in layout.published_tables(paper))),
        output:
            files=[
                f"{RESULTS}/published/{spec.key}.{suffix}"
                for spec in layout.published_of(paper)
                for suffix in ("cells.parquet", *FORMATS[spec.kind])
                if suffix != REPORTED[spec.kind]
            ],
            reported=[
                report(
                    f"{RESULTS}/published/{spec.key}.{REPORTED[spec.kind]}",
                    caption="../report/published.rst",
                    category=paper,
                    subcategory="From print",
                    labels={"exhibit": spec.name, "kind": spec.kind},
                )
                for spec in layout.published_of(paper)
            ],
        log:
            f"<logs>/build_published/{paper}.log",
        benchmark:
            f"<benchmarks>/build_published/{paper}.tsv"
        localrule: True
        conda:
            "../../envs/core.yaml"
        params:
            code=[
                code_of("build_exhibit", spec.key)
                for spec in layout.published_of(paper)
            ],
            paper=paper,
            folder=lambda w, output: Path(output.files[0]).parent,
            inputs=[
                f"--input={kind}={path}"
                for kind, path in layout.published_tables(paper)
            ],
            # Called, so that no braces of a label are taken for a wildcard.
            labels=lambda w, labels=layout.published_labels(paper): labels,
        message:
            f"Build the exhibits of {paper} from what the paper prints"
        shell:
            "python -m blimpworks build-published {params.paper} {params.folder:q} "
            "{params.inputs:q} --labels {params.labels:q} > {log:q} 2>&1"
