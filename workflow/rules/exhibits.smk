"""Make tables and figures of all papers, from results and from printed numbers."""


rule build_table:
    """Make a table of a paper in all formats."""
    input:
        lambda w: layout.outputs_with(path for _, path in exhibit_tables(w)),
    output:
        **exhibit_files("table"),
    log:
        "<logs>/build_table/{paper}/{exhibit}.log",
    wildcard_constraints:
        exhibit=one_of_exhibits(s for s in exhibits().values() if s.kind == "table"),
    # A local job: it takes less time than waiting in the queue.
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
    """Make a figure of a paper in all formats."""
    output:
        **exhibit_files("figure"),
    log:
        "<logs>/build_figure/{paper}/{exhibit}.log",
    wildcard_constraints:
        exhibit=one_of_exhibits(s for s in exhibits().values() if s.kind == "figure"),
    # Snakemake resets this in each `use rule`.
    localrule: True


# One job makes all, because each of these exhibits reads all printed numbers of the paper.
rule build_published:
    """Make all exhibits of a paper from its printed numbers."""
    input:
        lambda w: list({path: None for _, path in layout.published_tables(w.paper)}),
    output:
        report(
            directory("<results>/published/{paper}"),
            patterns=["{exhibit}.html"],
            caption="../report/published.rst",
            category="{paper}",
            subcategory="From print",
            labels={"exhibit": "{exhibit}"},
        ),
    log:
        "<logs>/build_published/{paper}.log",
    wildcard_constraints:
        paper=one_of(layout.published_papers),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=lambda w: [
            code_of("build_exhibit", spec.key) for spec in layout.published_of(w.paper)
        ],
        inputs=lambda w: [
            f"--input={kind}={path}" for kind, path in layout.published_tables(w.paper)
        ],
        labels=lambda w: layout.published_labels(w.paper),
        omitted=lambda w: [
            f"--omitted={target}"
            for target in CAMPAIGN.omitted
            if target.startswith(f"{w.paper}_") and target.endswith("_published")
        ],
    message:
        "Build the exhibits of {wildcards.paper} from its printed numbers"
    shell:
        "python -m blimpworks build-published {wildcards.paper} {output:q} "
        "{params.inputs:q} --labels {params.labels:q} {params.omitted:q} > {log:q} 2>&1"
