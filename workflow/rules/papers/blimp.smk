"""BLiMP: pairs of its paradigms, released or generated, and released results.

Scoring reads the pairs; BLiMP's exhibits read the results.
"""

from blimpworks.papers.blimp.items.lexicon import FILES as LEXICON_FILES
from blimpworks.papers.blimp.paper import RELEASED_RESULTS, RESPONSES
from blimpworks.papers.blimp.paradigms import (
    GENERATED as GENERATED_BLIMP,
    RELEASED_DATA,
    RELEASED_PAIRS as RELEASED_COUNT,
    declared_paradigms,
)
from blimpworks.papers.blimp.settings import BlimpOptions

BLIMP = CAMPAIGN.section(BlimpOptions)
BLIMP_PARADIGMS = declared_paradigms(CAMPAIGN)
GENERATED_SETS = [f"<results>/sets/blimp/{uid}.jsonl" for uid in BLIMP_PARADIGMS]


rule generate_blimp:
    """Pairs of all declared paradigms, drawn from our own lexicon."""
    input:
        declarations=[
            f"{CAMPAIGN.folder('blimp')}/paradigms/{uid}.yaml"
            for uid in BLIMP_PARADIGMS
        ],
        lexicon=[f"{CAMPAIGN.folder('blimp')}/lexicon/{name}" for name in LEXICON_FILES],
    output:
        GENERATED_SETS,
    log:
        "<logs>/generate_blimp.log",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("generate_blimp"),
        lexicon=lambda w, input: Path(input.lexicon[0]).parent,
        outputs=lambda w, output: repeated("output", output),
        pairs=BLIMP.pairs,
        seed=BLIMP.seed,
    message:
        "Generate the pairs of BLiMP's paradigms again"
    shell:
        "python -m blimpworks generate-blimp {input.declarations:q} --lexicon {params.lexicon:q} "
        "{params.outputs:q} --pairs {params.pairs} --seed {params.seed} > {log:q} 2>&1"


rule build_blimp_items:
    """Pairs of all paradigms, with the critical regions of prefix methods."""
    input:
        branch(
            lambda w: w.benchmark == GENERATED_BLIMP,
            then=GENERATED_SETS,
            otherwise=[
                f"<resources>/sources/{row.name}"
                for row in CATALOGUE.sources_of(RELEASED_DATA, "eng")
            ],
        ),
    output:
        "<results>/items/{benchmark}/eng.parquet",
    log:
        "<logs>/build_items/{benchmark}/eng.log",
    benchmark:
        "<benchmarks>/build_items/{benchmark}/eng.tsv"
    wildcard_constraints:
        benchmark=one_of(("blimp", GENERATED_BLIMP)),
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_blimp_items"),
        pairs=lambda w: (
            BLIMP.pairs if w.benchmark == GENERATED_BLIMP else RELEASED_COUNT
        ),
        most=(f"--most={BLIMP.per_paradigm}" if BLIMP.per_paradigm else ""),
    message:
        "Build the items of {wildcards.benchmark}"
    shell:
        "python -m blimpworks build-blimp-items {input:q} --pairs {params.pairs} {params.most} "
        "--output {output:q} > {log:q} 2>&1"


rule read_blimp_release:
    """Accuracies that BLiMP's authors released: of each method, and of humans."""
    input:
        [f"<resources>/sources/{name}" for name in RELEASED_RESULTS],
    output:
        "<results>/accuracies/released/blimp.parquet",
    log:
        "<logs>/read_blimp_release.log",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("read_blimp_release"),
    message:
        "Read the accuracies that BLiMP's authors released"
    shell:
        "python -m blimpworks read-blimp-release {input:q} --output {output:q} > {log:q} 2>&1"


rule read_blimp_ratings:
    """Human judgements of BLiMP's pairs, one by one."""
    input:
        [f"<resources>/sources/{name}" for name in RESPONSES],
    output:
        "<results>/ratings/blimp.parquet",
    log:
        "<logs>/read_blimp_ratings.log",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("read_blimp_ratings"),
    message:
        "Read the human judgements that BLiMP's authors released"
    shell:
        "python -m blimpworks read-blimp-ratings {input:q} --output {output:q} > {log:q} 2>&1"


include: "blimp_analysis.smk"
