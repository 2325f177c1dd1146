"""MultiBLiMP: released items, or candidates, agreement statistics, pairs, sampling; analyses."""

from blimpworks.papers.multiblimp.exhibits.facts import margin_models, model_facts
from blimpworks.papers.multiblimp.items.release import (
    is_released,
    pinned_arguments,
    released_file,
    stage,
)
from blimpworks.papers.multiblimp.paper import FREQUENCIES as FREQUENCY_KIND
from blimpworks.papers.multiblimp.paper import TABLES

FREQUENCIES = TABLES["frequencies"].of(layout, "multiblimp")


include: "multiblimp_steps.smk"


rule build_lexicon:
    """UniMorph and the treebanks' own words to the lexicon of one language."""
    input:
        tokens="<results>/tokens/{lang}.parquet",
        unimorph=unimorph_tables,
    output:
        "<results>/lexicon/{lang}.parquet",
    log:
        "<logs>/build_lexicon/{lang}.log",
    benchmark:
        "<benchmarks>/build_lexicon/{lang}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_lexicon"),
        options=LEXICON_OPTIONS,
        special=special_spelling,
    message:
        "Build the lexicon of {wildcards.lang}"
    shell:
        "python -m blimpworks build-lexicon {input.unimorph:q} --tokens {input.tokens:q} "
        "--output {output:q} --lang {wildcards.lang} --special={params.special:q} "
        "--options {params.options:q} > {log:q} 2>&1"


if is_released(CAMPAIGN):

    rule build_released_items:
        """A language's released pairs, checked row by row."""
        input:
            lambda w: str(released_file(CAMPAIGN, CATALOGUE, w.lang)),
        output:
            "<results>/items/multiblimp/{lang}.parquet",
        log:
            "<logs>/build_items/multiblimp/{lang}.log",
        benchmark:
            "<benchmarks>/build_items/multiblimp/{lang}.tsv"
        conda:
            "../../../envs/core.yaml"
        resources:
            **cpu_job(2000),
        params:
            code=code_of("build_released_items"),
            options=stage(CAMPAIGN, "phenomena"),
            pinned=lambda w: pinned_arguments(CAMPAIGN, CATALOGUE, w.lang),
        message:
            "Read the released items of {wildcards.lang}"
        shell:
            "python -m blimpworks build-released-items {input:q} --output {output:q} "
            "--lang {wildcards.lang} --options {params.options:q} {params.pinned:q} > {log:q} 2>&1"

else:

    rule find_candidates:
        """Subjects and verbs of the treebanks that could agree."""
        input:
            "<results>/tokens/{lang}.parquet",
        output:
            table="<results>/candidates/multiblimp/{lang}.parquet",
            funnel="<results>/funnel/multiblimp/candidates/{lang}.parquet",
        log:
            "<logs>/find_candidates/multiblimp/{lang}.log",
        benchmark:
            "<benchmarks>/find_candidates/multiblimp/{lang}.tsv"
        conda:
            "../../../envs/core.yaml"
        resources:
            **cpu_job(2000),
        params:
            code=code_of("find_candidates"),
            options=CANDIDATE_OPTIONS,
            special=special_spelling,
            treebanks=LONGEST_SENTENCE,
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
            "../../../envs/core.yaml"
        resources:
            **cpu_job(2000),
        params:
            code=code_of("measure_agreement"),
            options=AGREEMENT_OPTIONS,
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
            tokens="<results>/tokens/{lang}.parquet",
            sentences="<results>/sentences/{lang}.parquet",
        output:
            table="<results>/items/multiblimp/all/{lang}.parquet",
            funnel="<results>/funnel/multiblimp/pairs/{lang}.parquet",
        log:
            "<logs>/build_pairs/multiblimp/{lang}.log",
        benchmark:
            "<benchmarks>/build_pairs/multiblimp/{lang}.tsv"
        conda:
            "../../../envs/core.yaml"
        resources:
            **cpu_job(2000),
        params:
            code=code_of("build_pairs"),
            options=PAIR_OPTIONS,
            special=special_spelling,
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
            "../../../envs/core.yaml"
        resources:
            **cpu_job(2000),
        params:
            code=code_of("sample_items"),
            options=SAMPLING_OPTIONS,
            untested=untested_phenomena,
        message:
            "Sample items of {wildcards.lang}"
        shell:
            "python -m blimpworks sample-items --pairs {input:q} --output {output.table:q} "
            "--funnel {output.funnel:q} --lang {wildcards.lang} "
            "--untested={params.untested:q} --options {params.options:q} > {log:q} 2>&1"

    rule build_multiblimp_items:
        """All steps from the lexicon to the sampled items of a language with little text.

        Each would take less time than a job's start, and far less than SLURM takes to start one.
        """
        input:
            tokens="<results>/tokens/{lang}.parquet",
            sentences="<results>/sentences/{lang}.parquet",
            unimorph=unimorph_tables,
        output:
            lexicon="<results>/lexicon/{lang}.parquet",
            candidates="<results>/candidates/multiblimp/{lang}.parquet",
            candidates_funnel="<results>/funnel/multiblimp/candidates/{lang}.parquet",
            agreement="<results>/agreement/multiblimp/{lang}.parquet",
            counts="<results>/agreement_counts/multiblimp/{lang}.parquet",
            pairs="<results>/items/multiblimp/all/{lang}.parquet",
            pairs_funnel="<results>/funnel/multiblimp/pairs/{lang}.parquet",
            sample="<results>/items/multiblimp/{lang}.parquet",
            sample_funnel="<results>/funnel/multiblimp/sampling/{lang}.parquet",
        log:
            "<logs>/build_multiblimp_items/{lang}.log",
        benchmark:
            "<benchmarks>/build_multiblimp_items/{lang}.tsv"
        wildcard_constraints:
            lang=one_of(filter(has_little_text, CATALOGUE.languages_of("multiblimp"))),
        conda:
            "../../../envs/core.yaml"
        resources:
            **cpu_job(2000),
        params:
            code=[code_of(step) for step in STEPS],
            # Snakemake compares no params that are made of input and output, such as the commands.
            options=[
                LEXICON_OPTIONS,
                CANDIDATE_OPTIONS,
                LONGEST_SENTENCE,
                AGREEMENT_OPTIONS,
                PAIR_OPTIONS,
                SAMPLING_OPTIONS,
            ],
            special=special_spelling,
            untested=untested_phenomena,
            commands=item_commands,
        message:
            "Build the items of {wildcards.lang}, from the lexicon on"
        shell:
            "python -m blimpworks in-turn {params.commands:q} > {log:q} 2>&1"

    # A step of its own for languages with more text, or of unknown size.
    ruleorder: build_multiblimp_items > build_lexicon
    ruleorder: build_multiblimp_items > find_candidates
    ruleorder: build_multiblimp_items > measure_agreement
    ruleorder: build_multiblimp_items > build_pairs
    ruleorder: build_multiblimp_items > sample_items


