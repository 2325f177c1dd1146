"""Make lists of UrBLiMP's pairs for participants, and read their choices.

UrBLiMP's exhibits read the choices.
"""

VALIDATION = URBLIMP.validation
VALIDATED = layout.item_languages("urblimp") if "urblimp" in CAMPAIGN.benchmarks else []


rule validation_lists:
    """Make a list of pairs for each participant, and the key that they do not see."""
    input:
        # All items, because the campaign's limit is for models.
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
        # Without the threshold that excludes participants, which does not change the lists.
        options=VALIDATION.model_dump_json(exclude={"check_threshold"}),
    message:
        "Make lists of pairs in {wildcards.lang} for participants"
    shell:
        "python -m blimpworks judgement-sheets {input:q} --lang {wildcards.lang} "
        "--folder {params.folder:q} --options {params.options:q} > {log:q} 2>&1"


rule validation:
    """Make the lists of all languages."""
    input:
        [
            f"<results>/validation/urblimp/{lang}/{lang}.key.parquet"
            for lang in VALIDATED
        ],


rule read_validation:
    """Read participants' choices, and compute their accuracy on each paradigm."""
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
        "Read participants' choices"
    shell:
        "python -m blimpworks read-judgements {input.sheets:q} {params.key_tables:q} "
        "--benchmark {wildcards.benchmark} "
        "--ratings {output.ratings:q} --participants {output.participants:q} "
        "--accuracies {output.accuracies:q} --options {params.options:q} > {log:q} 2>&1"
