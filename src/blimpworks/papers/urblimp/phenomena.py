"""Phenomena and paradigms of UrBLiMP.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.1 and Tables 7 to 10.
"""

BENCHMARK, LANG = "urblimp", "urd"
HUMAN = "human"
"""Stands for a model where people have judged."""
PHENOMENA: dict[str, tuple[str, dict[str, str]]] = {
    "aspect": ("Aspect", {"aspect": ""}),
    "dative_object": (
        "Dative object",
        {"dative_object_noun": "noun", "dative_object_pronoun": "pronoun"},
    ),
    "ergativity": (
        "Ergativity",
        {
            "ergativity_perfective_verb": "perfective verb",
            "ergativity_dom": "differential object marking",
            "ergativity_verb_object_agreement": "verb-object agreement",
        },
    ),
    "experiencer_subject": ("Experiencer subject", {"experiencer_subject": ""}),
    "honorific": ("Honorific", {"honorific": ""}),
    "noun_adjective_agreement": (
        "Noun-adjective agreement",
        {"noun_adjective_agreement": ""},
    ),
    "oblique": (
        "Oblique",
        {
            "oblique_adjective": "adjective",
            "oblique_plural_noun": "plural noun",
            "oblique_pronoun": "pronoun",
            "oblique_singular_noun": "masculine singular noun",
            "oblique_verb": "verb",
        },
    ),
    "participial_relatives": ("Participial relatives", {"participial_relatives": ""}),
    "subject_verb_agreement": (
        "Subject-verb agreement",
        {
            "subject_verb_gender": "gender",
            "subject_verb_number": "number",
            "subject_verb_person": "person",
        },
    ),
    "word_order": ("Word order", {"word_order": ""}),
}
"""By key, in the order of the tables: the name, and its paradigms with what tells them apart."""
PARADIGMS = {
    paradigm: f"{name}: {part}" if part else name
    for name, paradigms in PHENOMENA.values()
    for paradigm, part in paradigms.items()
}
"""Names of all paradigms."""
PHENOMENON_OF = {
    paradigm: phenomenon
    for phenomenon, (_, paradigms) in PHENOMENA.items()
    for paradigm in paradigms
}
