"""Multi-LMentry: prompts of its tasks."""

from blimpworks.papers.lmentry.exhibits.names import LANGUAGES as LMENTRY_LANGUAGES
from blimpworks.papers.lmentry.items import sets as lmentry_sets

LMENTRY_RESOURCES = [
    row for row in available(lmentry_sets.RESOURCE) if row.lang in LMENTRY_LANGUAGES
]


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
        code=code_of("build_lmentry_items"),
        options=CAMPAIGN.lmentry.model_dump_json(
            include={"variant", "per_template", "seed"}
        ),
    message:
        "Make Multi-LMentry's prompts in {wildcards.lang}"
    shell:
        "python -m blimpworks build-lmentry-items {input.resources:q} --pack {input.pack:q} "
        "--declarations {input.declarations:q} --output {output:q} "
        "--options {params.options:q} > {log:q} 2>&1"


rule count_lmentry_prompts:
    """Prompts that the release's settings give each task, in the paper's nine languages."""
    input:
        packs=[str(pack_file(CAMPAIGN, lang)) for lang in LMENTRY_LANGUAGES],
        declarations=str(lmentry_sets.declarations_file(CAMPAIGN)),
        resources=[f"{RESOURCES}/sources/{row.name}" for row in LMENTRY_RESOURCES],
    output:
        "<results>/prompt_counts/lmentry.parquet",
    log:
        "<logs>/count_lmentry_prompts.log",
    benchmark:
        "<benchmarks>/count_lmentry_prompts.tsv"
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("count_lmentry_prompts"),
        resources=[
            f"--resources={row.lang}={RESOURCES}/sources/{row.name}"
            for row in LMENTRY_RESOURCES
        ],
    message:
        "Count Multi-LMentry's prompts by the settings of the release"
    shell:
        "python -m blimpworks count-lmentry-prompts {input.packs:q} "
        "--declarations {input.declarations:q} {params.resources:q} --output {output:q} "
        "> {log:q} 2>&1"
