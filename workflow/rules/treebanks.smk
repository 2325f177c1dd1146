"""Treebanks to columns, and the lexicon of a language."""


rule build_tokens:
    """CoNLL-U files of one language to its token and sentence tables."""
    input:
        lambda w: usable(CATALOGUE.treebanks[w.lang]),
    output:
        tokens="<resources>/tokens/{lang}.parquet",
        sentences="<resources>/sentences/{lang}.parquet",
        malformed="<resources>/tokens/{lang}.malformed.tsv",
    log:
        "<logs>/build_tokens/{lang}.log",
    benchmark:
        "<benchmarks>/build_tokens/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_tokens"),
        options=CAMPAIGN.treebanks.model_dump_json(include={"reader", "malformed"}),
    message:
        "Read the treebanks of {wildcards.lang}"
    shell:
        "python -m blimpworks build-tokens {input:q} --tokens {output.tokens:q} "
        "--sentences {output.sentences:q} --malformed {output.malformed:q} "
        "--options {params.options:q} > {log:q} 2>&1"


rule build_lexicon:
    """UniMorph and the treebanks' own words to the lexicon of one language."""
    input:
        tokens="<resources>/tokens/{lang}.parquet",
        unimorph=unimorph_tables,
    output:
        "<results>/lexicon/{lang}.parquet",
    log:
        "<logs>/build_lexicon/{lang}.log",
    benchmark:
        "<benchmarks>/build_lexicon/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_lexicon"),
        options=stage(
            "lexicon",
            decisions=(
                "marked_sentences",
                "rare_readings",
                "first_entry",
                "missing_words",
                "scripts",
            ),
        ),
        special=special,
    message:
        "Build the lexicon of {wildcards.lang}"
    shell:
        "python -m blimpworks build-lexicon {input.unimorph:q} --tokens {input.tokens:q} "
        "--output {output:q} --lang {wildcards.lang} --special={params.special:q} "
        "--options {params.options:q} > {log:q} 2>&1"
