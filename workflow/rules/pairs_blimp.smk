"""BLiMP: items of its paradigms, released or generated."""

# Pairs of each released file.
RELEASED_PAIRS = 1000
# Paradigms that are declared, by the names of their files.
DECLARED = sorted(p.stem for p in CAMPAIGN.catalogue.blimp.glob("paradigms/*.yaml"))


rule build_blimp_items:
    """Pairs of all paradigms, with the critical regions of prefix methods."""
    input:
        lambda w: blimp_files(w.benchmark),
    output:
        "<results>/items/{benchmark}/eng.parquet",
    log:
        "<logs>/build_items/{benchmark}/eng.log",
    benchmark:
        "<benchmarks>/build_items/{benchmark}/eng.tsv"
    wildcard_constraints:
        benchmark="blimp|blimp_generated",
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=verb_code("build_blimp_items"),
        pairs=lambda w: {
            "blimp": RELEASED_PAIRS,
            "blimp_generated": CAMPAIGN.blimp.pairs,
        }[w.benchmark],
        most=(
            f"--most={CAMPAIGN.blimp.per_paradigm}"
            if CAMPAIGN.blimp.per_paradigm
            else ""
        ),
    message:
        "Build the items of {wildcards.benchmark}"
    shell:
        "python -m blimpworks build-blimp-items {input:q} --pairs {params.pairs} {params.most} "
        "--output {output:q} > {log:q} 2>&1"
