"""From accuracies, judgements and scores to tests and regressions."""

FREQUENCIES = frequency_tables()
MORPHOLOGY = [f"{RESULTS}/morphology/languages.parquet"] if available("wals") else []


rule build_frequencies:
    """How much text the web has of each language of the catalogue."""
    input:
        totals=f"<resources>/sources/{FREQUENCY_SOURCE}",
        languages=str(CAMPAIGN.catalogue.languages),
        codes=str(CAMPAIGN.catalogue.frequency_codes),
    output:
        "<results>/frequencies/languages.parquet",
    log:
        "<logs>/build_frequencies.log",
    benchmark:
        "<benchmarks>/build_frequencies.tsv"
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("build_frequencies"),
    message:
        "Rank languages by their text on the web"
    shell:
        "python -m blimpworks build-frequencies {input.totals:q} "
        "--languages {input.languages:q} --codes {input.codes:q} --output {output:q} "
        "> {log:q} 2>&1"


rule build_morphology:
    """How much morphology languages have, by their WALS features."""
    input:
        values="<resources>/sources/wals/raw/value.csv",
        elements="<resources>/sources/wals/raw/domainelement.csv",
        languages="<resources>/sources/wals/cldf/languages.csv",
    output:
        "<results>/morphology/languages.parquet",
    log:
        "<logs>/build_morphology.log",
    benchmark:
        "<benchmarks>/build_morphology.tsv"
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("build_morphology"),
    message:
        "Quantify the morphology of languages"
    shell:
        "python -m blimpworks build-morphology {input.values:q} --elements {input.elements:q} "
        "--languages {input.languages:q} --output {output:q} > {log:q} 2>&1"


rule compare_models:
    """McNemar's test between every two models on each language."""
    input:
        lambda w: evaluations("judgements", w.benchmark, models_of(w.benchmark)),
    output:
        "<results>/comparisons/{benchmark}.parquet",
    log:
        "<logs>/compare_models/{benchmark}.log",
    benchmark:
        "<benchmarks>/compare_models/{benchmark}.tsv"
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("compare_models"),
        root=f"{RESULTS}/judgements/{{benchmark}}",
        models=lambda w: evaluated(w.benchmark, models_of(w.benchmark)),
        method=lambda w: methods_of(w.benchmark)[0],
        options=stage(decisions=("mcnemar",)),
    message:
        "Compare models on {wildcards.benchmark}"
    shell:
        "python -m blimpworks compare-models {params.root:q} "
        "--models={params.models:q} "
        "--benchmark {wildcards.benchmark} --method {params.method} "
        "--options {params.options:q} --output {output:q} > {log:q} 2>&1"


rule fit_regressions:
    """Accuracy by models' size and tuning, and by languages' frequency."""
    input:
        accuracies=accuracies_of,
        frequencies=FREQUENCIES,
    output:
        table="<results>/regressions/{benchmark}/{source}.parquet",
        residuals="<results>/residuals/{benchmark}/{source}.parquet",
    log:
        "<logs>/fit_regressions/{benchmark}/{source}.log",
    benchmark:
        "<benchmarks>/fit_regressions/{benchmark}/{source}.tsv"
    wildcard_constraints:
        source="measured|printed",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("fit_regressions"),
        models=lambda w: json.dumps(regression_models(w)),
        method=method_of,
        frequencies=[f"--frequencies={path}" for path in FREQUENCIES],
    message:
        "Fit accuracies on {wildcards.benchmark} ({wildcards.source})"
    shell:
        "python -m blimpworks fit-regressions {input.accuracies:q} {params.frequencies:q} "
        "--models {params.models:q} --method {params.method} --output {output.table:q} "
        "--residuals {output.residuals:q} > {log:q} 2>&1"


rule fit_margins:
    """Margins of single pairs by properties of the pairs."""
    input:
        scores=lambda w: evaluations(
            "scores", w.benchmark, margin_models(CAMPAIGN, CATALOGUE)
        ),
        pairs=lambda w: items_tables(w.benchmark),
        frequencies=FREQUENCIES,
    output:
        "<results>/regressions/{benchmark}/margins.parquet",
    log:
        "<logs>/fit_margins/{benchmark}.log",
    benchmark:
        "<benchmarks>/fit_margins/{benchmark}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(16000, minutes=120),
    params:
        code=code_of("fit_margins"),
        root=f"{RESULTS}/scores/{{benchmark}}",
        pairs=f"{RESULTS}/items/{{benchmark}}",
        models=lambda w: evaluated(w.benchmark, margin_models(CAMPAIGN, CATALOGUE)),
        frequencies=[f"--frequencies={path}" for path in FREQUENCIES],
    message:
        "Fit margins on {wildcards.benchmark}"
    shell:
        "python -m blimpworks fit-margins {params.root:q} "
        "--items {params.pairs:q} "
        "--models={params.models:q} {params.frequencies:q} --benchmark {wildcards.benchmark} --output {output:q} "
        "> {log:q} 2>&1"


rule bin_accuracies:
    """Accuracy by length, perplexity, probability and confidence of single pairs."""
    input:
        scores=lambda w: evaluations("scores", w.benchmark, models_of(w.benchmark)),
        judgements=lambda w: evaluations(
            "judgements", w.benchmark, models_of(w.benchmark)
        ),
        pairs=lambda w: items_tables(w.benchmark),
    output:
        "<results>/bins/{benchmark}.parquet",
    log:
        "<logs>/bin_accuracies/{benchmark}.log",
    benchmark:
        "<benchmarks>/bin_accuracies/{benchmark}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(4000),
    params:
        code=code_of("bin_accuracies"),
        root=lambda w: RESULTS,
        models=lambda w: evaluated(w.benchmark, models_of(w.benchmark)),
        method=lambda w: methods_of(w.benchmark)[0],
        bins=lambda w: JUDGING[w.benchmark].bins,
    message:
        "Bin the pairs of {wildcards.benchmark}"
    shell:
        "python -m blimpworks bin-accuracies {params.root:q} --models={params.models:q} "
        "--benchmark {wildcards.benchmark} --method {params.method} --bins {params.bins} "
        "--output {output:q} > {log:q} 2>&1"


rule fit_curves:
    """Accuracy by the logarithm of the training text."""
    input:
        accuracies="<results>/accuracies/{benchmark}.parquet",
        humans=lambda w: released_tables(w.benchmark),
    output:
        "<results>/regressions/{benchmark}/curves.parquet",
    log:
        "<logs>/fit_curves/{benchmark}.log",
    benchmark:
        "<benchmarks>/fit_curves/{benchmark}.tsv"
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("fit_curves"),
        curves=lambda w: json.dumps(curves_of(CATALOGUE.seeds)),
        method=lambda w: methods_of(w.benchmark)[0],
        humans=lambda w: [f"--humans={path}" for path in released_tables(w.benchmark)],
    message:
        "Fit learning curves on {wildcards.benchmark}"
    shell:
        "python -m blimpworks fit-curves {input.accuracies:q} {params.humans:q} "
        "--curves={params.curves:q} --method {params.method} --output {output:q} > {log:q} 2>&1"
