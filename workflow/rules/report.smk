"""The reproduction report: a static site."""


rule report:
    """What is printed, recomputed and measured, as a site that opens from a file."""
    input:
        facts=settings_file("report.json", report_facts),
        measured=[f"{RESULTS}/exhibits/{spec.key}.json" for spec in layout.exhibits],
        published=published_folders(),
        corrected=corrected_exhibits(),
        printed=[
            path for paper in layout.papers for path in layout.printed_tables(paper)
        ],
        comparisons=comparisons(),
        pairs=[
            path
            for benchmark in reported_benchmarks()
            for folder in ("judgements", "scores")
            for path in layout.evaluations(folder, benchmark)
        ],
    output:
        # The record beside the site: the command puts a new site in the place of the old one
        # once it is whole, and Snakemake would take the old one away before.
        "<results>/report.prov.json",
    log:
        "<logs>/report.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("build_report"),
        results=lambda w, output: Path(output[0]).parent,
        site=lambda w, output: Path(output[0]).parent / "report",
        printed=lambda w: str(CAMPAIGN.catalogue.published),
        corrected=(
            [f"--corrected={CAMPAIGN.report.corrected}"]
            if CAMPAIGN.report.corrected
            else []
        ),
        resources=CAMPAIGN.pathvars.resources,
    message:
        "Build the report"
    shell:
        "python -m blimpworks build-report --results {params.results:q} "
        "--printed {params.printed:q} --facts {input.facts:q} "
        "{params.corrected:q} --resources {params.resources:q} --output {params.site:q} > {log:q} 2>&1"
