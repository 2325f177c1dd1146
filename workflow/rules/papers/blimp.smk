"""Build BLiMP's pairs, released or generated, and read its released results.

Scoring jobs read the pairs. BLiMP's exhibits read the results.
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
    """Generate pairs of all declared paradigms from the lexicon of config/blimp/."""
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
        "Generate pairs of BLiMP's paradigms"
    shell:
        "python -m blimpworks generate-blimp {input.declarations:q} --lexicon {params.lexicon:q} "
        "{params.outputs:q} --pairs {params.pairs} --seed {params.seed} > {log:q} 2>&1"


rule build_blimp_items:
    """Build the pairs of all paradigms, with the critical regions of prefix methods."""
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
    """Read the released accuracies of models by each method, and of humans."""
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
        "Read BLiMP's released accuracies"
    shell:
        "python -m blimpworks read-blimp-release {input:q} --output {output:q} > {log:q} 2>&1"


rule read_blimp_ratings:
    """Read the released human judgements of single pairs."""
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
        "Read BLiMP's released human judgements"
    shell:
        "python -m blimpworks read-blimp-ratings {input:q} --output {output:q} > {log:q} 2>&1"


include: "blimp_analysis.smk"
