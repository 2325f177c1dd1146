"""UrBLiMP: pairs by rules over dependency trees."""


rule build_urblimp_items:
    """Pairs of all paradigms of a language, and what became of each match of a rule."""
    input:
        rules=lambda w: sorted(map(str, rules_folder(CAMPAIGN, w.lang).glob("*.yaml"))),
        tokens="<resources>/tokens/{lang}.parquet",
        sentences="<resources>/sentences/{lang}.parquet",
        lexicon="<results>/lexicon/{lang}.parquet",
        text=lambda w: usable(CATALOGUE.sources_of("urblimp_text", w.lang)),
    output:
        pairs="<results>/items/urblimp/{lang}.parquet",
        counts="<results>/rules/urblimp/{lang}.counts.parquet",
        rejected="<results>/rules/urblimp/{lang}.rejected.parquet",
    log:
        "<logs>/build_items/urblimp/{lang}.log",
    benchmark:
        "<benchmarks>/build_items/urblimp/{lang}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_urblimp_items"),
        rules=lambda w, input: Path(input.rules[0]).parent,
        text=lambda w, input: repeated("text", input.text),
        options=CAMPAIGN.urblimp.model_dump_json(
            include={"variant", "files", "per_paradigm"}, exclude_none=True
        ),
    message:
        "Make the pairs of UrBLiMP's paradigms in {wildcards.lang}"
    shell:
        "python -m blimpworks build-urblimp-items {params.rules:q} --lang {wildcards.lang} "
        "--tokens {input.tokens:q} --sentences {input.sentences:q} --lexicon {input.lexicon:q} "
        "{params.text:q} --output {output.pairs:q} --counts {output.counts:q} --rejected {output.rejected:q} "
        "--options {params.options:q} > {log:q} 2>&1"
