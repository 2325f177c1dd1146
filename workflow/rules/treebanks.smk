"""Read treebanks into tables."""


rule build_tokens:
    """Read the CoNLL-U files of one language into tables of tokens and of sentences."""
    input:
        treebanks=lambda w: layout.usable(CATALOGUE.treebanks[w.lang]),
        settings=settings_file(
            "treebanks.yaml", CAMPAIGN.treebanks.model_dump(include={"malformed"})
        ),
    output:
        tokens="<results>/tokens/{lang}.parquet",
        sentences="<results>/sentences/{lang}.parquet",
        malformed="<results>/tokens/{lang}.malformed.tsv",
    log:
        "<logs>/build_tokens/{lang}.log",
    benchmark:
        "<benchmarks>/build_tokens/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_tokens"),
    message:
        "Read the treebanks of {wildcards.lang}"
    shell:
        "python -m blimpworks build-tokens {input.treebanks:q} --tokens {output.tokens:q} "
        "--sentences {output.sentences:q} --malformed {output.malformed:q} "
        "--options {input.settings:q} > {log:q} 2>&1"
