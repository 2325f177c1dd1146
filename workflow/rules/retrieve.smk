"""Retrieve pinned files and models, from the campaign's mirror or the network."""


rule retrieve:
    """Retrieve one pinned file and verify its checksum, or a model at a commit."""
    output:
        "<resources>/{file}",
    log:
        "<logs>/retrieve/{file}.log",
    wildcard_constraints:
        # One rule for all files, so that `--until retrieve` makes all that needs the network.
        file=f"sources/({one_of(PINS)})|models/({one_of(HUB_MODELS)})/[a-z]+/checkpoint.json",
    retries: 2
    # A local job, because compute nodes often have no network.
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
