"""Sample items if the campaign sets a limit; else models are evaluated on all items."""

if CAMPAIGN.limit:

    rule limit_items:
        """Draw a sample of a language's items, balanced over paradigms."""
        input:
            "<results>/items/{benchmark}/{lang}.parquet",
        output:
            layout.items_table("{benchmark}", "{lang}"),
        log:
            "<logs>/limit_items/{benchmark}/{lang}.log",
        localrule: True
        conda:
            "../../envs/core.yaml"
        params:
            code=code_of("limit_items"),
            limit=CAMPAIGN.limit,
            unit=lambda w: find_benchmark(w.benchmark).unit,
        message:
            "Sample {wildcards.benchmark} in {wildcards.lang}: {params.limit} items at most"
        shell:
            "python -m blimpworks limit-items {input:q} --output {output:q} "
            "--limit {params.limit} --unit {params.unit} > {log:q} 2>&1"
