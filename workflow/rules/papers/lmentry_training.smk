"""Train models to answer (recipes of the kind `instruct`) on prompts like Multi-LMentry's."""

INSTRUCT_RECIPES = {
    model: layout.training.recipe_of(model)
    for model in layout.training.trained_by("instruct")
}
PRACTICE = {
    str(seed): settings_file(
        f"lmentry_practice_{seed}.yaml", {"variant": LMENTRY.variant, "seed": seed}
    )
    for seed in {recipe.practice_seed for recipe in INSTRUCT_RECIPES.values()}
}


use rule build_lmentry_items as build_lmentry_practice with:
    """Draw prompts of all tasks in a language, with other arguments than the benchmark's."""
    input:
        resources=lambda w: resource_files(CAMPAIGN, CATALOGUE, w.lang),
        pack=lambda w: pack_file(CAMPAIGN, w.lang),
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
        "Draw training prompts of Multi-LMentry in {wildcards.lang}"


rule build_dialogues:
    """Make dialogues of these prompts and right answers, without prompts of the benchmark."""
    input:
        practice=lambda w: [
            f"<results>/training/practice/lmentry/{INSTRUCT_RECIPES[w.model].practice_seed}/{lang}.parquet"
            for lang in layout.training.languages_of(w.scope, w.model)
        ],
        prompts=lambda w: [
            whole_items_table(CAMPAIGN, "lmentry", lang)
            for lang in layout.training.languages_of(w.scope, w.model)
        ],
        packs=lambda w: [
            pack_file(CAMPAIGN, lang)
            for lang in layout.training.languages_of(w.scope, w.model)
        ],
    output:
        "<results>/training/dialogues/{model}/{scope}.jsonl",
    log:
        "<logs>/build_dialogues/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/build_dialogues/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(INSTRUCT_RECIPES),
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
        seed=lambda w: INSTRUCT_RECIPES[w.model].practice_seed,
        most=lambda w: INSTRUCT_RECIPES[w.model].per_template,
    message:
        "Make the dialogues for training {wildcards.model} on {wildcards.scope}"
    shell:
        "python -m blimpworks build-dialogues {input.practice:q} {params.held_out:q} "
        "--seed {params.seed} --per-template {params.most} --output {output:q} > {log:q} 2>&1"


use rule train_network as train_instruct with:
    """Train a model on these dialogues alone."""
    input:
        description="<results>/training/dialogues/{model}/{scope}.jsonl",
    log:
        "<logs>/train_instruct/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/train_instruct/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(INSTRUCT_RECIPES),
