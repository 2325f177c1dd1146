"""Everything from outside, pinned: files from the campaign's mirror or address, models."""


rule retrieve:
    """Fetch one pinned file and verify its SHA-256, or a model at a commit."""
    output:
        "<resources>/{file}",
    log:
        "<logs>/retrieve/{file}.log",
    wildcard_constraints:
        # One rule for all, so that `--until retrieve` is all that needs the network.
        file=f"sources/({one_of(PINS)})|models/({one_of(HUB_MODELS)})/[a-z]+/checkpoint.json",
    retries: 2
    # Compute nodes often have no network.
    localrule: True
    conda:
        "../../envs/train.yaml"
    params:
        code=lambda w: code_of("retrieve_model" if hub_model(w)[0] else "retrieve"),
        command=retrieval,
    message:
        "Retrieve {wildcards.file}"
    shell:
        "python -m blimpworks {params.command:q} --output {output:q} > {log:q} 2>&1"
