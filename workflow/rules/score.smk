"""Scoring: one job loads one checkpoint and scores every item that needs it.

Its shards, with a manifest of them, are read by judge.smk.
"""

# Settings that do not decide scores.
AFTERWARDS = {"near_tie": True, "jobs": True, "vllm": {"build"}}


rule score:
    """Token log-probabilities of all sentences, into a store that outlives failed jobs."""
    input:
        unpack(scored_items),
        checkpoint=checkpoint_of,
        settings=settings_file(
            "score.yaml", CAMPAIGN.scoring.model_dump(mode="json", exclude=AFTERWARDS)
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
        # Snakemake removes declared outputs of a failed job; the shards must stay.
        store=subpath(output[0], strip_suffix="manifest.json", with_suffix="shards"),
        regions=lambda w, input: repeated("regions", input.get("regions", [])),
        engine=lambda w: engine_words(w.model),
    message:
        "Score with {wildcards.model} ({wildcards.job})"
    # The journal of attempts lies beside --log, which the shell writes.
    shell:
        "{params.python} -m blimpworks score {input.whole:q} {params.regions:q} "
        "--checkpoint {input.checkpoint:q} --engine {params.engine} --store {params.store:q} "
        "--manifest {output:q} --options {input.settings:q} {resources.failing} --log {log:q} "
        "> {log:q} 2>&1"


use rule score as score_checkpoints with:
    """The same as score, for checkpoints of a monolingual model, in turn in one SLURM job."""
    wildcard_constraints:
        model=one_of(SHARING),
    # As many share a job as group-components of profiles/slurm says.
    group:
        "score_{model}"
    resources:
        **score_job(shared=True),
