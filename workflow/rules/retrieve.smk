"""Every file from outside, pinned; from the campaign's mirror or from its address."""


rule retrieve:
    """Fetch one pinned file and verify its SHA-256."""
    output:
        "<resources>/sources/{name}",
    log:
        "<logs>/retrieve/{name}.log",
    benchmark:
        "<benchmarks>/retrieve/{name}.tsv"
    wildcard_constraints:
        name=one_of(PINS),
    # Compute nodes often have no network.
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=verb_code("retrieve"),
        url=lambda w: pin(w, "url"),
        sha256=lambda w: pin(w, "sha256"),
        size=lambda w: pin(w, "bytes") or "",
        mirror_path=lambda w: pin(w, "mirror"),
        catalogue=lambda w: catalogue_of(w.name),
    message:
        "Retrieve {wildcards.name}"
    shell:
        "python -m blimpworks retrieve --name={wildcards.name:q} --url={params.url:q} "
        "--sha256={params.sha256:q} --bytes={params.size:q} "
        '--mirror-path={params.mirror_path:q} --mirror="$BLIMPWORKS_MIRROR" '
        "--catalogue={params.catalogue:q} "
        "--output {output:q} > {log:q} 2>&1"
