"""Compare ways of scoring on a sample. No other rule needs this report.

The target is <results>/parity/BENCHMARK/LANG/MODEL/parity.md.
"""


rule parity:
    """Score a fixed sample with one model in several ways, and compare them with a reference."""
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
        # If vLLM has no interpreter here, the report says so.
        python=PYTHON_OPTIONS,
    message:
        "Compare ways to score with {wildcards.model} on {wildcards.benchmark} {wildcards.lang}"
    shell:
        "python -m blimpworks parity {input.checkpoint:q} {input.pairs:q} "
        "--output {params.folder:q} {params.variants:q} --reference {params.reference:q} "
        "{params.methods:q} --pairs {params.pairs} --options {params.options:q} "
        "{params.python:q} > {log:q} 2>&1"
