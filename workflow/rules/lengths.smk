"""UrBLiMP's pairs of unequal length: what the mean per token and the sum make of them."""


rule compare_lengths:
    """Decisions by the mean per token beside those by the sum, and one pair word by word."""
    input:
        pairs=lambda w: items_tables(w.benchmark),
        scores=lambda w: evaluations("scores", w.benchmark, models_of(w.benchmark)),
        judgements=lambda w: evaluations(
            "judgements", w.benchmark, models_of(w.benchmark)
        ),
    output:
        lengths="<results>/lengths/{benchmark}.parquet",
        surprisals="<results>/surprisals/{benchmark}.parquet",
    log:
        "<logs>/compare_lengths/{benchmark}.log",
    benchmark:
        "<benchmarks>/compare_lengths/{benchmark}.tsv"
    wildcard_constraints:
        benchmark=URBLIMP,
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("compare_lengths"),
        models=lambda w: evaluated(w.benchmark, models_of(w.benchmark)),
        root=lambda w: RESULTS,
        ties=lambda w: CAMPAIGN.urblimp.ties
        or tie_policy(w.benchmark, CAMPAIGN.urblimp.variant, "per_token"),
    message:
        "Compare decisions by token and in sum"
    shell:
        "python -m blimpworks compare-lengths {params.root:q} --models={params.models:q} "
        "--benchmark {wildcards.benchmark} --ties {params.ties} --output {output.lengths:q} "
        "--surprisals {output.surprisals:q} > {log:q} 2>&1"
