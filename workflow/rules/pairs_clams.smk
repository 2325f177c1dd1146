"""CLAMS's released evaluation sets."""

RELEASED_SETS = available("clams_set")
EVALUATION_SETS = [f"{RESULTS}/evaluation_sets/clams.parquet"] if RELEASED_SETS else []


rule count_sets:
    """The released minimal sets, by the words that tell them apart."""
    input:
        [f"{RESOURCES}/sources/{row.name}" for row in RELEASED_SETS],
    output:
        "<results>/evaluation_sets/clams.parquet",
    log:
        "<logs>/count_sets.log",
    benchmark:
        "<benchmarks>/count_sets.tsv"
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=verb_code("count_sets"),
        sets=[f"{row.lang}={RESOURCES}/sources/{row.name}" for row in RELEASED_SETS],
    message:
        "Count CLAMS's minimal sets"
    shell:
        "python -m blimpworks count-sets {params.sets:q} --output {output:q} > {log:q} 2>&1"
