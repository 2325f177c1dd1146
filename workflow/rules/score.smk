"""Scoring: one job loads one checkpoint and scores every item that needs it."""


rule score:
    """Token log-probabilities of all sentences, into a store that outlives failed jobs."""
    input:
        unpack(scored_items),
        checkpoint=checkpoint_of,
        settings=settings_file(
            "score.yaml", CAMPAIGN.scoring.model_dump(mode="json", exclude=AFTERWARDS)
        ),
    output:
        "<results>/store/{model}/{part}/manifest.json",
    log:
        "<logs>/score/{model}/{part}.log",
    benchmark:
        "<benchmarks>/score/{model}/{part}.tsv"
    wildcard_constraints:
        model=one_of(scored_by(SHARED)),
    retries: RETRIES
    conda:
        "../../envs/train.yaml"
    resources:
        **score_job(),
    params:
        code=lambda w: scoring_code(w.model),
        python=lambda w: python_of(layout.engine_of(w.model)),
        # Snakemake removes declared outputs of a failed job; the shards must stay.
        store=lambda w, output: str(Path(output[0]).with_name("shards")),
        regions=lambda w, input: repeated("regions", input.get("regions", [])),
        engine=lambda w: layout.engine_of(w.model),
    message:
        "Score with {wildcards.model} ({wildcards.part})"
    shell:
        "{params.python} -m blimpworks score {input.whole:q} {params.regions:q} "
        "--checkpoint {input.checkpoint:q} --engine {params.engine} --store {params.store:q} "
        "--manifest {output:q} --options {input.settings:q} {resources.failing} --log {log:q} "
        "> {log:q} 2>&1"


use rule score as score_with_vllm with:
    wildcard_constraints:
        model=one_of(scored_by(OWN_ENVIRONMENT)),
    conda:
        f"../../envs/{OWN_ENVIRONMENT}.yaml"
    container:
        image(OWN_ENVIRONMENT)


# The checkpoints of a monolingual model are scored one after another in SLURM jobs that they
# share: as many in one as group-components of profiles/slurm says.
use rule score as score_checkpoints with:
    wildcard_constraints:
        model=one_of(scored_by(SHARED, shared=True)),
    group:
        "score_{model}"
    resources:
        **score_job(shared=True),


use rule score_with_vllm as score_checkpoints_with_vllm with:
    wildcard_constraints:
        model=one_of(scored_by(OWN_ENVIRONMENT, shared=True)),
    group:
        "score_{model}"
    resources:
        **score_job(shared=True),
