"""Judge answers to Multi-LMentry's prompts, by rules and by annotators.

Multi-LMentry's exhibits read the verdicts and the agreement. Annotators fill in the sheets.
"""

from blimpworks.papers.lmentry.paper import answer_packs, lender_packs

SHEETS = layout.item_languages("lmentry") if layout.models_of("lmentry") else []


rule judge_answers:
    """Judge one model's answers, with a table for each language."""
    input:
        prompts=items_run,
        answers="<results>/answers/{benchmark}/{model}",
        packs=lambda w: answer_packs(CAMPAIGN, languages_run(w)),
        # Packs of other languages, whose patterns the release uses for some tasks.
        lenders=lambda w: lender_packs(CAMPAIGN, languages_run(w)),
    output:
        directory("<results>/judgements/{benchmark}/{model}"),
    log:
        "<logs>/judge/{benchmark}/{model}.log",
    benchmark:
        "<benchmarks>/judge/{benchmark}/{model}.tsv"
    wildcard_constraints:
        benchmark=one_of(of_unit("prompt")),
        model=one_of(WITH_ONE_JOB),
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(2000, minutes=60),
    params:
        code=code_of("judge_answers"),
        tables=lambda w, input, output: [
            *repeated("items", input.prompts),
            *repeated("answers", by_language(w, input.answers)),
            *repeated("pack", input.packs),
            *repeated("output", by_language(w, output[0])),
        ],
        variant=LMENTRY.variant,
    message:
        "Judge answers of {wildcards.model} to {wildcards.benchmark}"
    shell:
        "python -m blimpworks judge-answers {params.tables:q} "
        "--variant {params.variant} > {log:q} 2>&1"


use rule judge_answers as judge_answers_of_language with:
    """Judge answers in one language, of a model that has a job for each language."""
    input:
        prompts=items_run,
        answers="<results>/answers/{benchmark}/{model}/{lang}.parquet",
        packs=lambda w: answer_packs(CAMPAIGN, languages_run(w)),
        lenders=lambda w: lender_packs(CAMPAIGN, languages_run(w)),
    output:
        "<results>/judgements/{benchmark}/{model}/{lang}.parquet",
    log:
        "<logs>/judge/{benchmark}/{model}/{lang}.log",
    benchmark:
        "<benchmarks>/judge/{benchmark}/{model}/{lang}.tsv"
    wildcard_constraints:
        benchmark=one_of(of_unit("prompt")),
        model=one_of(layout.models_with_job_per_language),


rule annotation_sheet:
    """Draw answers in a language for annotators, with the key that they do not see."""
    input:
        prompts=layout.items_table("{benchmark}", "{lang}"),
        answers=lambda w: layout.outputs_with(
            layout.evaluated_tables("answers", w.benchmark, only=w.lang)
        ),
        # The pack marks published prompts whose wording asks for another task, for a note.
        pack=branch(
            LMENTRY.variant == "published",
            then=lambda w: [pack_file(CAMPAIGN, w.lang)],
        ),
    output:
        sheet="<results>/annotation/{benchmark}/{lang}.csv",
        key="<results>/annotation/{benchmark}/{lang}.key.parquet",
    log:
        "<logs>/annotation_sheet/{benchmark}/{lang}.log",
    wildcard_constraints:
        benchmark="lmentry",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("annotation_sheet"),
        answers=lambda w: repeated(
            "answers", layout.evaluated_tables("answers", w.benchmark, only=w.lang)
        ),
        options=options(LMENTRY.sheet),
        pack=lambda w, input: repeated("pack", input.pack),
    message:
        "Draw answers in {wildcards.lang} for annotators"
    shell:
        "python -m blimpworks annotation-sheet {wildcards.lang} --prompts {input.prompts:q} "
        "{params.answers:q} {params.pack:q} --sheet {output.sheet:q} --key {output.key:q} "
        "--options {params.options:q} > {log:q} 2>&1"


rule annotation_sheets:
    """Draw sheets of answers in all languages."""
    input:
        [f"<results>/annotation/lmentry/{lang}.csv" for lang in SHEETS],


rule read_annotations:
    """Compute the agreement of annotators with the verdicts and with each other."""
    input:
        sheets=LMENTRY.annotations,
        key_tables=[
            f"<results>/annotation/{{benchmark}}/{lang}.key.parquet" for lang in SHEETS
        ],
        judgements=lambda w: layout.job_outputs("judgements", w.benchmark),
    output:
        "<results>/annotation_agreement/{benchmark}.parquet",
    log:
        "<logs>/read_annotations/{benchmark}.log",
    wildcard_constraints:
        benchmark="lmentry",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("read_annotations"),
        key_tables=lambda w, input: repeated("key", input.key_tables),
        root=f"{RESULTS}/judgements/{{benchmark}}",
        models=lambda w: layout.languages_by_model(w.benchmark),
    message:
        "Compare verdicts with annotators"
    shell:
        "python -m blimpworks read-annotations {input.sheets:q} {params.key_tables:q} "
        "--judgements {params.root:q} --models={params.models:q} --output {output:q} "
        "> {log:q} 2>&1"


rule compare_verdicts:
    """Compare published with corrected verdicts on the same answers, with reasons."""
    input:
        prompts=lambda w: layout.items_tables(w.benchmark),
        answers=lambda w: layout.job_outputs("answers", w.benchmark),
        judgements=lambda w: layout.job_outputs("judgements", w.benchmark),
    output:
        "<results>/verdicts/{benchmark}.parquet",
    log:
        "<logs>/compare_verdicts/{benchmark}.log",
    wildcard_constraints:
        benchmark="lmentry",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("compare_verdicts"),
        models=lambda w: layout.languages_by_model(w.benchmark),
        root=lambda w: evaluated_root(),
    message:
        "Compare published with corrected verdicts"
    shell:
        "python -m blimpworks compare-verdicts {params.root:q} --models={params.models:q} "
        "--benchmark {wildcards.benchmark} --output {output:q} > {log:q} 2>&1"
