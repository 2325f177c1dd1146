"""From scores to judgements to accuracies."""

for benchmark, suffix, place, languages, models in BLOCKS:

    rule:
        name:
            f"judge_{benchmark}{suffix}"
        input:
            pairs=[f"<results>/items/{benchmark}/{lang}.parquet" for lang in languages],
            scores=[
                f"<results>/scores/{benchmark}/{lang}/{{model}}.parquet"
                for lang in languages
            ],
        output:
            [
                f"<results>/judgements/{benchmark}/{lang}/{{model}}.parquet"
                for lang in languages
            ],
        log:
            f"<logs>/judge/{benchmark}/{place}.log",
        benchmark:
            f"<benchmarks>/judge/{benchmark}/{place}.tsv"
        wildcard_constraints:
            model=one_of(models),
        localrule: True
        conda:
            "../../envs/core.yaml"
        params:
            code=code_of("judge"),
            tables=lambda w, input, output: [
                *repeated("items", input.pairs),
                *repeated("scores", input.scores),
                *repeated("output", output),
            ],
            methods=lambda w, benchmark=benchmark: [
                f"--method={name}" for name in judged_by(benchmark, w.model)
            ],
            ties=lambda w, benchmark=benchmark: [
                f"--ties={policy}" for policy in ties_of(benchmark, w.model)
            ],
            unknown=lambda w, benchmark=benchmark: unknown_of(benchmark, w.model),
            near_tie=lambda w: CAMPAIGN.scoring.near_tie.of(
                engine_of(w.model), dtype_of(w.model)
            ),
        message:
            f"Judge {{wildcards.model}} on {benchmark}"
        shell:
            "python -m blimpworks judge {params.tables:q} {params.methods:q} {params.ties} "
            "--near-tie {params.near_tie} {params.unknown} > {log:q} 2>&1"


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
        code=code_of("compute_accuracies"),
        root=f"{RESULTS}/judgements/{{benchmark}}",
        models=lambda w: evaluated(w.benchmark, models_of(w.benchmark)),
        counted=lambda w: counted_of(w.benchmark),
    message:
        "Summarise the judgements of {wildcards.benchmark}"
    shell:
        "python -m blimpworks compute-accuracies {params.root:q} "
        "--models={params.models:q} "
        "--benchmark {wildcards.benchmark} {params.counted} --output {output:q} > {log:q} 2>&1"
