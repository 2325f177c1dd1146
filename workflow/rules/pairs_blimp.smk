"""BLiMP: pairs of its paradigms, released or generated, and their items."""

from blimpworks.campaign.benchmarks import declared_paradigms
from blimpworks.papers.blimp.items.lexicon.load import FILES as LEXICON_FILES
from blimpworks.papers.blimp.paradigms import RELEASED_PAIRS

DECLARED = declared_paradigms(CAMPAIGN)


rule generate_blimp:
    """Pairs of all declared paradigms, drawn from our own lexicon."""
    input:
        declarations=[
            f"{CAMPAIGN.catalogue.blimp}/paradigms/{u}.yaml" for u in DECLARED
        ],
        lexicon=[f"{CAMPAIGN.catalogue.blimp}/lexicon/{name}" for name in LEXICON_FILES],
    output:
        [f"{RESULTS}/sets/blimp/{uid}.jsonl" for uid in DECLARED],
    log:
        "<logs>/generate_blimp.log",
    benchmark:
        "<benchmarks>/generate_blimp.tsv"
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("generate_blimp"),
        lexicon=lambda w, input: Path(input.lexicon[0]).parent,
        outputs=lambda w, output: repeated("output", output),
        pairs=CAMPAIGN.blimp.pairs,
        seed=CAMPAIGN.blimp.seed,
    message:
        "Generate the pairs of BLiMP's paradigms anew"
    shell:
        "python -m blimpworks generate-blimp {input.declarations:q} --lexicon {params.lexicon:q} "
        "{params.outputs:q} --pairs {params.pairs} --seed {params.seed} > {log:q} 2>&1"


rule build_blimp_items:
    """Pairs of all paradigms, with the critical regions of prefix methods."""
    input:
        lambda w: blimp_files(w.benchmark),
    output:
        "<results>/items/{benchmark}/eng.parquet",
    log:
        "<logs>/build_items/{benchmark}/eng.log",
    benchmark:
        "<benchmarks>/build_items/{benchmark}/eng.tsv"
    wildcard_constraints:
        benchmark=one_of(benchmarks_of(BLIMP)),
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_blimp_items"),
        pairs=lambda w: {
            "blimp": RELEASED_PAIRS,
            "blimp_generated": CAMPAIGN.blimp.pairs,
        }[w.benchmark],
        most=(
            f"--most={CAMPAIGN.blimp.per_paradigm}"
            if CAMPAIGN.blimp.per_paradigm
            else ""
        ),
    message:
        "Build the items of {wildcards.benchmark}"
    shell:
        "python -m blimpworks build-blimp-items {input:q} --pairs {params.pairs} {params.most} "
        "--output {output:q} > {log:q} 2>&1"
