"""Pairs: from a candidate to sentences that differ in one word."""

import pytest

from blimpworks.papers.multiblimp.items.pairs import ALL_REASONS, UNDECIDED, controller_of
from blimpworks.papers.multiblimp.items.words import parse_feats
from blimpworks.tables import FUNNEL, read_table
from support.treebank_kit import DOGS_SING, FIN, IS_FIRST, SEEN, UNIMORPH

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
        # Nothing stays on a verb without any features.
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
    assert controller_of(row, stated, third=True).get("Person") == person
    assert controller_of(row, stated, third=False) == parse_feats(feats)


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
def test_english_verbs_are_third_person_present_by_either_words_features(
    pairs_of, subject, verb, kept
):
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
