"""Score sentences. One job loads one checkpoint and scores all items that need it.

Rules of judge.smk read its shards (files of scores) by their manifest.
"""

# Settings that do not change scores, so that scores stay valid when they change.
USED_AFTER_SCORING = {"near_tie": True, "jobs": True, "vllm": {"build"}}


rule score:
    """Score the tokens of all sentences, in shards that are kept when the job fails."""
    input:
        unpack(scored_items),
        checkpoint=checkpoint_of,
        settings=settings_file(
            "score.yaml",
            CAMPAIGN.scoring.model_dump(mode="json", exclude=USED_AFTER_SCORING),
        ),
    output:
        "<results>/store/{model}/{job}/manifest.json",
    log:
        "<logs>/score/{model}/{job}.log",
    benchmark:
        "<benchmarks>/score/{model}/{job}.tsv"
    wildcard_constraints:
        model=one_of(name for name in CATALOGUE.models if name not in SHARING),
    retries: RETRIES
    conda:
        lambda w: f"../../envs/{environment_of(w.model)}.yaml"
    container:
        lambda w: image(environment_of(w.model))
    resources:
        **score_job(),
    params:
        code=lambda w: scoring_code(w.model),
        python=lambda w: python_of(layout.engine_of(w.model)),
        # Shards are no output, because Snakemake removes the outputs of failed jobs.
        store=subpath(output[0], strip_suffix="manifest.json", with_suffix="shards"),
        regions=lambda w, input: repeated("regions", input.get("regions", [])),
        engine=lambda w: engine_arguments(w.model),
    message:
        "Score with {wildcards.model} ({wildcards.job})"
    # The command writes its journal of attempts beside --log; the shell writes the log itself.
    shell:
        "{params.python} -m blimpworks score {input.whole:q} {params.regions:q} "
        "--checkpoint {input.checkpoint:q} --engine {params.engine} --store {params.store:q} "
        "--manifest {output:q} --options {input.settings:q} {resources.failing} --log {log:q} "
        "> {log:q} 2>&1"


use rule score as score_checkpoints with:
    """Score with checkpoints of a monolingual model, one after another in one SLURM job."""
    wildcard_constraints:
        model=one_of(SHARING),
    # group-components of profiles/slurm is the number of checkpoints in a SLURM job.
    group:
        "score_{model}"
    resources:
        **score_job(shared=True),
