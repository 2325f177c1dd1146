"""Build UrBLiMP's pairs by rules over dependency trees, and compare ways to judge them."""

from blimpworks.papers.urblimp.paper import TEXT_KIND
from blimpworks.papers.urblimp.paper import rules_folder
from blimpworks.papers.urblimp.settings import UrblimpOptions

URBLIMP = CAMPAIGN.section(UrblimpOptions)


rule build_urblimp_items:
    """Build pairs of all paradigms in a language, and list rejected matches of rules."""
    input:
        rules=lambda w: sorted(rules_folder(CAMPAIGN, w.lang).glob("*.yaml")),
        tokens="<results>/tokens/{lang}.parquet",
        sentences="<results>/sentences/{lang}.parquet",
        lexicon="<results>/lexicon/{lang}.parquet",
        text=lambda w: layout.usable(CATALOGUE.sources_of(TEXT_KIND, w.lang)),
        settings=settings_file(
            "urblimp_items.yaml",
            URBLIMP.model_dump(
                mode="json",
                include={"variant", "files", "per_paradigm"},
                exclude_none=True,
            ),
        ),
    output:
        pairs="<results>/items/urblimp/{lang}.parquet",
        counts="<results>/rules/urblimp/{lang}.counts.parquet",
        rejected="<results>/rules/urblimp/{lang}.rejected.parquet",
    log:
        "<logs>/build_items/urblimp/{lang}.log",
    benchmark:
        "<benchmarks>/build_items/urblimp/{lang}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_urblimp_items"),
        rules=lambda w, input: Path(input.rules[0]).parent,
        text=lambda w, input: repeated("text", input.text),
    message:
        "Build UrBLiMP's pairs in {wildcards.lang}"
    shell:
        "python -m blimpworks build-urblimp-items {params.rules:q} --lang {wildcards.lang} "
        "--tokens {input.tokens:q} --sentences {input.sentences:q} --lexicon {input.lexicon:q} "
        "{params.text:q} --output {output.pairs:q} --counts {output.counts:q} --rejected {output.rejected:q} "
        "--options {input.settings:q} > {log:q} 2>&1"


rule compare_lengths:
    """Compare decisions by mean per token with decisions by sum; show one pair by words."""
    input:
        pairs=lambda w: layout.items_tables(w.benchmark),
        scores=lambda w: layout.job_outputs("scores", w.benchmark),
        judgements=lambda w: layout.job_outputs("judgements", w.benchmark),
    output:
        lengths="<results>/lengths/{benchmark}.parquet",
        surprisals="<results>/surprisals/{benchmark}.parquet",
    log:
        "<logs>/compare_lengths/{benchmark}.log",
    wildcard_constraints:
        benchmark="urblimp",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("compare_lengths"),
        models=lambda w: layout.languages_by_model(w.benchmark),
        root=lambda w: evaluated_root(),
        ties=lambda w: layout.tie_of(w.benchmark, "per_token"),
    message:
        "Compare decisions by mean per token and by sum"
    shell:
        "python -m blimpworks compare-lengths {params.root:q} --models={params.models:q} "
        "--benchmark {wildcards.benchmark} --ties {params.ties} --output {output.lengths:q} "
        "--surprisals {output.surprisals:q} > {log:q} 2>&1"


include: "urblimp_people.smk"
