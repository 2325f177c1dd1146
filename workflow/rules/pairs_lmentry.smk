"""Multi-LMentry: prompts of its tasks."""

from blimpworks.lmentry import sets as lmentry_sets


rule build_lmentry_items:
    """Prompts of all tasks in a language, drawn from its annotated resources."""
    input:
        resources=lambda w: list(
            map(str, lmentry_sets.resource_files(CAMPAIGN, CATALOGUE, w.lang))
        ),
        pack=lambda w: str(pack_file(CAMPAIGN, w.lang)),
        declarations=str(lmentry_sets.declarations_file(CAMPAIGN)),
    output:
        "<results>/items/lmentry/{lang}.parquet",
    log:
        "<logs>/build_items/lmentry/{lang}.log",
    benchmark:
        "<benchmarks>/build_items/lmentry/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=verb_code("build_lmentry_items"),
        options=CAMPAIGN.lmentry.model_dump_json(
            include={"variant", "per_template", "seed"}
        ),
    message:
        "Make Multi-LMentry's prompts in {wildcards.lang}"
    shell:
        "python -m blimpworks build-lmentry-items {input.resources:q} --pack {input.pack:q} "
        "--declarations {input.declarations:q} --output {output:q} "
        "--options {params.options:q} > {log:q} 2>&1"
