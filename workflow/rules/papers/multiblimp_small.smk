"""MultiBLiMP's items of languages with little text: all steps from the lexicon on in one job.

Each step would take less time than a job's start, and far less than SLURM takes to start one.
What is made is the same, and so is its record.
"""

from snakemake.utils import format

# Bytes of treebanks and UniMorph tables: some seconds of work, and 300 MB of memory.
LITTLE_TEXT = 8_000_000
STEPS = {
    "build_lexicon": "{input.unimorph:q} --tokens {input.tokens:q} --output {output.lexicon:q} "
    "--special={special:q} --options {LEXICON_OPTIONS:q}",
    "find_candidates": "--tokens {input.tokens:q} --output {output.candidates:q} "
    "--funnel {output.candidates_funnel:q} --special={special:q} "
    "--options {CANDIDATE_OPTIONS:q} --treebanks {LONGEST_SENTENCE:q}",
    "measure_agreement": "--candidates {output.candidates:q} --lexicon {output.lexicon:q} "
    "--output {output.agreement:q} --counts {output.counts:q} --options {AGREEMENT_OPTIONS:q}",
    "build_pairs": "--candidates {output.candidates:q} --lexicon {output.lexicon:q} "
    "--agreement {output.agreement:q} --tokens {input.tokens:q} --sentences {input.sentences:q} "
    "--output {output.pairs:q} --funnel {output.pairs_funnel:q} --special={special:q} "
    "--options {PAIR_OPTIONS:q}",
    "sample_items": "--pairs {output.pairs:q} --output {output.sample:q} "
    "--funnel {output.sample_funnel:q} --untested={untested:q} --options {SAMPLING_OPTIONS:q}",
}


def has_little_text(lang):
    """Whether a language's files are known to be small."""
    files = CATALOGUE.treebanks.get(lang, ())
    files = [*files, *lexicon_sources(CAMPAIGN, CATALOGUE, lang)]
    sizes = [row.bytes for row in files]
    return all(sizes) and sum(sizes) < LITTLE_TEXT


def item_commands(wildcards, input, output):
    """The commands that make a language's items, one after the other."""
    values = {
        "input": input,
        "output": output,
        "special": special_spelling(wildcards),
        "untested": untested_phenomena(wildcards),
    }
    return [
        f"{step.replace('_', '-')} --lang {wildcards.lang} {format(arguments, **values)}"
        for step, arguments in STEPS.items()
    ]


rule build_multiblimp_items:
    """All steps from the lexicon to the sampled items of a language with little text."""
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
