"""Compute accuracy on BLiMP by properties of pairs and by the amount of training text."""

from blimpworks.campaign.seeds import curves_of


rule bin_accuracies:
    """Compute accuracy by length, perplexity, probability and confidence of pairs."""
    input:
        scores=lambda w: layout.job_outputs("scores", w.benchmark),
        judgements=lambda w: layout.job_outputs("judgements", w.benchmark),
        pairs=lambda w: layout.items_tables(w.benchmark),
    output:
        "<results>/bins/{benchmark}.parquet",
    log:
        "<logs>/bin_accuracies/{benchmark}.log",
    benchmark:
        "<benchmarks>/bin_accuracies/{benchmark}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(4000),
    params:
        code=code_of("bin_accuracies"),
        root=lambda w: evaluated_root(),
        models=lambda w: layout.languages_by_model(w.benchmark),
        method=lambda w: layout.methods_of(w.benchmark)[0],
        bins=BLIMP.bins,
    message:
        "Bin the pairs of {wildcards.benchmark}"
    shell:
        "python -m blimpworks bin-accuracies {params.root:q} --models={params.models:q} "
        "--benchmark {wildcards.benchmark} --method {params.method} --bins {params.bins} "
        "--output {output:q} > {log:q} 2>&1"


rule fit_curves:
    """Fit accuracy on the logarithm of the number of training tokens."""
    input:
        accuracies="<results>/accuracies/{benchmark}.parquet",
        humans=lambda w: layout.tables(w.benchmark, "released"),
        curves=settings_file("blimp_curves.json", lambda: curves_of(CATALOGUE.seeds)),
    output:
        "<results>/regressions/{benchmark}/curves.parquet",
    log:
        "<logs>/fit_curves/{benchmark}.log",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("fit_curves"),
        method=lambda w: layout.methods_of(w.benchmark)[0],
        humans=lambda w, input: repeated("humans", input.humans),
    message:
        "Fit learning curves on {wildcards.benchmark}"
    shell:
        "python -m blimpworks fit-curves {input.accuracies:q} {params.humans:q} "
        "--curves={input.curves:q} --method {params.method} --output {output:q} > {log:q} 2>&1"
