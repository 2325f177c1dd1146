"""Build items of benchmarks that are declared as data, and tables of their authors' results.

Scoring jobs read the items. Exhibits and comparisons with print read the results.
"""


rule build_declared_items:
    """Build the items of a language from the files of a declaration."""
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
    """Read people's accuracies on a declared benchmark."""
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
        "Read the results that the authors of {wildcards.benchmark} released"
    shell:
        "python -m blimpworks {params.command} {params.declaration:q} {params.files:q} "
        "--sources {params.sources:q} --benchmark {wildcards.benchmark} {params.tables:q} "
        "--output {output:q} > {log:q} 2>&1"


use rule read_people as read_released with:
    """Read models' accuracies that the authors of a declared benchmark released."""
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
    """Read models' perplexities that the authors of a declared benchmark released."""
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


# Released numbers are preferred, because they have more rows and digits than printed ones.
ruleorder: read_released > read_published
