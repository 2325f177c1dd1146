"""How far ways of scoring are apart: built only when asked for.

The file to ask for is <results>/parity/BENCHMARK/LANG/MODEL/parity.md.
"""


rule parity:
    """One model scored in several ways on a fixed sample, against a reference."""
    input:
        pairs=layout.items_table("{benchmark}", "{lang}"),
        checkpoint=lambda w: layout.training.checkpoint_of(w.model, w.lang),
    output:
        multiext(
            "<results>/parity/{benchmark}/{lang}/{model}/parity",
            ".parquet",
            ".csv",
            ".md",
        ),
    log:
        "<logs>/parity/{benchmark}/{lang}/{model}.log",
    benchmark:
        "<benchmarks>/parity/{benchmark}/{lang}/{model}.tsv"
    conda:
        "../../envs/train.yaml"
    resources:
        **cpu_job(8000, minutes=120),
    params:
        code=lambda w: [scoring_code(w.model), code_of("parity")],
        folder=subpath(output[0], parent=True),
        variants=lambda w: repeated(
            "variant",
            [layout.engine_of(w.model), *layout.compared_with(w.model).variants],
        )
        + consent(w.model),
        reference=lambda w: layout.compared_with(w.model).reference,
        pairs=CAMPAIGN.parity.pairs,
        methods=lambda w: repeated("method", layout.judged_by(w.benchmark, w.model)),
        options=CAMPAIGN.scoring.model_dump_json(exclude={"jobs"}),
        # Without an interpreter of its own, the report says that vLLM is not possible.
        python=OWN_PYTHONS,
    message:
        "Compare ways to score with {wildcards.model} on {wildcards.benchmark} {wildcards.lang}"
    shell:
        "python -m blimpworks parity {input.checkpoint:q} {input.pairs:q} "
        "--output {params.folder:q} {params.variants:q} --reference {params.reference:q} "
        "{params.methods:q} --pairs {params.pairs} --options {params.options:q} "
        "{params.python:q} > {log:q} 2>&1"
