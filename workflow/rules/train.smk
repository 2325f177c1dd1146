"""Train language models on the campaign's text; other models are retrieved (retrieve.smk)."""


rule train_ngram:
    """Train an n-gram model of one language."""
    input:
        "<results>/training/text/{scope}.txt",
    output:
        "<results>/models/{model}/{scope}/checkpoint.json",
    log:
        "<logs>/train_ngram/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/train_ngram/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(layout.training.trained_by("ngram")),
    retries: RETRIES
    conda:
        "../../envs/train.yaml"
    resources:
        **cpu_job(4000, minutes=240),
    params:
        code=code_of("train_ngram"),
        recipe_name=lambda w: CATALOGUE.models[w.model].recipe,
        recipe=lambda w: layout.training.recipe_json(w.model),
    message:
        "Train {wildcards.model} on {wildcards.scope}"
    shell:
        "python -m blimpworks train-ngram {input:q} --name {wildcards.model} --scope {wildcards.scope} "
        "--recipe-name={params.recipe_name:q} --recipe={params.recipe:q} --output {output:q} "
        "> {log:q} 2>&1"


rule train_network:
    """Train a transformer, masked model or encoder-decoder on one or several languages."""
    input:
        unpack(lambda w: layout.training.trained_on(w.model, w.scope)),
    output:
        "<results>/models/{model}/{scope}/checkpoint.json",
    log:
        "<logs>/train_network/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/train_network/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(
            layout.training.trained_by("transformer", "masked", "encoder-decoder")
        ),
    retries: RETRIES
    conda:
        "../../envs/train.yaml"
    resources:
        **cpu_job(4000, minutes=240),
    params:
        code=lambda w: code_of(training_command(w).replace("-", "_")),
        command=training_command,
        recipe_name=lambda w: CATALOGUE.models[w.model].recipe,
        recipe=lambda w: layout.training.recipe_json(w.model),
        seed=lambda w: layout.training.seed_of(w.model),
    message:
        "Train {wildcards.model} on {wildcards.scope}"
    shell:
        "python -m blimpworks {params.command} {input.description:q} --name {wildcards.model} "
        "--scope {wildcards.scope} --recipe-name={params.recipe_name:q} "
        "--recipe={params.recipe:q} --seed {params.seed} --output {output:q} > {log:q} 2>&1"


use rule train_network as train_lstm with:
    """Train an LSTM on one or several languages."""
    log:
        "<logs>/train_lstm/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/train_lstm/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(layout.training.trained_by("lstm")),
    # A training that takes longer than its job continues from its snapshot in the next attempt: the
    # paper's multilingual LSTM takes dozens of the longest jobs that sites allow.
    retries: LSTM_RETRIES
    resources:
        **lstm_job(),


rule measure_perplexity:
    """Measure the perplexity of an LSTM on the test text of a language."""
    input:
        unpack(lambda w: layout.training.measured_on(w.model, w.lang)),
        checkpoint=lambda w: layout.training.checkpoint_of(w.model, w.lang),
    output:
        "<results>/perplexities/{lang}/{model}.parquet",
    log:
        "<logs>/measure_perplexity/{lang}/{model}.log",
    benchmark:
        "<benchmarks>/measure_perplexity/{lang}/{model}.tsv"
    wildcard_constraints:
        model=one_of(layout.training.trained_by("lstm")),
    conda:
        "../../envs/train.yaml"
    resources:
        **lstm_job(),
    params:
        code=code_of("measure_perplexity"),
    message:
        "Measure the perplexity of {wildcards.model} on {wildcards.lang}"
    shell:
        "python -m blimpworks measure-perplexity {input.checkpoint:q} --corpus {input.description:q} "
        "--lang {wildcards.lang} --output {output:q} > {log:q} 2>&1"
