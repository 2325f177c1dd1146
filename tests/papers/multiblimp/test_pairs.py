import pytest

from blimpworks.papers.multiblimp.items.inflection import SAME_FORM
from blimpworks.papers.multiblimp.items.pairs import ALL_REASONS, UNDECIDED, subject_features
from blimpworks.papers.multiblimp.items.words import parse_feats
from blimpworks.tables import FUNNEL, read_table
from support.treebank_kit import DOGS_SING, FIN, IS_FIRST, LONG, SEEN, UNIMORPH


def words_of(candidates):
    return [(row["subject_form"], row["form"]) for row in candidates]


def of(construction, language):
    return [row for row in language.candidates() if row["construction"] == construction]


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        # An unwanted word excludes its sentence.
        ("", "3 uh uh INTJ _ 2 reparandum", 0),
        ("", "3 teh the DET Typo=Yes 2 det", 0),
        ("", "3 thou thou PRON Style=Arch 2 obj", 0),
        ("", "3 chien chien X Foreign=Yes 2 obj", 0),
        ("", "3 teh the DET _ 2 det CorrectForm=the", 0),
        ("", "3 x x X _ 2 dep SpaceAfter=No|CorrectSpaceAfter=Yes", 0),
        ("", "3 chien chien X _ 2 obj Lang=fr", 0),
        ("", "3 chien chien X _ 2 obj OrigLang=fr", 0),
        ("", "3-4 doesnt _ _ Typo=Yes _ _ _\n3 does do AUX _ 2 aux\n4 nt not PART _ 2 advmod", 0),
        # Similar marks do not.
        ("", "3 x x X Abbr=Yes 2 dep Gloss=Correct", 1),
        ("", "3 x x X _ 2 reparandum:x LangId=fr", 1),
        ("", "3 x x X _ 2 _", 1),
        # Sentences have at most 64 words.
        ("", "".join(f"{i} x x X _ 2 dep\n" for i in range(3, 65)), 1),
        ("", "".join(f"{i} x x X _ 2 dep\n" for i in range(3, 66)), 0),
        # Subjects are plain, without conjuncts, expletives or outer subjects.
        ("2 nsubj", "2 nsubj:pass", 0),
        ("2 nsubj", "2 csubj", 0),
        ("2 nsubj", "2 nsubj:outer", 0),
        ("", "3 cats cat NOUN Number=Plur 1 conj", 0),
        ("", "3 cats cat NOUN Number=Plur 1 conj:and", 1),
        ("", "3 cats cat NOUN Number=Plur 1 amod", 1),
        ("", "3 it it PRON _ 2 expl:pv", 0),
        ("", "3 it it PRON _ 2 csubj:outer", 0),
        ("", "3 it it PRON _ 2 nsubj:outer", 0),
        # Nouns and pronouns are subjects, verbs and auxiliaries their heads.
        ("NOUN", "PRON", 1),
        ("NOUN", "PROPN", 0),
        ("NOUN", "NUM", 0),
        ("VERB", "AUX", 1),
        ("VERB", "ADJ", 0),
    ],
)
def test_only_plain_subjects_of_clean_sentences_are_candidates(treebank, old, new, kept):
    tree = DOGS_SING.replace(old, new) if old else DOGS_SING + new
    assert words_of(treebank(tree, DOGS_SING).candidates()) == [("Dogs", "sing")] * (kept + 1)


def test_ranges_and_empty_nodes_count_neither_as_words_nor_as_heads(treebank):
    tree = f"""
    1-2 Dogsing _ _ _ _ _
    1 Dogs dog NOUN Number=Plur 2 nsubj
    1.1 gap gap VERB _ _ _
    2 sing sing VERB {FIN} 0 root
    """
    (row,) = treebank(tree).candidates()
    assert (row["subject"], row["verb"], row["distance"]) == (1, 2, 1)


WILL_HAVE = """
1 Dogs dog NOUN Number=Plur 4 nsubj
2 will will AUX Tense=Fut 4 aux
3 be be AUX _ 4 aux:pass
4 seen see VERB VerbForm=Part 0 root
"""


