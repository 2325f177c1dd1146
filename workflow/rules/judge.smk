"""Make judgements from scores, and accuracies from judgements.

Exhibits, tests between models and regressions read these tables.
"""


# One job makes the tables of all languages of a checkpoint: with a job for each language, the start
# of jobs would take a hundred times as long as the work.
rule judge:
    """Write one model's scores and judgements of a benchmark, as tables for each language."""
    input:
        pairs=items_run,
        manifest=lambda w: layout.manifest_of(w.model, w.get("lang")),
    output:
        scores=directory("<results>/scores/{benchmark}/{model}"),
        judgements=directory("<results>/judgements/{benchmark}/{model}"),
    log:
        "<logs>/judge/{benchmark}/{model}.log",
    wildcard_constraints:
        benchmark=one_of(of_unit("pair")),
        model=one_of(WITH_ONE_JOB),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=lambda w: [
            code_of("collect_scores"),
            code_of(find_benchmark(w.benchmark).judge),
        ],
        store=subpath(
            input.manifest, strip_suffix="manifest.json", with_suffix="shards"
        ),
        roundings=lambda w: find_engine(layout.engine_of(w.model)).roundings,
        pairs=lambda w, input: repeated("items", input.pairs),
        collected=lambda w, output: repeated("output", by_language(w, output.scores)),
        judge=lambda w: find_benchmark(w.benchmark).judge.replace("_", "-"),
        judged=lambda w, output: [
            *repeated("scores", by_language(w, output.scores)),
            *repeated("output", by_language(w, output.judgements)),
        ],
        methods=lambda w: repeated("method", layout.judged_by(w.benchmark, w.model)),
        ties=lambda w: repeated("ties", layout.ties_of(w.benchmark, w.model)),
        unknown=lambda w: layout.unknown_of(w.benchmark, w.model),
        near_tie=lambda w: CAMPAIGN.scoring.near_tie.of(
            layout.engine_of(w.model), layout.dtype_of(w.model)
        ),
    message:
        "Judge {wildcards.model} on {wildcards.benchmark}"
    shell:
        "python -m blimpworks collect-scores {params.pairs:q} --manifest {input.manifest:q} "
        "--store {params.store:q} {params.collected:q} > {log:q} 2>&1 && "
        "python -m blimpworks {params.judge} {params.pairs:q} {params.judged:q} "
        "{params.methods:q} {params.ties} --near-tie {params.near_tie} {params.unknown} "
        ">> {log:q} 2>&1"


use rule judge as judge_of_language with:
    """Write scores and judgements in one language, of a model with a job for each language."""
    output:
        scores="<results>/scores/{benchmark}/{model}/{lang}.parquet",
        judgements="<results>/judgements/{benchmark}/{model}/{lang}.parquet",
    log:
        "<logs>/judge/{benchmark}/{model}/{lang}.log",
    wildcard_constraints:
        benchmark=one_of(of_unit("pair")),
        model=one_of(layout.models_with_job_per_language),
    localrule: True


rule compute_accuracies:
    """Compute the accuracies of all models and languages of a benchmark, with intervals."""
    input:
        lambda w: layout.job_outputs("judgements", w.benchmark),
    output:
        "<results>/accuracies/{benchmark}.parquet",
    log:
        "<logs>/compute_accuracies/{benchmark}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("compute_accuracies"),
        root=f"{RESULTS}/judgements/{{benchmark}}",
        models=lambda w: layout.languages_by_model(w.benchmark),
        counted=lambda w: layout.one_more_options(w.benchmark),
    message:
        "Summarise the judgements of {wildcards.benchmark}"
    shell:
        "python -m blimpworks compute-accuracies {params.root:q} "
        "--models={params.models:q} "
        "--benchmark {wildcards.benchmark} {params.counted} --output {output:q} > {log:q} 2>&1"
