"""Multi-LMentry: prompts, dialogues to train on, verdicts, and answers before people."""

from blimpworks.papers.lmentry.exhibits.names import LANGUAGES as LMENTRY_LANGUAGES
from blimpworks.papers.lmentry.paper import (
    answer_packs,
    counted_resources,
    lender_packs,
    pack_file,
    resource_files,
)
from blimpworks.papers.lmentry.settings import LmentryOptions

LMENTRY = CAMPAIGN.section(LmentryOptions)
LMENTRY_TASKS = str(CAMPAIGN.folder("lmentry") / "tasks.yaml")
LMENTRY_RESOURCES = counted_resources(CAMPAIGN, CATALOGUE)
SHEETS = layout.item_languages("lmentry") if layout.models_of("lmentry") else []
TAUGHT = {
    model: layout.training.recipe_of(model)
    for model in layout.training.trained_by("instruct")
}
PRACTICE = {
    str(seed): settings_file(
        f"lmentry_practice_{seed}.yaml", {"variant": LMENTRY.variant, "seed": seed}
    )
    for seed in {recipe.practice_seed for recipe in TAUGHT.values()}
}


rule build_lmentry_items:
    """Prompts of all tasks in a language, drawn from its annotated resources."""
    input:
        resources=lambda w: list(map(str, resource_files(CAMPAIGN, CATALOGUE, w.lang))),
        pack=lambda w: str(pack_file(CAMPAIGN, w.lang)),
        declarations=LMENTRY_TASKS,
        settings=settings_file(
            "lmentry_items.yaml",
            LMENTRY.model_dump(include={"variant", "per_template", "seed"}),
        ),
    output:
        "<results>/items/lmentry/{lang}.parquet",
    log:
        "<logs>/build_items/lmentry/{lang}.log",
    benchmark:
        "<benchmarks>/build_items/lmentry/{lang}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_lmentry_items"),
    message:
        "Make Multi-LMentry's prompts in {wildcards.lang}"
    shell:
        "python -m blimpworks build-lmentry-items {input.resources:q} --pack {input.pack:q} "
        "--declarations {input.declarations:q} --output {output:q} "
        "--options {input.settings:q} > {log:q} 2>&1"


rule count_lmentry_prompts:
    """Prompts that the release's settings give each task, in the paper's nine languages."""
    input:
        packs=[str(pack_file(CAMPAIGN, lang)) for lang in LMENTRY_LANGUAGES],
        declarations=LMENTRY_TASKS,
        resources=[f"{RESOURCES}/sources/{row.name}" for row in LMENTRY_RESOURCES],
    output:
        "<results>/prompt_counts/lmentry.parquet",
    log:
        "<logs>/count_lmentry_prompts.log",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("count_lmentry_prompts"),
        resources=[
            f"--resources={row.lang}={RESOURCES}/sources/{row.name}"
            for row in LMENTRY_RESOURCES
        ],
    message:
        "Count Multi-LMentry's prompts by the settings of the release"
    shell:
        "python -m blimpworks count-lmentry-prompts {input.packs:q} "
        "--declarations {input.declarations:q} {params.resources:q} --output {output:q} "
        "> {log:q} 2>&1"


# Prompts of all tasks in a language, with other arguments than the benchmark's.
use rule build_lmentry_items as build_lmentry_practice with:
    input:
        resources=lambda w: list(map(str, resource_files(CAMPAIGN, CATALOGUE, w.lang))),
        pack=lambda w: str(pack_file(CAMPAIGN, w.lang)),
        declarations=LMENTRY_TASKS,
        settings=lambda w: PRACTICE[w.seed],
    output:
        "<results>/training/practice/lmentry/{seed}/{lang}.parquet",
    log:
        "<logs>/build_practice/lmentry/{seed}/{lang}.log",
    benchmark:
        "<benchmarks>/build_practice/lmentry/{seed}/{lang}.tsv"
    wildcard_constraints:
        seed=one_of(PRACTICE),
    message:
        "Draw other prompts of Multi-LMentry in {wildcards.lang} to practise on"


