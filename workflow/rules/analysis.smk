"""Test differences between models."""


rule compare_models:
    """Compare every two models on each language by McNemar's test."""
    input:
        lambda w: layout.job_outputs("judgements", w.benchmark),
    output:
        "<results>/comparisons/{benchmark}.parquet",
    log:
        "<logs>/compare_models/{benchmark}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("compare_models"),
        root=f"{RESULTS}/judgements/{{benchmark}}",
        models=lambda w: layout.languages_by_model(w.benchmark),
        method=lambda w: layout.methods_of(w.benchmark)[0],
        mcnemar=lambda w: layout.mcnemar_of(w.benchmark),
    message:
        "Compare models on {wildcards.benchmark}"
    shell:
        "python -m blimpworks compare-models {params.root:q} "
        "--models={params.models:q} "
        "--benchmark {wildcards.benchmark} --method {params.method} "
        "--mcnemar {params.mcnemar} --output {output:q} > {log:q} 2>&1"
