"""Items of benchmarks that are declared as data, and tables of what their authors released.

Scoring reads the items; exhibits and comparisons with print read the tables.
"""


rule build_declared_items:
    """Items of a language, from the files of a declaration."""
    input:
        lambda w: DECLARED_BENCHMARKS[w.benchmark].inputs("data", layout),
    output:
        "<results>/items/{benchmark}/{lang}.parquet",
    log:
        "<logs>/build_items/{benchmark}/{lang}.log",
    benchmark:
        "<benchmarks>/build_items/{benchmark}/{lang}.tsv"
    wildcard_constraints:
        benchmark=one_of(DECLARED_BENCHMARKS),
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_declared_items"),
        declaration=lambda w, input: input[0],
        sources=f"{RESOURCES}/sources",
        files=lambda w, input: repeated("file", layout.among_sources(input)),
        most=lambda w: DECLARED_BENCHMARKS[w.benchmark].limit_option(CAMPAIGN),
    message:
        "Build the items of {wildcards.benchmark} in {wildcards.lang}"
    shell:
        "python -m blimpworks build-declared-items {params.declaration:q} {params.files:q} "
        "--sources {params.sources:q} --benchmark {wildcards.benchmark} --lang {wildcards.lang} "
        "{params.most} --output {output:q} > {log:q} 2>&1"


rule read_people:
    """Accuracies of people on a declared benchmark."""
    input:
        **declared_results("people"),
    output:
        "<results>/accuracies/people/{benchmark}.parquet",
    log:
        "<logs>/read_people/{benchmark}.log",
    wildcard_constraints:
        benchmark=one_of(declared_with("people")),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **results_read_by("read_people"),
    message:
        "Read what the authors of {wildcards.benchmark} release"
    shell:
        "python -m blimpworks {params.command} {params.declaration:q} {params.files:q} "
        "--sources {params.sources:q} --benchmark {wildcards.benchmark} {params.tables:q} "
        "--output {output:q} > {log:q} 2>&1"


use rule read_people as read_released with:
    """Accuracies that the authors of a declared benchmark released."""
    input:
        **declared_results("released"),
    output:
        "<results>/accuracies/printed/{benchmark}.parquet",
    log:
        "<logs>/read_released/{benchmark}.log",
    wildcard_constraints:
        benchmark=one_of(declared_with("released")),
    localrule: True
    params:
        **results_read_by("read_released"),


use rule read_people as read_perplexities with:
    """Perplexities that the authors of a declared benchmark released."""
    input:
        **declared_results("perplexities"),
    output:
        "<results>/perplexities/released/{benchmark}.parquet",
    log:
        "<logs>/read_perplexities/{benchmark}.log",
    wildcard_constraints:
        benchmark=one_of(declared_with("perplexities")),
    localrule: True
    params:
        **results_read_by("read_perplexities"),


# What was released is more than what is printed.
ruleorder: read_released > read_published