@pytest.mark.parametrize("deprel", ["aux", "cop", "aux:neg"])
def test_the_leftmost_auxiliary_or_copula_is_the_inflected_word(treebank, deprel):
    (row,) = of("sv", treebank(WILL_HAVE.replace("4 aux\n", f"4 {deprel}\n")))
    inflected = (row["form"], row["lemma"], row["feats"], row["kind"])
    assert inflected == ("will", "will", "Tense=Fut", "aux")


def test_an_auxiliary_without_features_takes_those_of_the_main_verb(treebank):
    (row,) = of("sv", treebank(WILL_HAVE.replace("Tense=Fut", "_")))
    assert (row["form"], row["lemma"], row["feats"]) == ("will", "will", "VerbForm=Part")
    assert (row["inflected"], row["feats_of"]) == (2, 4)


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("cat cat NOUN Gender=Fem", True),
        ("we we PRON Person=1", True),
        ("red red ADJ Degree=Pos", False),
        ("seen see VERB VerbForm=Part", True),
        ("seen see VERB _", False),
    ],
)
def test_words_between_can_attract_by_a_feature_or_as_verbs(treebank, word, kept):
    (row,) = of("sv", treebank(LONG.replace("cats cat NOUN Number=Plur", word)))
    assert row["between"] == ([3] if kept else [])
    assert row["between_feats"] == ([word.split()[-1]] if kept else [])


@pytest.mark.parametrize(
    ("first", "second", "verb", "published", "corrected"),
    [
        ("Inf", "Fin", "Part", "will", "be"),
        ("Fin", "Fin", "Part", "will", "will"),
        ("Inf", "Part", "Fin", "will", "seen"),
        ("Inf", "Part", "Inf", "will", None),
    ],
)
def test_corrected_the_leftmost_finite_auxiliary_inflects_or_else_the_finite_verb(
    treebank, first, second, verb, published, corrected
):
    tree = WILL_HAVE.replace("AUX Tense=Fut", f"AUX VerbForm={first}")
    tree = tree.replace("be be AUX _", f"be be AUX VerbForm={second}")
    tree = tree.replace("VERB VerbForm=Part", f"VERB VerbForm={verb}")
    assert [row["form"] for row in of("sv", treebank(tree))] == [published]
    ours = of("sv", treebank(tree, finiteness="corrected"))
    assert [row["form"] for row in ours] == ([corrected] if corrected else [])
    assert [row["kind"] for row in ours] == (
        [] if corrected is None else ["verb" if corrected == "seen" else "aux"]
    )


def test_a_participle_is_a_candidate_of_its_own_and_auxiliaries_play_no_part(treebank):
    (row,) = of("sp", treebank(WILL_HAVE))
    assert (row["form"], row["kind"], row["inflected"], row["replaced"]) == ("seen", "ptcp", 4, 4)
    assert (row["feats"], row["feats_of"], row["distance"]) == ("VerbForm=Part", 4, 3)


@pytest.mark.parametrize(
    ("upos", "feats", "kept"),
    [
        ("VERB", "VerbForm=Part", 1),
        ("VERB", "Aspect=Perf|VerbForm=Part", 1),
        ("AUX", "VerbForm=Part", 0),
        ("VERB", "VerbForm=Fin", 0),
        ("VERB", "VerbForm=Part,Ger", 0),
        ("VERB", "_", 0),
    ],
)
def test_participles_are_verbs_annotated_as_such(treebank, upos, feats, kept):
    tree = WILL_HAVE.replace("VERB VerbForm=Part", f"{upos} {feats}")
    assert len(of("sp", treebank(tree))) == kept


def test_a_participle_beside_a_first_word_auxiliary_follows_its_subject(treebank):
    (row,) = of("sp", treebank(IS_FIRST))
    assert (row["order"], row["distance"], row["replaced"]) == ("SV", 1, 3)


@pytest.mark.parametrize("variant", ["published", "corrected"])
def test_the_funnel_counts_verbs_that_are_not_finite_even_when_none_is_dropped(treebank, variant):
    language = treebank(DOGS_SING.replace("VerbForm=Fin", "VerbForm=Inf"), finiteness=variant)
    language.candidates()
    rows = read_table(FUNNEL, language.path / "funnel").to_pylist()
    counts = {row["reason"]: row["n"] for row in rows}
    dropped = int(variant == "corrected")
    assert (counts["- not finite"], counts["subject-verb candidates"]) == (dropped, 1 - dropped)
    assert counts["subject-participle candidates"] == 0


