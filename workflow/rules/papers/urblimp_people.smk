"""Pairs of UrBLiMP before people.

Participants get the lists; UrBLiMP's exhibits read what comes back.
"""

VALIDATION = URBLIMP.validation
VALIDATED = layout.item_languages("urblimp") if "urblimp" in CAMPAIGN.benchmarks else []


rule validation_lists:
    """A list of pairs for each participant, and the key that they don't see."""
    input:
        # Before any limit, which is for models: people see pairs of all.
        "<results>/items/{benchmark}/{lang}.parquet",
    output:
        key="<results>/validation/{benchmark}/{lang}/{lang}.key.parquet",
        pcibex="<results>/validation/{benchmark}/{lang}/{lang}.pcibex.csv",
        sheets=[
            f"<results>/validation/{{benchmark}}/{{lang}}/{{lang}}.{name}.csv"
            for name in VALIDATION.names
        ],
    log:
        "<logs>/validation_lists/{benchmark}/{lang}.log",
    wildcard_constraints:
        benchmark="urblimp",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("judgement_sheets"),
        folder=subpath(output.key, parent=True),
        # Who is left out afterwards makes no other lists.
        options=VALIDATION.model_dump_json(exclude={"check_threshold"}),
    message:
        "Deal pairs in {wildcards.lang} to participants"
    shell:
        "python -m blimpworks judgement-sheets {input:q} --lang {wildcards.lang} "
        "--folder {params.folder:q} --options {params.options:q} > {log:q} 2>&1"


rule validation:
    """The lists of all languages."""
    input:
        [
            f"<results>/validation/urblimp/{lang}/{lang}.key.parquet"
            for lang in VALIDATED
        ],


rule read_validation:
    """People's choices between the sentences of pairs, and their accuracy on each paradigm."""
    input:
        sheets=URBLIMP.annotations,
        key_tables=[
            f"<results>/validation/{{benchmark}}/{lang}/{lang}.key.parquet"
            for lang in VALIDATED
        ],
    output:
        ratings="<results>/validation_ratings/{benchmark}.parquet",
        participants="<results>/validation_participants/{benchmark}.parquet",
        accuracies="<results>/accuracies/people/{benchmark}.parquet",
    log:
        "<logs>/read_validation/{benchmark}.log",
    wildcard_constraints:
        benchmark="urblimp",
    localrule: True
    conda:
        "../../../envs/core.yaml"
    params:
        code=code_of("read_judgements"),
        key_tables=lambda w, input: repeated("key", input.key_tables),
        options=VALIDATION.model_dump_json(include={"check_threshold", "per_pair"}),
    message:
        "Read what people say of pairs"
    shell:
        "python -m blimpworks read-judgements {input.sheets:q} {params.key_tables:q} "
        "--benchmark {wildcards.benchmark} "
        "--ratings {output.ratings:q} --participants {output.participants:q} "
        "--accuracies {output.accuracies:q} --options {params.options:q} > {log:q} 2>&1"
