"""What the steps of making MultiBLiMP's items are given, and the commands of all in one job."""

from snakemake.utils import format as fill_in

from blimpworks.papers.multiblimp.items.release import stage

# What each step reads of the settings.
LEXICON_OPTIONS = stage(
    CAMPAIGN,
    "lexicon",
    decisions=(
        "marked_sentences",
        "rare_readings",
        "first_entry",
        "missing_words",
        "scripts",
    ),
)
CANDIDATE_OPTIONS = stage(
    CAMPAIGN,
    decisions=(
        "finiteness",
        "first_word_auxiliary",
        "attractor_window",
        "marked_sentences",
        "participle_auxiliaries",
        "scripts",
    ),
)
AGREEMENT_OPTIONS = stage(
    CAMPAIGN,
    "phenomena",
    "agreement",
    decisions=(
        "agreement_evidence",
        "verb_types",
        "bonferroni",
        "labels",
        "letter_case",
    ),
)
PAIR_OPTIONS = stage(
    CAMPAIGN,
    "phenomena",
    decisions=(
        "contractions",
        "copied_features",
        "subject_person",
        "other_features",
        "right_forms",
        "letter_case",
        "capitals",
        "scripts",
    ),
)
SAMPLING_OPTIONS = stage(
    CAMPAIGN,
    "sampling",
    decisions=("lost_statistics", "balance", "memberships"),
)
LONGEST_SENTENCE = CAMPAIGN.treebanks.model_dump_json(include={"max_words"})
# Bytes of treebanks and UniMorph tables: a second or two of work, and 300 MB of memory.
LITTLE_TEXT = 8_000_000
# The commands of a language with little text, each with its arguments.
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


def special_spelling(wildcards):
    """Treatments of a language's spelling, as its commands take them."""
    return ",".join(CATALOGUE.languages[wildcards.lang].special)


def untested_phenomena(wildcards):
    """Phenomena that a language is not tested in, as its command takes them."""
    return ",".join(CATALOGUE.languages[wildcards.lang].untested)


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
        f"{step.replace('_', '-')} --lang {wildcards.lang} {fill_in(arguments, **values)}"
        for step, arguments in STEPS.items()
    ]