rule build_frequencies:
    """How much text the web has of each language of the catalogue."""
    input:
        totals=[
            f"<resources>/sources/{row.name}"
            for row in CATALOGUE.sources.values()
            if row.kind == FREQUENCY_KIND
        ],
        languages=str(CAMPAIGN.catalogue.languages),
        codes=str(CAMPAIGN.catalogue.frequency_codes),
    output:
        "<results>/frequencies/languages.parquet",
    log:
        "<logs>/build_frequencies.log",
    benchmark:
        "<benchmarks>/build_frequencies.tsv"
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("build_frequencies"),
    message:
        "Rank languages by their text on the web"
    shell:
        "python -m blimpworks build-frequencies {input.totals:q} "
        "--languages {input.languages:q} --codes {input.codes:q} --output {output:q} "
        "> {log:q} 2>&1"


rule fit_regressions:
    """Accuracy by models' size and tuning, and by languages' frequency."""
    input:
        accuracies=lambda w: (
            f"{RESULTS}/accuracies/printed/{w.benchmark}.parquet"
            if w.source == "printed"
            else f"{RESULTS}/accuracies/{w.benchmark}.parquet"
        ),
        frequencies=FREQUENCIES,
    output:
        table="<results>/regressions/{benchmark}/{source}.parquet",
        residuals="<results>/residuals/{benchmark}/{source}.parquet",
    log:
        "<logs>/fit_regressions/{benchmark}/{source}.log",
    benchmark:
        "<benchmarks>/fit_regressions/{benchmark}/{source}.tsv"
    wildcard_constraints:
        source="measured|printed",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("fit_regressions"),
        # Too few are printed to fit anything on them.
        models=lambda w: json.dumps(
            {} if w.source == "printed" else model_facts(CAMPAIGN, CATALOGUE)
        ),
        method=lambda w: (
            "printed" if w.source == "printed" else layout.methods_of(w.benchmark)[0]
        ),
        frequencies=[f"--frequencies={path}" for path in FREQUENCIES],
    message:
        "Fit accuracies on {wildcards.benchmark} ({wildcards.source})"
    shell:
        "python -m blimpworks fit-regressions {input.accuracies:q} {params.frequencies:q} "
        "--models {params.models:q} --method {params.method} --output {output.table:q} "
        "--residuals {output.residuals:q} > {log:q} 2>&1"


rule fit_margins:
    """Margins of single pairs by properties of the pairs."""
    input:
        scores=lambda w: layout.evaluations(
            "scores", w.benchmark, margin_models(CAMPAIGN, CATALOGUE)
        ),
        pairs=lambda w: layout.items_tables(w.benchmark),
        frequencies=FREQUENCIES,
    output:
        "<results>/regressions/{benchmark}/margins.parquet",
    log:
        "<logs>/fit_margins/{benchmark}.log",
    benchmark:
        "<benchmarks>/fit_margins/{benchmark}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(16000, minutes=120),
    params:
        code=code_of("fit_margins"),
        root=f"{RESULTS}/scores/{{benchmark}}",
        pairs=lambda w: str(items_folder(CAMPAIGN) / w.benchmark),
        models=lambda w: layout.evaluated(
            w.benchmark, margin_models(CAMPAIGN, CATALOGUE)
        ),
        frequencies=[f"--frequencies={path}" for path in FREQUENCIES],
    message:
        "Fit margins on {wildcards.benchmark}"
    shell:
        "python -m blimpworks fit-margins {params.root:q} "
        "--items {params.pairs:q} "
        "--models={params.models:q} {params.frequencies:q} --benchmark {wildcards.benchmark} --output {output:q} "
        "> {log:q} 2>&1"
