"""Generate answers to prompts. One job loads one checkpoint and asks it all prompts.

The answers become tables, which the rules of the prompts' paper judge.
"""


rule answer:
    """Generate answers to all prompts, in shards that are kept when the job fails."""
    input:
        prompts=lambda w: items_of(ANSWERING[w.model, w.job]),
        checkpoint=checkpoint_of,
    output:
        "<results>/answers_store/{model}/{job}/manifest.json",
    log:
        "<logs>/answer/{model}/{job}.log",
    benchmark:
        "<benchmarks>/answer/{model}/{job}.tsv"
    wildcard_constraints:
        model=one_of(dict.fromkeys(model for model, _ in ANSWERING)),
    retries: RETRIES
    conda:
        lambda w: f"../../envs/{environment_of(w.model)}.yaml"
    container:
        lambda w: image(environment_of(w.model))
    resources:
        **answer_job(),
    params:
        code=lambda w: code_of("answer", layout.engine_of(w.model)),
        python=lambda w: python_of(layout.engine_of(w.model)),
        # Shards are no output, because Snakemake removes the outputs of failed jobs.
        store=subpath(output[0], strip_suffix="manifest.json", with_suffix="shards"),
        engine=lambda w: engine_arguments(w.model),
        # Language packs are no input: only their system prompts change what models answer.
        systems=lambda w: layout.generation_of(ANSWERING[w.model, w.job]).job_systems(
            CAMPAIGN, ANSWERING[w.model, w.job].languages
        ),
        options=lambda w: layout.generation_of(ANSWERING[w.model, w.job]).job_options(
            CAMPAIGN
        ),
    message:
        "Answer with {wildcards.model} ({wildcards.job})"
    shell:
        "{params.python} -m blimpworks answer {input.prompts:q} --checkpoint {input.checkpoint:q} "
        "--engine {params.engine} --store {params.store:q} --manifest {output:q} "
        "--systems {params.systems:q} --options {params.options:q} --log {log:q} > {log:q} 2>&1"


rule collect_answers:
    """Write one model's answers to a benchmark as a table for each language."""
    input:
        prompts=items_run,
        manifest=lambda w: layout.manifest_of(w.model, w.get("lang"), "answers_store"),
    output:
        directory("<results>/answers/{benchmark}/{model}"),
    log:
        "<logs>/collect_answers/{benchmark}/{model}.log",
    wildcard_constraints:
        benchmark=one_of(of_unit("prompt")),
        model=one_of(WITH_ONE_JOB),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("collect_answers"),
        store=subpath(
            input.manifest, strip_suffix="manifest.json", with_suffix="shards"
        ),
        prompts=lambda w, input: repeated("items", input.prompts),
        answers=lambda w, output: repeated("output", by_language(w, output[0])),
        systems=lambda w: find_benchmark(w.benchmark).generation.job_systems(
            CAMPAIGN, languages_run(w)
        ),
    message:
        "Collect answers of {wildcards.model} to {wildcards.benchmark}"
    shell:
        "python -m blimpworks collect-answers {params.prompts:q} "
        "--manifest {input.manifest:q} --store {params.store:q} "
        "--systems {params.systems:q} {params.answers:q} > {log:q} 2>&1"


use rule collect_answers as collect_answers_of_language with:
    """Write answers in one language, of a model that has a job for each language."""
    output:
        "<results>/answers/{benchmark}/{model}/{lang}.parquet",
    log:
        "<logs>/collect_answers/{benchmark}/{model}/{lang}.log",
    wildcard_constraints:
        benchmark=one_of(of_unit("prompt")),
        model=one_of(layout.models_with_job_per_language),
    localrule: True