rule build_dialogues:
    """Dialogues of those prompts, without any that the benchmark has."""
    input:
        practice=lambda w: [
            f"{RESULTS}/training/practice/lmentry/{TAUGHT[w.model].practice_seed}/{lang}.parquet"
            for lang in layout.training.languages_of(w.scope, w.model)
        ],
        prompts=lambda w: [
            str(whole_items_table(CAMPAIGN, "lmentry", lang))
            for lang in layout.training.languages_of(w.scope, w.model)
        ],
        packs=lambda w: [
            str(pack_file(CAMPAIGN, lang))
            for lang in layout.training.languages_of(w.scope, w.model)
        ],
    output:
        "<results>/training/dialogues/{model}/{scope}.jsonl",
    log:
        "<logs>/build_dialogues/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/build_dialogues/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(TAUGHT),
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(4000),
    params:
        code=code_of("build_dialogues"),
        held_out=lambda w, input: [
            *repeated("items", input.prompts),
            *repeated("pack", input.packs),
        ],
        seed=lambda w: TAUGHT[w.model].practice_seed,
        most=lambda w: TAUGHT[w.model].per_template,
    message:
        "Make the dialogues that {wildcards.model} is trained on, {wildcards.scope}"
    shell:
        "python -m blimpworks build-dialogues {input.practice:q} {params.held_out:q} "
        "--seed {params.seed} --per-template {params.most} --output {output:q} > {log:q} 2>&1"


# A model that follows instructions, of these dialogues alone.
use rule train_network as train_instruct with:
    input:
        description="<results>/training/dialogues/{model}/{scope}.jsonl",
    log:
        "<logs>/train_instruct/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/train_instruct/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(TAUGHT),


rule judge_answers:
    """Verdicts on one model's answers, as a table for each language."""
    input:
        prompts=items_run,
        answers="<results>/answers/{benchmark}/{model}",
        packs=lambda w: answer_packs(CAMPAIGN, languages_run(w)),
        # Patterns of other languages that the release scores some of its tasks with.
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
        model=one_of(layout.parted),


rule annotation_sheet:
    """Answers of a language for people to judge, and the key that they don't see."""
    input:
        prompts=layout.items_table("{benchmark}", "{lang}"),
        answers=lambda w: layout.outputs_with(
            layout.evaluated_tables("answers", w.benchmark, only=w.lang)
        ),
        # Of the published prompts, some ask for another task than theirs.
        pack=lambda w: [
            str(pack_file(CAMPAIGN, lang))
            for lang in [w.lang]
            if LMENTRY.variant == "published"
        ],
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
        sheets=[str(path) for path in LMENTRY.annotations],
        hidden=lambda w: [
            f"{RESULTS}/annotation/{w.benchmark}/{lang}.key.parquet" for lang in SHEETS
        ],
        judgements=lambda w: layout.evaluations("judgements", w.benchmark),
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
        hidden=lambda w, input: repeated("key", input.hidden),
        root=lambda w: f"{RESULTS}/judgements/{w.benchmark}",
        models=lambda w: layout.evaluated(w.benchmark),
    message:
        "Compare the verdicts with people's"
    shell:
        "python -m blimpworks read-annotations {input.sheets:q} {params.hidden:q} "
        "--judgements {params.root:q} --models={params.models:q} --output {output:q} "
        "> {log:q} 2>&1"


rule compare_verdicts:
    """The published and the corrected verdicts on the same answers: what changes, and why."""
    input:
        prompts=lambda w: layout.items_tables(w.benchmark),
        answers=lambda w: layout.evaluations("answers", w.benchmark),
        judgements=lambda w: layout.evaluations("judgements", w.benchmark),
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
        models=lambda w: layout.evaluated(w.benchmark),
        root=lambda w: evaluated_root(),
    message:
        "Compare published with corrected verdicts"
    shell:
        "python -m blimpworks compare-verdicts {params.root:q} --models={params.models:q} "
        "--benchmark {wildcards.benchmark} --output {output:q} > {log:q} 2>&1"
