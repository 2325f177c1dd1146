"""MultiBLiMP: candidates, agreement statistics, pairs, sampling."""


rule find_candidates:
    """Subjects and verbs of the treebanks that could agree."""
    input:
        "<resources>/tokens/{lang}.parquet",
    output:
        table="<results>/candidates/multiblimp/{lang}.parquet",
        funnel="<results>/funnel/multiblimp/candidates/{lang}.parquet",
    log:
        "<logs>/find_candidates/multiblimp/{lang}.log",
    benchmark:
        "<benchmarks>/find_candidates/multiblimp/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("find_candidates"),
        options=stage(
            decisions=(
                "finiteness",
                "first_word_auxiliary",
                "attractor_window",
                "marked_sentences",
                "scripts",
            )
        ),
        special=special,
        treebanks=CAMPAIGN.treebanks.model_dump_json(include={"max_words"}),
    message:
        "Find agreement candidates of {wildcards.lang}"
    shell:
        "python -m blimpworks find-candidates --tokens {input:q} --output {output.table:q} "
        "--funnel {output.funnel:q} --lang {wildcards.lang} "
        "--special={params.special:q} --options {params.options:q} "
        "--treebanks {params.treebanks:q} > {log:q} 2>&1"


rule measure_agreement:
    """Agreement counts of a language and their binomial tests."""
    input:
        candidates="<results>/candidates/multiblimp/{lang}.parquet",
        lexicon="<results>/lexicon/{lang}.parquet",
    output:
        table="<results>/agreement/multiblimp/{lang}.parquet",
        counts="<results>/agreement_counts/multiblimp/{lang}.parquet",
    log:
        "<logs>/measure_agreement/multiblimp/{lang}.log",
    benchmark:
        "<benchmarks>/measure_agreement/multiblimp/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("measure_agreement"),
        options=stage(
            "phenomena",
            "agreement",
            decisions=(
                "agreement_evidence",
                "verb_types",
                "bonferroni",
                "labels",
                "letter_case",
            ),
        ),
    message:
        "Measure agreement in {wildcards.lang}"
    shell:
        "python -m blimpworks measure-agreement --candidates {input.candidates:q} "
        "--lexicon {input.lexicon:q} --output {output.table:q} --counts {output.counts:q} "
        "--lang {wildcards.lang} --options {params.options:q} "
        "> {log:q} 2>&1"


rule build_pairs:
    """Every minimal pair of a language that passes the checks."""
    input:
        candidates="<results>/candidates/multiblimp/{lang}.parquet",
        lexicon="<results>/lexicon/{lang}.parquet",
        agreement="<results>/agreement/multiblimp/{lang}.parquet",
        tokens="<resources>/tokens/{lang}.parquet",
        sentences="<resources>/sentences/{lang}.parquet",
    output:
        table="<results>/items/multiblimp/all/{lang}.parquet",
        funnel="<results>/funnel/multiblimp/pairs/{lang}.parquet",
    log:
        "<logs>/build_pairs/multiblimp/{lang}.log",
    benchmark:
        "<benchmarks>/build_pairs/multiblimp/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_pairs"),
        options=stage(
            "phenomena",
            decisions=(
                "contractions",
                "copied_features",
                "letter_case",
                "capitals",
                "scripts",
            ),
        ),
        special=special,
    message:
        "Build minimal pairs of {wildcards.lang}"
    shell:
        "python -m blimpworks build-pairs --candidates {input.candidates:q} "
        "--lexicon {input.lexicon:q} --agreement {input.agreement:q} "
        "--tokens {input.tokens:q} --sentences {input.sentences:q} "
        "--output {output.table:q} --funnel {output.funnel:q} --lang {wildcards.lang} "
        "--special={params.special:q} --options {params.options:q} > {log:q} 2>&1"


rule sample_items:
    """The balanced sample of a language's pairs."""
    input:
        "<results>/items/multiblimp/all/{lang}.parquet",
    output:
        table="<results>/items/multiblimp/{lang}.parquet",
        funnel="<results>/funnel/multiblimp/sampling/{lang}.parquet",
    log:
        "<logs>/sample_items/multiblimp/{lang}.log",
    benchmark:
        "<benchmarks>/sample_items/multiblimp/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("sample_items"),
        options=stage(
            "sampling", decisions=("lost_statistics", "balance", "memberships")
        ),
        untested=lambda w: ",".join(CATALOGUE.languages[w.lang].untested),
    message:
        "Sample items of {wildcards.lang}"
    shell:
        "python -m blimpworks sample-items --pairs {input:q} --output {output.table:q} "
        "--funnel {output.funnel:q} --lang {wildcards.lang} "
        "--untested={params.untested:q} --options {params.options:q} > {log:q} 2>&1"
