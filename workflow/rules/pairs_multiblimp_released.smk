"""MultiBLiMP: the release's own pairs."""


rule build_released_items:
    """A language's released pairs, checked row by row."""
    input:
        lambda w: str(released_file(CAMPAIGN, CATALOGUE, w.lang)),
    output:
        "<results>/items/multiblimp/{lang}.parquet",
    log:
        "<logs>/build_items/multiblimp/{lang}.log",
    benchmark:
        "<benchmarks>/build_items/multiblimp/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_released_items"),
        options=stage("phenomena"),
        pinned=pinned_arguments,
    message:
        "Read the released items of {wildcards.lang}"
    shell:
        "python -m blimpworks build-released-items {input:q} --output {output:q} "
        "--lang {wildcards.lang} --options {params.options:q} {params.pinned:q} > {log:q} 2>&1"
