"""Language models trained on the campaign's text; others are retrieved (retrieve.smk)."""


rule build_text:
    """Training text of one language, without the sentences that items are made from."""
    input:
        tokens=lambda w: layout.training.treebank_tables("tokens", w.lang),
        sentences=lambda w: layout.training.treebank_tables("sentences", w.lang),
        text=lambda w: layout.training.text_sources(w.lang),
        pairs=lambda w: layout.training.text_items(w.lang),
        language=lambda w: layout.training.spelling_pack(w.lang),
    output:
        "<results>/training/text/{lang}.txt",
    log:
        "<logs>/build_text/{lang}.log",
    benchmark:
        "<benchmarks>/build_text/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_text"),
        inputs=lambda w, input: text_arguments(input),
        options=CAMPAIGN.training.model_dump_json(
            include={"treebank_text", "max_sentences"}
        ),
    message:
        "Build the training text of {wildcards.lang}"
    shell:
        "python -m blimpworks build-text {params.inputs:q} --output {output:q} "
        "--options={params.options:q} > {log:q} 2>&1"


rule join_text:
    """Training text of several languages, for multilingual models."""
    input:
        layout.training.joined_texts(),
    output:
        "<results>/training/text/multi.txt",
    log:
        "<logs>/join_text/multi.log",
    benchmark:
        "<benchmarks>/join_text/multi.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(4000),
    params:
        code=code_of("join_text"),
    message:
        "Join the training texts of several languages"
    shell:
        "python -m blimpworks join-text {input:q} --output {output:q} > {log:q} 2>&1"


rule build_corpus:
    """Corpus of one language to train LSTMs on, or the paper's own as it is."""
    input:
        unpack(lambda w: layout.training.corpus_inputs(w.corpus, w.lang)),
    output:
        description="<results>/training/corpora/{corpus}/{lang}/corpus.json",
        files=expand(
            "<results>/training/corpora/{{corpus}}/{{lang}}/{part}.txt",
            part=CORPUS_PARTS,
        ),
    log:
        "<logs>/build_corpus/{corpus}/{lang}.log",
    benchmark:
        "<benchmarks>/build_corpus/{corpus}/{lang}.tsv"
    wildcard_constraints:
        corpus=one_of(CAMPAIGN.training.corpora),
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(4000, minutes=60),
    params:
        code=code_of("build_corpus"),
        inputs=lambda w, input: text_arguments(input),
        options=lambda w: options(
            CAMPAIGN.training.corpora[w.corpus].of_language(w.lang)
        ),
        treebank=(
            "--treebank-text"
            if CAMPAIGN.training.treebank_text
            else "--no-treebank-text"
        ),
    message:
        "Build the corpus {wildcards.corpus} of {wildcards.lang}"
    shell:
        "python -m blimpworks build-corpus {params.inputs:q} --lang {wildcards.lang} "
        "--options={params.options:q} {params.treebank} --output {output.description:q} "
        "> {log:q} 2>&1"


rule join_corpora:
    """Corpora of several languages in one, for multilingual LSTMs."""
    input:
        unpack(lambda w: layout.training.joined_corpora(w.corpus)),
    output:
        description="<results>/training/corpora/{corpus}/multi/corpus.json",
        files=expand(
            "<results>/training/corpora/{{corpus}}/multi/{part}.txt", part=CORPUS_PARTS
        ),
    log:
        "<logs>/join_corpora/{corpus}.log",
    benchmark:
        "<benchmarks>/join_corpora/{corpus}.tsv"
    wildcard_constraints:
        corpus=one_of(CAMPAIGN.training.corpora),
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(4000, minutes=60),
    params:
        code=code_of("join_corpora"),
    message:
        "Join the corpora {wildcards.corpus} of all languages"
    shell:
        "python -m blimpworks join-corpora {input.descriptions:q} "
        "--output {output.description:q} > {log:q} 2>&1"


rule sample_corpus:
    """Random sample of a corpus's training text, for models trained on less."""
    input:
        unpack(lambda w: layout.training.corpus_files(w.corpus, w.scope)),
    output:
        description="<results>/training/samples/{corpus}/{scope}/{tokens}-{number}/corpus.json",
        files=expand(
            "<results>/training/samples/{{corpus}}/{{scope}}/{{tokens}}-{{number}}/{part}.txt",
            part=CORPUS_PARTS,
        ),
    log:
        "<logs>/sample_corpus/{corpus}/{scope}/{tokens}-{number}.log",
    benchmark:
        "<benchmarks>/sample_corpus/{corpus}/{scope}/{tokens}-{number}.tsv"
    wildcard_constraints:
        corpus=one_of(CAMPAIGN.training.corpora),
        tokens=r"\d+",
        number=r"\d+",
    # A corpus that is too small is to be known before anything is trained.
    priority: 1
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(4000, minutes=60),
    params:
        code=code_of("sample_corpus"),
        seed=lambda w: CAMPAIGN.training.seed + int(w.number),
    message:
        "Draw sample {wildcards.number} of {wildcards.tokens} tokens from {wildcards.corpus} of {wildcards.scope}"
    shell:
        "python -m blimpworks sample-corpus {input.description:q} --tokens {wildcards.tokens} "
        "--seed {params.seed} --output {output.description:q} > {log:q} 2>&1"


rule train_ngram:
    """An n-gram model of one language."""
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
    """A transformer, masked model or encoder-decoder of one language or of several."""
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
    log:
        "<logs>/train_lstm/{model}/{scope}.log",
    benchmark:
        "<benchmarks>/train_lstm/{model}/{scope}.tsv"
    wildcard_constraints:
        model=one_of(layout.training.trained_by("lstm")),
    # A training that outlasts its job goes on from its snapshot in the next attempt: the
    # paper's multilingual LSTM takes dozens of the longest jobs that sites allow.
    retries: LSTM_RETRIES
    resources:
        **lstm_job(),


rule measure_perplexity:
    """Perplexity of an LSTM on the test text of a language."""
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
