"""Build training text for language models."""


rule build_text:
    """Build the training text of one language, without the sentences of items."""
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
    """Join the training texts of several languages, for multilingual models."""
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
    """Build a corpus of one language for LSTMs, or copy the paper's corpus."""
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
    """Join the corpora of several languages, for multilingual LSTMs."""
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
    """Draw a random sample of a corpus's training text, for models trained on less text."""
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
    # First, because this job fails if the corpus is too small, before anything is trained.
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
