"""Language models trained on the campaign's text; others are retrieved (retrieve.smk)."""


rule build_text:
    """Training text of one language, without the sentences that items are made from."""
    input:
        tokens="<resources>/tokens/{lang}.parquet",
        sentences="<resources>/sentences/{lang}.parquet",
        text=text_sources,
        pairs=text_pairs,
    output:
        "<resources>/text/{lang}.txt",
    log:
        "<logs>/build_text/{lang}.log",
    benchmark:
        "<benchmarks>/build_text/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=verb_code("build_text"),
        inputs=text_arguments,
        options=CAMPAIGN.training.model_dump_json(
            include={"treebank_text", "max_sentences"}
        ),
    message:
        "Build the training text of {wildcards.lang}"
    shell:
        "python -m blimpworks build-text {params.inputs:q} --output {output:q} "
        "--options={params.options:q} > {log:q} 2>&1"


rule train_ngram:
    """An n-gram model of one language."""
    input:
        "<resources>/text/{scope}.txt",
    output:
        "<resources>/models/{model}/{scope}/checkpoint.json",
    log:
        "<logs>/train_ngram/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/train_ngram/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(trained_by("ngram")),
    conda:
        "../../envs/train.yaml"
    resources:
        **cpu_job(4000, minutes=240),
    params:
        code=verb_code("train_ngram"),
        recipe_name=lambda w: CATALOGUE.models[w.model].recipe,
        recipe=recipe_of,
    message:
        "Train {wildcards.model} on {wildcards.scope}"
    shell:
        "python -m blimpworks train-ngram {input:q} --name {wildcards.model} --scope {wildcards.scope} "
        "--recipe-name={params.recipe_name:q} --recipe={params.recipe:q} --output {output:q} "
        "> {log:q} 2>&1"


for kind in ("transformer", "masked", "encoder-decoder", "lstm"):
    verb = f"train_{kind.replace('-', '_')}"

    rule:
        name:
            verb
        input:
            "<resources>/text/{scope}.txt",
        output:
            "<resources>/models/{model}/{scope}/checkpoint.json",
        log:
            f"<logs>/{verb}/{{model}}/{{scope}}.log",
        benchmark:
            f"<benchmarks>/{verb}/{{model}}/{{scope}}.tsv"
        wildcard_constraints:
            model=one_of(trained_by(kind)),
        conda:
            "../../envs/train.yaml"
        resources:
            **cpu_job(4000, minutes=240),
        params:
            code=verb_code(verb),
            command=f"train-{kind}",
            recipe_name=lambda w: CATALOGUE.models[w.model].recipe,
            recipe=recipe_of,
            seed=lambda w: seed_of(w.model),
        message:
            "Train {wildcards.model} on {wildcards.scope}"
        shell:
            "python -m blimpworks {params.command} {input:q} --name {wildcards.model} "
            "--scope {wildcards.scope} --recipe-name={params.recipe_name:q} "
            "--recipe={params.recipe:q} --seed {params.seed} --output {output:q} > {log:q} 2>&1"
