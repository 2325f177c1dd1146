"""Build the reproduction report, a static site. `snakemake --report` makes another report."""


rule report:
    """Build a site of printed, recomputed and measured numbers that needs no server."""
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
        # The output is the record beside the site. If it were the site, Snakemake would remove the
        # old site before the new one is complete.
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
        # Results of a campaign with the corrected variant of the same benchmarks.
        corrected=repeated("corrected", filter(None, [CAMPAIGN.report.corrected])),
        resources=CAMPAIGN.pathvars.resources,
    message:
        "Build the report"
    shell:
        "python -m blimpworks build-report --results {params.results:q} "
        "--printed {params.printed:q} --facts {input.facts:q} "
        "{params.corrected:q} --resources {params.resources:q} --output {params.site:q} > {log:q} 2>&1"
