"""Multi-LMentry's answers before people: sheets to fill in, and how far verdicts agree."""

SHEETS = item_languages("lmentry") if models_of("lmentry") else []


rule annotation_sheet:
    """Answers of a language for people to judge, and the key that they don't see."""
    input:
        prompts="<results>/items/{benchmark}/{lang}.parquet",
        answers=lambda w: [
            f"{RESULTS}/answers/{w.benchmark}/{w.lang}/{model}.parquet"
            for model in models_of(w.benchmark)
            if w.lang in covered_by(model, w.benchmark)
        ],
        # Of the published prompts, some ask for another task than theirs.
        pack=lambda w: [
            str(lmentry_sets.pack_file(CAMPAIGN, lang))
            for lang in [w.lang]
            if CAMPAIGN.lmentry.variant == "published"
        ],
    output:
        sheet="<results>/annotation/{benchmark}/{lang}.csv",
        key="<results>/annotation/{benchmark}/{lang}.key.parquet",
    log:
        "<logs>/annotation_sheet/{benchmark}/{lang}.log",
    benchmark:
        "<benchmarks>/annotation_sheet/{benchmark}/{lang}.tsv"
    wildcard_constraints:
        benchmark="lmentry",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("annotation_sheet"),
        answers=lambda w, input: repeated("answers", input.answers),
        options=options(CAMPAIGN.lmentry.sheet),
        pack=lambda w, input: repeated("pack", input.pack),
    message:
        "Draw answers in {wildcards.lang} for people to judge"
    shell:
        "python -m blimpworks annotation-sheet {wildcards.lang} --prompts {input.prompts:q} "
        "{params.answers:q} {params.pack:q} --sheet {output.sheet:q} --key {output.key:q} "
        "--options {params.options:q} > {log:q} 2>&1"


rule annotation_sheets:
    """The sheets of all languages."""
    input:
        [f"{RESULTS}/annotation/lmentry/{lang}.csv" for lang in SHEETS],
    localrule: True


rule read_annotations:
    """Agreement of the verdicts with filled sheets, and of annotators with each other."""
    input:
        sheets=[str(path) for path in CAMPAIGN.lmentry.annotations],
        hidden=lambda w: [
            f"{RESULTS}/annotation/{w.benchmark}/{lang}.key.parquet" for lang in SHEETS
        ],
        judgements=lambda w: evaluations(
            "judgements", w.benchmark, models_of(w.benchmark)
        ),
    output:
        "<results>/annotation_agreement/{benchmark}.parquet",
    log:
        "<logs>/read_annotations/{benchmark}.log",
    benchmark:
        "<benchmarks>/read_annotations/{benchmark}.tsv"
    wildcard_constraints:
        benchmark="lmentry",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("read_annotations"),
        hidden=lambda w, input: repeated("key", input.hidden),
        root=lambda w: f"{RESULTS}/judgements/{w.benchmark}",
        models=lambda w: evaluated(w.benchmark, models_of(w.benchmark)),
    message:
        "Compare the verdicts with people's"
    shell:
        "python -m blimpworks read-annotations {input.sheets:q} {params.hidden:q} "
        "--judgements {params.root:q} --models={params.models:q} --output {output:q} "
        "> {log:q} 2>&1"


rule compare_verdicts:
    """The published and the corrected verdicts on the same answers: what changes, and why."""
    input:
        prompts=lambda w: items_tables(w.benchmark),
        answers=lambda w: evaluations("answers", w.benchmark, models_of(w.benchmark)),
        judgements=lambda w: evaluations(
            "judgements", w.benchmark, models_of(w.benchmark)
        ),
    output:
        "<results>/verdicts/{benchmark}.parquet",
    log:
        "<logs>/compare_verdicts/{benchmark}.log",
    benchmark:
        "<benchmarks>/compare_verdicts/{benchmark}.tsv"
    wildcard_constraints:
        benchmark="lmentry",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=code_of("compare_verdicts"),
        models=lambda w: evaluated(w.benchmark, models_of(w.benchmark)),
        root=lambda w: RESULTS,
    message:
        "Compare published with corrected verdicts"
    shell:
        "python -m blimpworks compare-verdicts {params.root:q} --models={params.models:q} "
        "--benchmark {wildcards.benchmark} --output {output:q} > {log:q} 2>&1"
