"""UrBLiMP: pairs by rules over dependency trees, their lengths, and pairs before people."""

from blimpworks.papers.urblimp.paper import TEXT as RULES_TEXT
from blimpworks.papers.urblimp.paper import rules_folder
from blimpworks.papers.urblimp.settings import UrblimpOptions

URBLIMP = CAMPAIGN.section(UrblimpOptions)
VALIDATION = URBLIMP.validation
VALIDATED = layout.item_languages("urblimp") if "urblimp" in CAMPAIGN.benchmarks else []


rule build_urblimp_items:
    """Pairs of all paradigms of a language, and what became of each match of a rule."""
    input:
        rules=lambda w: sorted(map(str, rules_folder(CAMPAIGN, w.lang).glob("*.yaml"))),
        tokens="<results>/tokens/{lang}.parquet",
        sentences="<results>/sentences/{lang}.parquet",
        lexicon="<results>/lexicon/{lang}.parquet",
        text=lambda w: layout.usable(CATALOGUE.sources_of(RULES_TEXT, w.lang)),
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
        "Make the pairs of UrBLiMP's paradigms in {wildcards.lang}"
    shell:
        "python -m blimpworks build-urblimp-items {params.rules:q} --lang {wildcards.lang} "
        "--tokens {input.tokens:q} --sentences {input.sentences:q} --lexicon {input.lexicon:q} "
        "{params.text:q} --output {output.pairs:q} --counts {output.counts:q} --rejected {output.rejected:q} "
        "--options {input.settings:q} > {log:q} 2>&1"


rule compare_lengths:
    """Decisions by the mean per token beside those by the sum, and one pair word by word."""
    input:
        pairs=lambda w: layout.items_tables(w.benchmark),
        scores=lambda w: layout.evaluations("scores", w.benchmark),
        judgements=lambda w: layout.evaluations("judgements", w.benchmark),
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
        models=lambda w: layout.evaluated(w.benchmark),
        root=lambda w: evaluated_root(),
        ties=lambda w: layout.tie_of(w.benchmark, "per_token"),
    message:
        "Compare decisions by token and in sum"
    shell:
        "python -m blimpworks compare-lengths {params.root:q} --models={params.models:q} "
        "--benchmark {wildcards.benchmark} --ties {params.ties} --output {output.lengths:q} "
        "--surprisals {output.surprisals:q} > {log:q} 2>&1"


rule validation_lists:
    """A list of pairs for each participant, and the key that they don't see."""
    input:
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
        folder=lambda w, output: str(Path(output.key).parent),
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
            f"{RESULTS}/validation/urblimp/{lang}/{lang}.key.parquet"
            for lang in VALIDATED
        ],
    localrule: True


rule read_validation:
    """People's choices between the sentences of pairs, and their accuracy on each paradigm."""
    input:
        sheets=[str(path) for path in URBLIMP.annotations],
        hidden=lambda w: [
            f"{RESULTS}/validation/{w.benchmark}/{lang}/{lang}.key.parquet"
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
        hidden=lambda w, input: repeated("key", input.hidden),
        options=VALIDATION.model_dump_json(include={"check_threshold", "per_pair"}),
    message:
        "Read what people say of pairs"
    shell:
        "python -m blimpworks read-judgements {input.sheets:q} {params.hidden:q} "
        "--benchmark {wildcards.benchmark} "
        "--ratings {output.ratings:q} --participants {output.participants:q} "
        "--accuracies {output.accuracies:q} --options {params.options:q} > {log:q} 2>&1"
