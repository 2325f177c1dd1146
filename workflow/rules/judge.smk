"""From scores to judgements to accuracies."""

for block in layout.blocks("pair"):

    rule:
        name:
            f"judge_{block.benchmark}{block.suffix}"
        input:
            pairs=[
                layout.items_table(block.benchmark, lang) for lang in block.languages
            ],
            scores=[
                f"<results>/scores/{block.benchmark}/{lang}/{{model}}.parquet"
                for lang in block.languages
            ],
        output:
            [
                f"<results>/judgements/{block.benchmark}/{lang}/{{model}}.parquet"
                for lang in block.languages
            ],
        log:
            f"<logs>/judge/{block.benchmark}/{block.place}.log",
        benchmark:
            f"<benchmarks>/judge/{block.benchmark}/{block.place}.tsv"
        wildcard_constraints:
            model=one_of(block.models),
        localrule: True
        conda:
            "../../envs/core.yaml"
        params:
            code=code_of(find_benchmark(block.benchmark).judge),
            command=find_benchmark(block.benchmark).judge.replace("_", "-"),
            tables=lambda w, input, output: [
                *repeated("items", input.pairs),
                *repeated("scores", input.scores),
                *repeated("output", output),
            ],
            methods=lambda w, benchmark=block.benchmark: [
                f"--method={name}" for name in layout.judged_by(benchmark, w.model)
            ],
            ties=lambda w, benchmark=block.benchmark: [
                f"--ties={policy}" for policy in layout.ties_of(benchmark, w.model)
            ],
            unknown=lambda w, benchmark=block.benchmark: layout.unknown_of(
                benchmark, w.model
            ),
            near_tie=lambda w: CAMPAIGN.scoring.near_tie.of(
                layout.engine_of(w.model), layout.dtype_of(w.model)
            ),
        message:
            f"Judge {{wildcards.model}} on {block.benchmark}"
        shell:
            "python -m blimpworks {params.command} {params.tables:q} {params.methods:q} {params.ties} "
            "--near-tie {params.near_tie} {params.unknown} > {log:q} 2>&1"


rule compute_accuracies:
    """Accuracies of all models and languages of a benchmark, with intervals."""
    input:
        lambda w: layout.evaluations("judgements", w.benchmark),
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
        models=lambda w: layout.evaluated(w.benchmark),
        counted=lambda w: layout.counted_of(w.benchmark),
    message:
        "Summarise the judgements of {wildcards.benchmark}"
    shell:
        "python -m blimpworks compute-accuracies {params.root:q} "
        "--models={params.models:q} "
        "--benchmark {wildcards.benchmark} {params.counted} --output {output:q} > {log:q} 2>&1"
