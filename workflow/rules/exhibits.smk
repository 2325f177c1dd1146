"""One pair of rules for every table and figure of every paper."""

NEEDS = {
    "accuracies": lambda paper: [f"{RESULTS}/accuracies/{paper}.parquet"],
    "items": lambda paper: expand(
        f"{RESULTS}/items/{paper}/{{lang}}.parquet", lang=LANGUAGES
    ),
    "funnel": lambda paper: expand(
        f"{RESULTS}/funnel/{paper}/{{stage}}/{{lang}}.parquet",
        stage=("candidates", "pairs", "sampling"),
        lang=LANGUAGES,
    ),
}


for kind in FORMATS:

    rule:
        name:
            f"build_{kind}"
        input:
            exhibit_inputs,
        output:
            cells="<results>/exhibits/{paper}/{exhibit}.cells.parquet",
            files=[
                f"<results>/exhibits/{{paper}}/{{exhibit}}.{s}" for s in FORMATS[kind]
            ],
        log:
            f"<logs>/build_{kind}/{{paper}}/{{exhibit}}.log",
        benchmark:
            f"<benchmarks>/build_{kind}/{{paper}}/{{exhibit}}.tsv"
        wildcard_constraints:
            exhibit="|".join(
                spec.name for spec in EXHIBITS.values() if spec.kind == kind
            ),
        conda:
            "../../envs/core.yaml"
        params:
            code=lambda w: verb_code(exhibit_verb(spec_of(w))),
            inputs=exhibit_arguments,
            labels=labels_of,
        message:
            "Build {wildcards.paper} {wildcards.exhibit}"
        shell:
            "python -m blimpworks build-exhibit {wildcards.paper}/{wildcards.exhibit} {output.files:q} "
            "--cells {output.cells:q} {params.inputs:q} --labels {params.labels:q} "
            "> {log:q} 2>&1"