def test_corrected_a_mood_without_a_verb_form_is_finite(treebank):
    tree = DOGS_SING.replace("Mood=Ind|VerbForm=Fin", "Mood=Ind")
    assert words_of(treebank(tree, finiteness="corrected").candidates()) == [("Dogs", "sing")]
    tree = DOGS_SING.replace("Mood=Ind|VerbForm=Fin|", "")
    assert words_of(treebank(tree, finiteness="corrected").candidates()) == []


DISAGREE, NO_ENTRY = "values differ in the treebank", "no lexicon entry"
TWO_SUBJECTS = f"""
1 Dogs dog NOUN Number=Plur 3 nsubj
2 dog dog NOUN Number=Sing 3 nsubj
3 sing sing VERB {FIN} 0 root
"""
AFTER_A_DISAGREEMENT = f"""
1 Dogs dog NOUN Number=Sing|Person=3 3 nsubj
2 we we PRON Person=1 3 nsubj
3 sing sing VERB {FIN}|Number=Plur 0 root
"""


@pytest.mark.parametrize(
    ("tree", "variant", "subjects", "rejected"),
    [
        (DOGS_SING.replace(f"{FIN}|Number=Plur", FIN), "published", ["Dogs"], {}),
        (DOGS_SING.replace("Plur 0", "Sing 0"), "published", [], {DISAGREE: 1}),
        (TWO_SUBJECTS, "published", ["Dogs"], {DISAGREE: 1}),
        (TWO_SUBJECTS, "corrected", ["Dogs"], {NO_ENTRY: 1}),
        (AFTER_A_DISAGREEMENT, "published", [], {DISAGREE: 2}),
        # A verb without any features keeps none.
        (TWO_SUBJECTS.replace(FIN, "_"), "published", ["Dogs"], {NO_ENTRY: 1}),
    ],
)
def test_a_verb_takes_over_what_it_lacks_and_keeps_it(pairs_of, tree, variant, subjects, rejected):
    pairs, counts = pairs_of(tree, copied_features=variant)
    assert ([pair["subject"] for pair in pairs], counts) == (subjects, rejected)


CROSSED = f"""
1 cats cat NOUN Number=Plur 3 nsubj
2 dogs dog NOUN Number=Plur 5 nsubj
3 see see VERB {FIN} 0 root
4 now now ADV _ 5 advmod
5 sing sing VERB {FIN} 3 parataxis
"""


@pytest.mark.parametrize(("variant", "values"), [("published", ["PL"]), ("corrected", [])])
def test_what_a_subject_gave_its_verb_makes_it_an_attractor_as_published(pairs_of, variant, values):
    ((pair,), _) = pairs_of(CROSSED, copied_features=variant)
    assert (pair["subject"], pair["attractor_values"]) == ("dogs", values)
    assert (pair["attractors"], pair["congruent_attractors"]) == (len(values), len(values))


@pytest.mark.parametrize(
    ("upos", "feats", "verb", "person"),
    [
        ("NOUN", None, None, "3"),
        ("NOUN", None, "1", "3"),
        ("NOUN", None, "1,2,3", "1,2,3"),
        ("NOUN", "Person=2", None, "2"),
        ("PRON", "PronType=Dem", None, "3"),
        ("PRON", "PronType=Rel", None, None),
        ("PRON", "PronType=Prs", None, None),
        ("PRON", None, None, None),
    ],
)
def test_corrected_subjects_that_can_only_be_third_persons_are(upos, feats, verb, person):
    row = {"subject_upos": upos, "subject_feats": feats}
    stated = {"Person": verb} if verb else {}
    assert subject_features(row, stated, third=True).get("Person") == person
    assert subject_features(row, stated, third=False) == parse_feats(feats)


