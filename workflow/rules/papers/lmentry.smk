"""Build Multi-LMentry's prompts, and count the prompts of the release."""

from blimpworks.papers.lmentry.tasks import LANGUAGES as LMENTRY_LANGUAGES
from blimpworks.papers.lmentry.paper import counted_resources, pack_file, resource_files
from blimpworks.papers.lmentry.settings import LmentryOptions

LMENTRY = CAMPAIGN.section(LmentryOptions)
LMENTRY_TASKS = CAMPAIGN.folder("lmentry") / "tasks.yaml"
LMENTRY_RESOURCES = counted_resources(CAMPAIGN, CATALOGUE)


rule build_lmentry_items:
    """Draw the prompts of all tasks in a language from its annotated resources."""
    input:
        resources=lambda w: resource_files(CAMPAIGN, CATALOGUE, w.lang),
        pack=lambda w: pack_file(CAMPAIGN, w.lang),
        declarations=LMENTRY_TASKS,
        settings=settings_file(
            "lmentry_items.yaml",
            LMENTRY.model_dump(include={"variant", "per_template", "seed"}),
        ),
    output:
        "<results>/items/lmentry/{lang}.parquet",
    log:
        "<logs>/build_items/lmentry/{lang}.log",
    benchmark:
        "<benchmarks>/build_items/lmentry/{lang}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_lmentry_items"),
    message:
        "Make Multi-LMentry's prompts in {wildcards.lang}"
    shell:
        "python -m blimpworks build-lmentry-items {input.resources:q} --pack {input.pack:q} "
        "--declarations {input.declarations:q} --output {output:q} "
        "--options {input.settings:q} > {log:q} 2>&1"


rule count_lmentry_prompts:
    """Count the prompts of each task by the release's settings, in the paper's nine languages."""
    input:
        packs=[pack_file(CAMPAIGN, lang) for lang in LMENTRY_LANGUAGES],
        declarations=LMENTRY_TASKS,
        resources=[f"<resources>/sources/{row.name}" for row in LMENTRY_RESOURCES],
    output:
        "<results>/prompt_counts/lmentry.parquet",
    log:
        "<logs>/count_lmentry_prompts.log",
    localrule: True
    conda:
        "../../../envs/core.yaml"
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


include: "lmentry_training.smk"
include: "lmentry_answers.smk"
