"""Scoring: one job loads one checkpoint and scores every item that needs it."""


rule score:
    """Token log-probabilities of all sentences, into a store that outlives failed jobs."""
    input:
        pairs=items_of,
        checkpoint="<resources>/models/{model}/{scope}/checkpoint.json",
    output:
        "<results>/store/{model}/{scope}/manifest.json",
    log:
        "<logs>/score/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/score/{model}/{scope}.tsv"
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
    params:
        code=verb_code("score"),
        # Snakemake removes declared outputs of a failed job; the shards must stay.
        store=lambda w, output: str(Path(output[0]).with_name("shards")),
        options=CAMPAIGN.scoring.model_dump_json(exclude={"near_tie"}),
    message:
        "Score with {wildcards.model} ({wildcards.scope})"
    shell:
        "python -m blimpworks score {input.pairs:q} --checkpoint {input.checkpoint:q} "
        "--store {params.store:q} --manifest {output:q} --options {params.options:q} "
        "> {log:q} 2>&1"


rule collect_scores:
    """The scores of one model on one benchmark and language, sliced from the store."""
    input:
        pairs="<results>/items/{benchmark}/{lang}.parquet",
        manifest=manifest_of,
    output:
        "<results>/scores/{benchmark}/{lang}/{model}.parquet",
    log:
        "<logs>/collect_scores/{benchmark}/{lang}/{model}.log",
    benchmark:
        "<benchmarks>/collect_scores/{benchmark}/{lang}/{model}.tsv"
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=verb_code("collect_scores"),
        store=lambda w, input: str(Path(input.manifest).with_name("shards")),
    message:
        "Collect scores of {wildcards.model} on {wildcards.benchmark} {wildcards.lang}"
    shell:
        "python -m blimpworks collect-scores --items {input.pairs:q} --manifest {input.manifest:q} "
        "--store {params.store:q} --output {output:q} > {log:q} 2>&1"
