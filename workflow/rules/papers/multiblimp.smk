"""Build MultiBLiMP's items, frequencies of languages, and regressions.

MultiBLiMP's exhibits read the frequencies and the regressions.
"""

from blimpworks.campaign.catalogue import model_facts
from blimpworks.papers.multiblimp.exhibits.facts import margin_models
from blimpworks.papers.multiblimp.paper import FREQUENCIES as FREQUENCY_KIND

FREQUENCIES = layout.tables("multiblimp", "frequencies")


include: "multiblimp_items.smk"


rule build_frequencies:
    """Rank the catalogue's languages by the amount of their text on the web."""
    input:
        totals=[
            f"<resources>/sources/{row.name}"
            for row in CATALOGUE.sources.values()
            if row.kind == FREQUENCY_KIND
        ],
        languages=CAMPAIGN.catalogue.languages,
        codes=CAMPAIGN.catalogue.frequency_codes,
    output:
        "<results>/frequencies/languages.parquet",
    log:
        "<logs>/build_frequencies.log",
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


REGRESSED = settings_file(
    "multiblimp_models.json", lambda: model_facts("multiblimp", CAMPAIGN, CATALOGUE)
)


rule fit_regressions:
    """Fit accuracy on size and tuning of models, and on frequency of languages."""
    input:
        accuracies=branch(
            lambda w: w.source == "printed",
            then="<results>/accuracies/printed/{benchmark}.parquet",
            otherwise="<results>/accuracies/{benchmark}.parquet",
        ),
        frequencies=FREQUENCIES,
        # The paper prints too few models for a fit on size and tuning.
        models=branch(lambda w: w.source == "measured", then=[REGRESSED]),
    output:
        table="<results>/regressions/{benchmark}/{source}.parquet",
        residuals="<results>/residuals/{benchmark}/{source}.parquet",
    log:
        "<logs>/fit_regressions/{benchmark}/{source}.log",
    wildcard_constraints:
        source="measured|printed",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("fit_regressions"),
        models=lambda w, input: repeated("models", input.models),
        method=lambda w: (
            "printed" if w.source == "printed" else layout.methods_of(w.benchmark)[0]
        ),
        frequencies=repeated("frequencies", FREQUENCIES),
    message:
        "Fit accuracies on {wildcards.benchmark} ({wildcards.source})"
    shell:
        "python -m blimpworks fit-regressions {input.accuracies:q} {params.frequencies:q} "
        "{params.models:q} --method {params.method} --output {output.table:q} "
        "--residuals {output.residuals:q} > {log:q} 2>&1"


rule fit_margins:
    """Fit the margins of single pairs on properties of the pairs."""
    input:
        scores=lambda w: layout.job_outputs(
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
        models=lambda w: layout.languages_by_model(
            w.benchmark, margin_models(CAMPAIGN, CATALOGUE)
        ),
        frequencies=repeated("frequencies", FREQUENCIES),
    message:
        "Fit margins on {wildcards.benchmark}"
    shell:
        "python -m blimpworks fit-margins {params.root:q} "
        "--items {params.pairs:q} "
        "--models={params.models:q} {params.frequencies:q} --benchmark {wildcards.benchmark} --output {output:q} "
        "> {log:q} 2>&1"
