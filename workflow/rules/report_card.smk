"""Build the report card of an evaluation: its models beside the models of the papers.

The card is written as a page, as tables to paste, and as data.
"""

from blimpworks.evaluation.card import card_facts, card_files, card_tables


use rule parity as sensitivity with:
    """Score a sample with other first tokens, and compare with the campaign's scores."""
    output:
        multiext(
            "<results>/sensitivity/{benchmark}/{lang}/{model}/parity",
            ".parquet",
            ".csv",
            ".md",
        ),
    log:
        "<logs>/sensitivity/{benchmark}/{lang}/{model}.log",
    benchmark:
        "<benchmarks>/sensitivity/{benchmark}/{lang}/{model}.tsv"
    params:
        variants=lambda w: [
            f"--variant={layout.engine_of(w.model)}:starts",
            *consent(w.model),
        ],
        reference=lambda w: layout.engine_of(w.model),
    message:
        "Score {wildcards.model} with other first tokens on {wildcards.benchmark} {wildcards.lang}"


rule report_card:
    """Build the report card in all formats."""
    input:
        lambda w: layout.outputs_with(card_tables(card_facts(layout, CAMPAIGN_FILE))),
        facts=settings_file(
            "report_card.json", lambda: card_facts(layout, CAMPAIGN_FILE)
        ),
    output:
        card_files(layout),
    log:
        "<logs>/report_card.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("build_report_card"),
    message:
        "Build the report card"
    shell:
        "python -m blimpworks build-report-card {output:q} --facts {input.facts:q} "
        "> {log:q} 2>&1"
