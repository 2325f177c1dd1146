"""Build CLAMS's evaluation sets and items, count its sets, and quantify morphology.

Scoring jobs read the items. CLAMS's exhibits read the counts and the morphology.
"""

from blimpworks.papers.clams.items import sets as clams_sets
from blimpworks.papers.clams.settings import ClamsOptions, variant_of

CLAMS = CAMPAIGN.section(ClamsOptions)
RELEASED_SETS = available(CAMPAIGN, CATALOGUE, clams_sets.SET)
WITH_GRAMMARS = CLAMS.grammars if "clams" in CAMPAIGN.benchmarks else ()


rule count_sets:
    """Count the released minimal sets by the two words that differ in each."""
    input:
        [f"<resources>/sources/{row.name}" for row in RELEASED_SETS],
    output:
        "<results>/evaluation_sets/clams.parquet",
    log:
        "<logs>/count_sets.log",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("count_sets"),
        sets=[f"{row.lang}={RESOURCES}/sources/{row.name}" for row in RELEASED_SETS],
    message:
        "Count CLAMS's minimal sets"
    shell:
        "python -m blimpworks count-sets {params.sets:q} --output {output:q} > {log:q} 2>&1"


rule generate_sets:
    """Generate the evaluation sets of a language by its grammars."""
    input:
        cases=lambda w: clams_sets.grammars_of(CAMPAIGN, CATALOGUE, w.lang).cases,
        # A list of at most one file.
        common=lambda w: [
            *filter(None, [clams_sets.grammars_of(CAMPAIGN, CATALOGUE, w.lang).common])
        ],
    output:
        directory("<results>/sets/clams/{lang}"),
    log:
        "<logs>/generate_sets/{lang}.log",
    wildcard_constraints:
        lang=one_of(WITH_GRAMMARS),
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("generate_sets"),
        common=lambda w, input: repeated("common", input.common),
        outputs=lambda w: repeated(
            "output", clams_sets.set_paths(CAMPAIGN, CATALOGUE, w.lang)
        ),
        variant=variant_of(CLAMS, "alternates"),
    message:
        "Generate the evaluation sets of {wildcards.lang}"
    shell:
        "python -m blimpworks generate-sets {input.cases:q} {params.common:q} "
        "{params.outputs:q} --variant {params.variant} > {log:q} 2>&1"


rule build_clams_items:
    """Build the items of a language from its evaluation sets."""
    input:
        lambda w: (
            "<results>/sets/clams/{lang}"
            if w.lang in WITH_GRAMMARS
            else clams_sets.set_paths(CAMPAIGN, CATALOGUE, w.lang)
        ),
        settings=settings_file(
            "clams_items.yaml",
            CLAMS.model_dump(
                mode="json",
                include={
                    "variant": True,
                    "decisions": {"capitals"},
                    "per_paradigm": True,
                    "capitals": True,
                },
            ),
        ),
    output:
        "<results>/items/clams/{lang}.parquet",
    log:
        "<logs>/build_items/clams/{lang}.log",
    benchmark:
        "<benchmarks>/build_items/clams/{lang}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_clams_items"),
        sets=lambda w: clams_sets.set_paths(CAMPAIGN, CATALOGUE, w.lang),
    message:
        "Build CLAMS's items of {wildcards.lang}"
    shell:
        "python -m blimpworks build-clams-items {params.sets:q} --lang {wildcards.lang} "
        "--output {output:q} --options {input.settings:q} > {log:q} 2>&1"


rule build_morphology:
    """Compute a value of each language for each WALS feature of morphology."""
    input:
        values="<resources>/sources/wals/raw/value.csv",
        elements="<resources>/sources/wals/raw/domainelement.csv",
        languages="<resources>/sources/wals/cldf/languages.csv",
    output:
        "<results>/morphology/languages.parquet",
    log:
        "<logs>/build_morphology.log",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("build_morphology"),
    message:
        "Quantify the morphology of languages"
    shell:
        "python -m blimpworks build-morphology {input.values:q} --elements {input.elements:q} "
        "--languages {input.languages:q} --output {output:q} > {log:q} 2>&1"
