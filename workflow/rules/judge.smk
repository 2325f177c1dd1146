"""From scores to judgements to accuracies."""


rule judge:
    """Which sentence of each pair a model prefers."""
    input:
        pairs="<results>/items/{benchmark}/{lang}.parquet",
        scores="<results>/scores/{benchmark}/{lang}/{model}.parquet",
    output:
        "<results>/judgements/{benchmark}/{lang}/{model}.parquet",
    log:
        "<logs>/judge/{benchmark}/{lang}/{model}.log",
    benchmark:
        "<benchmarks>/judge/{benchmark}/{lang}/{model}.tsv"
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=verb_code("judge"),
        methods=lambda w: [f"--method={name}" for name in JUDGING[w.benchmark].methods],
        ties=lambda w: [f"--ties={policy}" for policy in ties_of(w.benchmark)],
        near_tie=lambda w: CAMPAIGN.scoring.near_tie.of(
            engine_of(w.model), dtype_of(w.model)
        ),
    message:
        "Judge {wildcards.model} on {wildcards.benchmark} {wildcards.lang}"
    shell:
        "python -m blimpworks judge --items {input.pairs:q} --scores {input.scores:q} "
        "{params.methods:q} {params.ties} --near-tie {params.near_tie} "
        "--output {output:q} > {log:q} 2>&1"


rule compute_accuracies:
    """Accuracies of all models and languages of a benchmark, with intervals."""
    input:
        lambda w: evaluations("judgements", w.benchmark, models_of(w.benchmark)),
    output:
        "<results>/accuracies/{benchmark}.parquet",
    log:
        "<logs>/compute_accuracies/{benchmark}.log",
    benchmark:
        "<benchmarks>/compute_accuracies/{benchmark}.tsv"
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=verb_code("compute_accuracies"),
        root=f"{RESULTS}/judgements/{{benchmark}}",
        models=lambda w: evaluated(models_of(w.benchmark)),
    message:
        "Summarise the judgements of {wildcards.benchmark}"
    shell:
        "python -m blimpworks compute-accuracies {params.root:q} "
        "--models={params.models:q} "
        "--benchmark {wildcards.benchmark} --output {output:q} > {log:q} 2>&1"
