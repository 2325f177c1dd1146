"""A small model that follows instructions, trained on prompts with other arguments."""

TAUGHT = {
    model: CAMPAIGN.training.recipes[CATALOGUE.models[model].recipe]
    for model in trained_by("instruct")
}


rule build_lmentry_practice:
    """Prompts of all tasks in a language, with other arguments than the benchmark's."""
    input:
        resources=lambda w: list(
            map(str, lmentry_sets.resource_files(CAMPAIGN, CATALOGUE, w.lang))
        ),
        pack=lambda w: str(pack_file(CAMPAIGN, w.lang)),
        declarations=str(lmentry_sets.declarations_file(CAMPAIGN)),
    output:
        "<resources>/practice/lmentry/{seed}/{lang}.parquet",
    log:
        "<logs>/build_practice/lmentry/{seed}/{lang}.log",
    benchmark:
        "<benchmarks>/build_practice/lmentry/{seed}/{lang}.tsv"
    wildcard_constraints:
        seed=one_of({str(recipe.practice_seed) for recipe in TAUGHT.values()}),
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_lmentry_items"),
        options=lambda w: json.dumps(
            {"variant": CAMPAIGN.lmentry.variant, "seed": int(w.seed)}
        ),
    message:
        "Draw other prompts of Multi-LMentry in {wildcards.lang} to practise on"
    shell:
        "python -m blimpworks build-lmentry-items {input.resources:q} --pack {input.pack:q} "
        "--declarations {input.declarations:q} --output {output:q} "
        "--options {params.options:q} > {log:q} 2>&1"


rule build_dialogues:
    """Dialogues of those prompts, without any that the benchmark has."""
    input:
        practice=lambda w: [
            f"{RESOURCES}/practice/lmentry/{TAUGHT[w.model].practice_seed}/{lang}.parquet"
            for lang in languages_of(w.scope, w.model)
        ],
        asked=lambda w: [
            str(parts.items_table(CAMPAIGN, "lmentry", lang))
            for lang in languages_of(w.scope, w.model)
        ],
        packs=lambda w: [
            str(pack_file(CAMPAIGN, lang)) for lang in languages_of(w.scope, w.model)
        ],
    output:
        "<resources>/dialogues/{model}/{scope}.jsonl",
    log:
        "<logs>/build_dialogues/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/build_dialogues/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(TAUGHT),
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(4000),
    params:
        code=code_of("build_dialogues"),
        held_out=lambda w, input: [
            *repeated("items", input.asked),
            *repeated("pack", input.packs),
        ],
        seed=lambda w: TAUGHT[w.model].practice_seed,
        most=lambda w: TAUGHT[w.model].per_template,
    message:
        "Make the dialogues that {wildcards.model} is trained on, {wildcards.scope}"
    shell:
        "python -m blimpworks build-dialogues {input.practice:q} {params.held_out:q} "
        "--seed {params.seed} --per-template {params.most} --output {output:q} > {log:q} 2>&1"


rule train_instruct:
    """A model that follows instructions, of these dialogues alone."""
    input:
        "<resources>/dialogues/{model}/{scope}.jsonl",
    output:
        "<resources>/models/{model}/{scope}/checkpoint.json",
    log:
        "<logs>/train_instruct/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/train_instruct/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(TAUGHT),
    conda:
        "../../envs/train.yaml"
    resources:
        **train_job("instruct"),
    params:
        code=code_of("train_instruct"),
        recipe_name=lambda w: CATALOGUE.models[w.model].recipe,
        recipe=recipe_of,
        seed=lambda w: seed_of(w.model),
    message:
        "Train {wildcards.model} on {wildcards.scope}"
    shell:
        "python -m blimpworks train-instruct {input:q} --name {wildcards.model} "
        "--scope {wildcards.scope} --recipe-name={params.recipe_name:q} "
        "--recipe={params.recipe:q} --seed {params.seed} --output {output:q} > {log:q} 2>&1"
