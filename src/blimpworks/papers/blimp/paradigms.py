"""The paradigms of BLiMP, as Table 4 groups them, and the prefix methods that each allows.

Source: Warstadt et al. (2020), Tables 2 and 4; which paradigm allows which prefix method is
told by the released data (Table 4 marks as many of each: 20 and 20).
Without heavy imports: the printed accuracies are read by it, too.
"""

from blimpworks.campaign.settings.campaign import Campaign

BENCHMARK, LANG, HUMAN = "blimp", "eng", "human"
RERUN = "rerun_full_sentence"
"""What stands for the method of the authors' run of 2021, which has whole sentences alone."""
GENERATED = "blimp_generated"
"""The benchmark of the same paradigms with pairs that are generated here."""
RELEASED_DATA = "blimp_data"
"""Kind of the sources that are the released pairs."""
RELEASED_PAIRS = 1000
"""Pairs of each paradigm that are released, and that models are judged on."""
PHENOMENA: dict[str, tuple[str, str]] = {
    "anaphor_agreement": ("Anaphor", "agr."),
    "argument_structure": ("Argument", "structure"),
    "binding": ("", "Binding"),
    "control_raising": ("Control/", "raising"),
    "determiner_noun_agreement": ("Det.-noun", "agr."),
    "ellipsis": ("", "Ellipsis"),
    "filler_gap_dependency": ("Filler", "gap"),
    "irregular_forms": ("Irregular", "forms"),
    "island_effects": ("Island", "effects"),
    "npi_licensing": ("NPI", "licensing"),
    "quantifiers": ("", "Quantifiers"),
    "subject_verb_agreement": ("Subj.-verb", "agr."),
}
"""Phenomena by their names in the released data, and their headings in two lines."""
NAMES = {
    key: f"{upper} {lower}".strip().replace("/ ", "/") for key, (upper, lower) in PHENOMENA.items()
}
"""The headings in one line."""
PARADIGMS: dict[str, tuple[str, ...]] = {
    "anaphor_agreement": (
        "anaphor_gender_agreement",
        "anaphor_number_agreement",
    ),
    "argument_structure": (
        "animate_subject_passive",
        "animate_subject_trans",
        "causative",
        "drop_argument",
        "inchoative",
        "intransitive",
        "passive_1",
        "passive_2",
        "transitive",
    ),
    "binding": (
        "principle_A_c_command",
        "principle_A_case_1",
        "principle_A_case_2",
        "principle_A_domain_1",
        "principle_A_domain_2",
        "principle_A_domain_3",
        "principle_A_reconstruction",
    ),
    "control_raising": (
        "existential_there_object_raising",
        "existential_there_subject_raising",
        "expletive_it_object_raising",
        "tough_vs_raising_1",
        "tough_vs_raising_2",
    ),
    "determiner_noun_agreement": (
        "determiner_noun_agreement_1",
        "determiner_noun_agreement_2",
        "determiner_noun_agreement_irregular_1",
        "determiner_noun_agreement_irregular_2",
        "determiner_noun_agreement_with_adjective_1",
        "determiner_noun_agreement_with_adj_2",
        "determiner_noun_agreement_with_adj_irregular_1",
        "determiner_noun_agreement_with_adj_irregular_2",
    ),
    "ellipsis": (
        "ellipsis_n_bar_1",
        "ellipsis_n_bar_2",
    ),
    "filler_gap_dependency": (
        "wh_questions_object_gap",
        "wh_questions_subject_gap",
        "wh_questions_subject_gap_long_distance",
        "wh_vs_that_no_gap",
        "wh_vs_that_no_gap_long_distance",
        "wh_vs_that_with_gap",
        "wh_vs_that_with_gap_long_distance",
    ),
    "irregular_forms": (
        "irregular_past_participle_adjectives",
        "irregular_past_participle_verbs",
    ),
    "island_effects": (
        "adjunct_island",
        "complex_NP_island",
        "coordinate_structure_constraint_complex_left_branch",
        "coordinate_structure_constraint_object_extraction",
        "left_branch_island_echo_question",
        "left_branch_island_simple_question",
        "sentential_subject_island",
        "wh_island",
    ),
    "npi_licensing": (
        "matrix_question_npi_licensor_present",
        "npi_present_1",
        "npi_present_2",
        "only_npi_licensor_present",
        "only_npi_scope",
        "sentential_negation_npi_licensor_present",
        "sentential_negation_npi_scope",
    ),
    "quantifiers": (
        "existential_there_quantifiers_1",
        "existential_there_quantifiers_2",
        "superlative_quantifiers_1",
        "superlative_quantifiers_2",
    ),
    "subject_verb_agreement": (
        "distractor_agreement_relational_noun",
        "distractor_agreement_relative_clause",
        "irregular_plural_subject_verb_agreement_1",
        "irregular_plural_subject_verb_agreement_2",
        "regular_plural_subject_verb_agreement_1",
        "regular_plural_subject_verb_agreement_2",
    ),
}
"""Paradigms of each phenomenon, in the order of Table 4."""
PHENOMENON_OF = {uid: name for name, uids in PARADIGMS.items() for uid in uids}
ONE_PREFIX = (
    "anaphor_gender_agreement",
    "anaphor_number_agreement",
    "animate_subject_passive",
    "principle_A_c_command",
    "principle_A_case_1",
    "principle_A_case_2",
    "principle_A_domain_1",
    "principle_A_domain_2",
    "determiner_noun_agreement_1",
    "determiner_noun_agreement_irregular_1",
    "determiner_noun_agreement_with_adjective_1",
    "determiner_noun_agreement_with_adj_irregular_1",
    "irregular_past_participle_verbs",
    "wh_island",
    "npi_present_1",
    "npi_present_2",
    "distractor_agreement_relational_noun",
    "distractor_agreement_relative_clause",
    "irregular_plural_subject_verb_agreement_1",
    "regular_plural_subject_verb_agreement_1",
)
TWO_PREFIX = (
    "animate_subject_trans",
    "transitive",
    "principle_A_domain_3",
    "existential_there_object_raising",
    "expletive_it_object_raising",
    "determiner_noun_agreement_2",
    "determiner_noun_agreement_irregular_2",
    "determiner_noun_agreement_with_adj_2",
    "determiner_noun_agreement_with_adj_irregular_2",
    "irregular_past_participle_adjectives",
    "coordinate_structure_constraint_complex_left_branch",
    "left_branch_island_echo_question",
    "matrix_question_npi_licensor_present",
    "only_npi_licensor_present",
    "only_npi_scope",
    "sentential_negation_npi_licensor_present",
    "sentential_negation_npi_scope",
    "superlative_quantifiers_2",
    "irregular_plural_subject_verb_agreement_2",
    "regular_plural_subject_verb_agreement_2",
)


def declared_paradigms(campaign: Campaign) -> list[str]:
    """Paradigms that are declared for the generator, in the order of their names."""
    return sorted(path.stem for path in campaign.folder("blimp").glob("paradigms/*.yaml"))
