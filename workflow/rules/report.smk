"""The reproduction report: a static site.

It is for readers without Snakemake, whose own `snakemake --report` is another.
"""


rule report:
    """What is printed, recomputed and measured, as a site that opens from a file."""
    input:
        facts=settings_file("report.json", report_facts),
        measured=[f"<results>/exhibits/{spec.key}.json" for spec in layout.exhibits],
        published=published_folders(),
        corrected=corrected_exhibits(),
        printed=[layout.printed_tables(paper) for paper in layout.papers],
        comparisons=comparisons(),
        pairs=[
            layout.job_outputs(folder, benchmark)
            for benchmark in reported_benchmarks()
            for folder in ("judgements", "scores")
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
        # Of a campaign with the corrected variant of the same benchmarks.
        corrected=repeated("corrected", filter(None, [CAMPAIGN.report.corrected])),
        resources=CAMPAIGN.pathvars.resources,
    message:
        "Build the report"
    shell:
        "python -m blimpworks build-report --results {params.results:q} "
        "--printed {params.printed:q} --facts {input.facts:q} "
        "{params.corrected:q} --resources {params.resources:q} --output {params.site:q} > {log:q} 2>&1"