@pytest.mark.parametrize(
    ("variant", "pairs", "dropped"), [("published", 2, 0), ("corrected", 1, 1)]
)
def test_forms_of_equal_characters_make_one_pair_when_corrected(pairs_of, variant, pairs, dropped):
    """The lexicon has *síngs* with an accented letter, and with a letter and its accent."""
    unimorph = (
        "sing sing V;IND;PRS;3;PL\nsing síngs V;IND;PRS;3;SG\nsing si\u0301ngs V;IND;PRS;3;SG"
    )
    found, rejected = pairs_of(DOGS_SING, unimorph=unimorph, scripts=variant)
    assert (len(found), rejected.get(SAME_FORM, 0)) == (pairs, dropped)


@pytest.mark.parametrize(("variant", "counted"), [("published", []), ("corrected", [1])])
def test_pairs_of_which_other_moods_are_not_known_are_counted(pairs_of, tmp_path, variant, counted):
    """The lexicon has a subjunctive of *be* alone."""
    unimorph = f"{UNIMORPH}be be V;SBJV;PRS;3;PL"
    pairs, rejected = pairs_of(DOGS_SING, IS_FIRST, unimorph=unimorph, right_forms=variant)
    assert (len(pairs), rejected) == (2, {})
    rows = read_table(FUNNEL, tmp_path / "funnel2").to_pylist()
    assert [row["n"] for row in rows if row["reason"] == UNDECIDED and row["n"]] == counted


@pytest.mark.parametrize(
    ("subject", "verb", "kept"),
    [
        ("", "Tense=Pres|Person=3", 1),
        ("|Person=3", "Tense=Pres", 1),
        ("|Person=1", "Tense=Pres", 0),
        ("", "Tense=Pres", 0),
        ("", "Tense=Past|Person=3", 0),
    ],
)
def test_english_verbs_are_third_person_present_by_either_word(pairs_of, subject, verb, kept):
    tree = DOGS_SING.replace("NOUN Number=Plur", f"NOUN Number=Plur{subject}")
    tree = tree.replace(FIN, f"{FIN}|{verb}")
    english = "sing sings V;PRS;3;SG\nsing sing V;NFIN\ndog dogs N;PL"
    pairs, rejected = pairs_of(tree, unimorph=english, lang="eng")
    assert len(pairs) == kept
    assert rejected == ({} if kept else {"against the language's conditions": 1})


def test_words_are_joined_by_spaces_unless_the_treebank_says_no(pairs_of):
    tree = DOGS_SING.replace("0 root", "0 root SpaceAfter=No") + "3 ! ! PUNCT _ 2 punct"
    ((pair,), _) = pairs_of(tree)
    assert (pair["good"], pair["bad"]) == ("Dogs sing!", "Dogs sings!")
    assert pair["good"][pair["good_start"] : pair["good_end"]] == "sing"


def test_corrected_words_that_are_merely_written_together_can_be_replaced(pairs_of):
    tree = f"""
    1-2 dogssing _ _ _ _ _
    1 dogs dog NOUN Number=Plur 2 nsubj
    2 sing sing VERB {FIN}|Number=Plur 0 root
    3 now now ADV _ 2 advmod
    """
    ((pair,), _) = pairs_of(tree, contractions="corrected")
    assert (pair["good"], pair["bad"]) == ("dogssing now", "dogssings now")
    assert pair["good"][pair["good_start"] : pair["good_end"]] == "sing"


def test_corrected_no_word_inside_a_contraction_is_replaced(pairs_of):
    tree = f"""
    1 Dogs dog NOUN Number=Plur 2 nsubj
    2-3 singnt _ _ _ _ _
    2 sing sing VERB {FIN}|Number=Plur 0 root
    3 not not PART _ 2 advmod
    """
    assert len(pairs_of(tree)[0]) == 1
    assert pairs_of(tree, contractions="corrected") == ([], {"inside a contraction": 1})


def test_pairs_of_two_subjects_of_one_verb_have_different_names(pairs_of):
    tree = TWO_SUBJECTS.replace("2 dog dog NOUN Number=Sing", "2 dogs dog NOUN Number=Plur")
    first, other = pairs_of(tree)[0]
    assert (first["good"], first["bad"]) == (other["good"], other["bad"])
    assert (first["subject"], other["subject"]) == ("Dogs", "dogs")
    assert first["item_id"] != other["item_id"]


