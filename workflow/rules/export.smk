"""Export the results as a Workflow Run RO-Crate."""


rule export_crate:
    """Write exhibits, their tables and their provenance, for readers without blimpworks."""
    input:
        exhibits=[f"<results>/exhibits/{s.key}.cells.parquet" for s in layout.exhibits],
        published=published_folders(),
        reproduction=comparisons(),
        campaign=CAMPAIGN_FILE,
    output:
        directory("<results>/crate"),
    log:
        "<logs>/export_crate.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("export_crate"),
        results=lambda w, output: Path(output[0]).parent,
    message:
        "Write the results as a Workflow Run RO-Crate"
    shell:
        "python -m blimpworks export crate {params.results:q} {output:q} "
        "--campaign {input.campaign:q} > {log:q} 2>&1"


rule crate:
    """Export the results as a Workflow Run RO-Crate."""
    input:
        "<results>/crate",
