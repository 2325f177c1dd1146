"""Benchmarks that are declared as data: items, and what their authors released."""

from blimpworks.benchmarks.paper import declared_benchmarks

# One for each declaration, whether the campaign has it or not.
DECLARED_BENCHMARKS = {
    name: each
    for name, each in declared_benchmarks().items()
    if name in CAMPAIGN.benchmarks
}


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
        most=lambda w: DECLARED_BENCHMARKS[w.benchmark].most(CAMPAIGN),
    message:
        "Build the items of {wildcards.benchmark} in {wildcards.lang}"
    shell:
        "python -m blimpworks build-declared-items {params.declaration:q} {params.files:q} "
        "--sources {params.sources:q} --benchmark {wildcards.benchmark} --lang {wildcards.lang} "
        "{params.most} --output {output:q} > {log:q} 2>&1"


for command, entries, output in (
    ("read_people", "people", "<results>/accuracies/people/{benchmark}.parquet"),
    ("read_released", "released", "<results>/accuracies/printed/{benchmark}.parquet"),
    (
        "read_perplexities",
        "perplexities",
        "<results>/perplexities/released/{benchmark}.parquet",
    ),
):

    rule:
        name:
            command
        input:
            lambda w, entries=entries: DECLARED_BENCHMARKS[w.benchmark].inputs(
                entries, layout
            ),
            tables=lambda w, entries=entries: DECLARED_BENCHMARKS[w.benchmark].items(
                entries, layout
            ),
        output:
            output,
        log:
            f"<logs>/{command}/{{benchmark}}.log",
        benchmark:
            f"<benchmarks>/{command}/{{benchmark}}.tsv"
        wildcard_constraints:
            benchmark=one_of(
                name
                for name, each in DECLARED_BENCHMARKS.items()
                if getattr(each.declared, entries)
            ),
        localrule: True
        conda:
            "../../envs/core.yaml"
        params:
            code=code_of(command),
            command=command.replace("_", "-"),
            declaration=lambda w, input: input[0],
            sources=f"{RESOURCES}/sources",
            files=lambda w, input: repeated("file", layout.among_sources(input)),
            tables=lambda w, input: repeated("items", input.tables),
        message:
            f"Read {entries} of {{wildcards.benchmark}}"
        shell:
            "python -m blimpworks {params.command} {params.declaration:q} {params.files:q} "
            "--sources {params.sources:q} --benchmark {wildcards.benchmark} {params.tables:q} "
            "--output {output:q} > {log:q} 2>&1"


# What was released is more than what is printed.
ruleorder: read_released > read_published