@pytest.mark.parametrize(
    ("unimorph", "forms"),
    [
        (UNIMORPH, ["sings"]),
        (UNIMORPH + "sing singest V;IND;PRS;3;SG\n", ["singest", "singeth", "sings"]),
        ("be is V;SG", ["singeth"]),
    ],
)
def test_the_treebank_is_asked_unless_unimorph_has_exactly_one_form(pairs_of, unimorph, forms):
    pairs, _ = pairs_of(DOGS_SING, SEEN, unimorph=unimorph)
    assert [p["bad_form"] for p in pairs] == forms


@pytest.mark.parametrize(
    ("unimorph", "reason"),
    [
        ("be is V;3;SG\nbe are V;3;PL", "no lexicon entry"),
        ("sing sing V;3;PL\nbe is V;3;SG", "no other form"),
        ("sing sing V;3;PL\nsing sing V;3;SG", "same form"),
        ("sing sing V;PL\nsing sang V;SG;PST\nsing sang V;PL;PST", "same value"),
        ("sing sing V;PL\nsing sang V;SG;PST\nsing sang V;PST", "undefined value"),
        ("sing sing V;PL\nsing sings V;SG\nDogs Dogs N;SG\ndog dogs N;PL", "ambiguous subject"),
    ],
)
def test_each_reason_to_reject_a_swap(pairs_of, unimorph, reason):
    assert pairs_of(DOGS_SING, unimorph=unimorph) == ([], {reason: 1})


def test_the_funnel_lists_every_reason_also_those_that_rejected_nothing(pairs_of, tmp_path):
    pairs_of(DOGS_SING)
    counts = {r["reason"]: r["n"] for r in read_table(FUNNEL, tmp_path / "funnel2").to_pylist()}
    assert (counts.pop("candidates"), counts.pop("pairs")) == (1, 1)
    assert list(counts) == [f"- {reason}" for reason in ALL_REASONS]
    assert set(counts.values()) == {0}


def test_the_subject_is_looked_up_as_a_nominative(pairs_of):
    unimorph = "sing sing V;PL\nsing sings V;SG\nDogs Dogs N;ACC;SG\ndog Dogs N;NOM;PL"
    assert len(pairs_of(DOGS_SING, unimorph=unimorph)[0]) == 1


def test_the_treebank_decides_on_a_subject_only_when_unimorph_does_not_know_it(pairs_of):
    verbs_only = "sing sing V;PL\nsing sings V;SG\n"
    tree = DOGS_SING.replace("Dogs", "dogs")
    singular = "1 dogs dog NOUN Number=Sing 0 root"
    assert pairs_of(tree, singular, unimorph=verbs_only)[1] == {"ambiguous subject": 1}
    assert len(pairs_of(tree, singular, unimorph=verbs_only + "dog dogs N;PL")[0]) == 1


@pytest.mark.parametrize(
    ("verb", "bad_form"),
    [
        ("İSTİYOR", "İSTİYORLAR"),
        ("İstiyor", "İstiyorlar"),
        ("istiyor", "istiyorlar"),
        ("ISIRIYOR", "ISIRIYORLAR"),
    ],
)
def test_turkish_words_have_no_second_dot_and_keep_their_case(pairs_of, verb, bad_form):
    tree = f"""
    1 Kadın kadın NOUN Number=Sing 2 nsubj
    2 {verb} iste VERB {FIN}|Number=Sing 0 root
    """
    plural = tree.replace(verb, bad_form).replace("Number=Sing", "Number=Plur")
    plural = plural.replace("Kadın", "Kadınlar")
    decisions = dict.fromkeys(("letter_case", "capitals", "first_entry"), "corrected")
    pairs, _ = pairs_of(tree, plural, unimorph="x x N", lang="tur", **decisions)
    assert sorted(pair["bad_form"] for pair in pairs) == sorted([bad_form, verb])


def test_forms_that_differ_in_code_points_only_make_no_pair(pairs_of):
    # "é" as one character is a plural, as two characters a singular.
    tree = DOGS_SING.replace("2 sing sing", "2 siné sing")
    unimorph = "sing siné V;PL\nsing sine\u0301 V;SG"
    assert pairs_of(tree, unimorph=unimorph) == ([], {"same form": 1})
