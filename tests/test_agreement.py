"""Does a language agree: what is counted, and the labels of the tests."""

import pytest
from treebank_kit import DOGS_SING, FIN, SEEN, UNIMORPH

from blimpworks.config import AgreementOptions
from blimpworks.multiblimp.agreement import count_agreement, label_of
from blimpworks.tables import CANDIDATES, read_table

# Agreement (notes 2.7)


def counts(treebank, *sentences, unimorph=UNIMORPH, lang="xyz", **decisions):
    language = treebank(*sentences, lang=lang, **decisions)
    lexicon = language.lexicon(unimorph)
    language.candidates()
    rows = read_table(CANDIDATES, language.path / "candidates")
    return dict(count_agreement(rows, lexicon, language.lang, "sv#", language.options))


LOWER = DOGS_SING.replace("Dogs", "dogs")


def test_subject_and_verb_with_one_value_each_are_counted_by_order(treebank):
    turned = f"""
    1 sing sing VERB {FIN}|Number=Plur 0 root
    2 dogs dog NOUN Number=Plur 1 nsubj
    """
    assert counts(treebank, LOWER, LOWER, turned) == {
        ("both", "SV", "PL", "PL"): 2,
        ("both", "VS", "PL", "PL"): 1,
    }


def test_a_disagreement_is_counted_as_it_stands(treebank):
    assert counts(treebank, SEEN.replace("singeth", "sings")) == {("both", "SV", "PL", "SG"): 1}


def test_a_value_among_several_counts_as_agreement(treebank):
    unimorph = UNIMORPH + "sing sing V;IND;PRS;1;SG\n"
    assert counts(treebank, LOWER, unimorph=unimorph) == {("both", "SV", "PL", "PL"): 1}


def test_several_values_on_both_sides_are_no_evidence(treebank):
    unimorph = UNIMORPH + "sing sing V;IND;PRS;1;SG\ndog dogs N;SG\n"
    assert counts(treebank, LOWER, unimorph=unimorph) == {}


def test_verbs_are_looked_up_as_indicative_and_active(treebank):
    unimorph = UNIMORPH + "sing sing V;SBJV;SG\nsing sing V;PASS;SG\n"
    assert counts(treebank, LOWER, unimorph=unimorph) == {("both", "SV", "PL", "PL"): 1}


def test_a_number_that_does_not_inflect_in_a_lexicon_is_no_evidence(treebank):
    only_plural = "sing sing V;IND;PRS;3;PL\ndog dog N;SG\ndog dogs N;PL"
    assert counts(treebank, LOWER, unimorph=only_plural) == {}


def test_annotation_is_evidence_only_when_corrected(treebank):
    unknown = LOWER.replace("dogs dog", "owls owl").replace(f"{FIN}|", "")
    args = {"unimorph": "be is V;SG"}
    assert counts(treebank, unknown, **args) == {}
    assert counts(treebank, unknown, **args, agreement_evidence="corrected") == {
        ("both", "SV", "PL", "PL"): 1
    }


@pytest.mark.parametrize(("variant", "kind"), [("published", "both"), ("corrected", "verb")])
def test_verbs_and_auxiliaries_are_counted_apart_only_when_corrected(treebank, variant, kind):
    assert counts(treebank, LOWER, verb_types=variant) == {(kind, "SV", "PL", "PL"): 1}


@pytest.mark.parametrize(
    ("feats", "n"), [("Tense=Pres|Person=3", 1), ("Tense=Past|Person=3", 0), ("Tense=Pres", 0)]
)
def test_english_counts_what_is_annotated_as_third_person_present(treebank, feats, n):
    tree = LOWER.replace("NOUN Number=Plur", "NOUN Number=Plur|Person=3")
    tree = tree.replace(FIN, f"{FIN}|{feats}")
    assert sum(counts(treebank, tree, lang="eng").values()) == n
    assert sum(counts(treebank, tree).values()) == 1


def test_the_table_of_a_language_obeys_its_condition(treebank):
    present = LOWER.replace(FIN, f"{FIN}|Tense=Pres|Person=3")
    language = treebank(LOWER, present, lang="eng")
    language.lexicon(UNIMORPH)
    language.candidates()
    assert [row["n"] for row in language.agreement()] == [1]


def test_the_table_has_a_row_for_each_subject_value_and_order(treebank):
    language = treebank(LOWER, LOWER, SEEN.replace("singeth", "sings"))
    language.lexicon(UNIMORPH)
    language.candidates()
    (row,) = language.agreement()
    assert (row["order"], row["value"], row["agreeing"], row["n"]) == ("SV", "PL", 2, 3)
    assert row["p_less"] == pytest.approx(0.271)
    assert row["label"] == "?"


# Labels (notes 2.8)


@pytest.mark.parametrize(
    ("agreeing", "n", "greater", "less", "label"),
    [
        (29, 29, 0.9**29, 1.0, "+"),
        (28, 28, 0.9**28, 1.0, "~"),
        (6, 6, 0.531441, 1.0, "~"),
        (5, 5, 0.59049, 1.0, "?"),
        (9, 10, 0.7360989291, 0.6513215599, "?"),
        (1, 3, 0.999, 0.028, "-"),
        (1, 2, 0.99, 0.19, "?"),
        (0, 50, 1.0, 0.1**50, "?"),
    ],
)
def test_labels_follow_two_exact_tests(agreeing, n, greater, less, label):
    found = label_of(agreeing, n, AgreementOptions())
    assert found[:2] == (pytest.approx(greater), pytest.approx(less))
    assert found[2] == label


def test_alpha_is_halved():
    assert label_of(29, 29, AgreementOptions(alpha=0.09))[2] == "~"
